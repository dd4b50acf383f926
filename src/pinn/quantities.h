/* Evaluating a trained network: fields, their derivatives and residuals at points of any number. */
#ifndef SG_PINN_QUANTITIES_H
#define SG_PINN_QUANTITIES_H

#include "pinn/box_grid.h"

/* Where points come from: either a grid, or an array (count, coordinates), row by row. A grid
 * covers the box of the coordinates: at its points outside the domain every value is NaN, and that
 * of a field, or of something made of one alone, also where the field does not live. */
typedef struct sgi_places {
    const sgi_box_grid *grid; /* NULL: `points` */
    const double *points;
    size_t count;
} sgi_places;

/* Evaluates the components of `set` (see sgi_problem_quantities; also the domain's residuals) on
 * the network: outputs[k] (count) for component k. Works through the points in chunks, so memory
 * beyond the outputs is bounded. */
SG_CHECKED sg_status sgi_quantities_evaluate(const sgi_problem *problem, const sgi_point_set *set,
                                             sg_jet_network *network, const sgi_places *places,
                                             double *const *outputs, sg_pool *pool,
                                             const sg_allocator *allocator);

/* The reference solution at the points: outputs[f] (count) for field f. SG_ERROR_UNSUPPORTED if
 * the problem has none. */
SG_CHECKED sg_status sgi_places_reference(const sgi_problem *problem, const sgi_places *places,
                                          double *const *outputs, sg_pool *pool,
                                          const sg_allocator *allocator);

/* Between the own points of the reference's files, what is known of each field f there, own[f]
 * (sgi_solution_points): outputs[f] (count). SG_ERROR_UNSUPPORTED if it is not from files. */
SG_CHECKED sg_status sgi_places_between(const sgi_problem *problem, const double *const *own,
                                        const sgi_places *places, double *const *outputs,
                                        sg_pool *pool, const sg_allocator *allocator);

#endif
