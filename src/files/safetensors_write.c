/* Writing safetensors: see safetensors.h. The file is written under a temporary name in the same
 * folder, synced, renamed, and the folder synced: a reader sees the old file or the whole new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/safetensors.h"

typedef struct writer {
    const char *path;
    const sgi_tensor *tensors;
    size_t count;
    const sgi_tensor_note *notes;
    size_t note_count;
    char *message;
    size_t size;
    char temporary[PATH_MAX];
    int file;
} writer;

static sg_status refuse(const writer *w, sg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static sg_status refuse(const writer *w, sg_status status, const char *format, ...)
{
    if (w->message && w->size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(w->message, w->size, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* Bytes of a tensor that has been checked. */
static size_t bytes_of(const sgi_tensor *tensor)
{
    return sgi_tensor_elements(tensor) * sgi_tensor_type_size(tensor->type);
}

static sg_status check_tensor(const writer *w, const sgi_tensor *tensor)
{
    size_t bytes;
    if (!tensor->name || !tensor->name[0] || strcmp(tensor->name, "__metadata__") == 0)
        return refuse(w, SG_ERROR_ARGUMENT, "a tensor without a usable name");
    if (sgi_tensor_type_size(tensor->type) == 0 || tensor->rank > SG_TENSOR_RANK ||
        __builtin_mul_overflow(sgi_tensor_elements(tensor), sgi_tensor_type_size(tensor->type),
                               &bytes) ||
        bytes > LLONG_MAX / 2 || (!tensor->data && bytes > 0))
        return refuse(w, SG_ERROR_ARGUMENT, "tensor '%s': bad type, shape or data", tensor->name);
    return SG_OK;
}

/* Puts a new member into `object`; false when the text is not UTF-8 or memory runs out. */
static bool put_string(json_t *object, const char *key, const char *value)
{
    return json_object_set_new(object, key, json_string(value)) == 0;
}

static bool put_offsets(json_t *object, size_t begin, size_t end)
{
    json_t *offsets = json_array();
    return json_object_set_new(object, "data_offsets", offsets) == 0 &&
           json_array_append_new(offsets, json_integer((json_int_t)begin)) == 0 &&
           json_array_append_new(offsets, json_integer((json_int_t)end)) == 0;
}

static bool put_tensor(json_t *root, const sgi_tensor *tensor, size_t begin)
{
    json_t *object = json_object(), *shape = json_array();
    bool done = json_object_set_new(root, tensor->name, object) == 0;
    if (!done) {
        json_decref(shape);
        return false;
    }
    done = put_string(object, "dtype", sgi_tensor_type_name(tensor->type)) &&
           json_object_set_new(object, "shape", shape) == 0;
    for (size_t i = 0; done && i < tensor->rank; i++)
        done = json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i])) == 0;
    return done && put_offsets(object, begin, begin + bytes_of(tensor));
}

static sg_status put_notes(const writer *w, json_t *root)
{
    if (w->note_count == 0)
        return SG_OK;
    json_t *object = json_object();
    if (json_object_set_new(root, "__metadata__", object) != 0)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < w->note_count; i++) {
        const sgi_tensor_note *note = &w->notes[i];
        if (!note->key || !note->value || json_object_get(object, note->key) ||
            !put_string(object, note->key, note->value))
            return refuse(w, SG_ERROR_ARGUMENT, "a note is given twice or is not UTF-8");
    }
    return SG_OK;
}

/* The element sizes from large to small: data in this order is aligned without padding. */
static const size_t sizes[] = {8, 4, 2, 1};

static sg_status put_tensors(const writer *w, json_t *root)
{
    size_t begin = 0;
    for (size_t pass = 0; pass < 4; pass++)
        for (size_t i = 0; i < w->count; i++) {
            const sgi_tensor *tensor = &w->tensors[i];
            if (sgi_tensor_type_size(tensor->type) != sizes[pass])
                continue;
            if (json_object_get(root, tensor->name))
                return refuse(w, SG_ERROR_ARGUMENT, "tensor '%s' is given twice", tensor->name);
            if (bytes_of(tensor) > (size_t)LLONG_MAX - begin || !put_tensor(root, tensor, begin))
                return refuse(w, SG_ERROR_ARGUMENT, "tensor '%s': no header can be made of it",
                              tensor->name);
            begin += bytes_of(tensor);
        }
    return SG_OK;
}

