/* Adaptive gradient clipping (Brock, De, Smith and Simonyan, 2021): the norm of each row of a
 * tensor's gradient is held to a share of the norm of the row's values,
 *
 *     g_r <- g_r * min(1, threshold * max(|w_r|, floor) / |g_r|)
 *
 * A row is what one output of a layer is computed with; a tensor that says nothing of rows is one.
 * Each row is summed by one thread, so the result does not depend on how many there are. */
#ifndef SG_SCALE_ROWS_H
#define SG_SCALE_ROWS_H

#include "base/params.h"
#include "stablegrad/scale.h"

typedef struct sgi_rows {
    size_t count;
    sgi_unit *places;  /* (count) where each row lies, in the order of the spans */
    size_t *first;     /* (spans + 1) of its rows */
    double (*sums)[2]; /* (count) |w_r|^2 and |g_r|^2 */
    double *factors;   /* (count) */
    bool *clipped;     /* (spans) whether one of its rows has a factor below 1 */
    double *reduced;   /* what is summed over ranks: 2 for each span, or 1 for each block */
} sgi_rows;

/* SG_ERROR_ARGUMENT if a span has no value to be held against. `rows` is all zero before, and may
 * be destroyed whatever this returns. */
SG_CHECKED sg_status sgi_rows_create(sgi_rows *rows, const sg_params *params,
                                     const sg_allocator *allocator);
void sgi_rows_destroy(sgi_rows *rows, const sg_allocator *allocator);

/* The factors of this step, and what they leave of each block: `clipped2`. Collective. */
SG_CHECKED sg_status sgi_rows_measure(sg_scaler *scaler);

#endif
