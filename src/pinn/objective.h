/* A problem at the points of a batch, as the methods of second order see it: f, its residuals and
 * their Jacobian by all parameters, unknown constants among them.
 *
 * The residuals are those of the batch (stablegrad/pinn.h), but an integral, of which the batch has
 * a copy for each of its points, is one residual here, behind all others. Its row of J is a
 * gradient, and is added to what the rows of single points make. */
#ifndef SG_PINN_OBJECTIVE_H
#define SG_PINN_OBJECTIVE_H

#include "pinn/pinn.h"
#include "second/objective.h"

typedef struct sgi_pinn_objective sgi_pinn_objective;

/* `batch` is in double, has as many points as it will ever have, and must outlive the handle.
 * push(), and kernels with integrals, need one that was made with `tangents`. Without `jacobian`
 * the objective has a gradient alone. All memory is taken here. */
SG_CHECKED sg_status sgi_pinn_objective_create(sgi_pinn_objective **objective, sg_pinn *pinn,
                                               sg_pinn_batch *batch, bool jacobian, sg_pool *pool,
                                               sg_isa isa, const sg_allocator *allocator);
void sgi_pinn_objective_destroy(sgi_pinn_objective *objective); /* NULL is allowed */

/* Belongs to the handle. */
const sgi_objective *sgi_pinn_objective_of(const sgi_pinn_objective *objective);

#endif
