/* NumPy's array files: .npz archives (a zip of .npy files) written and read, .npy files read.
 *
 * Written: stored (not compressed) entries, .npy format 1.0, little-endian, C order. The same
 * arrays give the same bytes: entries carry no time. Archives are limited to 4 GiB (no zip64).
 * Read: stored and deflated entries; f4, f8, c8, c16, integers and bool; little-endian; C or
 * Fortran order. Everything becomes double in C order. Sizes are checked before memory is taken,
 * checksums before values are believed; what does not fit is refused with SG_ERROR_FORMAT. */
#ifndef SG_FILES_NPZ_H
#define SG_FILES_NPZ_H

#include <stddef.h>
#include <stdint.h>

#include "files/arrays.h"

typedef enum sgi_array_type { SG_ARRAY_FLOAT64, SG_ARRAY_FLOAT32, SG_ARRAY_INT64 } sgi_array_type;

/* Reads a .npz or .npy file, told apart by content. `limit` bounds the bytes of the file and of all
 * arrays in memory. *out is always safe to release. */
SG_CHECKED sg_status sgi_npz_read(const char *path, size_t limit, const sg_allocator *allocator,
                                  sgi_arrays *out, sg_diagnostic *diagnostic);
/* The same from memory; `path` is used in messages only. */
SG_CHECKED sg_status sgi_npz_parse(const void *data, size_t size, const char *path, size_t limit,
                                   const sg_allocator *allocator, sgi_arrays *out,
                                   sg_diagnostic *diagnostic);

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
