/* Polygons from files: see polygon.h. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "domain/polygon.h"
#include "files/csv.h"

enum { MOST_SUMS = 100000000 };

typedef struct reading {
    sgi_shape *shape;
    const char *path;
    sg_diagnostic *diagnostic;
} reading;

/* ---- Tables -------------------------------------------------------------------------------- */

/* The columns with the names of the two coordinates. */
static sg_status find_columns(const reading *r, const sgi_csv *csv, size_t columns[2])
{
    if (!csv->names) {
        columns[0] = 0;
        columns[1] = 1;
        if (csv->columns == 2)
            return SG_OK;
        (void)sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                            "it has %zu columns and no line of names, and a corner has 2 numbers",
                            csv->columns);
    } else {
        for (int k = 0; k < 2; k++) {
            const char *name = r->shape->axis_names[k];
            columns[k] = 0;
            while (columns[k] < csv->columns && strcmp(csv->names[columns[k]], name) != 0)
                columns[k]++;
            if (columns[k] == csv->columns) {
                (void)sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                                    "its first line names no column '%.40s'", name);
                break;
            }
            if (k == 1)
                return SG_OK;
        }
    }
    sgi_diagnostic_suggest(r->diagnostic,
                           "name the columns like the coordinates, '%.40s' and '%.40s', or give "
                           "two columns of numbers without names",
                           r->shape->axis_names[0], r->shape->axis_names[1]);
    return SG_ERROR_FORMAT;
}

static sg_status take_rows(const reading *r, const sgi_csv *csv, sgi_rings *rings)
{
    size_t columns[2], capacity = 0;
    sg_status status = find_columns(r, csv, columns);
    for (size_t i = 0; i < csv->rows && status == SG_OK; i++) {
        const double *row = csv->values + i * csv->columns;
        status = sgi_rings_add(rings, &capacity, row[columns[0]], row[columns[1]]);
    }
    if (status == SG_ERROR_UNSUPPORTED)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "it has more than %d corners",
                             SG_RINGS_MOST_CORNERS);
    if (status == SG_OK && rings->count > 0)
        sgi_rings_end(rings, false, 0);
    return status;
}

static sg_status parse_csv(const reading *r, const char *data, size_t size,
                           const sg_allocator *allocator, sgi_rings *rings)
{
    sgi_csv csv;
    *rings = (sgi_rings){.allocator = *allocator};
    sg_status status = sgi_csv_parse(data, size, r->path, allocator, &csv, r->diagnostic);
    if (status != SG_OK)
        return status;
    status = take_rows(r, &csv, rings);
    sgi_csv_release(&csv);
    return status;
}

/* ---- Checks -------------------------------------------------------------------------------- */

static const double *corner(const sgi_shape *s, size_t i)
{
    return s->values[SG_POLYGON_POINTS] + 2 * i;
}

static sg_status check_rings(const reading *r, const sgi_rings *rings)
{
    for (size_t i = 0; i < 2 * rings->count; i++)
        if (!(fabs(rings->corners[i]) < 1e100))
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                                 "corner %zu has a coordinate that cannot be used", i / 2 + 1);
    for (size_t ring = 0, first = 0; ring < rings->ring_count; first = rings->ends[ring++]) {
        if (rings->ends[ring] - first < 3)
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                                 "ring %zu has fewer than three corners", ring + 1);
        for (size_t i = first; i < rings->ends[ring]; i++) {
            const double *a = rings->corners + 2 * i;
            const double *b = i + 1 < rings->ends[ring] ? a + 2 : rings->corners + 2 * first;
            if (a[0] == b[0] && a[1] == b[1])
                return sgi_fail_file(
                    r->diagnostic, SG_ERROR_FORMAT, r->path,
                    "two corners that follow each other are at the same place, (%.9g, %.9g)", a[0],
                    a[1]);
        }
    }
    return SG_OK;
}

typedef struct crossing {
    const sgi_shape *shape;
    const sgi_outline *outline;
    size_t edge;
    double at[2];
} crossing;

