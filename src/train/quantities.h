/* Evaluating a trained network: fields, their derivatives and residuals at points of any number. */
#ifndef SG_TRAIN_QUANTITIES_H
#define SG_TRAIN_QUANTITIES_H

#include "train/grid.h"

/* Where points come from: either a grid, or an array (count, coordinates), row by row. */
typedef struct sg_places {
    const sg_grid *grid; /* NULL: `points` */
    const double *points;
    size_t count;
} sg_places;

/* Evaluates the components of `set` (see sg_problem_quantities; also the domain's residuals) on the
 * network: outputs[k] (count) for component k. Works through the points in chunks, so memory beyond
 * the outputs is bounded. */
SG_CHECKED sg_status sg_quantities_evaluate(const sg_problem *problem, const sg_point_set *set,
                                            sg_jet_network *network, const sg_places *places,
                                            double *const *outputs, sg_pool *pool,
                                            const sg_allocator *allocator);

/* The reference solution at the points: outputs[f] (count) for field f. SG_ERROR_UNSUPPORTED if
 * the problem has none. */
SG_CHECKED sg_status sg_places_reference(const sg_problem *problem, const sg_places *places,
                                         double *const *outputs, sg_pool *pool,
                                         const sg_allocator *allocator);

#endif
