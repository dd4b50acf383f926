/* MATLAB's array files: see mat.h. A file is a head of 128 bytes and then elements, each a tag (a
 * type and a number of bytes) and its bytes. An array is an element made of elements: flags,
 * dimensions, a name, the real part, the imaginary part. */
#include "files/mat.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/diagnostic.h"
#include "base/memory.h"

enum { HEAD = 128, TAG = 8 };
enum { TYPE_INT32 = 5, TYPE_UINT32 = 6, TYPE_MATRIX = 14, TYPE_COMPRESSED = 15 };
enum { CLASS_DOUBLE = 6, CLASS_UINT64 = 15 }; /* classes of numbers: from one to the other */
enum { FLAG_COMPLEX = 0x800 };

typedef struct reader {
    const unsigned char *data; /* (size) */
    size_t size;
    size_t counted; /* arrays, before any is read */
    sgi_array_reader arrays;
} reader;

/* An element, and what comes behind it. */
typedef struct element {
    uint32_t type;
    const unsigned char *bytes; /* (size) */
    size_t size;
    size_t whole; /* with its tag and the bytes that fill up to a multiple of eight */
} element;

static sg_status bad(const reader *r, const char *why)
{
    return sgi_array_bad(&r->arrays, why);
}

static uint32_t load32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The element at `at`, of which `left` bytes are there. Up to four bytes may stand in the tag
 * itself, beside a short number of bytes. */
static bool take(const unsigned char *at, size_t left, element *e)
{
    if (left < TAG)
        return false;
    uint32_t word = load32(at);
    if (word >> 16) {
        *e = (element){word & 0xffff, at + 4, word >> 16, TAG};
        return e->size <= 4;
    }
    *e = (element){word, at + TAG, load32(at + 4), 0};
    if (e->size > left - TAG)
        return false;
    size_t padded = e->type == TYPE_COMPRESSED ? e->size : (e->size + 7) / 8 * 8;
    e->whole = TAG + (padded < left - TAG ? padded : left - TAG); /* the last need not be filled */
    return true;
}

/* How the numbers of an element of that type lie; false for what is no type of numbers. */
static bool numbers_of(uint32_t type, sgi_layout *l)
{
    static const struct {
        char kind;
        uint8_t width;
    } types[] = {[1] = {'i', 1}, [2] = {'u', 1}, [3] = {'i', 2}, [4] = {'u', 2},  [5] = {'i', 4},
                 [6] = {'u', 4}, [7] = {'f', 4}, [9] = {'f', 8}, [12] = {'i', 8}, [13] = {'u', 8}};
    if (type >= sizeof types / sizeof *types || !types[type].width)
        return false;
    l->kind = types[type].kind;
    l->width = types[type].width;
    return true;
}

/* ---- One array --------------------------------------------------------------------------------
 */

static sg_status read_shape(const reader *r, const element *e, sgi_layout *l)
{
    if (e->type != TYPE_INT32 || e->size % 4 || e->size < 8)
        return bad(r, "an array's dimensions are damaged");
    if (e->size / 4 > SG_ARRAY_RANK)
        return bad(r, "an array has more than 16 dimensions");
    l->rank = e->size / 4;
    for (size_t d = 0; d < l->rank; d++) {
        uint32_t size = load32(e->bytes + 4 * d);
        if (size > INT32_MAX)
            return bad(r, "an array's dimensions are damaged");
        l->shape[d] = size;
    }
    return SG_OK;
}

static sg_status read_part(reader *r, const element *name, const char *suffix, const element *e,
                           sgi_layout *l)
{
    char text[256];
    size_t count, bytes, length = name->size;
    if (!numbers_of(e->type, l))
        return bad(r, "an array's numbers are of a type that is not understood");
    if (!sgi_layout_count(l, &count) || __builtin_mul_overflow(count, l->width, &bytes) ||
        bytes != e->size)
        return bad(r, "an array's dimensions do not agree with the number of bytes");
    if (length + strlen(suffix) >= sizeof text || memchr(name->bytes, 0, length))
        return bad(r, "an array's name is damaged");
    snprintf(text, sizeof text, "%.*s%s", (int)length, (const char *)name->bytes, suffix);
    return sgi_array_add(&r->arrays, text, length + strlen(suffix), l, count, e->bytes);
}

/* Takes the next element of an array; false when it is cut short. */
static bool next(element *inside, element *e)
{
    if (!take(inside->bytes, inside->size, e))
        return false;
    inside->bytes += e->whole;
    inside->size -= e->whole;
    return true;
}

