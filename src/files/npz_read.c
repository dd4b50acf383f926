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

typedef struct reader {
    const unsigned char *data; /* (size) */
    size_t size;
    sgi_array_reader arrays;
} reader;

static sg_status bad(const reader *r, const char *why)
{
    return sgi_array_bad(&r->arrays, why);
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

static bool take_shape(cursor *c, sgi_layout *l)
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

static bool take_type(cursor *c, sgi_layout *l)
{
    static const char *const known[] = {"<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8",
                                        "<u4", "<u2", "|u1", "|b1", "<c8", "<c16"};
    char text[8];
    if (!take_text(c, text, sizeof text))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, known[i]) == 0) {
            l->kind = text[1];
            l->width = text[3] ? 16 : (size_t)(text[2] - '0');
            return true;
        }
    return false;
}

static bool take_dictionary(cursor *c, sgi_layout *l)
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
    sgi_layout l = {0};
    if (!take_dictionary(&c, &l))
        return bad(r, "a .npy header that is not understood (types: f4 f8 c8 c16 bool and "
                      "integers, little-endian, at most 16 dimensions)");
    size_t count, bytes;
    if (!sgi_layout_count(&l, &count))
        return bad(r, "a .npy shape is too large");
    if (__builtin_mul_overflow(count, l.width, &bytes) || bytes != size - begin - length)
        return bad(r, "a .npy shape does not agree with the number of bytes");
    return sgi_array_add(&r->arrays, name, name_length, &l, count, data + begin + length);
}

/* --- the zip archive --- */

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
        if (e->size / SG_INFLATE_RATIO > e->stored_size || e->size > r->arrays.left)
            return bad(r, "arrays are larger than the limit");
        unpacked = sgi_allocate(&r->arrays.out->allocator, e->size, 1);
        if (!unpacked)
            return sgi_array_no_memory(&r->arrays);
        status =
            sgi_array_inflate(&r->arrays, e->stored, e->stored_size, -MAX_WBITS, unpacked, e->size);
        content = unpacked;
    }
    if (status == SG_OK && (uint32_t)crc32_z(0, content, e->size) != e->crc)
        status = bad(r, "a checksum does not agree: the file is damaged");
    if (status == SG_OK)
        status = parse_npy(r, e->name, e->name_length - 4, content, e->size);
    sgi_release(&r->arrays.out->allocator, unpacked);
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
    r->arrays.room = 2 * count; /* a complex array becomes two */
    r->arrays.out->items =
        sgi_allocate(&r->arrays.out->allocator, 2 * count, sizeof *r->arrays.out->items);
    if (!r->arrays.out->items)
        return sgi_array_no_memory(&r->arrays);
    return parse_directory(r, begin, begin + length, count);
}

sg_status sgi_npz_parse(const void *data, size_t size, const char *path, size_t limit,
                        const sg_allocator *allocator, sgi_arrays *out, sg_diagnostic *diagnostic)
{
    *out = (sgi_arrays){.allocator = sgi_allocator_or_heap(allocator)};
    reader r = {data, size, {out, 0, limit, path, diagnostic}};
    sg_status status;
    if (size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0) {
        out->items = sgi_allocate(&out->allocator, 2, sizeof *out->items);
        r.arrays.room = 2;
        status = out->items ? parse_npy(&r, "", 0, data, size) : sgi_array_no_memory(&r.arrays);
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
