/* The hand-over: taking the optimizer's buffers from the units of rescaled gradients to those of
 * raw ones, or back.
 *
 * A buffer holds past gradients g as (a g)^p, where a is what StableGrad multiplied them by and p
 * the buffer's power; multiplying it by 1/a^p takes it to raw units. As a changes from step to
 * step, its mean over the last ten steps or so is taken, weighted by the gradients:
 *
 *     a^2 = mean of a^2 |g|^2  /  mean of |g|^2
 *
 * This one a is used for all buffers of a span, so that the step, Adam's m / sqrt(v), stays what it
 * was. It is that of the last steps, so that the gradients to come weigh in the moments as much as
 * the last ones did. Dividing v by the mean of a^2 over everything that v remembers would make it
 * the v of raw gradients. That was tried and was worse: where the factors have been falling with
 * the residual, the v of rescaled gradients is the larger one and the steps have been smaller, and
 * the loss jumps when they no longer are. */
#ifndef SG_OPTIM_HANDOVER_H
#define SG_OPTIM_HANDOVER_H

#include "optim/state.h"
#include "scale/scaler.h"

/* SG_OK if the optimizer can take the step that the scaler has measured. */
SG_CHECKED sg_status sgi_handover_check(const sg_optim *optim, const sgi_scaler_view *view);

/* Before a step that will be taken: hands over if the gradients change units with it. True if they
 * did and steps were taken before. */
bool sgi_handover(sg_optim *optim, const sg_scaler *scaler, const sgi_scaler_view *view);

/* Adds this step to the record of span `span`, which takes part in it. */
void sgi_handover_record(sg_optim *optim, size_t span, const sg_scaler *scaler,
                         const sgi_scaler_view *view);

#endif
