/* Closed surfaces made of triangles, from the loose triangles of a file.
 *
 * Corners at the same place, as far as single precision tells, become one; triangles that vanish by
 * that are left out. What is left must be the boundary of a solid: every edge has two triangles
 * that run along it in opposite directions, the triangles around a corner form one fan, and parts
 * that lie apart or in each other are oriented alike: a shell outwards, a hollow inwards. */
#ifndef SG_DOMAIN_SURFACE_H
#define SG_DOMAIN_SURFACE_H

#include <stddef.h>
#include <stdint.h>

#include "files/stl.h"
#include "text/arena.h"

typedef struct sgi_surface {
    size_t corner_count, count;
    double *corners;        /* (corner_count, 3) */
    uint32_t *triangles;    /* (count, 3): corners, counterclockwise from outside */
    uint32_t *across;       /* (count, 3): the triangle behind the edge from corner k to k + 1 */
    double *normals;        /* (count, 3): unit, outward */
    double *corner_normals; /* (corner_count, 3): of the fan, weighted by angles; no unit vectors */
    double volume, area;
    double size; /* the diagonal of its bounds */
} sgi_surface;

/* SG_ERROR_FORMAT with a diagnostic, which names the place, when the triangles are no such surface;
 * `path` is used in messages only. All memory that stays is the arena's. */
SG_CHECKED sg_status sgi_surface_make(sgi_surface *surface, sgi_arena *arena, const sgi_stl *stl,
                                      const char *path, sg_diagnostic *diagnostic);

#endif
