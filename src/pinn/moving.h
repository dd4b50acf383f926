/* Points of the domain that stay for several steps and then move to where the residual is large:
 * residual-based adaptive distribution (RAD; Wu et al., 2023).
 *
 * For every point that is wanted, CANDIDATES are drawn by the problem's sampler. One is chosen with
 * a weight of |r| / mean |r| + 1, r the weighted residual of the candidate at the weights as they
 * are; none twice, since copies of a few points where the residual is singular would leave too few
 * others, and a fit to those is worth nothing elsewhere. The points of conditions are drawn afresh
 * at the same time. Everything is a function of the problem's seed, the number of the draw and the
 * network's weights. */
#ifndef SG_PINN_MOVING_H
#define SG_PINN_MOVING_H

#include "pinn/causal.h"

typedef struct sgi_moving sgi_moving;

/* For the domain of `batch`, at most `most` points. `points` (most, coordinates) is the caller's
 * and receives them; it and the batch must outlive the handle. All memory is taken here. */
SG_CHECKED sg_status sgi_moving_create(sgi_moving **moving, sg_pinn_batch *batch, size_t most,
                                       double *points, sg_pool *pool, sg_isa isa,
                                       const sg_allocator *allocator);
void sgi_moving_destroy(sgi_moving *moving); /* NULL is allowed */

/* Draw number `draw`: `count` points of the domain, with conditions in proportion. With causal
 * weights, or NULL, residuals count by them. */
void sgi_moving_draw(sgi_moving *moving, uint64_t draw, size_t count, const sgi_causal *causal);

/* The batch takes the points as they are in memory, `count` of them, with the conditions of draw
 * number `draw`: what sgi_moving_draw does at its end, for points that come from a checkpoint. */
void sgi_moving_use(sgi_moving *moving, uint64_t draw, size_t count);

/* Items of condition `set` when the domain has `count`: no more than the problem asks for. */
size_t sgi_moving_items(const sg_pinn *pinn, size_t set, size_t count);

#endif
