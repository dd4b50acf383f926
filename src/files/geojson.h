/* Areas of the plane from GeoJSON (RFC 7946): a Polygon or a MultiPolygon, alone, as the geometry
 * of a Feature, or of the only Feature of a FeatureCollection. The coordinates are taken as they
 * are, the first two of each position. */
#ifndef SG_FILES_GEOJSON_H
#define SG_FILES_GEOJSON_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

enum { SG_RINGS_MOST_CORNERS = 100000, SG_RINGS_MOST = 1000 };

/* Closed lines, the last corner of each not repeated. */
typedef struct sgi_rings {
    sg_allocator allocator;
    size_t count, ring_count;
    double *corners;                /* (count, 2) */
    size_t ends[SG_RINGS_MOST];     /* (ring_count): where each ring ends in the list */
    bool holes[SG_RINGS_MOST];      /* (ring_count): given as a hole */
    size_t outsides[SG_RINGS_MOST]; /* (ring_count): the ring that the hole belongs to, or itself */
} sgi_rings;

/* `path` is used in messages only. *out is always safe to release. SG_ERROR_UNSUPPORTED in a build
 * without jansson. */
SG_CHECKED sg_status sgi_geojson_parse(const char *text, size_t size, const char *path,
                                       const sg_allocator *allocator, sgi_rings *out,
                                       sg_diagnostic *diagnostic);
void sgi_rings_release(sgi_rings *rings);

/* Adds a corner to the last ring. SG_ERROR_UNSUPPORTED when there are too many. */
SG_CHECKED sg_status sgi_rings_add(sgi_rings *rings, size_t *capacity, double x, double y);

/* Ends the last ring, without its last corner where that is the first again. */
void sgi_rings_end(sgi_rings *rings, bool hole, size_t outside);

#endif
