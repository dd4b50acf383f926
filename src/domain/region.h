/* Regions: shapes joined, cut from each other and intersected.
 *
 * A region is a list of steps in postfix order, "plate hole -". Its distance is made of the shapes'
 * distances by minimum and maximum: the sign is right everywhere, the size is that of the nearest
 * boundary of a shape, which may lie in a part that another shape hides, so the true distance is at
 * least as large. Points inside are drawn from one shape that covers the region, or from its
 * bounds, until one lies inside; points of the boundary from the shapes' boundaries, until one lies
 * on that of the region too. */
#ifndef SG_DOMAIN_REGION_H
#define SG_DOMAIN_REGION_H

#include "domain/shape.h"

enum { SG_MOST_STEPS = 128, SG_MOST_OPEN = 16, SG_MOST_SIDES = 64 };

typedef enum sgi_join {
    SG_JOIN_SHAPE, /* the step is a shape */
    SG_JOIN_UNION, /* of the two regions before it */
    SG_JOIN_DIFFERENCE,
    SG_JOIN_INTERSECTION
} sgi_join;

typedef struct sgi_region_step {
    sgi_join join;
    const sgi_shape *shape;
} sgi_region_step;

/* What is left of a shape's boundary in the region's. */
typedef struct sgi_region_side {
    const sgi_shape *shape;
    double measure;
} sgi_region_side;

typedef struct sgi_region {
    const char *name;
    int axes;
    sgi_region_step steps[SG_MOST_STEPS];
    int count;
    int open; /* regions that the steps leave to be joined, 1 in the end; at most SG_MOST_OPEN */
    /* Found by sgi_region_prepare. */
    double lower[SG_MOST_AXES], upper[SG_MOST_AXES];
    double size;              /* of the diagonal of its bounds, or as far as it matters */
    const sgi_shape *carrier; /* covers the region and knows its interior; NULL: use the bounds */
    double measure;           /* 0: it is empty, or too thin to tell */
    sgi_region_side sides[SG_MOST_SIDES];
    int side_count;
} sgi_region;

/* Adds a step. SG_ERROR_UNSUPPORTED when there are too many, or nested too deeply. */
SG_CHECKED sg_status sgi_region_add(sgi_region *region, sgi_join join, const sgi_shape *shape);

/* Finds bounds, measure and sides. Unless the region is one shape, measures are counted on
 * quasi-random points: they are right to about one part in a thousand. SG_ERROR_UNSUPPORTED when it
 * has more than SG_MOST_SIDES shapes. An unbounded region keeps infinite bounds, has no measure,
 * and its sides are measured as far out as its shapes matter. */
SG_CHECKED sg_status sgi_region_prepare(sgi_region *region);

bool sgi_region_bounded(const sgi_region *region);

/* Below 0 inside; see above. */
double sgi_region_distance(const sgi_region *region, const double *x);

/* Draws a point within what covers the region; whether it lies inside. */
bool sgi_region_try_interior(const sgi_region *region, sgi_uniforms *uniforms, double *x);

/* Draws a point of the shape's boundary; whether it lies on the region's too. `normal` is then the
 * region's outward one. */
bool sgi_region_try_side(const sgi_region *region, int side, sgi_uniforms *uniforms, double *x,
                         double *normal);

/* Whether x, which may be off by rounding, lies on the region's boundary, and the outward normal
 * there. In a corner it is that of one of the sides. */
bool sgi_region_touches(const sgi_region *region, const double *x, double *normal);

/* An expression in the coordinates `x` of the axes: 0 on the boundary, above 0 inside, and as
 * smooth as can be but in corners; with `inside` it is only used inside. *why is NULL, or, when
 * there is none, says it: "a polygon is joined to another shape". */
sgi_expr sgi_region_smooth(const sgi_region *region, sgi_expressions *exprs, const sgi_expr *x,
                           bool inside, const char **why);

/* Point i of a quasi-random sequence in the unit cube, the additive recurrence of the generalised
 * golden ratio: frac(1/2 + (i + 1) strides). */
void sgi_quasi_strides(int axes, double *strides);
void sgi_quasi_random(const double *strides, int axes, int i, double *point);

/* How far two points that should be the same may be apart. */
double sgi_region_tolerance(const sgi_region *region);

#endif