/* Edges that are neighbours meet in their corner; they must not fold back on each other. */
static bool crosses(void *query, size_t other)
{
    crossing *q = query;
    const sgi_shape *s = q->shape;
    if (other <= q->edge)
        return false;
    size_t ends[4] = {q->edge, sgi_outline_next(q->outline, q->edge), other,
                      sgi_outline_next(q->outline, other)};
    const double *a = corner(s, ends[0]), *b = corner(s, ends[1]), *c = corner(s, ends[2]),
                 *d = corner(s, ends[3]);
    if (ends[1] != ends[2] && ends[3] != ends[0])
        return sgi_edges_meet(a, b, c, d, q->at);
    const double *middle = ends[1] == ends[2] ? b : a, *before = ends[1] == ends[2] ? a : c,
                 *after = ends[1] == ends[2] ? d : b;
    double u[2] = {before[0] - middle[0], before[1] - middle[1]};
    double v[2] = {after[0] - middle[0], after[1] - middle[1]};
    memcpy(q->at, middle, sizeof q->at);
    return u[0] * v[1] - u[1] * v[0] == 0 && u[0] * v[0] + u[1] * v[1] > 0;
}

static sg_status check_crossings(const reading *r)
{
    const sgi_outline *o = r->shape->made;
    for (size_t i = 0; i < r->shape->counts[0]; i++) {
        const double *a = corner(r->shape, i), *b = corner(r->shape, sgi_outline_next(o, i));
        const double lower[2] = {fmin(a[0], b[0]), fmin(a[1], b[1])};
        const double upper[2] = {fmax(a[0], b[0]), fmax(a[1], b[1])};
        crossing q = {r->shape, o, i, {0, 0}};
        if (sgi_tree_meets(&o->tree, lower, upper, crosses, &q))
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                                 "edges cross or touch each other at (%.9g, %.9g)", q.at[0],
                                 q.at[1]);
    }
    return SG_OK;
}

/* A hole lies in its polygon, and nothing else lies in a polygon but in its holes. */
static sg_status check_nesting(const reading *r, const sgi_rings *rings)
{
    const sgi_shape *s = r->shape;
    if ((double)rings->ring_count * (double)rings->count > MOST_SUMS)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                             "it has too many rings to be checked");
    for (size_t ring = 0; ring < rings->ring_count; ring++) {
        const double *x = corner(s, ring ? rings->ends[ring - 1] : 0);
        size_t depth = 0, outside = rings->outsides[ring];
        for (size_t other = 0; other < rings->ring_count; other++)
            depth += other != ring && sgi_outline_in_ring(s, other, x);
        bool within = !rings->holes[ring] || sgi_outline_in_ring(s, outside, x);
        if ((depth % 2 == 1) != rings->holes[ring] || !within)
            return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path,
                                 rings->holes[ring]
                                     ? "ring %zu, at (%.9g, %.9g), is a hole that does not lie in "
                                       "its polygon"
                                     : "ring %zu, at (%.9g, %.9g), lies in another polygon",
                                 ring + 1, x[0], x[1]);
    }
    return SG_OK;
}

static sg_status take_rings(const reading *r, sgi_arena *arena, const sgi_rings *rings)
{
    if (rings->count == 0 || !rings->corners)
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "it has no corners");
    sg_status status = check_rings(r, rings);
    if (status != SG_OK)
        return status;
    double *corners = sgi_arena_allocate(arena, 2 * rings->count, sizeof *corners);
    if (!corners)
        return SG_ERROR_MEMORY;
    memcpy(corners, rings->corners, 2 * rings->count * sizeof *corners);
    r->shape->values[SG_POLYGON_POINTS] = corners;
    r->shape->counts[SG_POLYGON_POINTS] = rings->count;
    status = sgi_outline_make(r->shape, arena, rings->ends, rings->ring_count);
    if (status == SG_OK)
        status = check_crossings(r);
    if (status == SG_OK)
        status = check_nesting(r, rings);
    const sgi_outline *o = r->shape->made;
    if (status == SG_OK && !(o->area > DBL_MIN))
        return sgi_fail_file(r->diagnostic, SG_ERROR_FORMAT, r->path, "it has no area");
    return status;
}

sg_status sgi_polygon_read(sgi_shape *shape, sgi_arena *arena, const char *data, size_t size,
                           const char *path, sg_diagnostic *diagnostic)
{
    reading r = {shape, path, diagnostic};
    sgi_rings *rings = sgi_allocate(&arena->allocator, 1, sizeof *rings);
    if (!rings)
        return SG_ERROR_MEMORY;
    size_t length = strlen(path);
    bool table = length > 4 && (path[length - 1] | 0x20) == 'v'; /* .csv, not .geojson */
    sg_status status =
        table ? parse_csv(&r, data, size, &arena->allocator, rings)
              : sgi_geojson_parse(data, size, path, &arena->allocator, rings, diagnostic);
    if (status == SG_OK)
        status = take_rings(&r, arena, rings);
    sgi_rings_release(rings);
    sgi_release(&arena->allocator, rings);
    return status;
}
