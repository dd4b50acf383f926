/* Where a batch has a residual that is not finite, for messages. */
#ifndef SG_PINN_BAD_POINT_H
#define SG_PINN_BAD_POINT_H

#include "problem/problem.h"
#include "stablegrad/pinn.h"

/* The first item of the batch, by set and then by item, at which a residual is not finite now. */
typedef struct sgi_bad_point {
    bool found;
    size_t set, item, component;
    double coordinates[SG_MOST_COORDINATES];
} sgi_bad_point;
SG_CHECKED sg_status sgi_batch_bad_point(const sg_pinn *pinn, sg_pinn_batch *batch,
                                         const sg_allocator *allocator, sgi_bad_point *bad);

#endif
