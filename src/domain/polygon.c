/* The polygon {points}, in order around it, in either sense. See shape.h. */
#include <math.h>

#include "domain/shape.h"

enum { POINTS };

typedef struct outline {
    double area, sense; /* sense: 1 counterclockwise, -1 clockwise */
    double lengths[];   /* (points): up to the end of each edge */
} outline;

static size_t corners(const sgi_shape *s)
{
    return s->counts[POINTS];
}

static const double *corner(const sgi_shape *s, size_t i)
{
    return s->values[POINTS] + 2 * (i % corners(s));
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

static bool segments_meet(const double *a, const double *b, const double *c, const double *d)
{
    double c_side = turn_of(a, b, c), d_side = turn_of(a, b, d);
    double a_side = turn_of(c, d, a), b_side = turn_of(c, d, b);
    if (((c_side > 0 && d_side < 0) || (c_side < 0 && d_side > 0)) &&
        ((a_side > 0 && b_side < 0) || (a_side < 0 && b_side > 0)))
        return true;
    return (c_side == 0 && between(a, b, c)) || (d_side == 0 && between(a, b, d)) ||
           (a_side == 0 && between(c, d, a)) || (b_side == 0 && between(c, d, b));
}

/* Edges that are neighbours meet in their corner; they must not fold back on each other. */
static bool crosses_itself(const sgi_shape *s)
{
    size_t n = corners(s);
    for (size_t i = 0; i < n; i++) {
        const double *a = corner(s, i), *b = corner(s, i + 1), *c = corner(s, i + 2);
        if (turn_of(a, b, c) == 0 &&
            (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]) > 0)
            return true;
        for (size_t j = i + 2; j < n; j++)
            if (!(i == 0 && j == n - 1) && segments_meet(a, b, corner(s, j), corner(s, j + 1)))
                return true;
    }
    return false;
}

static const char *wrong(const sgi_shape *s)
{
    if (corners(s) < 3)
        return "has fewer than three corners";
    for (size_t i = 0; i < corners(s); i++)
        if (edge_length(s, i) == 0)
            return "has two corners that follow each other at the same place";
    if (signed_area(s) == 0)
        return "has no area";
    return crosses_itself(s) ? "has edges that cross or touch each other" : NULL;
}

static sg_status prepare(sgi_shape *s, sgi_arena *arena)
{
    outline *o = sgi_arena_allocate(arena, 1, sizeof *o + corners(s) * sizeof *o->lengths);
    if (!o)
        return SG_ERROR_MEMORY;
    double area = signed_area(s), sum = 0;
    o->area = fabs(area);
    o->sense = area > 0 ? 1 : -1;
    for (size_t i = 0; i < corners(s); i++)
        o->lengths[i] = sum += edge_length(s, i);
    s->made = o;
    return SG_OK;
}

static double distance(const sgi_shape *s, const double *x)
{
    double nearest = INFINITY;
    bool inside = false;
    size_t n = corners(s);
    const double *a = corner(s, n - 1);
    for (size_t i = 0; i < n; i++) {
        const double *b = corner(s, i);
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
    return inside ? -sqrt(nearest) : sqrt(nearest);
}

static double measure(const sgi_shape *s)
{
    return ((const outline *)s->made)->area;
}

static double boundary_measure(const sgi_shape *s)
{
    return ((const outline *)s->made)->lengths[corners(s) - 1];
}

static void boundary_point(const sgi_shape *s, sgi_uniforms *u, double *x, double *normal)
{
    const outline *o = s->made;
    double at = sgi_uniform_next(u) * boundary_measure(s);
    size_t low = 0, high = corners(s) - 1; /* the first edge that ends beyond `at` */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->lengths[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    const double *a = corner(s, low), *b = corner(s, low + 1);
    double length = edge_length(s, low), share = (o->lengths[low] - at) / length;
    x[0] = b[0] + share * (a[0] - b[0]);
    x[1] = b[1] + share * (a[1] - b[1]);
    normal[0] = o->sense * (b[1] - a[1]) / length;
    normal[1] = -o->sense * (b[0] - a[0]) / length;
}

static double support(const sgi_shape *s, const double *direction)
{
    double most = -INFINITY;
    for (size_t i = 0; i < corners(s); i++) {
        double along = sgi_dot(corner(s, i), direction, 2);
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
        sgi_expr one = segment(corner(s, i), corner(s, i + 1), exprs, x);
        all = i == 0 ? one
                     : sgi_apply(exprs, SG_OP_DIV, sgi_mul(exprs, all, one),
                                 sgi_add(exprs, all, one), 0);
    }
    return all;
}

const sgi_shape_kind sgi_shape_polygon = {.name = "polygon",
                                          .example = "{points: [[0, 0], [1, 0], [0.5, 1]]}",
                                          .least_axes = 2,
                                          .most_axes = 2,
                                          .keys = {{"points", SG_SHAPE_POINTS}},
                                          .wrong = wrong,
                                          .prepare = prepare,
                                          .distance = distance,
                                          .measure = measure,
                                          .boundary_measure = boundary_measure,
                                          .boundary_point = boundary_point,
                                          .support = support,
                                          .unsigned_smooth = true,
                                          .smooth = smooth};
