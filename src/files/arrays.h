/* Arrays of numbers as read from a file, whatever its format: the one carrier of npz.h and mat.h.
 */
#ifndef SG_FILES_ARRAYS_H
#define SG_FILES_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

enum { SG_ARRAY_RANK = 16 };

/* One array: product of shape = count values, last index fastest. */
typedef struct sgi_array {
    char *name; /* empty when the file gives none */
    size_t rank;
    size_t shape[SG_ARRAY_RANK];
    size_t count;
    double *values; /* (count) */
} sgi_array;

/* Owns all its memory; released with sgi_arrays_release. */
typedef struct sgi_arrays {
    sg_allocator allocator;
    size_t count;
    sgi_array *items; /* (count), in the order of the file */
} sgi_arrays;

void sgi_arrays_release(sgi_arrays *arrays);
/* The array of that name, or NULL. */
const sgi_array *sgi_arrays_find(const sgi_arrays *arrays, const char *name);

/* Reads a file by the end of its name: .npz and .npy, .mat, and everything else as a table of
 * numbers (see csv.h), each column an array; columns without names are called "1", "2" and so on,
 * and *named is false. `limit` bounds the bytes of the file and of all arrays in memory. *out is
 * always safe to release. */
SG_CHECKED sg_status sgi_arrays_load(const char *path, size_t limit, const sg_allocator *allocator,
                                     sgi_arrays *out, bool *named, sg_diagnostic *diagnostic);
/* The same from memory. */
SG_CHECKED sg_status sgi_arrays_parse(const void *data, size_t size, const char *path, size_t limit,
                                      const sg_allocator *allocator, sgi_arrays *out, bool *named,
                                      sg_diagnostic *diagnostic);

/* ---- For the readers of formats ---------------------------------------------------------------
 */

/* How an array's numbers lie in a file, little-endian. */
typedef struct sgi_layout {
    char kind;    /* f: floating point, c: two of them, i: signed, u: unsigned, b: 0 or 1 */
    size_t width; /* bytes of an element */
    bool fortran; /* the first index is fastest */
    size_t rank, shape[SG_ARRAY_RANK];
} sgi_layout;

/* What a reader knows of its file. */
typedef struct sgi_array_reader {
    sgi_arrays *out;
    size_t room; /* items that fit */
    size_t left; /* bytes that may still be taken for arrays */
    const char *path;
    sg_diagnostic *diagnostic;
} sgi_array_reader;

sg_status sgi_array_bad(const sgi_array_reader *reader, const char *why); /* SG_ERROR_FORMAT */
sg_status sgi_array_no_memory(const sgi_array_reader *reader);

/* The number of values of a shape; false when it is more than a size_t holds. */
bool sgi_layout_count(const sgi_layout *layout, size_t *count);

/* Appends an array of `count` values, converted to double in C order; a complex one becomes two
 * arrays, NAME.real and NAME.imag. */
SG_CHECKED sg_status sgi_array_add(sgi_array_reader *reader, const char *name, size_t name_length,
                                   const sgi_layout *layout, size_t count,
                                   const unsigned char *values);

/* Unpacks a deflated stream into exactly `size` bytes. `window` is zlib's: -MAX_WBITS for a stream
 * without a head. */
SG_CHECKED sg_status sgi_array_inflate(const sgi_array_reader *reader, const unsigned char *from,
                                       size_t from_size, int window, unsigned char *to,
                                       size_t size);

/* The first `size` bytes of it. */
SG_CHECKED sg_status sgi_array_inflate_head(const sgi_array_reader *reader,
                                            const unsigned char *from, size_t from_size, int window,
                                            unsigned char *to, size_t size);

/* Deflate cannot shrink by more than this. */
enum { SG_INFLATE_RATIO = 1032 };

#endif
