/* The polygon {points}, in order around it, in either sense, or {file}. See shape.h and polygon.h.
 */
#include "domain/polygon.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Edges from which on a tree finds the nearest one sooner than a look at all of them. */
enum { POINTS = SG_POLYGON_POINTS, MANY = 48 };

static size_t corners(const sgi_shape *s)
{
    return s->counts[POINTS];
}

/* Of a list that is one ring. */
static const double *corner(const sgi_shape *s, size_t i)
{
    return s->values[POINTS] + 2 * (i % corners(s));
}

static size_t ring_begin(const sgi_outline *o, size_t ring)
{
    return ring ? o->ends[ring - 1] : 0;
}

size_t sgi_outline_next(const sgi_outline *o, size_t i)
{
    size_t ring = o->rings[i];
    return i + 1 < o->ends[ring] ? i + 1 : ring_begin(o, ring);
}

size_t sgi_outline_before(const sgi_outline *o, size_t i)
{
    size_t ring = o->rings[i];
    return i > ring_begin(o, ring) ? i - 1 : o->ends[ring] - 1;
}

static double turn_of(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double edge_length(const sgi_shape *s, size_t i)
{
    return hypot(corner(s, i + 1)[0] - corner(s, i)[0], corner(s, i + 1)[1] - corner(s, i)[1]);
}

static double signed_area(const sgi_shape *s)
{
    double twice = 0;
    const double *origin = corner(s, 0);
    for (size_t i = 1; i + 1 < corners(s); i++)
        twice += turn_of(origin, corner(s, i), corner(s, i + 1));
    return twice / 2;
}

/* Whether c lies within the box of a and b, who are in line with it. */
static bool between(const double *a, const double *b, const double *c)
{
    return fmin(a[0], b[0]) <= c[0] && c[0] <= fmax(a[0], b[0]) && fmin(a[1], b[1]) <= c[1] &&
           c[1] <= fmax(a[1], b[1]);
}

bool sgi_edges_meet(const double *a, const double *b, const double *c, const double *d, double *at)
{
    double c_side = turn_of(a, b, c), d_side = turn_of(a, b, d);
    double a_side = turn_of(c, d, a), b_side = turn_of(c, d, b);
    if (((c_side > 0 && d_side < 0) || (c_side < 0 && d_side > 0)) &&
        ((a_side > 0 && b_side < 0) || (a_side < 0 && b_side > 0))) {
        double share = a_side / (a_side - b_side);
        at[0] = a[0] + share * (b[0] - a[0]);
        at[1] = a[1] + share * (b[1] - a[1]);
        return true;
    }
    const double *ends[4] = {c, d, a, b};
    const bool on[4] = {c_side == 0 && between(a, b, c), d_side == 0 && between(a, b, d),
                        a_side == 0 && between(c, d, a), b_side == 0 && between(c, d, b)};
    for (int i = 0; i < 4; i++)
        if (on[i]) {
            memcpy(at, ends[i], 2 * sizeof *at);
            return true;
        }
    return false;
}

/* Edges that are neighbours meet in their corner; they must not fold back on each other. */
static bool crosses_itself(const sgi_shape *s)
{
    size_t n = corners(s);
    double at[2];
    for (size_t i = 0; i < n; i++) {
        const double *a = corner(s, i), *b = corner(s, i + 1), *c = corner(s, i + 2);
        if (turn_of(a, b, c) == 0 &&
            (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]) > 0)
            return true;
        for (size_t j = i + 2; j < n; j++)
            if (!(i == 0 && j == n - 1) && sgi_edges_meet(a, b, corner(s, j), corner(s, j + 1), at))
                return true;
    }
    return false;
}

static const char *wrong(const sgi_shape *s)
{
    if (s->made)
        return NULL; /* it comes from a file, and reading it has looked at all this */
    if (corners(s) < 3)
        return "has fewer than three corners";
    for (size_t i = 0; i < corners(s); i++)
        if (edge_length(s, i) == 0)
            return "has two corners that follow each other at the same place";
    if (signed_area(s) == 0)
        return "has no area";
    return crosses_itself(s) ? "has edges that cross or touch each other" : NULL;
}

