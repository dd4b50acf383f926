/* Arrays as read: see arrays.h. */
#include "files/arrays.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/diagnostic.h"
#include "base/memory.h"

sg_status sgi_array_bad(const sgi_array_reader *r, const char *why)
{
    return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "%s", why);
}

sg_status sgi_array_no_memory(const sgi_array_reader *r)
{
    return sgi_fail_file(r->diagnostic, SG_ERROR_MEMORY, r->path, "out of memory");
}

/* ---- Values -----------------------------------------------------------------------------------
 */

static double signed_value(const unsigned char *at, size_t width)
{
    int64_t v8;
    int32_t v4;
    int16_t v2;
    switch (width) {
    case 8:
        memcpy(&v8, at, 8);
        return (double)v8;
    case 4:
        memcpy(&v4, at, 4);
        return (double)v4;
    case 2:
        memcpy(&v2, at, 2);
        return (double)v2;
    default:
        return (double)(int8_t)*at;
    }
}

static double unsigned_value(const unsigned char *at, size_t width)
{
    uint64_t value = 0; /* little-endian */
    memcpy(&value, at, width);
    return (double)value;
}

static double value_at(const unsigned char *at, const sgi_layout *l)
{
    if (l->kind == 'i')
        return signed_value(at, l->width);
    if (l->kind != 'f')
        return unsigned_value(at, l->width);
    double f8;
    float f4;
    if (l->width == 8) {
        memcpy(&f8, at, 8);
        return f8;
    }
    memcpy(&f4, at, 4);
    return (double)f4;
}

/* Converts the values to double in C order. In Fortran order the first index is fastest, so the
 * place of an element is found by counting its index up in C order. */
static void convert(const unsigned char *from, const sgi_layout *l, size_t step, double *to,
                    size_t count)
{
    if (!l->fortran || l->rank < 2) {
        for (size_t i = 0; i < count; i++)
            to[i] = value_at(from + i * step, l);
        return;
    }
    size_t stride[SG_ARRAY_RANK], index[SG_ARRAY_RANK] = {0}, place = 0, next = 1;
    for (size_t d = 0; d < l->rank; d++) {
        stride[d] = next;
        next *= l->shape[d];
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = value_at(from + place * step, l);
        for (size_t d = l->rank; d-- > 0;) {
            place += stride[d];
            if (++index[d] < l->shape[d])
                break;
            place -= stride[d] * l->shape[d];
            index[d] = 0;
        }
    }
}

bool sgi_layout_count(const sgi_layout *l, size_t *count)
{
    *count = 1;
    for (size_t i = 0; i < l->rank; i++)
        if (__builtin_mul_overflow(*count, l->shape[i], count))
            return false;
    return true;
}

/* `values` and `stride`: the elements need not lie side by side. */
static sg_status add_part(sgi_array_reader *r, const char *name, size_t name_length,
                          const char *suffix, const sgi_layout *l, size_t count, size_t stride,
                          const unsigned char *values)
{
    if (count > r->left / sizeof(double))
        return sgi_array_bad(r, "arrays are larger than the limit");
    if (r->out->count == r->room)
        return sgi_array_bad(r, "more arrays than the file says");
    r->left -= count * sizeof(double);
    const sg_allocator *allocator = &r->out->allocator;
    sgi_array *array = &r->out->items[r->out->count++];
    array->rank = l->rank;
    memcpy(array->shape, l->shape, sizeof array->shape);
    array->count = count;
    array->name = sgi_allocate(allocator, name_length + strlen(suffix) + 1, 1);
    array->values = sgi_allocate(allocator, count, sizeof(double));
    if (!array->name || !array->values)
        return sgi_array_no_memory(r);
    memcpy(array->name, name, name_length);
    memcpy(array->name + name_length, suffix, strlen(suffix));
    convert(values, l, stride, array->values, count);
    return SG_OK;
}

sg_status sgi_array_add(sgi_array_reader *r, const char *name, size_t name_length,
                        const sgi_layout *l, size_t count, const unsigned char *values)
{
    if (l->kind != 'c')
        return add_part(r, name, name_length, "", l, count, l->width, values);
    sgi_layout part = *l;
    part.kind = 'f';
    part.width = l->width / 2;
    sg_status status = add_part(r, name, name_length, ".real", &part, count, l->width, values);
    if (status == SG_OK)
        status =
            add_part(r, name, name_length, ".imag", &part, count, l->width, values + part.width);
    return status;
}

/* ---- Compressed pieces ------------------------------------------------------------------------
 */

static void *zlib_allocate(void *allocator, unsigned count, unsigned size)
{
    return sgi_allocate(allocator, count, size);
}

static void zlib_release(void *allocator, void *memory)
{
    sgi_release(allocator, memory);
}

/* With `whole` the stream must end there. */
static sg_status inflate_into(const sgi_array_reader *r, const unsigned char *from,
                              size_t from_size, int window, unsigned char *to, size_t size,
                              bool whole)
{
    if (from_size > UINT32_MAX || size > UINT32_MAX)
        return sgi_array_bad(r, "a compressed array of over 4 GiB is not read");
    z_stream stream = {.zalloc = zlib_allocate,
                       .zfree = zlib_release,
                       .opaque = &r->out->allocator,
                       .next_in = (unsigned char *)from,
                       .avail_in = (unsigned)from_size,
                       .next_out = to,
                       .avail_out = (unsigned)size};
    int result = inflateInit2(&stream, window);
    if (result == Z_OK) {
        result = inflate(&stream, whole ? Z_FINISH : Z_SYNC_FLUSH);
        if (!whole && stream.total_out == size)
            result = Z_STREAM_END;
        if (result == Z_STREAM_END && stream.total_out != size)
            result = Z_DATA_ERROR;
        (void)inflateEnd(&stream);
    }
    if (result == Z_MEM_ERROR)
        return sgi_array_no_memory(r);
    return result == Z_STREAM_END ? SG_OK : sgi_array_bad(r, "damaged compressed data");
}

sg_status sgi_array_inflate(const sgi_array_reader *r, const unsigned char *from, size_t from_size,
                            int window, unsigned char *to, size_t size)
{
    return inflate_into(r, from, from_size, window, to, size, true);
}

sg_status sgi_array_inflate_head(const sgi_array_reader *r, const unsigned char *from,
                                 size_t from_size, int window, unsigned char *to, size_t size)
{
    return inflate_into(r, from, from_size, window, to, size, false);
}

/* ---- Arrays -----------------------------------------------------------------------------------
 */

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
