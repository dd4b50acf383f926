/* The ellipse and the ellipsoid {center, radii}. See shape.h. */
#include <math.h>

#include "domain/shape.h"

enum { CENTER, RADII };

/* Points of the sphere that a surface integral is made of: by the trapezoidal rule around, which
 * converges fast for what is periodic and smooth, and by Gauss' rule from pole to pole. */
enum { AROUND = 512, POLES = 128 };

static const char *wrong(const sgi_shape *s)
{
    for (int k = 0; k < s->axes; k++)
        if (!(s->values[RADII][k] > 0))
            return "has a radius that is not above 0";
    return NULL;
}

/* ---- Distance ---------------------------------------------------------------------------------
 */

/* sum (r x / (t + r^2))^2 - 1, which falls with t. */
static double excess(const sgi_shape *s, const double *x, double t)
{
    double sum = -1;
    for (int k = 0; k < s->axes; k++) {
        double r = s->values[RADII][k], q = r * x[k] / (t + r * r);
        sum += q * q;
    }
    return sum;
}

/* The nearest point of the boundary is r^2 x / (t + r^2) for the one root t above -min r^2: the
 * other points whose normal goes through x are farther away. On the short axis inside, where x
 * has no component along the smallest radius, there may be no root; then the nearest point leaves
 * the axis, which the limit t = -min r^2 describes. */