/* ---- Outlines ------------------------------------------------------------------------------ */

/* Where an edge begins. */
static const double *edge_from(const sgi_shape *s, size_t i)
{
    return s->values[POINTS] + 2 * i;
}

static const double *edge_to(const sgi_shape *s, size_t i)
{
    return s->values[POINTS] + 2 * sgi_outline_next(s->made, i);
}

bool sgi_outline_in_ring(const sgi_shape *s, size_t ring, const double *x)
{
    const sgi_outline *o = s->made;
    bool inside = false;
    for (size_t i = ring_begin(o, ring); i < o->ends[ring]; i++) {
        const double *a = edge_from(s, i), *b = edge_to(s, i);
        if ((a[1] > x[1]) != (b[1] > x[1]) &&
            x[0] < a[0] + (b[0] - a[0]) * (x[1] - a[1]) / (b[1] - a[1]))
            inside = !inside;
    }
    return inside;
}

/* A ring inside an odd number of others is a hole, whatever its sense. */
static void find_senses(const sgi_shape *s, sgi_outline *o)
{
    for (size_t ring = 0; ring < o->ring_count; ring++) {
        const double *origin = edge_from(s, ring_begin(o, ring));
        double twice = 0;
        bool hole = false;
        for (size_t i = ring_begin(o, ring) + 1; i + 1 < o->ends[ring]; i++)
            twice += turn_of(origin, edge_from(s, i), edge_from(s, i + 1));
        for (size_t other = 0; other < o->ring_count; other++)
            hole ^= other != ring && sgi_outline_in_ring(s, other, origin);
        o->area += hole ? -fabs(twice) / 2 : fabs(twice) / 2;
        o->senses[ring] = (twice > 0) == !hole ? 1 : -1;
    }
}

static sg_status plant_tree(const sgi_shape *s, sgi_outline *o, sgi_arena *arena)
{
    double *boxes = sgi_allocate(&arena->allocator, 4 * corners(s), sizeof *boxes);
    if (!boxes)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < corners(s); i++)
        for (size_t k = 0; k < 2; k++) {
            boxes[4 * i + k] = fmin(edge_from(s, i)[k], edge_to(s, i)[k]);
            boxes[4 * i + 2 + k] = fmax(edge_from(s, i)[k], edge_to(s, i)[k]);
        }
    sg_status status = sgi_tree_build(&o->tree, arena, 2, corners(s), boxes);
    sgi_release(&arena->allocator, boxes);
    return status;
}

sg_status sgi_outline_make(sgi_shape *s, sgi_arena *arena, const size_t *ends, size_t ring_count)
{
    sgi_outline *o = sgi_arena_allocate(arena, 1, sizeof *o);
    if (!o)
        return SG_ERROR_MEMORY;
    o->ring_count = ring_count;
    o->ends = sgi_arena_allocate(arena, ring_count, sizeof *o->ends);
    o->senses = sgi_arena_allocate(arena, ring_count, sizeof *o->senses);
    o->rings = sgi_arena_allocate(arena, corners(s), sizeof *o->rings);
    o->lengths = sgi_arena_allocate(arena, corners(s), sizeof *o->lengths);
    if (!o->ends || !o->senses || !o->rings || !o->lengths)
        return SG_ERROR_MEMORY;
    memcpy(o->ends, ends, ring_count * sizeof *ends);
    for (size_t i = 0, ring = 0; i < corners(s); i++) {
        ring += i == o->ends[ring];
        o->rings[i] = (uint32_t)ring;
    }
    s->made = o;
    double sum = 0;
    for (size_t i = 0; i < corners(s); i++)
        o->lengths[i] = sum +=
            hypot(edge_to(s, i)[0] - edge_from(s, i)[0], edge_to(s, i)[1] - edge_from(s, i)[1]);
    find_senses(s, o);
    o->planted = corners(s) >= MANY;
    return o->planted || s->file.file ? plant_tree(s, o, arena) : SG_OK;
}

