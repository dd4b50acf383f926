/* The metric of a damped step: D, diagonal, in which the length of a step is |D^-1 dx|.
 *
 * columns     D = (c / mean c + 1e-4)^(-1/2), c the squared norms of the Jacobian's columns
 * stablegrad  D^2 = P, one number for each block: that of its layer over sigma, the standard
 *             deviation of the block's gradient, so that J D^2 J^T is the paper's K_SG. Its mean
 *             over all parameters is 1, since the damping stands for the reference scale.
 * none        D = 1 */
#ifndef SG_SECOND_METRIC_H
#define SG_SECOND_METRIC_H

#include <stddef.h>

#include "base/list.h"

#define SGI_METRIC_LIST(X)                                                                         \
    X(SGI_METRIC_AUTO, "auto")                                                                     \
    X(SGI_METRIC_COLUMNS, "columns")                                                               \
    X(SGI_METRIC_STABLEGRAD, "stablegrad")                                                         \
    X(SGI_METRIC_NONE, "none")
typedef enum sgi_metric { SGI_METRIC_LIST(SG_LIST_ENUM) } sgi_metric;

/* A tensor among the parameters; consecutive ones of equal layer are one block. */
typedef struct sgi_parameter_span {
    size_t begin, count;
    int layer;
} sgi_parameter_span;

/* D of the columns, from their squared norms, in place. */
void sgi_metric_columns(double *columns, size_t count);

/* D^2 of each tensor from the gradient, (tensors). A block without a gradient has that of no
 * metric. */
void sgi_metric_blocks(const sgi_parameter_span *tensors, size_t count, const double *gradient,
                       double *weights);

#endif
