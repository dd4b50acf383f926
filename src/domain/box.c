/* The box {from, to}: an interval, a rectangle, and so on to eight dimensions. See shape.h. */
#include <math.h>

#include "domain/shape.h"

enum { FROM, TO };

static const char *wrong(const sgi_shape *s)
{
    for (int k = 0; k < s->axes; k++)
        if (!(s->values[FROM][k] < s->values[TO][k]))
            return "is empty: 'from' is not below 'to' in every coordinate";
    return NULL;
}

static double distance(const sgi_shape *s, const double *x)
{
    double outside = 0, inside = -INFINITY;
    for (int k = 0; k < s->axes; k++) {
        double below = s->values[FROM][k] - x[k], above = x[k] - s->values[TO][k];
        double d = below > above ? below : above;
        inside = d > inside ? d : inside;
        outside += d > 0 ? d * d : 0;
    }
    return inside > 0 ? sqrt(outside) : inside;
}

static double length(const sgi_shape *s, int k)
{
    return s->values[TO][k] - s->values[FROM][k];
}

static double measure(const sgi_shape *s)
{
    double product = 1;
    for (int k = 0; k < s->axes; k++)
        product *= length(s, k);
    return product;
}

static double boundary_measure(const sgi_shape *s)
{
    double sum = 0;
    for (int k = 0; k < s->axes; k++)
        sum += 2 * measure(s) / length(s, k);
    return sum;
}

/* A face by its size, then a point of it. */
static void boundary_point(const sgi_shape *s, sgi_uniforms *u, double *x, double *normal)
{
    double rest = sgi_uniform_next(u) * boundary_measure(s), whole = measure(s);
    int face = 0, last = 2 * s->axes - 1;
    while (face < last && rest >= whole / length(s, face / 2))
        rest -= whole / length(s, face++ / 2);
    /* What is left of the number that chose the face is a number too. */
    double left = rest / (whole / length(s, face / 2));
    bool spare = u->use != SG_USE_CHANCE;
    for (int k = 0; k < s->axes; k++) {
        normal[k] = 0;
        x[k] = 0;
        if (k == face / 2)
            continue;
        x[k] = s->values[FROM][k] + length(s, k) * (spare ? left : sgi_uniform_next(u));
        spare = false;
    }
    x[face / 2] = s->values[face % 2 ? TO : FROM][face / 2];
    normal[face / 2] = face % 2 ? 1 : -1;
}

static void interior_point(const sgi_shape *s, sgi_uniforms *u, double *x)
{
    for (int k = 0; k < s->axes; k++)
        x[k] = s->values[FROM][k] + length(s, k) * sgi_uniform_next(u);
}

static double support(const sgi_shape *s, const double *direction)
{
    double sum = 0;
    for (int k = 0; k < s->axes; k++)
        sum += direction[k] * s->values[direction[k] > 0 ? TO : FROM][k];
    return sum;
}

/* Inside, the product is smooth in the corners too; outside it is 0 where faces are prolonged. */
static sgi_expr smooth(const sgi_shape *s, sgi_expressions *exprs, const sgi_expr *x, bool inside)
{
    sgi_expr all = 0;
    for (int k = 0; k < s->axes; k++) {
        sgi_expr above = sgi_sub(exprs, x[k], sgi_constant(exprs, s->values[FROM][k]));
        sgi_expr below = sgi_sub(exprs, sgi_constant(exprs, s->values[TO][k]), x[k]);
        sgi_expr one =
            sgi_mul(exprs, sgi_constant(exprs, 1 / length(s, k)), sgi_mul(exprs, above, below));
        if (inside) /* times 4: about the distance near the middle of a face */
            all =
                k ? sgi_mul(exprs, all, sgi_mul(exprs, sgi_constant(exprs, 4 / length(s, k)), one))
                  : one;
        else
            all = k ? sgi_smooth_and(exprs, all, one) : one;
    }
    return all;
}

#define BOX(title, sample, least, most)                                                            \
    {                                                                                              \
        .name = title, .example = sample, .least_axes = least, .most_axes = most,                  \
        .keys = {{"from", SG_SHAPE_POINT}, {"to", SG_SHAPE_POINT}}, .wrong = wrong,                \
        .distance = distance, .measure = measure, .boundary_measure = boundary_measure,            \
        .interior_point = interior_point, .boundary_point = boundary_point, .support = support,    \
        .smooth = smooth                                                                           \
    }

const sgi_shape_kind sgi_shape_interval = BOX("interval", "{from: 0, to: 1}", 1, 1);
const sgi_shape_kind sgi_shape_rectangle = BOX("rectangle", "{from: [0, 0], to: [1, 0.5]}", 2, 2);
const sgi_shape_kind sgi_shape_box =
    BOX("box", "{from: [0, 0, 0], to: [1, 1, 0.5]}", 1, SG_MOST_AXES);