static sg_status prepare(sgi_shape *s, sgi_arena *arena)
{
    return s->made ? SG_OK : sgi_outline_make(s, arena, &s->counts[POINTS], 1);
}

/* ---- Distance ------------------------------------------------------------------------------ */

/* Looks at every edge. */
static double plain_distance(const sgi_shape *s, const double *x)
{
    const sgi_outline *o = s->made;
    double nearest = INFINITY;
    bool inside = false;
    for (size_t ring = 0; ring < o->ring_count; ring++) {
        const double *a = edge_from(s, o->ends[ring] - 1);
        for (size_t i = ring_begin(o, ring); i < o->ends[ring]; i++) {
            const double *b = edge_from(s, i);
            double ex = b[0] - a[0], ey = b[1] - a[1], wx = x[0] - a[0], wy = x[1] - a[1];
            double share = (wx * ex + wy * ey) / (ex * ex + ey * ey);
            share = share < 0 ? 0 : share > 1 ? 1 : share;
            double dx = wx - share * ex, dy = wy - share * ey, square = dx * dx + dy * dy;
            nearest = square < nearest ? square : nearest;
            /* Edges that a ray to the right crosses. */
            if ((a[1] > x[1]) != (b[1] > x[1]) && x[0] < a[0] + ex * (x[1] - a[1]) / ey)
                inside = !inside;
            a = b;
        }
    }
    return inside ? -sqrt(nearest) : sqrt(nearest);
}

typedef struct search {
    const sgi_shape *shape;
    const double *x;
    size_t edge;
    double share;
} search;

static void ask(void *query, size_t i, double *square)
{
    search *q = query;
    const double *a = edge_from(q->shape, i), *b = edge_to(q->shape, i);
    double ex = b[0] - a[0], ey = b[1] - a[1], wx = q->x[0] - a[0], wy = q->x[1] - a[1];
    double share = (wx * ex + wy * ey) / (ex * ex + ey * ey);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    double dx = wx - share * ex, dy = wy - share * ey, own = dx * dx + dy * dy;
    if (own >= *square)
        return;
    *square = own;
    q->edge = i;
    q->share = share;
}

/* How far x lies to the right of an edge, in unit vectors: above 0 outside a ring of sense 1. */
static double right_of(const sgi_shape *s, size_t edge, const double *x, const double *from)
{
    const double *a = edge_from(s, edge), *b = edge_to(s, edge);
    return ((b[1] - a[1]) * (x[0] - from[0]) - (b[0] - a[0]) * (x[1] - from[1])) /
           hypot(b[0] - a[0], b[1] - a[1]);
}

/* In a corner both edges' normals together tell the side. */
static double tree_distance(const sgi_shape *s, const double *x)
{
    const sgi_outline *o = s->made;
    search q = {.shape = s, .x = x};
    double nearest = sqrt(sgi_tree_nearest(&o->tree, x, INFINITY, ask, &q));
    const double *from = q.share < 1 ? edge_from(s, q.edge) : edge_to(s, q.edge);
    double right = right_of(s, q.edge, x, from);
    if (q.share <= 0)
        right += right_of(s, sgi_outline_before(o, q.edge), x, from);
    if (q.share >= 1)
        right += right_of(s, sgi_outline_next(o, q.edge), x, from);
    return right * o->senses[o->rings[q.edge]] < 0 ? -nearest : nearest;
}

static double distance(const sgi_shape *s, const double *x)
{
    return ((const sgi_outline *)s->made)->planted ? tree_distance(s, x) : plain_distance(s, x);
}

static double measure(const sgi_shape *s)
{
    return ((const sgi_outline *)s->made)->area;
}

static double boundary_measure(const sgi_shape *s)
{
    return ((const sgi_outline *)s->made)->lengths[corners(s) - 1];
}

