/* Fields on a mesh as VTK unstructured grids (.vtu), which ParaView and VisIt open. */
#ifndef SG_FILES_VTU_H
#define SG_FILES_VTU_H

#include <stddef.h>
#include <stdint.h>

#include "files/vti.h"

typedef struct sgi_vtu_mesh {
    int axes; /* 1 to 3: lines, triangles or tetrahedra */
    size_t point_count, cell_count;
    const double *points;  /* (point_count, axes) */
    const uint32_t *cells; /* (cell_count, axes + 1) */
} sgi_vtu_mesh;

/* Writes the file, all or nothing; each field has a value for every point. SG_ERROR_UNSUPPORTED for
 * a mesh of more corners than 32 bits count. */
SG_CHECKED sg_status sgi_vtu_write(const char *path, const sgi_vtu_mesh *mesh,
                                   const sgi_vti_field *fields, size_t count,
                                   const sg_allocator *allocator, sg_diagnostic *diagnostic);

#endif
