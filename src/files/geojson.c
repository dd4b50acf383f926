/* GeoJSON: see geojson.h. */
#include "files/geojson.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/diagnostic.h"
#include "base/memory.h"

typedef struct reading {
    const char *path;
    sg_diagnostic *diagnostic;
    sgi_rings *rings;
    size_t capacity;
} reading;

static sg_status refuse(const reading *r, const char *message)
{
    return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "%s", message);
}

static sg_status refuse_ring(const reading *r, const char *message)
{
    return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "ring %zu %s",
                         r->rings->ring_count + 1, message);
}

static const char *type_of(const json_t *object)
{
    const char *type = json_string_value(json_object_get(object, "type"));
    return type ? type : "";
}

static sg_status read_position(reading *r, const json_t *position)
{
    const json_t *x = json_array_get(position, 0), *y = json_array_get(position, 1);
    if (!json_is_number(x) || !json_is_number(y))
        return refuse_ring(r, "has a position that is not a list of two numbers");
    sg_status status =
        sgi_rings_add(r->rings, &r->capacity, json_number_value(x), json_number_value(y));
    if (status == SG_ERROR_UNSUPPORTED)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "it has more than %d corners",
                             SG_RINGS_MOST_CORNERS);
    return status;
}

static sg_status read_ring(reading *r, const json_t *ring, bool hole, size_t outside)
{
    size_t count = json_array_size(ring);
    const json_t *first = json_array_get(ring, 0), *last = json_array_get(ring, count - 1);
    sg_status status = SG_OK;
    if (r->rings->ring_count == SG_RINGS_MOST)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "it has more than %d rings",
                             SG_RINGS_MOST);
    if (!json_is_array(ring) || count < 4)
        return refuse_ring(r, "has fewer than four positions, of which the last repeats the first");
    for (size_t k = 0; k < 2; k++)
        if (json_number_value(json_array_get(first, k)) !=
            json_number_value(json_array_get(last, k)))
            return refuse_ring(r, "does not end where it begins");
    for (size_t i = 0; i < count && status == SG_OK; i++)
        status = read_position(r, json_array_get(ring, i));
    if (status == SG_OK)
        sgi_rings_end(r->rings, hole, outside);
    return status;
}

static sg_status read_polygon(reading *r, const json_t *rings)
{
    sg_status status = SG_OK;
    size_t outside = r->rings->ring_count;
    if (!json_is_array(rings) || json_array_size(rings) == 0)
        return refuse(r, "a polygon has no list of rings");
    for (size_t i = 0; i < json_array_size(rings) && status == SG_OK; i++)
        status = read_ring(r, json_array_get(rings, i), i > 0, outside);
    return status;
}

static sg_status read_geometry(reading *r, const json_t *geometry)
{
    const char *type = type_of(geometry);
    const json_t *coordinates = json_object_get(geometry, "coordinates");
    sg_status status = SG_OK;
    if (strcmp(type, "Polygon") == 0)
        return read_polygon(r, coordinates);
    if (strcmp(type, "MultiPolygon") != 0)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "its geometry is of type '%.40s', not a Polygon or MultiPolygon",
                             type);
    if (!json_is_array(coordinates) || json_array_size(coordinates) == 0)
        return refuse(r, "its MultiPolygon has no polygons");
    for (size_t i = 0; i < json_array_size(coordinates) && status == SG_OK; i++)
        status = read_polygon(r, json_array_get(coordinates, i));
    return status;
}

static sg_status read_root(reading *r, const json_t *root)
{
    const json_t *object = root;
    if (!json_is_object(root))
        return refuse(r, "it is no GeoJSON object");
    if (strcmp(type_of(root), "FeatureCollection") == 0) {
        const json_t *features = json_object_get(root, "features");
        if (json_array_size(features) != 1)
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                                 "it has %zu features, and which is meant cannot be told: keep one",
                                 json_array_size(features));
        object = json_array_get(features, 0);
    }
    if (strcmp(type_of(object), "Feature") == 0)
        object = json_object_get(object, "geometry");
    return read_geometry(r, object);
}

sg_status sgi_geojson_parse(const char *text, size_t size, const char *path,
                            const sg_allocator *given, sgi_rings *out, sg_diagnostic *diagnostic)
{
    *out = (sgi_rings){.allocator = sgi_allocator_or_heap(given)};
    json_error_t error;
    reading r = {path, diagnostic, out, 0};
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        (void)sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path, "%s", error.text);
        if (diagnostic && error.line > 0)
            diagnostic->line = error.line;
        return SG_ERROR_FORMAT;
    }
    sg_status status = read_root(&r, root);
    json_decref(root);
    return status;
}
