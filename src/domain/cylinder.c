/* The cylinder {from, to, radius}: its axis goes from one point to the other. See shape.h. */
#include <math.h>

#include "domain/shape.h"

enum { FROM, TO, RADIUS };

typedef struct frame {
    double axis[3], across[2][3]; /* unit vectors */
    double length, radius;
} frame;

static const char *wrong(const sgi_shape *s)
{
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += pow(s->values[TO][k] - s->values[FROM][k], 2);
    if (!(square > 0))
        return "has an axis of length 0";
    return s->values[RADIUS][0] > 0 ? NULL : "has a radius that is not above 0";
}

static void cross(const double *a, const double *b, double *product)
{
    for (int k = 0; k < 3; k++)
        product[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static sg_status prepare(sgi_shape *s, sgi_arena *arena)
{
    frame *f = sgi_arena_allocate(arena, 1, sizeof *f);
    if (!f)
        return SG_ERROR_MEMORY;
    int smallest = 0;
    for (int k = 0; k < 3; k++) {
        f->axis[k] = s->values[TO][k] - s->values[FROM][k];
        smallest = fabs(f->axis[k]) < fabs(f->axis[smallest]) ? k : smallest;
    }
    f->length = sqrt(sgi_dot(f->axis, f->axis, 3));
    f->radius = s->values[RADIUS][0];
    double other[3] = {0};
    other[smallest] = 1;
    for (int k = 0; k < 3; k++)
        f->axis[k] /= f->length;
    cross(f->axis, other, f->across[0]);
    double size = sqrt(sgi_dot(f->across[0], f->across[0], 3));
    for (int k = 0; k < 3; k++)
        f->across[0][k] /= size;
    cross(f->axis, f->across[0], f->across[1]);
    s->made = f;
    return SG_OK;
}

static double distance(const sgi_shape *s, const double *x)
{
    const frame *f = s->made;
    double w[3], square = 0;
    for (int k = 0; k < 3; k++)
        w[k] = x[k] - s->values[FROM][k];
    double height = sgi_dot(w, f->axis, 3);
    for (int k = 0; k < 3; k++)
        square += pow(w[k] - height * f->axis[k], 2);
    double aside = sqrt(square) - f->radius;
    double beyond = fmax(-height, height - f->length);
    if (aside > 0 && beyond > 0)
        return hypot(aside, beyond);
    return fmax(aside, beyond);
}

static double measure(const sgi_shape *s)
{
    const frame *f = s->made;
    return M_PI * f->radius * f->radius * f->length;
}

static double boundary_measure(const sgi_shape *s)
{
    const frame *f = s->made;
    return 2 * M_PI * f->radius * (f->length + f->radius);
}

/* The mantle, or one of the two ends. */
static void boundary_point(const sgi_shape *s, sgi_uniforms *u, double *x, double *normal)
{
    const frame *f = s->made;
    double pick = sgi_uniform_next(u) * (f->length + f->radius);
    double angle = 2 * M_PI * sgi_uniform_next(u), share = sgi_uniform_next(u);
    bool mantle = pick < f->length, far = pick - f->length < f->radius / 2;
    double height = mantle ? share * f->length : far ? f->length : 0;
    double radius = mantle ? f->radius : f->radius * sqrt(share);
    for (int k = 0; k < 3; k++) {
        double out = cos(angle) * f->across[0][k] + sin(angle) * f->across[1][k];
        x[k] = s->values[FROM][k] + height * f->axis[k] + radius * out;
        normal[k] = mantle ? out : far ? f->axis[k] : -f->axis[k];
    }
}

static void interior_point(const sgi_shape *s, sgi_uniforms *u, double *x)
{
    const frame *f = s->made;
    double height = f->length * sgi_uniform_next(u), angle = 2 * M_PI * sgi_uniform_next(u);
    double radius = f->radius * sqrt(sgi_uniform_next(u));
    for (int k = 0; k < 3; k++)
        x[k] = s->values[FROM][k] + height * f->axis[k] +
               radius * (cos(angle) * f->across[0][k] + sin(angle) * f->across[1][k]);
}

static double support(const sgi_shape *s, const double *direction)
{
    const frame *f = s->made;
    double along = sgi_dot(f->axis, direction, 3);
    double across = sgi_dot(direction, direction, 3) - along * along;
    return sgi_dot(s->values[FROM], direction, 3) + (along > 0 ? along * f->length : 0) +
           f->radius * sqrt(across > 0 ? across : 0);
}

static sgi_expr smooth(const sgi_shape *s, sgi_expressions *exprs, const sgi_expr *x, bool inside)
{
    const frame *f = s->made;
    sgi_expr height = sgi_linear(exprs, f->axis, x, 3, -sgi_dot(f->axis, s->values[FROM], 3));
    sgi_expr left = sgi_sub(exprs, sgi_constant(exprs, f->length), height);
    sgi_expr ends =
        sgi_mul(exprs, sgi_constant(exprs, 1 / f->length), sgi_mul(exprs, height, left));
    sgi_expr rest = sgi_constant(exprs, f->radius * f->radius);
    for (int k = 0; k < 2; k++) {
        sgi_expr d =
            sgi_linear(exprs, f->across[k], x, 3, -sgi_dot(f->across[k], s->values[FROM], 3));
        rest = sgi_sub(exprs, rest, sgi_mul(exprs, d, d));
    }
    sgi_expr mantle = sgi_mul(exprs, sgi_constant(exprs, 0.5 / f->radius), rest);
    if (inside)
        return sgi_mul(exprs, sgi_mul(exprs, sgi_constant(exprs, 4 / f->length), mantle), ends);
    return sgi_smooth_and(exprs, mantle, ends);
}

const sgi_shape_kind sgi_shape_cylinder = {
    .name = "cylinder",
    .example = "{from: [0, 0, 0], to: [0, 0, 2], radius: 0.5}",
    .least_axes = 3,
    .most_axes = 3,
    .keys = {{"from", SG_SHAPE_POINT}, {"to", SG_SHAPE_POINT}, {"radius", SG_SHAPE_NUMBER}},
    .wrong = wrong,
    .prepare = prepare,
    .distance = distance,
    .measure = measure,
    .boundary_measure = boundary_measure,
    .interior_point = interior_point,
    .boundary_point = boundary_point,
    .support = support,
    .smooth = smooth};