static void boundary_point(const sgi_shape *s, sgi_uniforms *u, double *x, double *normal)
{
    const sgi_outline *o = s->made;
    double at = sgi_uniform_next(u) * boundary_measure(s);
    size_t low = 0, high = corners(s) - 1; /* the first edge that ends beyond `at` */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->lengths[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    const double *a = edge_from(s, low), *b = edge_to(s, low);
    double length = hypot(b[0] - a[0], b[1] - a[1]), share = (o->lengths[low] - at) / length;
    double sense = o->senses[o->rings[low]];
    x[0] = b[0] + share * (a[0] - b[0]);
    x[1] = b[1] + share * (a[1] - b[1]);
    normal[0] = sense * (b[1] - a[1]) / length;
    normal[1] = -sense * (b[0] - a[0]) / length;
}

static double support(const sgi_shape *s, const double *direction)
{
    double most = -INFINITY;
    for (size_t i = 0; i < corners(s); i++) {
        double along = sgi_dot(edge_from(s, i), direction, 2);
        most = along > most ? along : most;
    }
    return most;
}

/* The distance to a segment, smooth but at its ends: see Rvachev's theory of trimming. `line` is
 * the distance to the line, `disc` above 0 within the disc around the segment. */
static sgi_expr segment(const double *a, const double *b, sgi_expressions *exprs, const sgi_expr *x)
{
    double length = hypot(b[0] - a[0], b[1] - a[1]);
    const double across[2] = {(b[1] - a[1]) / length, (a[0] - b[0]) / length};
    sgi_expr line = sgi_linear(exprs, across, x, 2, -sgi_dot(across, a, 2));
    sgi_expr disc = sgi_constant(exprs, length * length / 4);
    for (int k = 0; k < 2; k++) {
        sgi_expr d = sgi_sub(exprs, x[k], sgi_constant(exprs, (a[k] + b[k]) / 2));
        disc = sgi_sub(exprs, disc, sgi_mul(exprs, d, d));
    }
    disc = sgi_mul(exprs, sgi_constant(exprs, 1 / length), disc);
    sgi_expr line2 = sgi_mul(exprs, line, line), line4 = sgi_mul(exprs, line2, line2);
    sgi_expr root =
        sgi_apply(exprs, SG_OP_SQRT, sgi_add(exprs, sgi_mul(exprs, disc, disc), line4), 0, 0);
    sgi_expr trim = sgi_mul(exprs, sgi_constant(exprs, 0.5), sgi_sub(exprs, root, disc));
    return sgi_apply(exprs, SG_OP_SQRT, sgi_add(exprs, line2, sgi_mul(exprs, trim, trim)), 0, 0);
}

/* The segments joined, 1 / (1/d + 1/e): above 0 on both sides, so it has no sign to tell them
 * apart. */
static sgi_expr smooth(const sgi_shape *s, sgi_expressions *exprs, const sgi_expr *x, bool inside)
{
    (void)inside;
    sgi_expr all = 0;
    for (size_t i = 0; i < corners(s); i++) {
        sgi_expr one = segment(edge_from(s, i), edge_to(s, i), exprs, x);
        all = i == 0 ? one
                     : sgi_apply(exprs, SG_OP_DIV, sgi_mul(exprs, all, one),
                                 sgi_add(exprs, all, one), 0);
    }
    return all;
}

const sgi_shape_kind sgi_shape_polygon = {
    .name = "polygon",
    .example = "{points: [[0, 0], [1, 0], [0.5, 1]]}",
    .least_axes = 2,
    .most_axes = 2,
    .keys = {{"points", SG_SHAPE_POINTS}, {"file", SG_SHAPE_FILE}},
    .either = true,
    .endings = ".csv or .geojson",
    .read = sgi_polygon_read,
    .wrong = wrong,
    .prepare = prepare,
    .distance = distance,
    .measure = measure,
    .boundary_measure = boundary_measure,
    .boundary_point = boundary_point,
    .support = support,
    .unsigned_smooth = true,
    .smooth = smooth};
