/* Regions: see region.h. */
#include "domain/region.h"

#include <math.h>
#include <string.h>

/* Points that measures are counted on: fewer for a region of many shapes or corners, so that
 * reading a file takes no longer than a moment. */
enum { MOST_POINTS = 1 << 16, LEAST_POINTS = 1 << 12, MOST_WORK = 1 << 22 };

/* How far from a boundary the two sides of it are looked at, and how near two boundaries count as
 * one, in diagonals of the region. */
static const double step_aside = 1e-6, same_place = 1e-9;

sg_status sgi_region_add(sgi_region *region, sgi_join join, const sgi_shape *shape)
{
    int open = region->open + (join == SG_JOIN_SHAPE ? 1 : -1);
    if (region->count == SG_MOST_STEPS || open > SG_MOST_OPEN)
        return SG_ERROR_UNSUPPORTED;
    region->open = open;
    region->steps[region->count++] = (sgi_region_step){join, shape};
    return SG_OK;
}

bool sgi_region_bounded(const sgi_region *region)
{
    bool finite = true;
    for (int k = 0; k < region->axes; k++)
        finite = finite && isfinite(region->lower[k]) && isfinite(region->upper[k]);
    return finite;
}

double sgi_region_tolerance(const sgi_region *region)
{
    return same_place * region->size;
}

/* ---- Distance ---------------------------------------------------------------------------------
 */

static double join(sgi_join how, double a, double b)
{
    if (how == SG_JOIN_UNION)
        return a < b ? a : b;
    b = how == SG_JOIN_DIFFERENCE ? -b : b;
    return a > b ? a : b;
}

double sgi_region_distance(const sgi_region *region, const double *x)
{
    double stack[SG_MOST_OPEN] = {0};
    int top = 0;
    for (int i = 0; i < region->count; i++) {
        const sgi_region_step *step = &region->steps[i];
        if (step->join == SG_JOIN_SHAPE) {
            stack[top++] = sgi_shape_distance(step->shape, x);
        } else {
            top--;
            stack[top - 1] = join(step->join, stack[top - 1], stack[top]);
        }
    }
    return stack[0];
}

/* ---- Bounds -----------------------------------------------------------------------------------
 */

typedef struct cover {
    double lower[SG_MOST_AXES], upper[SG_MOST_AXES];
    const sgi_shape *carrier;
} cover;

static double volume(const cover *c, int axes)
{
    double product = 1;
    for (int k = 0; k < axes; k++)
        product *= c->upper[k] > c->lower[k] ? c->upper[k] - c->lower[k] : 0;
    return product;
}

static cover cover_shape(const sgi_shape *shape)
{
    cover c = {.carrier = shape->kind->interior_point ? shape : NULL};
    memcpy(c.lower, shape->lower, sizeof c.lower);
    memcpy(c.upper, shape->upper, sizeof c.upper);
    return c;
}

/* What covers the first covers a difference, the smaller of the two an intersection. */
static cover join_covers(sgi_join how, const cover *a, const cover *b, int axes)
{
    cover c = *a;
    if (how == SG_JOIN_DIFFERENCE)
        return c;
    for (int k = 0; k < axes; k++) {
        bool all = how == SG_JOIN_UNION;
        c.lower[k] = (a->lower[k] < b->lower[k]) == all ? a->lower[k] : b->lower[k];
        c.upper[k] = (a->upper[k] > b->upper[k]) == all ? a->upper[k] : b->upper[k];
    }
    c.carrier = NULL;
    if (how == SG_JOIN_INTERSECTION) {
        const cover *smaller = volume(a, axes) <= volume(b, axes) ? a : b;
        /* The bounds may be tighter than either shape. */
        if (smaller->carrier &&
            smaller->carrier->kind->measure(smaller->carrier) <= volume(&c, axes))
            c.carrier = smaller->carrier;
    }
    return c;
}

static void find_bounds(sgi_region *region)
{
    cover stack[SG_MOST_OPEN] = {0};
    int top = 0;
    for (int i = 0; i < region->count; i++) {
        const sgi_region_step *step = &region->steps[i];
        if (step->join == SG_JOIN_SHAPE) {
            stack[top++] = cover_shape(step->shape);
        } else {
            top--;
            stack[top - 1] = join_covers(step->join, &stack[top - 1], &stack[top], region->axes);
        }
    }
    double square = 0;
    for (int k = 0; k < region->axes; k++) {
        double length = stack[0].upper[k] - stack[0].lower[k];
        square += length > 0 ? length * length : 0;
        region->lower[k] = stack[0].lower[k];
        region->upper[k] = stack[0].upper[k];
    }
    region->size = sqrt(square);
    for (int i = 0; i < region->count && !isfinite(region->size); i++)
        if (region->steps[i].shape && region->steps[i].shape->kind->unbounded)
            region->size = 2 * region->steps[i].shape->reach;
    region->carrier = stack[0].carrier;
}

/* ---- The inside -------------------------------------------------------------------------------
 */

