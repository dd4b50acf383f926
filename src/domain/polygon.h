/* The outline of a polygon: one closed line, or several from a file, of which those inside others
 * are holes, or islands in holes. Shared by polygon.c and polygon_read.c. */
#ifndef SG_DOMAIN_POLYGON_H
#define SG_DOMAIN_POLYGON_H

#include "domain/shape.h"
#include "domain/tree.h"
#include "files/geojson.h"

enum { SG_POLYGON_POINTS, SG_POLYGON_FILE };

typedef struct sgi_outline {
    size_t ring_count;
    size_t *ends;    /* (ring_count): of each ring in the list of corners */
    double *senses;  /* (ring_count): 1 where the inside lies to the left, -1 to the right */
    uint32_t *rings; /* (corners): the ring of each */
    double area;
    double *lengths; /* (corners): up to the end of each edge */
    bool planted;    /* there is a tree of the edges: they are many */
    sgi_tree tree;
} sgi_outline;

/* The corner after corner i of its ring, and the one before. */
size_t sgi_outline_next(const sgi_outline *outline, size_t i);
size_t sgi_outline_before(const sgi_outline *outline, size_t i);

/* Makes the outline of a shape whose corners are known: `ends` (ring_count) is copied. Areas,
 * senses, lengths and the tree; nothing is checked. */
SG_CHECKED sg_status sgi_outline_make(sgi_shape *shape, sgi_arena *arena, const size_t *ends,
                                      size_t ring_count);

/* Whether edges a - b and c - d have a point in common; `at` receives one. */
bool sgi_edges_meet(const double *a, const double *b, const double *c, const double *d, double *at);

/* Whether x lies in ring `ring` taken alone. */
bool sgi_outline_in_ring(const sgi_shape *shape, size_t ring, const double *x);

/* sgi_shape_kind.read: .csv and .geojson. */
SG_CHECKED sg_status sgi_polygon_read(sgi_shape *shape, sgi_arena *arena, const char *data,
                                      size_t size, const char *path, sg_diagnostic *diagnostic);

#endif
