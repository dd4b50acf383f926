/* metrics.jsonl and run.json: what a run writes down for people and for the report.
 *
 * Lines are appended and flushed as they come, so that an interrupted run keeps what it had.
 * Numbers that are not finite are written as null. docs/runs.md lists every key. */
#ifndef SG_TRAIN_METRICS_H
#define SG_TRAIN_METRICS_H

#include <jansson.h>
#include <stdio.h>

#include "stablegrad/pinn.h"
#include "stablegrad/scale.h"
#include "train/jump.h"
#include "train/run_folder.h"

/* The output of one layer of a network on images. */
typedef struct sgi_layer_value {
    const char *name;
    double mean, std;
} sgi_layer_value;

/* What a step on images tells beside the rest; shares and sums since the last written line. */
typedef struct sgi_image_metrics {
    double epoch;      /* epochs done */
    double top1, top5; /* shares of the training images */
    double images_per_second;
    double waited;                      /* seconds that the loader held up the step */
    const sgi_layer_value *activations; /* in the order of the forward pass; none: not looked at */
    size_t activation_count;
} sgi_image_metrics;

/* A training step. */
typedef struct sgi_step_metrics {
    uint64_t step; /* steps taken, this one included */
    double seconds, rate, loss;
    const sg_pinn_value *terms;
    size_t term_count;
    const sg_scale_report *scale;
    const sgi_image_metrics *images; /* NULL for a PDE */
    const char *note;                /* a sentence for the user, or NULL */
    uint64_t skipped;
    bool handed_over;     /* the optimizer's moments changed units before this step, and now are */
    bool rescaled;        /* in those of rescaled gradients */
    const sgi_jump *jump; /* what became of the loss after that, in the last step of it; or NULL */
} sgi_step_metrics;

/* An evaluation. */
typedef struct sgi_evaluation_metrics {
    uint64_t step;
    double seconds, loss;
    const sg_pinn_value *terms;
    size_t term_count;
    const sg_pinn_error *errors; /* without a reference there are none */
    size_t error_count;
    uint64_t images; /* on a network on images: how many, and */
    double epoch, top1, top5;
    double score;     /* the best weights are those of the lowest */
    const char *note; /* a sentence for the user, or NULL */
} sgi_evaluation_metrics;

typedef struct sgi_metrics {
    FILE *file;
    char path[SG_PATH_SIZE];
} sgi_metrics;

/* Opens folder/metrics.jsonl. Lines of steps after `keep_until` are dropped first, so that a run
 * that resumes from a checkpoint does not tell those steps twice. */
SG_CHECKED sg_status sgi_metrics_open(sgi_metrics *metrics, const char *folder, uint64_t keep_until,
                                      sg_diagnostic *diagnostic);
void sgi_metrics_close(sgi_metrics *metrics);

SG_CHECKED sg_status sgi_metrics_step(sgi_metrics *metrics, const sgi_step_metrics *step,
                                      sg_diagnostic *diagnostic);
SG_CHECKED sg_status sgi_metrics_evaluation(sgi_metrics *metrics,
                                            const sgi_evaluation_metrics *evaluation,
                                            sg_diagnostic *diagnostic);

/* The first block, from the output down, whose gradient is not finite; "the output" when it is the
 * signal itself. What is not finite spreads towards the input on the way back, so a search from the
 * input would always end at the first layer. */
const char *sgi_first_bad_gradient(const sg_scale_report *scale);

/* A JSON number, or null when the value is not finite. */
json_t *sgi_json_number(double value);

/* Sets a text; one that is not UTF-8 (a command line may be anything) is left empty. */
void sgi_json_text(json_t *object, const char *key, const char *text);

/* Writes `object` to folder/name, whole or not at all, and releases it. */
SG_CHECKED sg_status sgi_json_write(const char *folder, const char *name, json_t *object,
                                    sg_diagnostic *diagnostic);

#endif
