/* A network being trained on a problem: sample, loss and gradient, scale, step.
 *
 * The trainer owns the network, the engine, the scaler and the optimizer. It knows nothing of files
 * or people; train/train.h does. */
#ifndef SG_PINN_TRAINER_H
#define SG_PINN_TRAINER_H

#include "pinn/residual.h"
#include "stablegrad/optim.h"
#include "stablegrad/scale.h"

typedef struct sgi_trainer sgi_trainer;

/* The problem and the pool must outlive the trainer. Weights are drawn from the problem's seed. */
SG_CHECKED sg_status sgi_trainer_create(sgi_trainer **trainer, const sgi_problem *problem,
                                        sg_pool *pool, sg_isa isa, const sg_allocator *allocator);
void sgi_trainer_destroy(sgi_trainer *trainer); /* NULL is allowed */

/* What a step did. */
typedef struct sgi_step_result {
    uint64_t step;               /* steps taken, this one included */
    double loss;                 /* before the step */
    const sgi_term_value *terms; /* (term_count), rewritten by the next call */
    size_t term_count;
    sg_step_info info;
    const sg_scale_report *scale;
} sgi_step_result;

/* Draws fresh points, computes loss and gradient there, scales and steps. */
SG_CHECKED sg_status sgi_trainer_step(sgi_trainer *trainer, sgi_step_result *result);

/* The loss and its terms on the validation points, the same points at every call. */
double sgi_trainer_validate(sgi_trainer *trainer, const sgi_term_value **terms, size_t *count);

/* The loss, its terms and the gradient on the points that step `step` draws, without a step. */
double sgi_trainer_gradient(sgi_trainer *trainer, uint64_t step);

sg_jet_network *sgi_trainer_network(const sgi_trainer *trainer);
sg_optim *sgi_trainer_optim(const sgi_trainer *trainer);
sg_scaler *sgi_trainer_scaler(const sgi_trainer *trainer);
const char *sgi_trainer_kernels(const sgi_trainer *trainer);

/* Bytes of the engine, the parameters and the optimizer. */
size_t sgi_trainer_memory(const sgi_trainer *trainer);

/* Floating-point operations of a step's layer products. */
double sgi_trainer_flops(const sgi_trainer *trainer);

/* Channels of set `set` as text, "u u_t u_x u_xx", as snprintf does. */
size_t sgi_trainer_channels(const sgi_trainer *trainer, int set, char *text, size_t size);

#endif
