/* MATLAB's array files, read: the formats of versions 5 to 7 (save's -v6 and -v7), compressed or
 * not, little-endian.
 *
 * Full arrays of numbers, real or complex, of at most 16 dimensions are read, everything as double
 * in C order; a complex array becomes two, NAME.real and NAME.imag. Cells, structures, texts and
 * sparse arrays are passed over. Files of version 7.3, which are HDF5, and of version 4 are refused
 * with a sentence. Sizes are checked before memory is taken; what does not fit is
 * SG_ERROR_FORMAT. */
#ifndef SG_FILES_MAT_H
#define SG_FILES_MAT_H

#include "files/arrays.h"

/* `limit` bounds the bytes of all arrays in memory; `path` is used in messages only. *out is always
 * safe to release. */
SG_CHECKED sg_status sgi_mat_parse(const void *data, size_t size, const char *path, size_t limit,
                                   const sg_allocator *allocator, sgi_arrays *out,
                                   sg_diagnostic *diagnostic);

#endif
