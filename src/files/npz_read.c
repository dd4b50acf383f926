/* Reading .npz and .npy: see npz.h. The zip directory at the end of the archive is believed for
 * sizes and places, each of which is checked against the bytes that are there. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "files/npz.h"

enum { LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, COMMENT_MAX = 65535 };
/* Deflate cannot shrink by more than this. */
enum { RATIO_MAX = 1032 };

typedef struct reader {
    const unsigned char *data; /* (size) */
    size_t size;
    size_t left; /* bytes that may still be taken for arrays */
    sgi_arrays *out;
    const char *path;
    sg_diagnostic *diagnostic;
} reader;

static sg_status bad(const reader *r, const char *why)
{
    return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "%s", why);
}

static sg_status no_memory(const reader *r)
{
    return sgi_fail_file(r->diagnostic, SG_ERROR_MEMORY, r->path, "out of memory");
}

static uint32_t load16(const unsigned char *at)
{
    return (uint32_t)(at[0] | at[1] << 8);
}

static uint32_t load32(const unsigned char *at)
{
    return load16(at) | load16(at + 2) << 16;
}

/* --- the header of a .npy file: a Python dictionary of three entries --- */

typedef struct cursor {
    const char *at, *end;
} cursor;

typedef struct layout {
    char kind; /* f, i, u or b */
    size_t width;
    bool fortran;
    size_t rank, shape[SG_ARRAY_RANK];
} layout;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n'))
        c->at++;
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* A quoted word of fewer than `capacity` bytes. */
static bool take_text(cursor *c, char *text, size_t capacity)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    size_t length = 0;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (length + 1 == capacity)
            return false;
        text[length++] = *c->at;
    }
    text[length] = 0;
    return take(c, quote);
}

static bool take_size(cursor *c, size_t *value)
{
    skip_space(c);
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
        return false;
    *value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(*value, (size_t)10, value) ||
            __builtin_add_overflow(*value, (size_t)(*c->at - '0'), value))
            return false;
    return true;
}

static bool take_shape(cursor *c, layout *l)
{
    l->rank = 0;
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        if (l->rank == SG_ARRAY_RANK || !take_size(c, &l->shape[l->rank]))
            return false;
        l->rank++;
        if (!take(c, ',')) /* after the last size a comma is optional */
            return take(c, ')');
    }
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    skip_space(c);
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool take_type(cursor *c, layout *l)
{
    static const char *const known[] = {"<f8", "<f4", "<i8", "<i4", "|i1", "|u1", "|b1"};
    char text[8];
    if (!take_text(c, text, sizeof text))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, known[i]) == 0) {
            l->kind = text[1];
            l->width = (size_t)(text[2] - '0');
            return true;
        }
    return false;
}

static bool take_dictionary(cursor *c, layout *l)
{
    unsigned seen = 0;
    if (!take(c, '{'))
        return false;
    while (!take(c, '}')) {
        char key[16];
        if (!take_text(c, key, sizeof key) || !take(c, ':'))
            return false;
        bool good = false;
        if (strcmp(key, "descr") == 0) {
            good = take_type(c, l);
            seen |= 1;
        } else if (strcmp(key, "fortran_order") == 0) {
            l->fortran = take_word(c, "True");
            good = l->fortran || take_word(c, "False");
            seen |= 2;
        } else if (strcmp(key, "shape") == 0) {
            good = take_shape(c, l);
            seen |= 4;
        }
        if (!good)
            return false;
        if (!take(c, ','))
            return take(c, '}') && seen == 7;
    }
    return seen == 7;
}

/* --- values --- */

static double value_at(const unsigned char *at, const layout *l)
{
    union {
        double f8;
        float f4;
        int64_t i8;
        int32_t i4;
        int8_t i1;
    } v;
    memcpy(&v, at, l->width);
    if (l->kind == 'f')
        return l->width == 8 ? v.f8 : (double)v.f4;
    if (l->kind == 'i')
        return l->width == 8 ? (double)v.i8 : l->width == 4 ? (double)v.i4 : (double)v.i1;
    return (double)*at;
}

/* Converts the values to double in C order. In Fortran order the first index is fastest, so the
 * place of an element is found by counting its index up in C order. */
static void convert(const unsigned char *from, const layout *l, double *to, size_t count)
{
    if (!l->fortran || l->rank < 2) {
        for (size_t i = 0; i < count; i++)
            to[i] = value_at(from + i * l->width, l);
        return;
    }
    size_t stride[SG_ARRAY_RANK], index[SG_ARRAY_RANK] = {0}, place = 0, next = 1;
    for (size_t d = 0; d < l->rank; d++) {
        stride[d] = next;
        next *= l->shape[d];
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = value_at(from + place * l->width, l);
        for (size_t d = l->rank; d-- > 0;) {
            place += stride[d];
            if (++index[d] < l->shape[d])
                break;
            place -= stride[d] * l->shape[d];
            index[d] = 0;
        }
    }
}

