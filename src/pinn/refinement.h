/* Points that follow the residual: the sets of equations, and conditions with `refine`, keep points
 * that are chosen every `refinement.every` steps by the residuals of the network as it is then.
 *
 *  - rad: all points are chosen from candidates, with the weights of selection.h.
 *  - rar-d: some are added to those there are, in the same way, until there are enough.
 *  - r3: points with a residual above the mean stay, the others are drawn anew.
 *
 * Until the first time, points are drawn as everywhere. From then on they are a state, which a
 * checkpoint holds: a resumed run has the same points to the bit. Candidates are drawn as the set's
 * points are, from a stream of their own, and are a pure function of seed and step. All memory is
 * taken when it is made. */
#ifndef SG_PINN_REFINEMENT_H
#define SG_PINN_REFINEMENT_H

#include "pinn/pinn.h"

typedef struct sgi_refinement sgi_refinement;

/* For the sets of `batch`, which must outlive it. A problem without refinement gives NULL and
 * SG_OK.
 */
SG_CHECKED sg_status sgi_refinement_create(sgi_refinement **refinement, sg_pinn *pinn,
                                           sg_pinn_batch *batch, sg_pool *pool, sg_isa isa,
                                           const sg_allocator *allocator);
void sgi_refinement_destroy(sgi_refinement *refinement); /* NULL is allowed */

/* Chooses points anew if it is time in this step, whose other points the batch has already. */
void sgi_refinement_step(sgi_refinement *refinement, uint64_t step);

/* Chooses points anew, whatever the step. */
void sgi_refinement_run(sgi_refinement *refinement, uint64_t step);

/* How long it takes to choose points once; those that are kept are forgotten. */
double sgi_refinement_time(sgi_refinement *refinement);

/* What it took so far; of a resumed run also before, once it is told. */
double sgi_refinement_seconds(const sgi_refinement *refinement);
void sgi_refinement_set_seconds(sgi_refinement *refinement, double seconds);

/* Points whose residual is computed each time, of all sets together. */
size_t sgi_refinement_evaluated(const sgi_refinement *refinement);

/* The kept points as bytes for a checkpoint, valid until the next call (other functions leave them
 * alone); whether such bytes are of this problem and have room here; and taking them over, which
 * needs that they do. */
const void *sgi_refinement_state(sgi_refinement *refinement, size_t *size);
bool sgi_refinement_fits(const sgi_refinement *refinement, const void *state, size_t size);
void sgi_refinement_restore(sgi_refinement *refinement, const void *state);

#endif
