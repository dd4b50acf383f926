/* How an optimizer's step is spread over the parameters: the update geometry of the paper's
 * appendix B. */
#ifndef SG_DIAGNOSE_UPDATE_H
#define SG_DIAGNOSE_UPDATE_H

#include <stddef.h>

#include "stablegrad/params.h"

/* A block's part of a step. */
typedef struct sgi_block_update {
    double relative; /* |step| / |values|; 0 when the values are all 0, as biases are at first */
    double share;    /* of |step|^2 of the whole */
} sgi_block_update;

typedef struct sgi_update {
    double spread;        /* largest over smallest `relative` of the blocks that have one, or 1 */
    double largest_share; /* of one block */
    size_t largest_block;
} sgi_update;

/* `values` and `step` (elements) are the parameters before it and their change, span after span;
 * block_of_span (spans) says where each span belongs; `blocks` (count) is filled. */
sgi_update sgi_update_of(const sg_params *params, const size_t *block_of_span, const double *values,
                         const double *step, sgi_block_update *blocks, size_t count);

/* |after - before - J step| / (|after - before| + eps): what the linearisation of the residual is
 * off by. `before`, `after`, `product` (size); `product` is J step. The eps is the least normal
 * number: a step that changes nothing has the error 0. */
double sgi_linear_error(const double *before, const double *after, const double *product,
                        size_t size);

#endif
