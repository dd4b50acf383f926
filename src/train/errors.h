/* Errors against the reference on the evaluation grid. The reference is computed once. */
#ifndef SG_TRAIN_ERRORS_H
#define SG_TRAIN_ERRORS_H

#include "train/metrics.h"
#include "train/quantities.h"

typedef struct sg_errors {
    sg_allocator allocator;
    const sg_problem *problem;
    sg_grid grid;
    sg_point_set values;    /* the fields themselves */
    double **reference;     /* [field] (grid.total) */
    double **prediction;    /* [field] (grid.total) */
    sg_field_error *fields; /* (fields + 1): the last is all of them together; one field: one */
    size_t field_count;
} sg_errors;

/* Evaluates the reference. A problem without one gives *errors = NULL and SG_OK. */
SG_CHECKED sg_status sg_errors_create(sg_errors **errors, sg_problem *problem, sg_pool *pool,
                                      const sg_allocator *allocator);
void sg_errors_destroy(sg_errors *errors); /* NULL is allowed */

/* Relative L2 and largest error of each field; rewrites errors->fields. */
SG_CHECKED sg_status sg_errors_measure(sg_errors *errors, sg_jet_network *network, sg_pool *pool);

#endif
