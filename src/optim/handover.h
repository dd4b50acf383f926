/* The hand-over: taking the optimizer's buffers from the units of rescaled gradients to those of
 * raw ones, or back.
 *
 * A buffer is a mean over past steps of (a g)^p, where a is what StableGrad multiplied the block's
 * gradient by and p the buffer's power. Beside it stands, with the buffer's own weights, the mean
 * of (a |g|)^p over that of |g|^p: dividing by it gives the mean of g^p, for p = 2 exactly in the
 * sum over the block, and multiplying by the next a^p takes it back. */
#ifndef SG_OPTIM_HANDOVER_H
#define SG_OPTIM_HANDOVER_H

#include "optim/state.h"
#include "scale/scaler.h"

/* SG_OK if the optimizer can take the step that the scaler has measured. */
SG_CHECKED sg_status sgi_handover_check(const sg_optim *optim, const sgi_scaler_view *view);

/* Before a step that will be taken: hands over if the gradients change units with it. True if they
 * did and steps were taken before. */
bool sgi_handover(sg_optim *optim, const sg_scaler *scaler, const sgi_scaler_view *view);

/* Adds this step to the records of span `span`, which takes part in it. */
void sgi_handover_record(sg_optim *optim, size_t span, const sg_scaler *scaler,
                         const sgi_scaler_view *view);

#endif