static sg_status add_array(reader *r, const char *name, size_t name_length, const layout *l,
                           size_t count, const unsigned char *values)
{
    if (count > r->left / sizeof(double))
        return bad(r, "arrays are larger than the limit");
    r->left -= count * sizeof(double);
    const sg_allocator *allocator = &r->out->allocator;
    sgi_array *array = &r->out->items[r->out->count++];
    array->rank = l->rank;
    memcpy(array->shape, l->shape, sizeof array->shape);
    array->count = count;
    array->name = sgi_allocate(allocator, name_length + 1, 1);
    array->values = sgi_allocate(allocator, count, sizeof(double));
    if (!array->name || !array->values)
        return no_memory(r);
    memcpy(array->name, name, name_length);
    convert(values, l, array->values, count);
    return SG_OK;
}

static sg_status parse_npy(reader *r, const char *name, size_t name_length,
                           const unsigned char *data, size_t size)
{
    if (size < 12 || memcmp(data, "\x93NUMPY", 6) != 0)
        return bad(r, "an entry is not a .npy file");
    if (data[6] < 1 || data[6] > 3)
        return bad(r, "unknown version of the .npy format");
    size_t begin = data[6] == 1 ? 10 : 12;
    size_t length = data[6] == 1 ? load16(data + 8) : load32(data + 8);
    if (length > size - begin)
        return bad(r, "a .npy header is longer than its file");
    cursor c = {(const char *)data + begin, (const char *)data + begin + length};
    layout l = {0};
    if (!take_dictionary(&c, &l))
        return bad(r, "a .npy header that is not understood (types: f4 f8 i1 i4 i8 u1 bool, "
                      "little-endian, at most 8 dimensions)");
    size_t count = 1, bytes;
    for (size_t i = 0; i < l.rank; i++)
        if (__builtin_mul_overflow(count, l.shape[i], &count))
            return bad(r, "a .npy shape is too large");
    if (__builtin_mul_overflow(count, l.width, &bytes) || bytes != size - begin - length)
        return bad(r, "a .npy shape does not agree with the number of bytes");
    return add_array(r, name, name_length, &l, count, data + begin + length);
}

/* --- the zip archive --- */

static void *zlib_allocate(void *allocator, unsigned count, unsigned size)
{
    return sgi_allocate(allocator, count, size);
}

static void zlib_release(void *allocator, void *memory)
{
    sgi_release(allocator, memory);
}

static sg_status inflate_entry(reader *r, const unsigned char *from, size_t size, unsigned char *to,
                               size_t expected)
{
    z_stream stream = {.zalloc = zlib_allocate,
                       .zfree = zlib_release,
                       .opaque = &r->out->allocator,
                       .next_in = (unsigned char *)from,
                       .avail_in = (unsigned)size,
                       .next_out = to,
                       .avail_out = (unsigned)expected};
    int result = inflateInit2(&stream, -MAX_WBITS);
    if (result == Z_OK) {
        result = inflate(&stream, Z_FINISH);
        if (result == Z_STREAM_END && stream.total_out != expected)
            result = Z_DATA_ERROR;
        (void)inflateEnd(&stream);
    }
    if (result == Z_MEM_ERROR)
        return no_memory(r);
    return result == Z_STREAM_END ? SG_OK : bad(r, "damaged compressed data");
}

typedef struct zip_entry {
    const char *name;
    size_t name_length, size, stored_size;
    const unsigned char *stored; /* (stored_size) */
    uint32_t method, crc;
} zip_entry;

static sg_status unpack(reader *r, const zip_entry *e)
{
    unsigned char *unpacked = NULL;
    const unsigned char *content = e->stored;
    sg_status status = SG_OK;
    if (e->method == 8) {
        if (e->size / RATIO_MAX > e->stored_size || e->size > r->left)
            return bad(r, "arrays are larger than the limit");
        unpacked = sgi_allocate(&r->out->allocator, e->size, 1);
        if (!unpacked)
            return no_memory(r);
        status = inflate_entry(r, e->stored, e->stored_size, unpacked, e->size);
        content = unpacked;
    }
    if (status == SG_OK && (uint32_t)crc32_z(0, content, e->size) != e->crc)
        status = bad(r, "a checksum does not agree: the file is damaged");
    if (status == SG_OK)
        status = parse_npy(r, e->name, e->name_length - 4, content, e->size);
    sgi_release(&r->out->allocator, unpacked);
    return status;
}

/* Reads the directory's entry at `central`, whose name is inside the file, and the local header it
 * points to, which must end before the directory. */
