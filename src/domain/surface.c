/* The surface {file}: what a closed surface of triangles encloses. See shape.h and surface.h.
 *
 * The nearest triangle is found in a tree of boxes. Whether a point lies inside is told by the side
 * of the nearest place it is on: on a triangle by its normal, on an edge by the sum of both, in a
 * corner by the sum of its fan weighted by angles, which is right in every corner (Baerentzen and
 * Aanaes, 2005). Points inside are drawn from the cells of a grid that reach into it. */
#include "domain/surface.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "domain/shape.h"
#include "domain/tree.h"

enum { CELLS = 1 << 15, BLOCK = 4, MOST_TRIES = 1 << 16, WORK = 64 };

typedef struct solid {
    sgi_surface surface;
    sgi_tree tree;
    double *areas; /* (count): up to each triangle and with it */
    double lower[3], upper[3], step[3];
    uint32_t cells[3]; /* of the grid along each axis */
    uint32_t *taken;   /* (taken_count): cells that reach into the solid, those inside first */
    size_t taken_count, inside_count;
} solid;

/* ---- Distance ------------------------------------------------------------------------------ */

/* Where on a triangle the nearest point lies. */
typedef enum feature { FACE, CORNER_0, CORNER_1, CORNER_2, EDGE_0, EDGE_1, EDGE_2 } feature;

static double dot_between(const double *a, const double *b, const double *u)
{
    return (b[0] - a[0]) * u[0] + (b[1] - a[1]) * u[1] + (b[2] - a[2]) * u[2];
}

static feature on_edge(const double *a, const double *b, double share, feature which, double *point)
{
    for (int k = 0; k < 3; k++)
        point[k] = a[k] + share * (b[k] - a[k]);
    return which;
}

/* The point of the triangle that is nearest to x (Ericson, Real-Time Collision Detection, 5.1.5).
 */
static feature nearest_on(const double *a, const double *b, const double *c, const double *x,
                          double *point)
{
    double ab[3], ac[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ac[k] = c[k] - a[k];
    }
    double d1 = dot_between(a, x, ab), d2 = dot_between(a, x, ac);
    double d3 = dot_between(b, x, ab), d4 = dot_between(b, x, ac);
    double d5 = dot_between(c, x, ab), d6 = dot_between(c, x, ac);
    if (d1 <= 0 && d2 <= 0)
        return on_edge(a, a, 0, CORNER_0, point);
    if (d3 >= 0 && d4 <= d3)
        return on_edge(b, b, 0, CORNER_1, point);
    if (d6 >= 0 && d5 <= d6)
        return on_edge(c, c, 0, CORNER_2, point);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0)
        return on_edge(a, b, d1 / (d1 - d3), EDGE_0, point);
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return on_edge(b, c, (d4 - d3) / ((d4 - d3) + (d5 - d6)), EDGE_1, point);
    if (vb <= 0 && d2 >= 0 && d6 <= 0)
        return on_edge(a, c, d2 / (d2 - d6), EDGE_2, point);
    double v = vb / (va + vb + vc), w = vc / (va + vb + vc);
    for (int k = 0; k < 3; k++)
        point[k] = a[k] + v * ab[k] + w * ac[k];
    return FACE;
}

typedef struct search {
    const sgi_surface *surface;
    const double *x;
    size_t triangle;
    feature feature;
    double point[3];
} search;

static const double *corner(const sgi_surface *s, size_t t, int k)
{
    return s->corners + 3 * (size_t)s->triangles[3 * t + (size_t)k];
}

static void ask(void *query, size_t t, double *square)
{
    search *q = query;
    const sgi_surface *s = q->surface;
    double point[3], own = 0;
    feature f = nearest_on(corner(s, t, 0), corner(s, t, 1), corner(s, t, 2), q->x, point);
    for (int k = 0; k < 3; k++)
        own += (point[k] - q->x[k]) * (point[k] - q->x[k]);
    if (own >= *square)
        return;
    *square = own;
    q->triangle = t;
    q->feature = f;
    memcpy(q->point, point, sizeof point);
}

/* Above 0 outside. */
static double side_of(const search *q)
{
    const sgi_surface *s = q->surface;
    const double *normal = s->normals + 3 * q->triangle;
    double out = dot_between(q->point, q->x, normal);
    if (q->feature >= EDGE_0) {
        size_t across = s->across[3 * q->triangle + (size_t)(q->feature - EDGE_0)];
        out += dot_between(q->point, q->x, s->normals + 3 * across);
    } else if (q->feature >= CORNER_0) {
        uint32_t c = s->triangles[3 * q->triangle + (size_t)(q->feature - CORNER_0)];
        out = dot_between(q->point, q->x, s->corner_normals + 3 * (size_t)c);
    }
    return out;
}

static double distance(const sgi_shape *shape, const double *x)
{
    const solid *s = shape->made;
    search q = {.surface = &s->surface, .x = x};
    double square = sgi_tree_nearest(&s->tree, x, INFINITY, ask, &q);
    return side_of(&q) < 0 ? -sqrt(square) : sqrt(square);
}

