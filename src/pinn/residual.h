/* A problem's point sets as the engine's callbacks: points, residuals, losses and adjoints.
 *
 *     sg_residual_create(&residual, problem, &options, NULL);
 *     sg_jet_config config = sg_jet_defaults();
 *     config.sets = sg_residual_sets(residual);  config.set_count = problem->set_count;
 *     each step:  sg_residual_begin(residual, seed, step);
 *                 sg_jet_gradient(engine, NULL);
 *                 sg_residual_collect(residual, engine, &loss);
 *
 * With weights w and N items the loss is sum w / N sum r^2, and the weighted residual vector, whose
 * half squared norm it is, has the components sqrt(2 w / N) r. A Jacobian call of the engine gets
 * the derivatives of those. */
#ifndef SG_PINN_RESIDUAL_H
#define SG_PINN_RESIDUAL_H

#include "pinn/sampler.h"

typedef struct sg_residual_options {
    sg_type type;         /* the network's */
    int workers;          /* threads that may call back: sg_pool_threads */
    sg_isa isa;           /* SG_ISA_AUTO, or one to force */
    sg_purpose purpose;   /* training or validation points */
    const int64_t *items; /* (set_count), or NULL: the problem's items, or for validation points
                             evaluation.points and evaluation.condition_points */
} sg_residual_options;

typedef struct sg_residual sg_residual;

/* `problem` must outlive it. All memory is taken here. */
SG_CHECKED sg_status sg_residual_create(sg_residual **residual, const sg_problem *problem,
                                        const sg_residual_options *options,
                                        const sg_allocator *allocator);
void sg_residual_destroy(sg_residual *residual); /* NULL is allowed */

/* The sets for sg_jet_config, with plans that the residual owns. An engine keeps a copy. */
const sg_jet_set *sg_residual_sets(const sg_residual *residual);

/* Items of set `set`. */
int64_t sg_residual_items(const sg_residual *residual, int set);

/* Chooses the points of the next call. */
void sg_residual_begin(sg_residual *residual, uint64_t seed, uint64_t step);

typedef struct sg_loss {
    double total;        /* sum of weight * mean square */
    double *means;       /* (terms): unweighted mean squares; the caller's array, may be NULL */
    sg_moments residual; /* of the weighted residual vector, for SG_REFERENCE_RESIDUAL */
} sg_loss;

/* The number of terms of all sets; term k of set s comes after the terms of earlier sets. */
size_t sg_residual_terms(const sg_residual *residual);

/* After sg_jet_gradient or sg_jet_forward of an engine made with these sets. */
void sg_residual_collect(const sg_residual *residual, const sg_jet *engine, sg_loss *loss);

/* The same from the sums themselves, one array for each set: for each component the sum of squares
 * and the sum. */
void sg_residual_combine(const sg_residual *residual, const double *const *sums, sg_loss *loss);

#endif
