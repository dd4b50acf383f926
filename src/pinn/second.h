/* A network trained on a problem by a method of the room `second`: its points, its steps, and the
 * state that a checkpoint keeps.
 *
 * The points of the domain stay for some steps and are then drawn again where the residual is large
 * (moving.h). When the loss on the new points is far above the loss on the old ones, the network
 * had learned the points rather than the solution, and there will be half as many again. */
#ifndef SG_PINN_SECOND_H
#define SG_PINN_SECOND_H

#include "pinn/pinn.h"

typedef struct sgi_second sgi_second;

/* The method and the numbers of points that `training` asks for. The network must be in double.
 * All memory is taken here; `pinn`, `training` and `pool` must outlive it. */
SG_CHECKED sg_status sgi_second_create(sgi_second **second, sg_pinn *pinn,
                                       const sgi_training_settings *training, sg_pool *pool,
                                       sg_isa isa, const sg_allocator *allocator);
void sgi_second_destroy(sgi_second *second); /* NULL is allowed */

/* One step: of `result` the loss before it and info.skipped, which says that the loss is not finite
 * and nothing was changed. */
SG_CHECKED sg_status sgi_second_step(sgi_second *second, sg_pinn_step *result);

/* What a step did beside that, for the metrics. */
typedef struct sgi_second_report {
    const char *method; /* "levenberg" */
    size_t points;      /* of the domain */
    double damping;     /* of Levenberg-Marquardt, NaN otherwise */
    double gain;        /* what the loss fell by over what was promised; NaN: no step lowered it */
    double length;      /* of a quasi-Newton step, in units of -H g; NaN for the others */
    int tries;          /* steps that were tried, or evaluations of the line search */
    double after;       /* the loss on the same points after the step */
    uint64_t draws;     /* of points so far */
    double causal;      /* the weight of the last times; NaN without causal weights */
} sgi_second_report;
const sgi_second_report *sgi_second_last(const sgi_second *second);

/* The state as one flat block, as sg_optim_state has it; whether a block is one of such a method on
 * such a problem; and copying it back. */
const void *sgi_second_state(const sgi_second *second, size_t *size);
bool sgi_second_fits(const sgi_second *second, const void *state, size_t size);
void sgi_second_restore(sgi_second *second, const void *state);

sg_pinn_batch *sgi_second_batch(const sgi_second *second);

#endif
