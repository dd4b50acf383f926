/* Causal weights (Wang, Sankaran and Perdikaris, 2024): what comes later counts only once what came
 * before is solved.
 *
 * The range of t is cut into chunks of equal length. With L_k the loss of the equations at the
 * points of chunk k, those of chunk i count by w_i = exp(-eps (L_0 + ... + L_(i-1))). The weights
 * are numbers: no derivative goes through them. Conditions keep theirs. */
#ifndef SG_PINN_CAUSAL_H
#define SG_PINN_CAUSAL_H

#include "pinn/pinn.h"

typedef struct sgi_causal sgi_causal;

/* For the equations of `batch`, as `training` asks; *causal is NULL when it does not. `factors`
 * (sgi_causal_chunks) is the caller's and holds the roots of the weights, all that is to be
 * remembered; it and the batch must outlive the handle. They are 1 until they are measured. All
 * memory is taken here. */
SG_CHECKED sg_status sgi_causal_create(sgi_causal **causal, sg_pinn_batch *batch,
                                       const sgi_training_settings *training, double *factors,
                                       const sg_allocator *allocator);
void sgi_causal_destroy(sgi_causal *causal); /* NULL is allowed */

/* Numbers of `factors`; 0 when the training has no causal weights. */
size_t sgi_causal_chunks(const sgi_training_settings *training);

/* The batch takes the weights as they are from its next call on. */
void sgi_causal_use(const sgi_causal *causal);

/* Sets the weights by the residuals of the batch at its points and at the network as it is, and
 * uses them. SG_ERROR_ARGUMENT when the batch has more points than at creation. */
SG_CHECKED sg_status sgi_causal_measure(sgi_causal *causal);

/* The root of the weight at a time. */
double sgi_causal_factor(const sgi_causal *causal, double t);

/* The weight of the last times, which is the least: near 1 all times count alike. Of NULL: NaN. */
double sgi_causal_least(const sgi_causal *causal);

#endif
