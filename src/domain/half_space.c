/* The half-space {point, normal}: all that lies behind the plane through `point`, on the side that
 * `normal` points away from. See shape.h.
 *
 * It has no bounds, so it is of use only where it is cut from something or intersected with it, and
 * points of its boundary are drawn only as far out as the problem's box reaches. */
#include <math.h>

#include "domain/shape.h"

enum { POINT, NORMAL };

typedef struct plane {
    double normal[SG_MOST_AXES];              /* of length 1 */
    double along[SG_MOST_AXES][SG_MOST_AXES]; /* axes - 1 unit vectors within the plane */
} plane;

static const char *wrong(const sgi_shape *s)
{
    return sgi_dot(s->values[NORMAL], s->values[NORMAL], s->axes) > 0 ? NULL
                                                                      : "has a normal of length 0";
}

/* The vectors along the plane: each axis in turn, made orthogonal to what there is, unless little
 * is left of it. */
static sg_status prepare(sgi_shape *s, sgi_arena *arena)
{
    plane *p = sgi_arena_allocate(arena, 1, sizeof *p);
    int d = s->axes, found = 0;
    if (!p)
        return SG_ERROR_MEMORY;
    double size = sqrt(sgi_dot(s->values[NORMAL], s->values[NORMAL], d));
    int largest = 0;
    for (int k = 0; k < d; k++) {
        p->normal[k] = s->values[NORMAL][k] / size;
        largest = fabs(p->normal[k]) > fabs(p->normal[largest]) ? k : largest;
    }
    for (int k = 0; k < d; k++) {
        double v[SG_MOST_AXES] = {0};
        if (k == largest)
            continue;
        v[k] = 1;
        for (int pass = 0; pass < 2; pass++) /* twice: rounding */
            for (int j = -1; j < found; j++) {
                const double *other = j < 0 ? p->normal : p->along[j];
                double share = sgi_dot(v, other, d);
                for (int i = 0; i < d; i++)
                    v[i] -= share * other[i];
            }
        double left = sqrt(sgi_dot(v, v, d));
        for (int i = 0; i < d; i++)
            p->along[found][i] = v[i] / left;
        found++;
    }
    s->made = p;
    return SG_OK;
}

static double distance(const sgi_shape *s, const double *x)
{
    const plane *p = s->made;
    double sum = 0;
    for (int k = 0; k < s->axes; k++)
        sum += p->normal[k] * (x[k] - s->values[POINT][k]);
    return sum;
}

static double measure(const sgi_shape *s)
{
    (void)s;
    return INFINITY;
}

static double boundary_measure(const sgi_shape *s)
{
    return pow(2 * s->reach, s->axes - 1);
}

/* Around the point of the plane that is nearest to the middle of what matters. */
static void boundary_point(const sgi_shape *s, sgi_uniforms *u, double *x, double *normal)
{
    const plane *p = s->made;
    double off = distance(s, s->middle);
    for (int k = 0; k < s->axes; k++) {
        normal[k] = p->normal[k];
        x[k] = s->middle[k] - off * p->normal[k];
    }
    for (int j = 0; j + 1 < s->axes; j++) {
        double step = s->reach * (2 * sgi_uniform_next(u) - 1);
        for (int k = 0; k < s->axes; k++)
            x[k] += step * p->along[j][k];
    }
}

static double support(const sgi_shape *s, const double *direction)
{
    const plane *p = s->made;
    double along = sgi_dot(p->normal, direction, s->axes);
    double across = sgi_dot(direction, direction, s->axes) - along * along;
    return along > 0 && across < 1e-24 ? along * sgi_dot(p->normal, s->values[POINT], s->axes)
                                       : INFINITY;
}

static sgi_expr smooth(const sgi_shape *s, sgi_expressions *exprs, const sgi_expr *x, bool inside)
{
    (void)inside;
    const plane *p = s->made;
    double in[SG_MOST_AXES];
    for (int k = 0; k < s->axes; k++)
        in[k] = -p->normal[k];
    return sgi_linear(exprs, in, x, s->axes, sgi_dot(p->normal, s->values[POINT], s->axes));
}

const sgi_shape_kind sgi_shape_half_space = {
    .name = "half-space",
    .example = "{point: [0.5, 0], normal: [1, 1]}",
    .least_axes = 1,
    .most_axes = SG_MOST_AXES,
    .keys = {{"point", SG_SHAPE_POINT}, {"normal", SG_SHAPE_POINT}},
    .unbounded = true,
    .wrong = wrong,
    .prepare = prepare,
    .distance = distance,
    .measure = measure,
    .boundary_measure = boundary_measure,
    .boundary_point = boundary_point,
    .support = support,
    .smooth = smooth};
