/* metrics.jsonl and run.json: what a run writes down for people and for the report.
 *
 * Lines are appended and flushed as they come, so that an interrupted run keeps what it had.
 * Numbers that are not finite are written as null. docs/runs.md lists every key. */
#ifndef SG_TRAIN_METRICS_H
#define SG_TRAIN_METRICS_H

#include <jansson.h>
#include <stdio.h>

#include "diagnose/diagnose.h"
#include "files/seal.h"
#include "stablegrad/optim.h"
#include "stablegrad/scale.h"
#include "train/jump.h"
#include "train/run_folder.h"

/* How a number looks to people: 1.2e-03, 1.25, 34.5 %, or 0.012346 with as many digits as may
 * matter.
 */
typedef enum sgi_look { SG_LOOK_POWER, SG_LOOK_NUMBER, SG_LOOK_SHARE, SG_LOOK_DIGITS } sgi_look;

/* A number with its names. */
typedef struct sgi_value {
    const char *key;   /* in JSON: "top1" */
    const char *title; /* to people: "test top-1" */
    double value;
    sgi_look look;
    uint64_t step;    /* at which it was reached; 0: not said */
    double low, high; /* its interval of 95 %; equal: not said */
} sgi_value;

/* What only this kind of work adds to a line; the function is called when the line is written. */
typedef struct sgi_own_part {
    void (*write)(const void *context, json_t *line); /* NULL: nothing */
    const void *context;
} sgi_own_part;

/* A training step. */
typedef struct sgi_step_metrics {
    uint64_t step; /* steps taken, this one included */
    double seconds, cpu_seconds, loss;
    sgi_look look;          /* of the loss */
    const sgi_value *terms; /* of the loss, unweighted */
    size_t term_count;
    const sgi_value *shown; /* what people see beside the loss, the most important first */
    size_t shown_count;
    sg_step_info info;            /* of the optimizer: rate, skipped, handed over */
    const sg_scale_report *scale; /* NULL: the step has no gradients that are rescaled */
    sgi_own_part own;
    const char *note;   /* a sentence for the user, or NULL */
    const char *news;   /* where the run is now, for who watches it, or NULL */
    uint64_t skipped;   /* steps so far */
    double share;       /* of the whole run that is done, when steps do not tell; 0: they do */
    int stage, stages;  /* the stage that the next step belongs to, from 1, of how many; 0: none */
    double stage_share; /* of it that is done */
    bool endless;       /* neither steps nor seconds end it, or the run where there are no stages */
    const sgi_jump
        *jump; /* how the loss went on after a hand-over, at the end of the watch; or NULL */
} sgi_step_metrics;

/* An evaluation. */
typedef struct sgi_evaluation_metrics {
    uint64_t step;
    double best; /* the lowest score of an evaluation before this one; INFINITY: there is none */
    uint64_t best_step;
    double seconds, cpu_seconds, loss;
    const sgi_value *values; /* the results in the order in which people read them */
    size_t value_count;
    sgi_own_part own;
    double score;     /* the best weights are those of the lowest */
    bool anew;        /* earlier scores were of something else and do not count */
    const char *note; /* a sentence for the user, or NULL */
} sgi_evaluation_metrics;

typedef struct sgi_metrics {
    FILE *file;
    uint64_t evaluated; /* the step of the newest evaluation in it; 0: none */
    sgi_seal seal;      /* of what is in it */
    char path[SG_PATH_SIZE];
} sgi_metrics;

/* Opens folder/metrics.jsonl. Lines of steps after `keep_until` are dropped first, so that a run
 * that resumes from a checkpoint does not tell those steps twice, and so is a line that a crash
 * broke. A link is not followed: the file lies in the folder. */
SG_CHECKED sg_status sgi_metrics_open(sgi_metrics *metrics, const char *folder, uint64_t keep_until,
                                      sg_diagnostic *diagnostic);
void sgi_metrics_close(sgi_metrics *metrics);

/* What was written so far outlives a crash of the machine. */
SG_CHECKED sg_status sgi_metrics_sync(sgi_metrics *metrics, sg_diagnostic *diagnostic);

SG_CHECKED sg_status sgi_metrics_step(sgi_metrics *metrics, const sgi_step_metrics *step,
                                      sg_diagnostic *diagnostic);
SG_CHECKED sg_status sgi_metrics_diagnosis(sgi_metrics *metrics, const sgi_diagnosis *diagnosis,
                                           double seconds, sg_diagnostic *diagnostic);
/* An evaluation of a step that the file has already is not written again. */
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
