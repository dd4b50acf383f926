/* Reading safetensors: see safetensors.h.
 *
 * The header is parsed and checked against the size of the file before a tensor's byte is read.
 * Main invariant: sorted by their begin, the tensors' ranges touch end to end from 0 to the end of
 * the file; holes, overlaps and ranges outside the file are therefore all one check. */
#include "files/safetensors.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/checksum.h"
#include "files/file.h"

/* The limit of the reference implementation: no honest header comes near it. */
#define MAX_HEADER ((uint64_t)100000000)
#define METADATA   "__metadata__"

typedef struct entry {
    sgi_tensor tensor;
    uint64_t begin, end; /* bytes from the end of the header */
} entry;

struct sgi_safetensors {
    sg_allocator allocator;
    json_t *root; /* owns the names and notes */
    entry *entries;
    size_t count;
    sgi_tensor_note *notes;
    size_t note_count;
    const char *checksum; /* or NULL */
    char *data;
};

/* What a reading call carries about. */
typedef struct reader {
    sgi_safetensors *handle;
    int file;
    uint64_t data_begin, data_size;
    const char *path;
    sg_diagnostic *diagnostic;
} reader;

static const struct {
    const char *name;
    size_t size;
} types[] = {
#define TYPE_ROW(name, size) {#name, size},
    SG_TENSOR_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
};

size_t sgi_tensor_type_size(sgi_tensor_type type)
{
    return (unsigned)type < SG_TENSOR_TYPES ? types[type].size : 0;
}

const char *sgi_tensor_type_name(sgi_tensor_type type)
{
    return (unsigned)type < SG_TENSOR_TYPES ? types[type].name : "unknown";
}

size_t sgi_tensor_elements(const sgi_tensor *tensor)
{
    size_t elements = 1;
    for (size_t i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(elements, tensor->shape[i], &elements))
            return SIZE_MAX;
    return elements;
}

/* Reads exactly `size` bytes at `offset`. */
static sg_status read_at(const reader *r, void *to, uint64_t size, uint64_t offset)
{
    char *next = to;
    while (size > 0) {
        ssize_t got =
            pread(r->file, next, size < (1u << 30) ? (size_t)size : 1u << 30, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return sgi_fail_file(r->diagnostic, SG_ERROR_IO, r->path, "%m");
        if (got == 0)
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "the file ends early");
        next += got;
        size -= (uint64_t)got;
        offset += (uint64_t)got;
    }
    return SG_OK;
}

static uint64_t little_endian(const unsigned char bytes[8])
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static sg_status read_header(reader *r)
{
    struct stat info;
    unsigned char prefix[8];
    if (fstat(r->file, &info) != 0)
        return sgi_fail_file(r->diagnostic, SG_ERROR_IO, r->path, "%m");
    uint64_t file_size = (uint64_t)info.st_size;
    if (file_size < sizeof prefix)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "shorter than the 8 bytes of a header's length");
    sg_status status = read_at(r, prefix, sizeof prefix, 0);
    if (status != SG_OK)
        return status;
    uint64_t length = little_endian(prefix);
    if (length > MAX_HEADER || length > file_size - sizeof prefix)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "a header of %llu bytes does not fit the file",
                             (unsigned long long)length);
    char *text = sgi_allocate(&r->handle->allocator, (size_t)length, 1);
    if (!text)
        return SG_ERROR_MEMORY;
    status = read_at(r, text, length, sizeof prefix);
    json_error_t error;
    if (status == SG_OK && (length == 0 || text[0] != '{')) {
        status = sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                               "the header does not start with '{'");
    } else if (status == SG_OK) {
        r->handle->root = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
        if (!r->handle->root)
            status = json_error_code(&error) == json_error_out_of_memory
                         ? SG_ERROR_MEMORY
                         : sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "header: %s",
                                         error.text);
    }
    sgi_release(&r->handle->allocator, text);
    r->data_begin = sizeof prefix + length;
    r->data_size = file_size - r->data_begin;
    return status;
}

static sg_status parse_type(const reader *r, const json_t *object, sgi_tensor *tensor)
{
    const char *name = json_string_value(json_object_get(object, "dtype"));
    if (!name)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "tensor '%s' has no dtype",
                             tensor->name);
    for (int type = 0; type < SG_TENSOR_TYPES; type++)
        if (strcmp(types[type].name, name) == 0) {
            tensor->type = (sgi_tensor_type)type;
            return SG_OK;
        }
    return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "tensor '%s': unknown dtype '%s'",
                         tensor->name, name);
}

