/* NumPy's array files: .npz archives (a zip of .npy files) written and read, .npy files read.
 *
 * Written: stored (not compressed) entries, .npy format 1.0, little-endian, C order. The same
 * arrays give the same bytes: entries carry no time. Archives are limited to 4 GiB (no zip64).
 * Read: stored and deflated entries; f4, f8, i1, i4, i8, u1 and bool; little-endian; C or Fortran
 * order. Everything becomes double in C order. Sizes are checked before memory is taken, checksums
 * before values are believed; what does not fit is refused with SG_ERROR_FORMAT. */
#ifndef SG_FILES_NPZ_H
#define SG_FILES_NPZ_H

#include <stddef.h>
#include <stdint.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

enum { SG_ARRAY_RANK = 16 };

typedef enum sgi_array_type { SG_ARRAY_FLOAT64, SG_ARRAY_FLOAT32, SG_ARRAY_INT64 } sgi_array_type;

/* One array as read: product of shape = count values, last index fastest. */
typedef struct sgi_array {
    char *name; /* without .npy; empty when read from a .npy file */
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

/* Reads a .npz or .npy file, told apart by content. `limit` bounds the bytes of the file and of all
 * arrays in memory. *out is always safe to release. */
SG_CHECKED sg_status sgi_npz_read(const char *path, size_t limit, const sg_allocator *allocator,
                                  sgi_arrays *out, sg_diagnostic *diagnostic);
/* The same from memory; `path` is used in messages only. */
SG_CHECKED sg_status sgi_npz_parse(const void *data, size_t size, const char *path, size_t limit,
                                   const sg_allocator *allocator, sgi_arrays *out,
                                   sg_diagnostic *diagnostic);
void sgi_arrays_release(sgi_arrays *arrays);
/* The array of that name, or NULL. */
const sgi_array *sgi_arrays_find(const sgi_arrays *arrays, const char *name);

/* An archive being written; nothing is seen under its name before the commit. */
typedef struct sgi_npz sgi_npz;

SG_CHECKED sg_status sgi_npz_create(sgi_npz **out, const char *path, const sg_allocator *allocator,
                                    sg_diagnostic *diagnostic);
/* Appends an array; `values` are product of shape values of the type, last index fastest. */
SG_CHECKED sg_status sgi_npz_add(sgi_npz *npz, const char *name, sgi_array_type type, size_t rank,
                                 const size_t *shape, const void *values,
                                 sg_diagnostic *diagnostic);
/* Writes the directory, commits the file and destroys the handle, whatever happens. */
SG_CHECKED sg_status sgi_npz_commit(sgi_npz *npz, sg_diagnostic *diagnostic);
/* Destroys the handle and leaves no file. NULL is allowed. */
void sgi_npz_abandon(sgi_npz *npz);

#endif
