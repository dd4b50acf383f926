/* A network being trained on a problem: sample, loss and gradient, scale, step.
 *
 * The trainer owns the network, the engine, the scaler and the optimizer. It knows nothing of files
 * or people; train.h does. */
#ifndef SG_TRAIN_TRAINER_H
#define SG_TRAIN_TRAINER_H

#include "pinn/problem.h"
#include "train/checkpoint.h"
#include "train/metrics.h"

typedef struct sg_trainer sg_trainer;

/* The problem and the pool must outlive the trainer. Weights are drawn from the problem's seed. */
SG_CHECKED sg_status sg_trainer_create(sg_trainer **trainer, const sg_problem *problem,
                                       sg_pool *pool, sg_isa isa, const sg_allocator *allocator);
void sg_trainer_destroy(sg_trainer *trainer); /* NULL is allowed */

/* What a step did. */
typedef struct sg_step_result {
    uint64_t step;              /* steps taken, this one included */
    double loss;                /* before the step */
    const sg_term_value *terms; /* (term_count), rewritten by the next call */
    size_t term_count;
    sg_step_info info;
    const sg_scale_report *scale;
} sg_step_result;

/* Draws fresh points, computes loss and gradient there, scales and steps. */
SG_CHECKED sg_status sg_trainer_step(sg_trainer *trainer, sg_step_result *result);

/* The loss and its terms on the validation points, the same points at every call. */
double sg_trainer_validate(sg_trainer *trainer, const sg_term_value **terms, size_t *count);

/* The loss, its terms and the gradient on the points that step `step` draws, without a step. */
double sg_trainer_gradient(sg_trainer *trainer, uint64_t step);

sg_jet_network *sg_trainer_network(const sg_trainer *trainer);
sg_optim *sg_trainer_optim(const sg_trainer *trainer);
sg_scaler *sg_trainer_scaler(const sg_trainer *trainer);
const char *sg_trainer_kernels(const sg_trainer *trainer);

/* Bytes of the engine, the parameters and the optimizer. */
size_t sg_trainer_memory(const sg_trainer *trainer);

/* Floating-point operations of a step's layer products. */
double sg_trainer_flops(const sg_trainer *trainer);

/* Channels of set `set` as text, "u u_t u_x u_xx", as snprintf does. */
size_t sg_trainer_channels(const sg_trainer *trainer, int set, char *text, size_t size);

#endif
