/* Writing safetensors: see safetensors.h. */
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostic.h"
#include "files/checksum.h"
#include "files/file.h"
#include "files/json_text.h"
#include "files/safetensors.h"

typedef struct writer {
    const char *path;
    const sgi_tensor *tensors;
    size_t count;
    const sgi_tensor_note *notes;
    size_t note_count;
    sg_diagnostic *diagnostic;
} writer;

/* Bytes of a tensor that has been checked. */
static size_t bytes_of(const sgi_tensor *tensor)
{
    return sgi_tensor_elements(tensor) * sgi_tensor_type_size(tensor->type);
}

static sg_status check_tensor(const writer *w, const sgi_tensor *tensor)
{
    size_t bytes;
    if (!tensor->name || !tensor->name[0] || strcmp(tensor->name, "__metadata__") == 0)
        return sgi_fail_file(w->diagnostic, SG_ERROR_ARGUMENT, w->path,
                             "a tensor without a usable name");
    if (sgi_tensor_type_size(tensor->type) == 0 || tensor->rank > SG_TENSOR_RANK ||
        __builtin_mul_overflow(sgi_tensor_elements(tensor), sgi_tensor_type_size(tensor->type),
                               &bytes) ||
        bytes > LLONG_MAX / 2 || (!tensor->data && bytes > 0))
        return sgi_fail_file(w->diagnostic, SG_ERROR_ARGUMENT, w->path,
                             "tensor '%s': bad type, shape or data", tensor->name);
    return SG_OK;
}

/* jansson says only that it cannot take a text: plain ones it can, so that memory was missing. */
static bool is_plain(const char *text)
{
    while (*text && (unsigned char)*text < 0x80)
        text++;
    return !*text;
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
    json_t *object = json_object();
    if (json_object_set_new(root, tensor->name, object) != 0)
        return false;
    json_t *shape = json_array();
    bool done = json_object_set_new(object, "shape", shape) == 0 &&
                put_string(object, "dtype", sgi_tensor_type_name(tensor->type));
    for (size_t i = 0; done && i < tensor->rank; i++)
        done = json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i])) == 0;
    return done && put_offsets(object, begin, begin + bytes_of(tensor));
}

/* The element sizes from large to small: data in this order is aligned without padding. */
static const size_t sizes[] = {8, 4, 2, 1};

static void sum_up(const writer *w, char text[SG_CHECKSUM_SIZE])
{
    sgi_checksum sum = {0, 0};
    for (size_t pass = 0; pass < 4; pass++)
        for (size_t i = 0; i < w->count; i++)
            if (sgi_tensor_type_size(w->tensors[i].type) == sizes[pass])
                sgi_checksum_tensor(&sum, &w->tensors[i]);
    for (size_t i = 0; i < w->note_count; i++)
        sgi_checksum_note(&sum, &w->notes[i]);
    sgi_checksum_text(&sum, text);
}

static sg_status put_notes(const writer *w, json_t *root)
{
    json_t *object = json_object();
    if (json_object_set_new(root, "__metadata__", object) != 0)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < w->note_count; i++) {
        const sgi_tensor_note *note = &w->notes[i];
        if (!note->key || !note->value || json_object_get(object, note->key))
            return sgi_fail_file(w->diagnostic, SG_ERROR_ARGUMENT, w->path,
                                 "a note is given twice, or has no text");
        if (put_string(object, note->key, note->value))
            continue;
        if (is_plain(note->key) && is_plain(note->value))
            return SG_ERROR_MEMORY;
        return sgi_fail_file(w->diagnostic, SG_ERROR_ARGUMENT, w->path, "a note is not UTF-8");
    }
    char text[SG_CHECKSUM_SIZE];
    sum_up(w, text);
    return put_string(object, SG_CHECKSUM_NOTE, text) ? SG_OK : SG_ERROR_MEMORY;
}

static sg_status put_tensors(const writer *w, json_t *root)
{
    size_t begin = 0;
    for (size_t pass = 0; pass < 4; pass++)
        for (size_t i = 0; i < w->count; i++) {
            const sgi_tensor *tensor = &w->tensors[i];
            if (sgi_tensor_type_size(tensor->type) != sizes[pass])
                continue;
            if (json_object_get(root, tensor->name))
                return sgi_fail_file(w->diagnostic, SG_ERROR_ARGUMENT, w->path,
                                     "tensor '%s' is given twice", tensor->name);
            bool fits = bytes_of(tensor) <= (size_t)LLONG_MAX - begin;
            if (fits && !put_tensor(root, tensor, begin)) {
                if (is_plain(tensor->name))
                    return SG_ERROR_MEMORY;
                fits = false;
            }
            if (!fits)
                return sgi_fail_file(w->diagnostic, SG_ERROR_ARGUMENT, w->path,
                                     "tensor '%s': no header can be made of it", tensor->name);
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
        *text = sgi_json_dump(root, JSON_COMPACT);
        status = *text ? SG_OK : SG_ERROR_MEMORY;
    }
    json_decref(root);
    return status;
}

/* The length, the header padded with spaces to a multiple of 8, and the data. */
static void put_content(const writer *w, sgi_file *file, const char *header)
{
    static const char spaces[] = "       ";
    size_t length = strlen(header), padding = (8 - length % 8) % 8;
    uint64_t total = length + padding;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)(total >> 8 * i);
    sgi_file_put(file, prefix, sizeof prefix);
    sgi_file_put(file, header, length);
    sgi_file_put(file, spaces, padding);
    for (size_t pass = 0; pass < 4; pass++)
        for (size_t i = 0; i < w->count; i++)
            if (sgi_tensor_type_size(w->tensors[i].type) == sizes[pass])
                sgi_file_put(file, w->tensors[i].data, bytes_of(&w->tensors[i]));
}

static sg_status write_file(const writer *w, const char *header)
{
    sgi_file *file;
    sg_status status = sgi_file_create(&file, w->path, NULL, w->diagnostic);
    if (status != SG_OK)
        return status;
    put_content(w, file, header);
    return sgi_file_commit(file, w->diagnostic);
}

sg_status sgi_safetensors_write(const char *path, const sgi_tensor *tensors, size_t count,
                                const sgi_tensor_note *notes, size_t note_count,
                                sg_diagnostic *diagnostic)
{
    if (!path || (count && !tensors) || (note_count && !notes))
        return SG_ERROR_ARGUMENT;
    writer w = {.path = path,
                .tensors = tensors,
                .count = count,
                .notes = notes,
                .note_count = note_count,
                .diagnostic = diagnostic};
    sg_status status = SG_OK;
    for (size_t i = 0; i < count && status == SG_OK; i++)
        status = check_tensor(&w, &tensors[i]);
    char *header = NULL;
    if (status == SG_OK)
        status = make_header(&w, &header);
    if (status == SG_OK)
        status = write_file(&w, header);
    free(header);
    return status == SG_ERROR_MEMORY ? sgi_fail_file(w.diagnostic, status, w.path, "out of memory")
                                     : status;
}