/* A JSON integer that is not negative. */
static bool natural(const json_t *value, uint64_t *number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

static sg_status parse_shape(const reader *r, const json_t *object, sgi_tensor *tensor)
{
    const json_t *shape = json_object_get(object, "shape");
    if (!json_is_array(shape))
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "tensor '%s' has no shape",
                             tensor->name);
    tensor->rank = json_array_size(shape);
    if (tensor->rank > SG_TENSOR_RANK)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "tensor '%s': rank %zu is above %d", tensor->name, tensor->rank,
                             SG_TENSOR_RANK);
    for (size_t i = 0; i < tensor->rank; i++) {
        uint64_t extent;
        if (!natural(json_array_get(shape, i), &extent))
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "tensor '%s': bad shape",
                                 tensor->name);
        tensor->shape[i] = (size_t)extent;
    }
    return SG_OK;
}

static sg_status parse_offsets(const reader *r, const json_t *object, entry *e)
{
    const json_t *offsets = json_object_get(object, "data_offsets");
    const sgi_tensor *tensor = &e->tensor;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !natural(json_array_get(offsets, 0), &e->begin) ||
        !natural(json_array_get(offsets, 1), &e->end) || e->end < e->begin || e->end > r->data_size)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "tensor '%s': bad data_offsets", tensor->name);
    size_t bytes;
    if (__builtin_mul_overflow(sgi_tensor_elements(tensor), types[tensor->type].size, &bytes) ||
        bytes != e->end - e->begin)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "tensor '%s': shape and data_offsets disagree", tensor->name);
    return SG_OK;
}

static sg_status parse_tensor(const reader *r, const char *name, const json_t *object, entry *e)
{
    e->tensor.name = name;
    if (!name[0] || !json_is_object(object) || json_object_size(object) != 3)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "tensor '%s' is not {dtype, shape, data_offsets}", name);
    sg_status status = parse_type(r, object, &e->tensor);
    if (status == SG_OK)
        status = parse_shape(r, object, &e->tensor);
    return status == SG_OK ? parse_offsets(r, object, e) : status;
}

static sg_status parse_notes(const reader *r, json_t *object)
{
    sgi_safetensors *handle = r->handle;
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "%s is not an object",
                             METADATA);
    handle->notes =
        sgi_allocate(&handle->allocator, json_object_size(object), sizeof *handle->notes);
    if (!handle->notes)
        return SG_ERROR_MEMORY;
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value))
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                                 "%s: '%s' is not a string", METADATA, key);
        if (strcmp(key, SG_CHECKSUM_NOTE) == 0)
            handle->checksum = json_string_value(value);
        else
            handle->notes[handle->note_count++] = (sgi_tensor_note){key, json_string_value(value)};
    }
    return SG_OK;
}