static sg_status locate(reader *r, const unsigned char *central, size_t directory, zip_entry *e)
{
    e->method = load16(central + 10);
    e->crc = load32(central + 16);
    e->stored_size = load32(central + 20);
    e->size = load32(central + 24);
    size_t offset = load32(central + 42);
    if (load16(central + 8) & 1)
        return bad(r, "encrypted entries are not read");
    if (e->method != 0 && e->method != 8)
        return bad(r, "an entry's compression is neither stored nor deflate");
    if (e->stored_size == UINT32_MAX || e->size == UINT32_MAX || offset == UINT32_MAX)
        return bad(r, "zip64 archives (over 4 GiB) are not read");
    if (e->method == 0 && e->size != e->stored_size)
        return bad(r, "an entry's sizes disagree");
    if (offset > directory || directory - offset < LOCAL_SIZE ||
        load32(r->data + offset) != 0x04034b50)
        return bad(r, "an entry is not where the directory says");
    size_t head = LOCAL_SIZE + load16(r->data + offset + 26) + load16(r->data + offset + 28);
    if (head > directory - offset || e->stored_size > directory - offset - head)
        return bad(r, "an entry is longer than its archive");
    e->stored = r->data + offset + head;
    return SG_OK;
}

static sg_status parse_directory(reader *r, size_t begin, size_t end, size_t count)
{
    size_t at = begin;
    for (size_t i = 0; i < count; i++) {
        if (end - at < CENTRAL_SIZE || load32(r->data + at) != 0x02014b50)
            return bad(r, "the archive's directory is damaged");
        const unsigned char *central = r->data + at;
        zip_entry e = {.name = (const char *)central + CENTRAL_SIZE,
                       .name_length = load16(central + 28)};
        size_t length = CENTRAL_SIZE + e.name_length + load16(central + 30) + load16(central + 32);
        if (length > end - at)
            return bad(r, "the archive's directory is damaged");
        at += length;
        if (e.name_length <= 4 || memcmp(e.name + e.name_length - 4, ".npy", 4) != 0)
            continue;
        if (memchr(e.name, 0, e.name_length))
            return bad(r, "an entry's name holds a zero byte");
        sg_status status = locate(r, central, begin, &e);
        if (status == SG_OK)
            status = unpack(r, &e);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static sg_status parse_zip(reader *r)
{
    if (r->size < END_SIZE)
        return bad(r, "neither a .npz nor a .npy file");
    size_t lowest = r->size > END_SIZE + COMMENT_MAX ? r->size - END_SIZE - COMMENT_MAX : 0;
    size_t end = r->size - END_SIZE;
    while (end > lowest && load32(r->data + end) != 0x06054b50)
        end--;
    if (load32(r->data + end) != 0x06054b50)
        return bad(r, "the archive has no directory: cut short, or not a .npz file");
    size_t count = load16(r->data + end + 10), length = load32(r->data + end + 12);
    size_t begin = load32(r->data + end + 16);
    if (begin > end || length > end - begin)
        return bad(r, "the archive's directory is not where its end says");
    r->out->items = sgi_allocate(&r->out->allocator, count, sizeof *r->out->items);
    if (!r->out->items)
        return no_memory(r);
    return parse_directory(r, begin, begin + length, count);
}

sg_status sgi_npz_parse(const void *data, size_t size, const char *path, size_t limit,
                        const sg_allocator *allocator, sgi_arrays *out, sg_diagnostic *diagnostic)
{
    *out = (sgi_arrays){.allocator = sgi_allocator_or_heap(allocator)};
    reader r = {data, size, limit, out, path, diagnostic};
    sg_status status;
    if (size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0) {
        out->items = sgi_allocate(&out->allocator, 1, sizeof *out->items);
        status = out->items ? parse_npy(&r, "", 0, data, size) : no_memory(&r);
    } else {
        status = parse_zip(&r);
    }
    if (status != SG_OK)
        sgi_arrays_release(out);
    return status;
}

sg_status sgi_npz_read(const char *path, size_t limit, const sg_allocator *given, sgi_arrays *out,
                       sg_diagnostic *diagnostic)
{
    *out = (sgi_arrays){.allocator = sgi_allocator_or_heap(given)};
    char *data;
    size_t size;
    sg_status status = sgi_file_read(path, limit, given, &data, &size, diagnostic);
    if (status == SG_OK)
        status = sgi_npz_parse(data, size, path, limit, given, out, diagnostic);
    sgi_release(&out->allocator, data);
    return status;
}

void sgi_arrays_release(sgi_arrays *arrays)
{
    for (size_t i = 0; arrays->items && i < arrays->count; i++) {
        sgi_release(&arrays->allocator, arrays->items[i].name);
        sgi_release(&arrays->allocator, arrays->items[i].values);
    }
    sgi_release(&arrays->allocator, arrays->items);
    arrays->items = NULL;
    arrays->count = 0;
}

const sgi_array *sgi_arrays_find(const sgi_arrays *arrays, const char *name)
{
    for (size_t i = 0; i < arrays->count; i++)
        if (strcmp(arrays->items[i].name, name) == 0)
            return &arrays->items[i];
    return NULL;
}
