/* Shapes: what a domain is made of.
 *
 * The table of shapes (shapes.c) has one row for each kind, and each kind is one file: which
 * numbers it takes, its signed distance, its measure, a point of its boundary with the outward
 * normal there. A kind knows itself in a place of its own; rotation and translation are added here.
 * Regions, which are shapes joined and cut, are made from them in region.h. */
#ifndef SG_DOMAIN_SHAPE_H
#define SG_DOMAIN_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "expr/expressions.h"
#include "files/attachment.h"
#include "stablegrad/diagnostic.h"
#include "stablegrad/status.h"
#include "text/arena.h"

enum { SG_MOST_AXES = SG_MOST_COORDINATES, SG_MOST_SHAPE_KEYS = 4 };

/* What numbers are used for. Those of a sequence (sequence.h) are not wasted: a point takes as few
 * as can be, and one that is not good is left to the caller, who has the next. On a grid it also
 * lies where a grid of the coordinates would have it. */
typedef enum sgi_use { SG_USE_CHANCE, SG_USE_SEQUENCE, SG_USE_GRID } sgi_use;

/* Uniform numbers on demand, a pure function of where they begin. Those of `first` come before all
 * others: quasi-random ones, for counting, and those of sequences. */
typedef struct sgi_uniforms {
    uint64_t seed, stream, counter;
    const double *first;
    int first_count;
    sgi_use use;
    double spare;
    bool has_spare;
} sgi_uniforms;

double sgi_uniform_next(sgi_uniforms *uniforms); /* in [0, 1) */

/* A uniform direction in `axes` dimensions. */
void sgi_uniform_direction(sgi_uniforms *uniforms, int axes, double *direction);

/* What a key of a shape is given as: one number, a point, a list of points, or a file. */
typedef enum sgi_shape_value {
    SG_SHAPE_NUMBER,
    SG_SHAPE_POINT,
    SG_SHAPE_POINTS,
    SG_SHAPE_FILE
} sgi_shape_value;

typedef struct sgi_shape_key {
    const char *name;
    sgi_shape_value value;
} sgi_shape_key;

typedef struct sgi_shape sgi_shape;

typedef struct sgi_shape_kind {
    const char *name;                       /* "disc" */
    const char *example;                    /* "{center: [0.5, 0.5], radius: 0.2}" */
    int least_axes, most_axes;              /* the dimensions that it exists in */
    sgi_shape_key keys[SG_MOST_SHAPE_KEYS]; /* all are needed; ends with a name of NULL */
    bool either;                            /* one key alone is needed, whichever */
    bool unbounded;
    /* Of a kind with a file: the endings that its name may have, ".csv or .geojson", and what makes
     * numbers and `made` of the content. A mistake is told in `diagnostic`. */
    const char *endings;
    sg_status (*read)(sgi_shape *shape, sgi_arena *arena, const char *data, size_t size,
                      const char *path, sg_diagnostic *diagnostic);
    /* What is wrong with the numbers, as "has a radius that is not above 0", or NULL. */
    const char *(*wrong)(const sgi_shape *shape);
    /* What can be computed once, into shape->made. NULL: nothing. */
    sg_status (*prepare)(sgi_shape *shape, sgi_arena *arena);
    /* The distance to the boundary, below 0 inside. */
    double (*distance)(const sgi_shape *shape, const double *x);
    double (*measure)(const sgi_shape *shape); /* length, area or volume */
    /* A uniform point inside. NULL: points are tried within the bounds. */
    void (*interior_point)(const sgi_shape *shape, sgi_uniforms *uniforms, double *x);
    double (*boundary_measure)(const sgi_shape *shape); /* of the boundary; of ends, their number */
    /* A uniform point of the boundary and the outward unit normal there. */
    void (*boundary_point)(const sgi_shape *shape, sgi_uniforms *uniforms, double *x,
                           double *normal);
    /* The largest x . direction of its points; what the bounds are made from. */
    double (*support)(const sgi_shape *shape, const double *direction);
    /* An expression in the coordinates `x`: 0 on the boundary, above 0 inside and below outside, as
     * smooth as can be, and near the boundary about as large as the distance. With `inside` it is
     * only used inside, and may be anything outside. NULL: there is none. */
    bool unsigned_smooth; /* it is above 0 on both sides */
    sgi_expr (*smooth)(const sgi_shape *shape, sgi_expressions *exprs, const sgi_expr *x,
                       bool inside);
} sgi_shape_kind;

struct sgi_shape {
    const sgi_shape_kind *kind;
    const char *name; /* the user's */
    int axes;
    const double *values[SG_MOST_SHAPE_KEYS]; /* by key: 1, `axes` or counts * axes numbers */
    size_t counts[SG_MOST_SHAPE_KEYS];        /* 1, or the number of points */
    bool turned;
    double turn[9];            /* rows of the rotation, in two or three dimensions */
    double move[SG_MOST_AXES]; /* x = turn (local) + move */
    /* How far from `middle` the boundary of an unbounded shape matters. Given with the numbers;
     * sgi_shape_prepare brings `middle` into the shape's own place. */
    double reach, middle[SG_MOST_AXES];
    const char *axis_names[SG_MOST_AXES]; /* of the coordinates, for a file that names them */
    sgi_attachment file; /* that the numbers come from; its path is NULL without one */
    const void *made;    /* the kind's own */
    double lower[SG_MOST_AXES], upper[SG_MOST_AXES]; /* bounds; infinite for an unbounded one */
};

/* The row called `name`, or NULL; and row `index`, NULL after the last. */
const sgi_shape_kind *sgi_shape_find(const char *name);
const sgi_shape_kind *sgi_shape_at(int index);

/* Computes what follows from kind, axes, values, turn and move. The numbers must not be `wrong`. */
SG_CHECKED sg_status sgi_shape_prepare(sgi_shape *shape, sgi_arena *arena);

double sgi_shape_distance(const sgi_shape *shape, const double *x);
void sgi_shape_interior_point(const sgi_shape *shape, sgi_uniforms *uniforms, double *x);
void sgi_shape_boundary_point(const sgi_shape *shape, sgi_uniforms *uniforms, double *x,
                              double *normal);

/* Why the shape has no smooth expression, "a surface from a file ..."; NULL: it has one. */
const char *sgi_shape_rough(const sgi_shape *shape);

/* The expression of `smooth` where the shape stands. */
sgi_expr sgi_shape_smooth(const sgi_shape *shape, sgi_expressions *exprs, const sgi_expr *x,
                          bool inside);

/* ---- For the kinds ----------------------------------------------------------------------------
 */

extern const sgi_shape_kind sgi_shape_interval, sgi_shape_rectangle, sgi_shape_box, sgi_shape_disc,
    sgi_shape_ball, sgi_shape_ellipse, sgi_shape_ellipsoid, sgi_shape_polygon, sgi_shape_cylinder,
    sgi_shape_half_space, sgi_shape_surface;

static inline double sgi_dot(const double *a, const double *b, int axes)
{
    double sum = 0;
    for (int k = 0; k < axes; k++)
        sum += a[k] * b[k];
    return sum;
}

/* sum of a_k x_k + constant, as an expression. */
sgi_expr sgi_linear(sgi_expressions *exprs, const double *a, const sgi_expr *x, int axes,
                    double constant);

/* Above 0 where both are: Rvachev's a + b - sqrt(a^2 + b^2), smooth but where both are 0. */
sgi_expr sgi_smooth_and(sgi_expressions *exprs, sgi_expr a, sgi_expr b);

#endif