static sg_status parse_entries(const reader *r)
{
    sgi_safetensors *handle = r->handle;
    const char *name;
    json_t *value;
    handle->entries =
        sgi_allocate(&handle->allocator, json_object_size(handle->root), sizeof *handle->entries);
    if (!handle->entries)
        return SG_ERROR_MEMORY;
    json_object_foreach(handle->root, name, value)
    {
        sg_status status = strcmp(name, METADATA) == 0
                               ? parse_notes(r, value)
                               : parse_tensor(r, name, value, &handle->entries[handle->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

/* By begin, then by end: an empty tensor comes before the one that starts where it lies. */
static int by_offset(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static sg_status check_cover(const reader *r)
{
    sgi_safetensors *handle = r->handle;
    uint64_t covered = 0;
    qsort(handle->entries, handle->count, sizeof *handle->entries, by_offset);
    for (size_t i = 0; i < handle->count; i++) {
        const entry *e = &handle->entries[i];
        if (e->begin != covered)
            return sgi_fail_file(
                r->diagnostic, SG_ERROR_FORMAT, r->path, "tensor '%s' %s", e->tensor.name,
                e->begin < covered ? "overlaps another" : "leaves a hole before it");
        covered = e->end;
    }
    if (covered != r->data_size)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "bytes after the last tensor");
    return SG_OK;
}

/* Each tensor is read to a place of its own alignment, wherever it lay in the file. */
static sg_status read_tensors(const reader *r)
{
    sgi_safetensors *handle = r->handle;
    size_t total = 0;
    for (size_t i = 0; i < handle->count; i++)
        total += sgi_align_up(handle->entries[i].end - handle->entries[i].begin, SG_ALIGNMENT);
    handle->data = sgi_allocate(&handle->allocator, total, 1);
    if (!handle->data)
        return SG_ERROR_MEMORY;
    char *next = handle->data;
    for (size_t i = 0; i < handle->count; i++) {
        entry *e = &handle->entries[i];
        size_t bytes = (size_t)(e->end - e->begin);
        sg_status status = read_at(r, next, bytes, r->data_begin + e->begin);
        if (status != SG_OK)
            return status;
        e->tensor.data = next;
        next += sgi_align_up(bytes, SG_ALIGNMENT);
    }
    return SG_OK;
}

/* Files of other programs have no checksum. */
static sg_status check_sum(const reader *r)
{
    const sgi_safetensors *handle = r->handle;
    sgi_checksum sum = {0, 0};
    char text[SG_CHECKSUM_SIZE];
    if (!handle->checksum)
        return SG_OK;
    for (size_t i = 0; i < handle->count; i++)
        sgi_checksum_tensor(&sum, &handle->entries[i].tensor);
    for (size_t i = 0; i < handle->note_count; i++)
        sgi_checksum_note(&sum, &handle->notes[i]);
    sgi_checksum_text(&sum, text);
    if (strcmp(text, handle->checksum) != 0)
        return sgi_fail_file(
            r->diagnostic, SG_ERROR_FORMAT, r->path,
            "the file is damaged: its checksum does not fit its content (a program that "
            "changes such a file leaves the note '%s' out)",
            SG_CHECKSUM_NOTE);
    return SG_OK;
}

sg_status sgi_safetensors_open(sgi_safetensors **out, const char *path, const sg_allocator *given,
                               sg_diagnostic *diagnostic)
{
    if (!out || !path)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    sgi_safetensors *handle = SGI_NEW(sgi_safetensors, given);
    if (!handle)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    reader r = {.handle = handle, .path = path, .diagnostic = diagnostic};
    sg_status status = sgi_file_open(path, false, &r.file, diagnostic);
    if (status == SG_OK)
        status = read_header(&r);
    if (status == SG_OK)
        status = parse_entries(&r);
    if (status == SG_OK)
        status = check_cover(&r);
    if (status == SG_OK)
        status = read_tensors(&r);
    if (status == SG_OK)
        status = check_sum(&r);
    if (r.file >= 0)
        close(r.file);
    if (status == SG_OK) {
        *out = handle;
        return SG_OK;
    }
    sgi_safetensors_close(handle);
    return status == SG_ERROR_MEMORY ? sgi_fail_file(r.diagnostic, status, r.path, "out of memory")
                                     : status;
}

void sgi_safetensors_close(sgi_safetensors *handle)
{
    if (!handle)
        return;
    json_decref(handle->root);
    sgi_release(&handle->allocator, handle->entries);
    sgi_release(&handle->allocator, handle->notes);
    sgi_release(&handle->allocator, handle->data);
    sgi_release(&handle->allocator, handle);
}

bool sgi_safetensors_has_checksum(const sgi_safetensors *handle)
{
    return handle->checksum;
}

size_t sgi_safetensors_count(const sgi_safetensors *handle)
{
    return handle->count;
}

const sgi_tensor *sgi_safetensors_at(const sgi_safetensors *handle, size_t index)
{
    return index < handle->count ? &handle->entries[index].tensor : NULL;
}

const sgi_tensor *sgi_safetensors_find(const sgi_safetensors *handle, const char *name)
{
    for (size_t i = 0; i < handle->count; i++)
        if (strcmp(handle->entries[i].tensor.name, name) == 0)
            return &handle->entries[i].tensor;
    return NULL;
}

size_t sgi_safetensors_note_count(const sgi_safetensors *handle)
{
    return handle->note_count;
}

const sgi_tensor_note *sgi_safetensors_note_at(const sgi_safetensors *handle, size_t index)
{
    return index < handle->note_count ? &handle->notes[index] : NULL;
}

const char *sgi_safetensors_note(const sgi_safetensors *handle, const char *key)
{
    for (size_t i = 0; i < handle->note_count; i++)
        if (strcmp(handle->notes[i].key, key) == 0)
            return handle->notes[i].value;
    return NULL;
}