/* Makes the header's text; the caller frees it. */
static sg_status make_header(const writer *w, char **text)
{
    *text = NULL;
    json_t *root = json_object();
    if (!root)
        return SG_ERROR_MEMORY;
    sg_status status = put_notes(w, root);
    if (status == SG_OK)
        status = put_tensors(w, root);
    if (status == SG_OK) {
        *text = json_dumps(root, JSON_COMPACT);
        status = *text ? SG_OK : SG_ERROR_MEMORY;
    }
    json_decref(root);
    return status;
}

static sg_status put_bytes(const writer *w, const void *from, size_t size)
{
    const char *next = from;
    while (size > 0) {
        ssize_t put = write(w->file, next, size < (1u << 30) ? size : 1u << 30);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return refuse(w, SG_ERROR_IO, "%s: %s", w->temporary, strerror(errno));
        next += put;
        size -= (size_t)put;
    }
    return SG_OK;
}

/* The length, the header padded with spaces to a multiple of 8, and the data. */
static sg_status put_content(const writer *w, const char *header)
{
    static const char spaces[] = "       ";
    size_t length = strlen(header), padding = (8 - length % 8) % 8;
    uint64_t total = length + padding;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)(total >> 8 * i);
    sg_status status = put_bytes(w, prefix, sizeof prefix);
    if (status == SG_OK)
        status = put_bytes(w, header, length);
    if (status == SG_OK)
        status = put_bytes(w, spaces, padding);
    for (size_t pass = 0; pass < 4; pass++)
        for (size_t i = 0; i < w->count && status == SG_OK; i++)
            if (sgi_tensor_type_size(w->tensors[i].type) == sizes[pass])
                status = put_bytes(w, w->tensors[i].data, bytes_of(&w->tensors[i]));
    return status;
}

/* A rename is durable once the folder that records it is. */
static sg_status sync_folder(writer *w)
{
    char *slash = strrchr(w->temporary, '/');
    const char *folder = ".";
    if (slash) {
        slash[slash == w->temporary] = 0;
        folder = w->temporary;
    }
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return refuse(w, SG_ERROR_IO, "%s: %s", folder, strerror(errno));
    int result = fsync(file);
    close(file);
    return result == 0 ? SG_OK : refuse(w, SG_ERROR_IO, "%s: %s", folder, strerror(errno));
}

static sg_status write_file(writer *w, const char *header)
{
    if (snprintf(w->temporary, sizeof w->temporary, "%s.XXXXXX", w->path) >=
        (int)sizeof w->temporary)
        return refuse(w, SG_ERROR_ARGUMENT, "the path is too long");
    w->file = mkostemp(w->temporary, O_CLOEXEC);
    if (w->file < 0)
        return refuse(w, SG_ERROR_IO, "%s: %s", w->path, strerror(errno));
    sg_status status = put_content(w, header);
    if (status == SG_OK && (fchmod(w->file, 0644) != 0 || fsync(w->file) != 0))
        status = refuse(w, SG_ERROR_IO, "%s: %s", w->temporary, strerror(errno));
    if (close(w->file) != 0 && status == SG_OK)
        status = refuse(w, SG_ERROR_IO, "%s: %s", w->temporary, strerror(errno));
    if (status == SG_OK && rename(w->temporary, w->path) != 0)
        status = refuse(w, SG_ERROR_IO, "%s: %s", w->path, strerror(errno));
    if (status != SG_OK) {
        unlink(w->temporary);
        return status;
    }
    return sync_folder(w);
}

sg_status sgi_safetensors_write(const char *path, const sgi_tensor *tensors, size_t count,
                                const sgi_tensor_note *notes, size_t note_count, char *message,
                                size_t size)
{
    if (!path || (count && !tensors) || (note_count && !notes))
        return SG_ERROR_ARGUMENT;
    writer w = {.path = path,
                .tensors = tensors,
                .count = count,
                .notes = notes,
                .note_count = note_count,
                .message = message,
                .size = size};
    if (message && size)
        message[0] = 0;
    sg_status status = SG_OK;
    for (size_t i = 0; i < count && status == SG_OK; i++)
        status = check_tensor(&w, &tensors[i]);
    char *header = NULL;
    if (status == SG_OK)
        status = make_header(&w, &header);
    if (status == SG_OK)
        status = write_file(&w, header);
    free(header);
    return status == SG_ERROR_MEMORY ? refuse(&w, status, "out of memory") : status;
}
