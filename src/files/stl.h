/* Surfaces as lists of triangles: STL files, binary and text.
 *
 * Binary: 80 bytes of anything, the number of triangles, and 50 bytes for each of them. Text: one
 * or several `solid ... endsolid` with `facet`, `outer loop`, three `vertex` lines, and their ends,
 * in any layout. A file is taken as binary when its size is exactly that of the number it states;
 * binary files may begin with the word solid too. The normals that a file states are not used: the
 * order of the corners tells the outside. */
#ifndef SG_FILES_STL_H
#define SG_FILES_STL_H

#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

enum { SG_STL_MOST_TRIANGLES = 1000000, SG_STL_MOST_BYTES = 400 << 20 };

typedef struct sgi_stl {
    sg_allocator allocator;
    size_t count;
    double *corners; /* (count, 3, 3): triangle, corner, coordinate; all finite */
} sgi_stl;

/* Reads `size` bytes; `path` is used in messages only. SG_ERROR_FORMAT with a diagnostic, which has
 * the line of a text, for bytes that are no such file. *out is always safe to release. */
SG_CHECKED sg_status sgi_stl_parse(const char *data, size_t size, const char *path,
                                   const sg_allocator *allocator, sgi_stl *out,
                                   sg_diagnostic *diagnostic);
void sgi_stl_release(sgi_stl *stl);

#endif