static sg_status read_matrix(reader *r, element matrix)
{
    element flags, shape, name, part;
    sgi_layout l = {.fortran = true};
    if (matrix.size == 0) /* an empty cell, as some writers leave behind */
        return SG_OK;
    if (!next(&matrix, &flags) || flags.type != TYPE_UINT32 || flags.size != 8)
        return bad(r, "an array's flags are damaged");
    uint32_t word = load32(flags.bytes), class = word & 0xff;
    if (class < 1 || class > 18)
        return bad(r, "an array's class is damaged");
    if (class < CLASS_DOUBLE || class > CLASS_UINT64)
        return SG_OK; /* no full array of numbers */
    if (!next(&matrix, &shape) || !next(&matrix, &name))
        return bad(r, "an array is cut short");
    sg_status status = read_shape(r, &shape, &l);
    bool complex = (word & FLAG_COMPLEX) != 0;
    for (int i = 0; i <= (complex ? 1 : 0) && status == SG_OK; i++) {
        static const char *const suffixes[] = {".real", ".imag"};
        if (!next(&matrix, &part))
            return bad(r, "an array is cut short");
        status = read_part(r, &name, complex ? suffixes[i] : "", &part, &l);
    }
    return status;
}

/* ---- Compressed arrays ------------------------------------------------------------------------
 */

static sg_status read_compressed(reader *r, const element *e)
{
    unsigned char tag[TAG]; /* says how long the rest is */
    sg_status status = sgi_array_inflate_head(&r->arrays, e->bytes, e->size, MAX_WBITS, tag, TAG);
    if (status == SG_OK && load32(tag) != TYPE_MATRIX)
        status = bad(r, "damaged compressed data");
    if (status != SG_OK)
        return status;
    size_t size = TAG + (size_t)load32(tag + 4);
    if (size / SG_INFLATE_RATIO > e->size || size > r->arrays.left)
        return bad(r, "arrays are larger than the limit");
    unsigned char *unpacked = sgi_allocate(&r->arrays.out->allocator, size, 1);
    if (!unpacked)
        return sgi_array_no_memory(&r->arrays);
    element matrix;
    status = sgi_array_inflate(&r->arrays, e->bytes, e->size, MAX_WBITS, unpacked, size);
    if (status == SG_OK)
        status = take(unpacked, size, &matrix) ? read_matrix(r, matrix)
                                               : bad(r, "damaged compressed data");
    sgi_release(&r->arrays.out->allocator, unpacked);
    return status;
}

/* ---- The file ---------------------------------------------------------------------------------
 */

static sg_status check_head(const reader *r)
{
    static const unsigned char hdf5[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    const char *instead = "save it with -v7, or as .npz";
    if ((r->size >= 8 && memcmp(r->data, hdf5, 8) == 0) ||
        (r->size >= 520 && memcmp(r->data + 512, hdf5, 8) == 0))
        return sgi_fail_file(r->arrays.diagnostic, SG_ERROR_FORMAT, r->arrays.path,
                             "a MAT file of version 7.3 (HDF5) is not read: %s", instead);
    if (r->size >= HEAD && r->data[126] == 'M' && r->data[127] == 'I')
        return sgi_fail_file(r->arrays.diagnostic, SG_ERROR_FORMAT, r->arrays.path,
                             "a MAT file with the bytes of numbers in big-endian order is not "
                             "read: %s",
                             instead);
    if (r->size < HEAD || r->data[126] != 'I' || r->data[127] != 'M' || r->data[125] != 1)
        return sgi_fail_file(r->arrays.diagnostic, SG_ERROR_FORMAT, r->arrays.path,
                             "not a MAT file of version 5 to 7 (if it is one of version 4: %s)",
                             instead);
    return SG_OK;
}

/* With `count` only counts them. */
static sg_status walk(reader *r, bool count)
{
    for (size_t at = HEAD; at < r->size;) {
        element e;
        sg_status status = SG_OK;
        if (!take(r->data + at, r->size - at, &e))
            return bad(r, "cut short, or damaged");
        if (count)
            r->counted++;
        else if (e.type == TYPE_COMPRESSED)
            status = read_compressed(r, &e);
        else if (e.type == TYPE_MATRIX)
            status = read_matrix(r, e);
        if (status != SG_OK)
            return status;
        at += e.whole;
    }
    return SG_OK;
}

sg_status sgi_mat_parse(const void *data, size_t size, const char *path, size_t limit,
                        const sg_allocator *allocator, sgi_arrays *out, sg_diagnostic *diagnostic)
{
    *out = (sgi_arrays){.allocator = sgi_allocator_or_heap(allocator)};
    reader r = {data, size, 0, {out, 0, limit, path, diagnostic}};
    sg_status status = check_head(&r);
    if (status == SG_OK)
        status = walk(&r, true);
    if (status == SG_OK) {
        r.arrays.room = 2 * r.counted; /* a complex array becomes two */
        out->items = sgi_allocate(&out->allocator, r.arrays.room, sizeof *out->items);
        status = out->items ? walk(&r, false) : sgi_array_no_memory(&r.arrays);
    }
    if (status != SG_OK)
        sgi_arrays_release(out);
    return status;
}
