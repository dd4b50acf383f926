/* A network being trained on images: load a batch, forward, loss, backward, scale, step.
 *
 * The trainer owns the network, the data sets with their loaders, the scaler and the optimizer. It
 * knows nothing of files in the run folder; image_subject.h does.
 *
 * Several ranks train one network: each has a trainer of the same task, which reads and computes
 * its part of every batch. Making a trainer, its steps and evaluations are collective then. What
 * they give is that of all ranks, the same bits on each, but for the seconds that were waited; so
 * whatever is decided by it is decided alike. */
#ifndef SG_TRAIN_IMAGE_TRAINER_H
#define SG_TRAIN_IMAGE_TRAINER_H

#include "task/task.h"
#include "train/metrics.h"

typedef struct sgi_image_trainer sgi_image_trainer;

/* Opens the data, builds the network, draws and, if the task says so, calibrates its weights on the
 * first training batch. The number of ranks (NULL: alone) divides the task's batch. Task, pool and
 * ranks must outlive the trainer. On failure `diagnostic` says why. */
SG_CHECKED sg_status sgi_image_trainer_create(sgi_image_trainer **trainer, const sgi_task *task,
                                              sg_pool *pool, const sg_ranks *ranks, sg_isa isa,
                                              const sg_allocator *allocator,
                                              sg_diagnostic *diagnostic);
void sgi_image_trainer_destroy(sgi_image_trainer *trainer); /* NULL is allowed */

/* The same with steps of `images` images, to try out a task whose batch would take long; the
 * numbers of steps are those of the task as it is. */
SG_CHECKED sg_status sgi_image_trainer_create_small(sgi_image_trainer **trainer,
                                                    const sgi_task *task, int images, sg_pool *pool,
                                                    const sg_ranks *ranks, sg_isa isa,
                                                    const sg_allocator *allocator,
                                                    sg_diagnostic *diagnostic);

/* What a step did. */
typedef struct sgi_image_step {
    uint64_t step; /* steps taken, this one included */
    sg_loss_result loss;
    int images;    /* of all ranks */
    double waited; /* seconds that the step waited for this rank's loader */
    sg_step_info info;
    const sg_scale_report *scale;
    bool observed; /* every layer's output was looked at, before the step was taken */
} sgi_image_step;

/* Takes a step. When the loss is `observe_from` or more, or not a number, every layer's output on
 * this batch is looked at before the step is taken: sg_net_layer_at has it. 0 is always. */
SG_CHECKED sg_status sgi_image_trainer_step(sgi_image_trainer *trainer, double observe_from,
                                            sgi_image_step *result, sg_diagnostic *diagnostic);

/* What the test images give. */
typedef struct sgi_image_score {
    uint64_t images;
    double loss, top1, top5; /* means over the images */
    int only_class;          /* the class that every image got; -1: there are several */
} sgi_image_score;

/* Evaluates the network on the test images. When all of them get one class, every layer's output on
 * the last batch is looked at. */
SG_CHECKED sg_status sgi_image_trainer_evaluate(sgi_image_trainer *trainer, sgi_image_score *score,
                                                sg_diagnostic *diagnostic);

/* Moves the loader to the step that the optimizer is at, after weights and optimizer were restored.
 */
SG_CHECKED sg_status sgi_image_trainer_move(sgi_image_trainer *trainer, sg_diagnostic *diagnostic);

sg_net *sgi_image_trainer_network(const sgi_image_trainer *trainer);
sg_scaler *sgi_image_trainer_scaler(const sgi_image_trainer *trainer);
sg_optim *sgi_image_trainer_optim(const sgi_image_trainer *trainer);
uint64_t sgi_image_trainer_steps(const sgi_image_trainer *trainer);     /* of the whole run */
uint64_t sgi_image_trainer_per_epoch(const sgi_image_trainer *trainer); /* steps */

/* What the data are. */
typedef struct sgi_image_data {
    size_t train_images, test_images;
    int classes;
} sgi_image_data;
sgi_image_data sgi_image_trainer_data(const sgi_image_trainer *trainer);

/* Bytes of weights, gradients and optimizer. */
size_t sgi_image_trainer_parameter_bytes(const sgi_image_trainer *trainer);

/* Images that could not be read so far, on all ranks when the last batch was taken; `last` (may be
 * NULL) receives why the last of this rank could not be. Not collective. */
uint64_t sgi_image_trainer_unread(const sgi_image_trainer *trainer, sg_diagnostic *last);

#endif
