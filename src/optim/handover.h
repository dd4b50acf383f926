/* The hand-over: taking the optimizer's buffers from the units of rescaled gradients to those of
 * raw ones, or back.
 *
 * A buffer holds past gradients g as (a g)^p, where a is what StableGrad multiplied them by and p
 * the buffer's power; it is taken to raw units by 1/a^p. As a changes from step to step,
 *
 *     a^2 = mean of a^2 |g|^2 over mean of |g|^2        over the last ten steps or so
 *
 * for all buffers of a span. One factor for all keeps the step, Adam's m / sqrt(v), what it was;
 * the last steps' factor lets the gradients to come weigh in it as the last ones did. To divide v
 * by the mean of its own factors squared, over all that it remembers, would make it the v of raw
 * gradients, and was worse: where factors have been falling, as the residual does, v of rescaled
 * gradients is the larger one and the steps are smaller, and the loss jumps when they are not. */
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