static double carrier_measure(const sgi_region *region)
{
    cover bounds;
    if (region->carrier)
        return region->carrier->kind->measure(region->carrier);
    memcpy(bounds.lower, region->lower, sizeof bounds.lower);
    memcpy(bounds.upper, region->upper, sizeof bounds.upper);
    return volume(&bounds, region->axes);
}

bool sgi_region_try_interior(const sgi_region *region, sgi_uniforms *uniforms, double *x)
{
    if (region->carrier && uniforms->use != SG_USE_GRID) {
        sgi_shape_interior_point(region->carrier, uniforms, x);
        return region->count == 1 || sgi_region_distance(region, x) < 0;
    }
    for (int k = 0; k < region->axes; k++)
        x[k] =
            region->lower[k] + (region->upper[k] - region->lower[k]) * sgi_uniform_next(uniforms);
    return sgi_region_distance(region, x) < 0;
}

/* 1/g, 1/g^2, ... with g^(d+1) = g + 1. */
void sgi_quasi_strides(int axes, double *strides)
{
    double ratio = 2;
    for (int n = 0; n < 60; n++)
        ratio = pow(1 + ratio, 1.0 / (axes + 1));
    for (int k = 0; k < axes; k++)
        strides[k] = pow(ratio, -(k + 1));
}

void sgi_quasi_random(const double *strides, int axes, int i, double *point)
{
    for (int k = 0; k < axes; k++) {
        double at = 0.5 + (i + 1) * strides[k];
        point[k] = at - floor(at);
    }
}

/* How many points to count on, when a region costs that many times a point. */
static int affordable(const sgi_region *region, int times)
{
    size_t work = 1;
    for (int i = 0; i < region->count; i++)
        work += region->steps[i].shape ? region->steps[i].shape->counts[0] + 1 : 1;
    size_t points = MOST_WORK / (work * (size_t)times);
    return points > MOST_POINTS ? MOST_POINTS : points < LEAST_POINTS ? LEAST_POINTS : (int)points;
}

static double count_measure(const sgi_region *region)
{
    double strides[SG_MOST_AXES], x[SG_MOST_AXES], whole = 1;
    int inside = 0, points = affordable(region, 1);
    sgi_quasi_strides(region->axes, strides);
    for (int i = 0; i < points; i++) {
        sgi_quasi_random(strides, region->axes, i, x);
        for (int k = 0; k < region->axes; k++)
            x[k] = region->lower[k] + (region->upper[k] - region->lower[k]) * x[k];
        inside += sgi_region_distance(region, x) < 0;
    }
    for (int k = 0; k < region->axes; k++)
        whole *= region->upper[k] - region->lower[k];
    return whole * inside / points;
}

/* ---- The boundary -----------------------------------------------------------------------------
 */

static bool inside_at(const sgi_region *region, const double *x, const double *normal, double step)
{
    double at[SG_MOST_AXES];
    for (int k = 0; k < region->axes; k++)
        at[k] = x[k] + step * normal[k];
    return sgi_region_distance(region, at) < 0;
}

/* x lies on the boundary of a shape whose normal there is given: whether the region ends there. A
 * step to each side tells, also where boundaries of several shapes coincide. */
static bool ends_here(const sgi_region *region, const double *x, double *normal)
{
    double step = step_aside * region->size;
    bool behind = inside_at(region, x, normal, -step), before = inside_at(region, x, normal, step);
    for (int k = 0; before && k < region->axes; k++)
        normal[k] = -normal[k];
    return behind != before;
}

/* Whether a side before this one has the place already. */
static bool taken(const sgi_region *region, int side, const double *x)
{
    for (int i = 0; i < side; i++)
        if (fabs(sgi_shape_distance(region->sides[i].shape, x)) <= sgi_region_tolerance(region))
            return true;
    return false;
}

bool sgi_region_try_side(const sgi_region *region, int side, sgi_uniforms *uniforms, double *x,
                         double *normal)
{
    sgi_shape_boundary_point(region->sides[side].shape, uniforms, x, normal);
    return region->count == 1 || (ends_here(region, x, normal) && !taken(region, side, x));
}

/* The slope of the distance: the normal, where x lies on the boundary. */
static void slope(const sgi_shape *shape, const double *x, double step, double *normal)
{
    double at[SG_MOST_AXES], square = 0;
    memcpy(at, x, (size_t)shape->axes * sizeof *at);
    for (int k = 0; k < shape->axes; k++) {
        at[k] = x[k] + step;
        double up = sgi_shape_distance(shape, at);
        at[k] = x[k] - step;
        normal[k] = (up - sgi_shape_distance(shape, at)) / (2 * step);
        at[k] = x[k];
        square += normal[k] * normal[k];
    }
    for (int k = 0; k < shape->axes; k++)
        normal[k] /= square > 0 ? sqrt(square) : 1;
}

bool sgi_region_touches(const sgi_region *region, const double *x, double *normal)
{
    for (int i = 0; i < region->side_count; i++) {
        const sgi_shape *shape = region->sides[i].shape;
        if (fabs(sgi_shape_distance(shape, x)) > step_aside * region->size / 4)
            continue;
        slope(shape, x, 4 * step_aside * region->size, normal);
        if (ends_here(region, x, normal))
            return true;
    }
    return false;
}