/* ---- Points -------------------------------------------------------------------------------- */

static double measure(const sgi_shape *shape)
{
    return ((const solid *)shape->made)->surface.volume;
}

static double boundary_measure(const sgi_shape *shape)
{
    const solid *s = shape->made;
    return s->areas[s->surface.count - 1];
}

/* The first triangle whose areas end beyond `at`. */
static size_t triangle_at(const solid *s, double at)
{
    size_t low = 0, high = s->surface.count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->areas[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void boundary_point(const sgi_shape *shape, sgi_uniforms *u, double *x, double *normal)
{
    const solid *s = shape->made;
    double at = sgi_uniform_next(u) * boundary_measure(shape);
    size_t t = triangle_at(s, at);
    double before = t ? s->areas[t - 1] : 0;
    /* Where in the triangle's own share it fell is a uniform number too. */
    double share = sqrt(fmin(fmax((at - before) / (s->areas[t] - before), 0), 1));
    double along = sgi_uniform_next(u);
    const double *a = corner(&s->surface, t, 0), *b = corner(&s->surface, t, 1),
                 *c = corner(&s->surface, t, 2);
    for (int k = 0; k < 3; k++) {
        x[k] = a[k] + share * ((1 - along) * (b[k] - a[k]) + along * (c[k] - a[k]));
        normal[k] = s->surface.normals[3 * t + (size_t)k];
    }
}

static void cell_corner(const solid *s, uint32_t cell, double *x)
{
    const uint32_t place[3] = {cell % s->cells[0], cell / s->cells[0] % s->cells[1],
                               cell / s->cells[0] / s->cells[1]};
    for (int k = 0; k < 3; k++)
        x[k] = s->lower[k] + s->step[k] * place[k];
}

static void interior_point(const sgi_shape *shape, sgi_uniforms *u, double *x)
{
    const solid *s = shape->made;
    for (int i = 0; i < MOST_TRIES; i++) {
        double at = sgi_uniform_next(u) * (double)s->taken_count;
        size_t cell = (size_t)at < s->taken_count ? (size_t)at : s->taken_count - 1;
        cell_corner(s, s->taken[cell], x);
        x[0] += s->step[0] * (at - (double)cell);
        for (int k = 1; k < 3; k++)
            x[k] += s->step[k] * sgi_uniform_next(u);
        if (cell < s->inside_count || distance(shape, x) < 0)
            return;
    }
}

static double support(const sgi_shape *shape, const double *direction)
{
    const sgi_surface *s = &((const solid *)shape->made)->surface;
    double most = -INFINITY;
    for (size_t i = 0; i < s->corner_count; i++)
        most = fmax(most, sgi_dot(s->corners + 3 * i, direction, 3));
    return most;
}

/* ---- Preparing ----------------------------------------------------------------------------- */

static void find_bounds(solid *s)
{
    for (int k = 0; k < 3; k++) {
        s->lower[k] = INFINITY;
        s->upper[k] = -INFINITY;
        for (size_t i = 0; i < s->surface.corner_count; i++) {
            s->lower[k] = fmin(s->lower[k], s->surface.corners[3 * i + (size_t)k]);
            s->upper[k] = fmax(s->upper[k], s->surface.corners[3 * i + (size_t)k]);
        }
    }
}

static sg_status plant_tree(solid *s, sgi_arena *arena)
{
    const sgi_surface *surface = &s->surface;
    double *boxes = sgi_allocate(&arena->allocator, 6 * surface->count, sizeof *boxes);
    if (!boxes)
        return SG_ERROR_MEMORY;
    for (size_t t = 0; t < surface->count; t++)
        for (int k = 0; k < 3; k++) {
            double a = corner(surface, t, 0)[k], b = corner(surface, t, 1)[k],
                   c = corner(surface, t, 2)[k];
            boxes[6 * t + (size_t)k] = fmin(a, fmin(b, c));
            boxes[6 * t + 3 + (size_t)k] = fmax(a, fmax(b, c));
        }
    sg_status status = sgi_tree_build(&s->tree, arena, 3, surface->count, boxes);
    sgi_release(&arena->allocator, boxes);
    return status;
}

static sg_status sum_areas(solid *s, sgi_arena *arena)
{
    double sum = 0;
    s->areas = sgi_arena_allocate(arena, s->surface.count, sizeof *s->areas);
    if (!s->areas)
        return SG_ERROR_MEMORY;
    for (size_t t = 0; t < s->surface.count; t++) {
        const double *a = corner(&s->surface, t, 0), *b = corner(&s->surface, t, 1),
                     *c = corner(&s->surface, t, 2), *n = s->surface.normals + 3 * t;
        double twice = 0;
        for (int k = 0; k < 3; k++) /* (b - a) x (c - a) along the normal */
            twice += n[k] * ((b[(k + 1) % 3] - a[(k + 1) % 3]) * (c[(k + 2) % 3] - a[(k + 2) % 3]) -
                             (b[(k + 2) % 3] - a[(k + 2) % 3]) * (c[(k + 1) % 3] - a[(k + 1) % 3]));
        s->areas[t] = sum += twice / 2;
    }
    return SG_OK;
}

/* Cells of about the same length along each axis. */
static size_t choose_cells(solid *s)
{
    double volume = 1, total = 1;
    for (int k = 0; k < 3; k++)
        volume *= s->upper[k] - s->lower[k];
    double side = cbrt(volume / CELLS);
    for (int k = 0; k < 3; k++) {
        double count = fmin(fmax(floor((s->upper[k] - s->lower[k]) / side), 1), 256);
        s->cells[k] = (uint32_t)count;
        s->step[k] = (s->upper[k] - s->lower[k]) / count;
        total *= count;
    }
    return (size_t)total;
}

static void take_cell(solid *s, const uint32_t *place, bool inside)
{
    uint32_t cell = place[0] + s->cells[0] * (place[1] + s->cells[1] * place[2]);
    s->taken[s->taken_count++] = cell;
    if (inside) { /* changes places with the first that is not */
        s->taken[s->taken_count - 1] = s->taken[s->inside_count];
        s->taken[s->inside_count++] = cell;
    }
}

/* Takes of a block of `size` cells along each axis those that reach into the solid. A block farther
 * from the surface than half its diagonal lies wholly on one side; others are divided. */
static void take_block(const sgi_shape *shape, solid *s, const uint32_t *place, uint32_t size)
{
    double x[3], square = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = s->lower[k] + s->step[k] * (place[k] + size / 2.0);
        square += s->step[k] * s->step[k];
    }
    double d = distance(shape, x), half = size * sqrt(square) / 2 * (1 + 1e-9);
    if (d >= half)
        return;
    bool inside = d <= -half;
    uint32_t part = inside || size == 1 ? 1 : size / 2, count = size / part;
    for (uint32_t i = 0; i < count * count * count; i++) {
        const uint32_t at[3] = {place[0] + i % count * part, place[1] + i / count % count * part,
                                place[2] + i / count / count * part};
        if (inside || size == 1)
            take_cell(s, at, inside);
        else
            take_block(shape, s, at, part);
    }
}

static sg_status take_cells(sgi_shape *shape, solid *s, sgi_arena *arena)
{
    size_t blocks = choose_cells(s);
    uint32_t place[3];
    for (int k = 0; k < 3; k++) {
        s->cells[k] *= BLOCK;
        s->step[k] /= BLOCK;
    }
    s->taken = sgi_arena_allocate(arena, blocks * BLOCK * BLOCK * BLOCK, sizeof *s->taken);
    if (!s->taken)
        return SG_ERROR_MEMORY;
    for (place[2] = 0; place[2] < s->cells[2]; place[2] += BLOCK)
        for (place[1] = 0; place[1] < s->cells[1]; place[1] += BLOCK)
            for (place[0] = 0; place[0] < s->cells[0]; place[0] += BLOCK)
                take_block(shape, s, place, BLOCK);
    return s->taken_count ? SG_OK : SG_ERROR_STATE; /* it has a volume, so there is one */
}

static sg_status prepare(sgi_shape *shape, sgi_arena *arena)
{
    (void)arena;
    return shape->made ? SG_OK : SG_ERROR_STATE; /* `read` has done it */
}

static sg_status read_surface(sgi_shape *shape, sgi_arena *arena, const char *data, size_t size,
                              const char *path, sg_diagnostic *diagnostic)
{
    solid *s = sgi_arena_allocate(arena, 1, sizeof *s);
    if (!s)
        return SG_ERROR_MEMORY;
    sgi_stl stl;
    sg_status status = sgi_stl_parse(data, size, path, &arena->allocator, &stl, diagnostic);
    if (status == SG_OK)
        status = sgi_surface_make(&s->surface, arena, &stl, path, diagnostic);
    sgi_stl_release(&stl);
    if (status != SG_OK)
        return status;
    find_bounds(s);
    shape->made = s;
    shape->counts[0] = WORK; /* what asking it costs, in corners of a polygon */
    status = plant_tree(s, arena);
    if (status == SG_OK)
        status = sum_areas(s, arena);
    return status == SG_OK ? take_cells(shape, s, arena) : status;
}

static const char *wrong(const sgi_shape *shape)
{
    (void)shape;
    return NULL;
}

const sgi_shape_kind sgi_shape_surface = {.name = "surface",
                                          .example = "{file: part.stl}",
                                          .least_axes = 3,
                                          .most_axes = 3,
                                          .keys = {{"file", SG_SHAPE_FILE}},
                                          .endings = ".stl",
                                          .read = read_surface,
                                          .wrong = wrong,
                                          .prepare = prepare,
                                          .distance = distance,
                                          .measure = measure,
                                          .boundary_measure = boundary_measure,
                                          .interior_point = interior_point,
                                          .boundary_point = boundary_point,
                                          .support = support};
