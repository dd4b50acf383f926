/* What is being trained, as the loop of train.h sees it: the network of a PDE, or one on images.
 *
 * A subject owns its network, scaler and optimizer, knows how to take and evaluate steps, and says
 * what is its own in the run folder. The loop owns the folder, the metrics file and the cadence. */
#ifndef SG_TRAIN_SUBJECT_H
#define SG_TRAIN_SUBJECT_H

#include <jansson.h>

#include "pinn/settings.h"
#include "stablegrad/optim.h"
#include "stablegrad/scale.h"
#include "train/metrics.h"
#include "train/run_folder.h"

typedef struct sg_subject sg_subject;

/* What a checkpoint remembers beside weights and optimizer. */
typedef struct sg_progress {
    uint64_t step;        /* steps taken or skipped */
    uint64_t counters[4]; /* of the scaler, by sg_outcome */
    double best;          /* the lowest score of an evaluation so far; INFINITY: none yet */
    uint64_t best_step;
    double seconds; /* of training so far */
} sg_progress;

/* Functions that fail leave a sentence in `message`. */
typedef struct sg_subject_type {
    void (*destroy)(sg_subject *subject);

    /* Takes a step and fills all of `metrics` but `seconds` and `skipped`. *write says whether the
     * metrics will be written down; the step may ask for it by setting it. */
    sg_status (*step)(sg_subject *subject, sg_step_metrics *metrics, sg_step_info *info,
                      bool *write, sg_message *message);

    /* Fills all of `metrics` but `step` and `seconds`. */
    sg_status (*evaluate)(sg_subject *subject, sg_evaluation_metrics *metrics, sg_message *message);

    /* Why the last step was skipped, as part of a sentence. */
    void (*trouble)(const sg_subject *subject, const sg_step_metrics *metrics, char *text,
                    size_t size);

    sg_status (*save_weights)(sg_subject *subject, const char *path, sg_message *message);
    sg_status (*save)(sg_subject *subject, const char *path, const sg_progress *progress,
                      sg_message *message);
    sg_status (*load)(sg_subject *subject, const char *path, sg_progress *progress,
                      sg_message *message);

    /* The resolved file; released with the subject's allocator. */
    sg_status (*write)(const sg_subject *subject, char **text);

    /* Writes files of its own at the end of a run. */
    sg_status (*finish)(sg_subject *subject, const char *folder, sg_message *message);

    /* Adds what is its own to run.json. */
    void (*describe)(const sg_subject *subject, json_t *record);

    const char *advice; /* what often helps when the numbers fail; a sentence */
} sg_subject_type;

struct sg_subject {
    const sg_subject_type *type;
    sg_allocator allocator;
    const char *name, *title;
    const sg_training_settings *training;
    uint64_t steps, log_every, evaluate_every, checkpoint_every;
    sg_scaler *scaler;
    sg_optim *optim;
};

void sg_subject_destroy(sg_subject *subject); /* NULL is allowed */

#endif