static sg_status list_sides(sgi_region *region)
{
    for (int i = 0; i < region->count; i++) {
        const sgi_shape *shape = region->steps[i].shape;
        int k = 0;
        while (k < region->side_count && region->sides[k].shape != shape)
            k++;
        if (!shape || k < region->side_count)
            continue;
        if (region->side_count == SG_MOST_SIDES)
            return SG_ERROR_UNSUPPORTED;
        region->sides[region->side_count++].shape = shape;
    }
    return SG_OK;
}

static void measure_sides(sgi_region *region)
{
    double x[SG_MOST_AXES], normal[SG_MOST_AXES], strides[SG_MOST_AXES], first[SG_MOST_AXES];
    sgi_quasi_strides(region->axes, strides);
    for (int i = 0; i < region->side_count; i++) {
        sgi_region_side *side = &region->sides[i];
        int kept = 0, tried = region->count == 1 ? 1 : affordable(region, 4 * region->side_count);
        for (int n = 0; n < tried; n++) {
            sgi_quasi_random(strides, region->axes, n, first);
            sgi_uniforms uniforms = {
                .counter = (uint64_t)n << 24, .first = first, .first_count = region->axes};
            kept += sgi_region_try_side(region, i, &uniforms, x, normal);
        }
        side->measure = side->shape->kind->boundary_measure(side->shape) * kept / tried;
    }
}

sg_status sgi_region_prepare(sgi_region *region)
{
    region->side_count = 0;
    region->measure = 0;
    find_bounds(region);
    sg_status status = list_sides(region);
    if (status != SG_OK)
        return status;
    if (!sgi_region_bounded(region)) {
        measure_sides(region);
        return SG_OK;
    }
    const sgi_shape *only = region->count == 1 ? region->steps[0].shape : NULL;
    region->measure = only ? only->kind->measure(only) : count_measure(region);
    measure_sides(region);
    if (region->carrier && region->measure < 1e-3 * carrier_measure(region))
        region->carrier = NULL; /* the bounds may fit better */
    return SG_OK;
}

/* ---- Expressions ------------------------------------------------------------------------------
 */

/* A function that is above 0 on both sides of its shape can be cut from another, since what it
 * hides lies outside, but not joined to one. */
typedef struct smooth_part {
    sgi_expr expr;
    bool no_sign;
} smooth_part;

static smooth_part join_smooth(sgi_expressions *exprs, sgi_join how, smooth_part a, smooth_part b,
                               const char **why)
{
    bool no_sign = a.no_sign || b.no_sign;
    sgi_expr other = b.no_sign ? b.expr : sgi_apply(exprs, SG_OP_NEG, b.expr, 0, 0);
    if (how == SG_JOIN_DIFFERENCE)
        return (smooth_part){sgi_smooth_and(exprs, a.expr, other), no_sign};
    if (how == SG_JOIN_INTERSECTION)
        return (smooth_part){sgi_smooth_and(exprs, a.expr, b.expr), no_sign};
    if (no_sign)
        *why = "a polygon is joined to another shape";
    /* a or b is not (not a and not b) */
    sgi_expr neither = sgi_smooth_and(exprs, sgi_apply(exprs, SG_OP_NEG, a.expr, 0, 0), other);
    return (smooth_part){sgi_apply(exprs, SG_OP_NEG, neither, 0, 0), no_sign};
}

/* Which shapes are only asked inside themselves, if the region is: those that nothing is joined to
 * and that are not cut from another. Walks the steps backwards. */
static void find_inside(const sgi_region *region, bool inside, bool *only)
{
    bool stack[SG_MOST_STEPS + 1] = {inside};
    int top = 1;
    for (int i = region->count - 1; i >= 0; i--) {
        sgi_join how = region->steps[i].join;
        bool here = stack[--top];
        only[i] = here;
        if (how == SG_JOIN_SHAPE)
            continue;
        stack[top++] = here && how != SG_JOIN_UNION;        /* the first of the two */
        stack[top++] = here && how == SG_JOIN_INTERSECTION; /* the second, which comes next */
    }
}

sgi_expr sgi_region_smooth(const sgi_region *region, sgi_expressions *exprs, const sgi_expr *x,
                           bool inside, const char **why)
{
    smooth_part stack[SG_MOST_OPEN] = {0};
    bool only[SG_MOST_STEPS] = {0};
    int top = 0;
    find_inside(region, inside, only);
    *why = NULL;
    for (int i = 0; i < region->count; i++) {
        const sgi_region_step *step = &region->steps[i];
        if (step->join == SG_JOIN_SHAPE) {
            const char *rough = sgi_shape_rough(step->shape);
            if (rough) {
                *why = rough;
                return sgi_constant(exprs, 1);
            }
            stack[top++] = (smooth_part){sgi_shape_smooth(step->shape, exprs, x, only[i]),
                                         step->shape->kind->unsigned_smooth};
        } else {
            top--;
            stack[top - 1] = join_smooth(exprs, step->join, stack[top - 1], stack[top], why);
        }
    }
    return stack[0].expr;
}