static double root(const sgi_shape *s, const double *x, int shortest)
{
    double r = s->values[RADII][shortest], size = sqrt(sgi_dot(x, x, s->axes)), largest = 0;
    for (int k = 0; k < s->axes; k++)
        largest = s->values[RADII][k] > largest ? s->values[RADII][k] : largest;
    double low = -r * r + r * fabs(x[shortest]), high = largest * size;
    for (int i = 0; i < 200 && high - low > 0; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (excess(s, x, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

static double distance(const sgi_shape *s, const double *at)
{
    double x[SG_MOST_AXES] = {0}, nearest[SG_MOST_AXES], square = 0, left = 1;
    int shortest = 0;
    for (int k = 0; k < s->axes; k++) {
        x[k] = at[k] - s->values[CENTER][k];
        shortest = s->values[RADII][k] < s->values[RADII][shortest] ? k : shortest;
    }
    double t = root(s, x, shortest), r = s->values[RADII][shortest];
    for (int k = 0; k < s->axes; k++) {
        double radius = s->values[RADII][k], below = t + radius * radius;
        nearest[k] = below > 0 ? radius * radius * x[k] / below : 0;
        if (k != shortest)
            left -= nearest[k] / radius * (nearest[k] / radius);
    }
    /* At the limit the component along the shortest radius follows from the others. */
    if (t + r * r <= 1e-9 * r * r)
        nearest[shortest] = copysign(r * sqrt(left > 0 ? left : 0), x[shortest]);
    for (int k = 0; k < s->axes; k++)
        square += (x[k] - nearest[k]) * (x[k] - nearest[k]);
    return excess(s, x, 0) > 0 ? sqrt(square) : -sqrt(square);
}

/* ---- Measures and points ----------------------------------------------------------------------
 */

static double product(const sgi_shape *s)
{
    double all = 1;
    for (int k = 0; k < s->axes; k++)
        all *= s->values[RADII][k];
    return all;
}

/* How much the map from the unit sphere stretches the surface at `direction`. */
static double stretch(const sgi_shape *s, const double *direction)
{
    double sum = 0;
    for (int k = 0; k < s->axes; k++) {
        double q = direction[k] / s->values[RADII][k];
        sum += q * q;
    }
    return product(s) * sqrt(sum);
}

/* Node and weight of Gauss' rule on [-1, 1] by Newton's method on the Legendre polynomial. */
static double gauss(int node, double *weight)
{
    double z = cos(M_PI * (node + 0.75) / (POLES + 0.5)), slope = 1;
    for (int i = 0; i < 20; i++) {
        double p = 1, before = 0;
        for (int j = 1; j <= POLES; j++) {
            double next = ((2 * j - 1) * z * p - (j - 1) * before) / j;
            before = p;
            p = next;
        }
        slope = POLES * (z * p - before) / (z * z - 1);
        z -= p / slope;
    }
    *weight = 2 / ((1 - z * z) * slope * slope);
    return z;
}

static double boundary_measure(const sgi_shape *s)
{
    double sum = 0;
    int levels = s->axes == 2 ? 1 : POLES;
    for (int i = 0; i < levels; i++) {
        double weight = 1, z = s->axes == 2 ? 0 : gauss(i, &weight), ring = 0;
        for (int j = 0; j < AROUND; j++) {
            double angle = 2 * M_PI * j / AROUND, rho = sqrt(1 - z * z);
            const double direction[3] = {rho * cos(angle), rho * sin(angle), z};
            ring += stretch(s, direction) * 2 * M_PI / AROUND;
        }
        sum += weight * ring;
    }
    return sum;
}

static double measure(const sgi_shape *s)
{
    return (s->axes == 2 ? M_PI : 4 * M_PI / 3) * product(s);
}

/* Uniform on the sphere, taken with a probability in proportion to the stretch. */
static void boundary_point(const sgi_shape *s, sgi_uniforms *u, double *x, double *normal)
{
    double shortest = s->values[RADII][0], size = 0;
    for (int k = 1; k < s->axes; k++)
        shortest = s->values[RADII][k] < shortest ? s->values[RADII][k] : shortest;
    double direction[SG_MOST_AXES], most = product(s) / shortest;
    do
        sgi_uniform_direction(u, s->axes, direction);
    while (sgi_uniform_next(u) * most > stretch(s, direction));
    for (int k = 0; k < s->axes; k++) {
        x[k] = s->values[CENTER][k] + s->values[RADII][k] * direction[k];
        normal[k] = direction[k] / s->values[RADII][k];
        size += normal[k] * normal[k];
    }
    for (int k = 0; k < s->axes; k++)
        normal[k] /= sqrt(size);
}

static void interior_point(const sgi_shape *s, sgi_uniforms *u, double *x)
{
    double direction[SG_MOST_AXES], out = pow(sgi_uniform_next(u), 1.0 / s->axes);
    sgi_uniform_direction(u, s->axes, direction);
    for (int k = 0; k < s->axes; k++)
        x[k] = s->values[CENTER][k] + out * s->values[RADII][k] * direction[k];
}

static double support(const sgi_shape *s, const double *direction)
{
    double sum = 0;
    for (int k = 0; k < s->axes; k++)
        sum += s->values[RADII][k] * direction[k] * s->values[RADII][k] * direction[k];
    return sgi_dot(s->values[CENTER], direction, s->axes) + sqrt(sum);
}

static sgi_expr smooth(const sgi_shape *s, sgi_expressions *exprs, const sgi_expr *x, bool inside)
{
    (void)inside;
    double shortest = INFINITY;
    sgi_expr rest = sgi_constant(exprs, 1);
    for (int k = 0; k < s->axes; k++) {
        double r = s->values[RADII][k];
        sgi_expr d = sgi_sub(exprs, x[k], sgi_constant(exprs, s->values[CENTER][k]));
        rest = sgi_sub(exprs, rest,
                       sgi_mul(exprs, sgi_constant(exprs, 1 / (r * r)), sgi_mul(exprs, d, d)));
        shortest = r < shortest ? r : shortest;
    }
    return sgi_mul(exprs, sgi_constant(exprs, shortest / 2), rest);
}

#define ELLIPSE(title, sample, dimensions)                                                         \
    {                                                                                              \
        .name = title, .example = sample, .least_axes = dimensions, .most_axes = dimensions,       \
        .keys = {{"center", SG_SHAPE_POINT}, {"radii", SG_SHAPE_POINT}}, .wrong = wrong,           \
        .distance = distance, .measure = measure, .boundary_measure = boundary_measure,            \
        .interior_point = interior_point, .boundary_point = boundary_point, .support = support,    \
        .smooth = smooth                                                                           \
    }

const sgi_shape_kind sgi_shape_ellipse = ELLIPSE("ellipse", "{center: [0, 0], radii: [2, 1]}", 2);
const sgi_shape_kind sgi_shape_ellipsoid =
    ELLIPSE("ellipsoid", "{center: [0, 0, 0], radii: [3, 2, 1]}", 3);
