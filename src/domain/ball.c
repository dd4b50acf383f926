/* The ball {center, radius}, which is called a disc in two dimensions. See shape.h. */
#include <math.h>

#include "domain/shape.h"

enum { CENTER, RADIUS };

static double radius(const sgi_shape *s)
{
    return s->values[RADIUS][0];
}

static const char *wrong(const sgi_shape *s)
{
    return radius(s) > 0 ? NULL : "has a radius that is not above 0";
}

static double distance(const sgi_shape *s, const double *x)
{
    double square = 0;
    for (int k = 0; k < s->axes; k++) {
        double d = x[k] - s->values[CENTER][k];
        square += d * d;
    }
    return sqrt(square) - radius(s);
}

static double unit_measure(int axes)
{
    return pow(M_PI, axes / 2.0) / tgamma(axes / 2.0 + 1);
}

static double measure(const sgi_shape *s)
{
    return unit_measure(s->axes) * pow(radius(s), s->axes);
}

static double boundary_measure(const sgi_shape *s)
{
    return s->axes * unit_measure(s->axes) * pow(radius(s), s->axes - 1);
}

static void boundary_point(const sgi_shape *s, sgi_uniforms *u, double *x, double *normal)
{
    sgi_uniform_direction(u, s->axes, normal);
    for (int k = 0; k < s->axes; k++)
        x[k] = s->values[CENTER][k] + radius(s) * normal[k];
}

static void interior_point(const sgi_shape *s, sgi_uniforms *u, double *x)
{
    double direction[SG_MOST_AXES], out = radius(s) * pow(sgi_uniform_next(u), 1.0 / s->axes);
    sgi_uniform_direction(u, s->axes, direction);
    for (int k = 0; k < s->axes; k++)
        x[k] = s->values[CENTER][k] + out * direction[k];
}

static double support(const sgi_shape *s, const double *direction)
{
    return sgi_dot(s->values[CENTER], direction, s->axes) +
           radius(s) * sqrt(sgi_dot(direction, direction, s->axes));
}

static sgi_expr smooth(const sgi_shape *s, sgi_expressions *exprs, const sgi_expr *x, bool inside)
{
    (void)inside;
    sgi_expr rest = sgi_constant(exprs, radius(s) * radius(s));
    for (int k = 0; k < s->axes; k++) {
        sgi_expr d = sgi_sub(exprs, x[k], sgi_constant(exprs, s->values[CENTER][k]));
        rest = sgi_sub(exprs, rest, sgi_mul(exprs, d, d));
    }
    return sgi_mul(exprs, sgi_constant(exprs, 0.5 / radius(s)), rest);
}

#define BALL(title, sample, least, most)                                                           \
    {                                                                                              \
        .name = title, .example = sample, .least_axes = least, .most_axes = most,                  \
        .keys = {{"center", SG_SHAPE_POINT}, {"radius", SG_SHAPE_NUMBER}}, .wrong = wrong,         \
        .distance = distance, .measure = measure, .boundary_measure = boundary_measure,            \
        .interior_point = interior_point, .boundary_point = boundary_point, .support = support,    \
        .smooth = smooth                                                                           \
    }

const sgi_shape_kind sgi_shape_disc = BALL("disc", "{center: [0.5, 0.5], radius: 0.2}", 2, 2);
const sgi_shape_kind sgi_shape_ball =
    BALL("ball", "{center: [0, 0, 0], radius: 1}", 1, SG_MOST_AXES);
