/* What LAMB, NovoGrad and Adam-mini know before they move: sums over each whole tensor (span), on
 * any number of threads and ranks. */
#ifndef SG_OPTIM_TENSORS_H
#define SG_OPTIM_TENSORS_H

#include "optim/pass.h"

/* Whether an optimizer of this kind looks at whole tensors. */
bool sgi_tensors_needed(sg_optim_kind kind);

/* Fills `span_sums` of the optimizer for this step and advances the second moments that are one
 * number for a span. `scaler` may be NULL. SG_ERROR_REDUCE, with nothing changed, if the ranks
 * could not be summed. */
SG_CHECKED sg_status sgi_tensors_look(const sgi_step_pass *pass, const sg_scaler *scaler);

/* |value| / |step| of a LAMB step; 1 where either is 0. */
double sgi_tensors_trust(const sg_optim *optim, size_t span);

/* LAMB's numbers for the stretch's span, with the trust ratio left out of the rate. */
sgi_adam_step sgi_tensors_lamb(const sgi_stretch *stretch);

#endif
