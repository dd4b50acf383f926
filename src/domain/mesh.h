/* A mesh of a region: lines, triangles or tetrahedra that fill it, with corners on its boundary.
 *
 * The cells of a grid over the bounds are divided alike (Kuhn's way: a simplex for each order of
 * the axes). Corners of the grid that lie close to the boundary are moved onto it along an edge, as
 * in isosurface stuffing (Labelle and Shewchuk, 2007), so that no slivers are cut off; simplices
 * that the boundary still passes through are cut there. Neighbours share faces. The boundary is
 * found by bisection, so that corners lie on it to rounding; sharp corners of the region that lie
 * inside a cell are cut off. */
#ifndef SG_DOMAIN_MESH_H
#define SG_DOMAIN_MESH_H

#include <stddef.h>
#include <stdint.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

enum { SG_MESH_AXES = 3, SG_MESH_MOST = 1 << 25 };

/* The signed distance of a region, below 0 inside. */
typedef double sgi_mesh_distance(const void *context, const double *x);

typedef struct sgi_mesh_grid {
    int axes;                    /* 1 to 3 */
    size_t counts[SG_MESH_AXES]; /* of points along each, at least 2; in all at most SG_MESH_MOST */
    double lower[SG_MESH_AXES], upper[SG_MESH_AXES];
    sgi_mesh_distance *distance; /* NULL: the grid is filled */
    const void *context;
    double near; /* distances up to this are 0 */
} sgi_mesh_grid;

typedef struct sgi_mesh {
    sg_allocator allocator;
    int axes;
    size_t point_count, cell_count;
    double *points;  /* (point_count, axes) */
    uint32_t *cells; /* (cell_count, axes + 1): corners, of positive volume */
} sgi_mesh;

/* SG_ERROR_ARGUMENT for a grid that is none, or too large. *mesh is always safe to release. */
SG_CHECKED sg_status sgi_mesh_make(sgi_mesh *mesh, const sgi_mesh_grid *grid,
                                   const sg_allocator *allocator);
void sgi_mesh_release(sgi_mesh *mesh);

#endif
