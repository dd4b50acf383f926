/* The table of shapes, and what all kinds have in common: see shape.h. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "domain/shape.h"

static const sgi_shape_kind *const table[] = {
    &sgi_shape_interval, &sgi_shape_rectangle,  &sgi_shape_box,       &sgi_shape_disc,
    &sgi_shape_ball,     &sgi_shape_ellipse,    &sgi_shape_ellipsoid, &sgi_shape_polygon,
    &sgi_shape_cylinder, &sgi_shape_half_space, &sgi_shape_surface};

enum { KINDS = sizeof table / sizeof table[0] };

const sgi_shape_kind *sgi_shape_at(int index)
{
    return index >= 0 && index < KINDS ? table[index] : NULL;
}

const sgi_shape_kind *sgi_shape_find(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

/* ---- Random numbers ---------------------------------------------------------------------------
 */

double sgi_uniform_next(sgi_uniforms *u)
{
    if (u->first_count > 0) {
        u->first_count--;
        return *u->first++;
    }
    if (u->has_spare) {
        u->has_spare = false;
        return u->spare;
    }
    double pair[2];
    sgi_random_uniform2(u->seed, u->stream, u->counter++, pair);
    u->spare = pair[1];
    u->has_spare = true;
    return pair[0];
}

void sgi_uniform_direction(sgi_uniforms *u, int axes, double *direction)
{
    double square;
    if (axes == 1) {
        direction[0] = sgi_uniform_next(u) < 0.5 ? -1 : 1;
        return;
    }
    if (axes == 2) {
        double angle = 2 * M_PI * sgi_uniform_next(u);
        direction[0] = cos(angle);
        direction[1] = sin(angle);
        return;
    }
    if (axes == 3 && u->use != SG_USE_CHANCE) { /* Archimedes: slices of equal height are alike */
        double height = 1 - 2 * sgi_uniform_next(u), angle = 2 * M_PI * sgi_uniform_next(u);
        double radius = sqrt(fmax(0, 1 - height * height));
        direction[0] = radius * cos(angle);
        direction[1] = radius * sin(angle);
        direction[2] = height;
        return;
    }
    do { /* once, for all that is likely: normal numbers point anywhere alike */
        for (int k = 0; k < axes; k += 2) {
            double radius = sqrt(-2 * log1p(-sgi_uniform_next(u)));
            double angle = 2 * M_PI * sgi_uniform_next(u);
            direction[k] = radius * cos(angle);
            if (k + 1 < axes)
                direction[k + 1] = radius * sin(angle);
        }
        square = sgi_dot(direction, direction, axes);
    } while (square < 1e-12);
    for (int k = 0; k < axes; k++)
        direction[k] /= sqrt(square);
}

/* ---- Rotation and translation -----------------------------------------------------------------
 */

/* The vector `from` turned, or turned back. */
static void turn(const sgi_shape *shape, bool back, const double *from, double *to)
{
    int d = shape->axes;
    for (int i = 0; i < d; i++) {
        to[i] = from[i];
        if (shape->turned) {
            to[i] = 0;
            for (int j = 0; j < d; j++)
                to[i] += shape->turn[back ? j * d + i : i * d + j] * from[j];
        }
    }
}

double sgi_shape_distance(const sgi_shape *shape, const double *x)
{
    double moved[SG_MOST_AXES], local[SG_MOST_AXES];
    for (int k = 0; k < shape->axes; k++)
        moved[k] = x[k] - shape->move[k];
    if (!shape->turned)
        return shape->kind->distance(shape, moved);
    turn(shape, true, moved, local);
    return shape->kind->distance(shape, local);
}

/* From the shape's own place to where it stands. */
static void place(const sgi_shape *shape, const double *local, double *x)
{
    turn(shape, false, local, x);
    for (int k = 0; k < shape->axes; k++)
        x[k] += shape->move[k];
}

void sgi_shape_interior_point(const sgi_shape *shape, sgi_uniforms *uniforms, double *x)
{
    double local[SG_MOST_AXES] = {0};
    shape->kind->interior_point(shape, uniforms, local);
    place(shape, local, x);
}

void sgi_shape_boundary_point(const sgi_shape *shape, sgi_uniforms *uniforms, double *x,
                              double *normal)
{
    double local[SG_MOST_AXES] = {0}, local_normal[SG_MOST_AXES] = {0};
    shape->kind->boundary_point(shape, uniforms, local, local_normal);
    place(shape, local, x);
    turn(shape, false, local_normal, normal);
}

/* The bounds along axis k: the support in both directions. */
static void find_bounds(sgi_shape *shape, int k)
{
    double axis[SG_MOST_AXES] = {0}, local[SG_MOST_AXES];
    axis[k] = 1;
    turn(shape, true, axis, local);
    shape->upper[k] = shape->move[k] + shape->kind->support(shape, local);
    for (int i = 0; i < shape->axes; i++)
        local[i] = -local[i];
    shape->lower[k] = shape->move[k] - shape->kind->support(shape, local);
}

/* The middle of what matters, in the shape's own place. */
static void localise_middle(sgi_shape *shape)
{
    double moved[SG_MOST_AXES];
    for (int k = 0; k < shape->axes; k++)
        moved[k] = shape->middle[k] - shape->move[k];
    turn(shape, true, moved, shape->middle);
}

sg_status sgi_shape_prepare(sgi_shape *shape, sgi_arena *arena)
{
    localise_middle(shape);
    sg_status status = shape->kind->prepare ? shape->kind->prepare(shape, arena) : SG_OK;
    for (int k = 0; k < shape->axes && status == SG_OK; k++)
        find_bounds(shape, k);
    return status;
}

/* ---- Expressions ------------------------------------------------------------------------------
 */

sgi_expr sgi_linear(sgi_expressions *exprs, const double *a, const sgi_expr *x, int axes,
                    double constant)
{
    sgi_expr sum = sgi_constant(exprs, constant);
    for (int k = 0; k < axes; k++)
        if (a[k] != 0)
            sum = sgi_add(exprs, sum, sgi_mul(exprs, sgi_constant(exprs, a[k]), x[k]));
    return sum;
}

sgi_expr sgi_smooth_and(sgi_expressions *exprs, sgi_expr a, sgi_expr b)
{
    sgi_expr squares = sgi_add(exprs, sgi_mul(exprs, a, a), sgi_mul(exprs, b, b));
    return sgi_sub(exprs, sgi_add(exprs, a, b), sgi_apply(exprs, SG_OP_SQRT, squares, 0, 0));
}

/* A polygon's expression has a term for every edge, in every derivative. */
enum { MOST_SMOOTH_CORNERS = 200 };

const char *sgi_shape_rough(const sgi_shape *shape)
{
    if (!shape->kind->smooth)
        return "the distance to a surface of triangles is not smooth";
    return shape->counts[0] > MOST_SMOOTH_CORNERS ? "a polygon has more than 200 corners" : NULL;
}

sgi_expr sgi_shape_smooth(const sgi_shape *shape, sgi_expressions *exprs, const sgi_expr *x,
                          bool inside)
{
    sgi_expr local[SG_MOST_AXES];
    int d = shape->axes;
    for (int i = 0; i < d; i++) {
        double row[SG_MOST_AXES] = {0}, shift = 0;
        for (int j = 0; j < d; j++) {
            row[j] = shape->turned ? shape->turn[j * d + i] : i == j;
            shift -= row[j] * shape->move[j];
        }
        local[i] = sgi_linear(exprs, row, x, d, shift);
    }
    return shape->kind->smooth(shape, exprs, local, inside);
}
