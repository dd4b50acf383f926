/* A subject is what is being trained, as the loop of train.h sees it: the network of a PDE, or one
 * on images.
 *
 * A subject owns its network, scaler and optimizer, takes steps and evaluates, and writes what only
 * its kind has in the run folder. The loop owns the folder and the metrics file, and decides when
 * to write, evaluate and save. */
#ifndef SG_TRAIN_SUBJECT_H
#define SG_TRAIN_SUBJECT_H

#include <jansson.h>

#include "config/training.h"
#include "diagnose/diagnose.h"
#include "pinn/pinn.h"
#include "stablegrad/optim.h"
#include "stablegrad/scale.h"
#include "train/jump.h"
#include "train/metrics.h"
#include "train/run_folder.h"

enum { SG_MOST_LATE_NOTES = 8 };

typedef struct sgi_subject sgi_subject;

/* What a checkpoint remembers beside weights and optimizer. */
typedef struct sgi_progress {
    uint64_t step;    /* steps taken or skipped */
    uint64_t problem; /* a hash of the resolved file without what a resumed run may change */
    uint64_t seed;
    uint64_t counters[4]; /* of the scaler, by sg_outcome */
    double best;          /* the lowest score of an evaluation so far; INFINITY: none yet */
    uint64_t best_step;
    double seconds;            /* of training so far */
    double cpu_seconds;        /* of it that the process computed, all threads together */
    sgi_jump jump;             /* of the loss, when rescaling ends or begins late */
    double refinement_seconds; /* of choosing points so far */
    const void *points;        /* (points_size bytes) when saving: see pinn/refinement.h; or NULL */
    size_t points_size;
    uint64_t margin_misses;  /* of `until: margin`: measurements in a row below the condition */
    sgi_trainer_place place; /* of a problem: in which stage of training it is */
} sgi_progress;

/* Functions that fail leave a sentence in `diagnostic`. */
typedef struct sgi_subject_type {
    const char *kind; /* in run.json, by which the report knows it: "problem", "images" */

    void (*destroy)(sgi_subject *subject);

    /* Takes a step and fills all of `metrics` but the seconds and `skipped`. *write says whether
     * the metrics will be written down; the step may ask for it by setting it. */
    sg_status (*step)(sgi_subject *subject, sgi_step_metrics *metrics, bool *write,
                      sg_diagnostic *diagnostic);

    /* Evaluates and fills all of `metrics` but the seconds; `step`, `best` and `best_step` are
     * given.
     */
    sg_status (*evaluate)(sgi_subject *subject, sgi_evaluation_metrics *metrics,
                          sg_diagnostic *diagnostic);

    /* Measures the kernels at the weights as they are; NULL: it has none. *note may become a
     * sentence for the user. What the result points to lives until the next call. */
    sg_status (*diagnose)(sgi_subject *subject, sgi_diagnosis *result, const char **note,
                          sg_diagnostic *diagnostic);

    /* Steps that were skipped so far. */
    uint64_t (*skipped)(const sgi_subject *subject);

    /* Why the last step was skipped, as part of a sentence. */
    void (*trouble)(const sgi_subject *subject, const sgi_step_metrics *metrics, char *text,
                    size_t size);

    sg_status (*save_weights)(sgi_subject *subject, const char *path, sg_diagnostic *diagnostic);
    sg_status (*save)(sgi_subject *subject, const char *path, const sgi_progress *progress,
                      sg_diagnostic *diagnostic);
    sg_status (*load)(sgi_subject *subject, const char *path, sgi_progress *progress,
                      sg_diagnostic *diagnostic);

    /* The resolved file; released with the subject's allocator. */
    sg_status (*write)(const sgi_subject *subject, char **text);

    /* Copies to the run's folder what the resolved file needs beside itself. NULL: nothing. */
    sg_status (*keep)(const sgi_subject *subject, const char *folder, sg_diagnostic *diagnostic);

    /* Writes files of its own at the end of a run; may set `last_note` and what is late. */
    sg_status (*finish)(sgi_subject *subject, const char *folder, sg_diagnostic *diagnostic);

    /* Writes those of them that a page of a running run shows. NULL: none. */
    sg_status (*show)(sgi_subject *subject, const char *folder, sg_diagnostic *diagnostic);

    /* Adds what is its own to run.json, and "stablegrad": see record.h. */
    void (*describe)(const sgi_subject *subject, json_t *record);
} sgi_subject_type;

struct sgi_subject {
    const sgi_subject_type *type;
    sg_allocator allocator;
    const char *name, *title;
    const sgi_training_settings *training;
    uint64_t steps, log_every, evaluate_every, checkpoint_every; /* may change with a step */
    bool over; /* a budget of time or the loss ended it before `steps`; set by a step and by load */
    uint64_t diagnose_every;  /* 0: never */
    const char *const *notes; /* (note_count): what to know before the run, sentences without the
                                 full stop */
    size_t note_count;
    const char *last_note; /* what to know of the files that were written, or NULL */
    /* What finish() knows better: values in the place of those of the same key, and sentences. */
    const sgi_value *late_values; /* (late_count) */
    size_t late_count;
    const char *late_notes[SG_MOST_LATE_NOTES]; /* (late_note_count) */
    size_t late_note_count;
    sg_scaler *scaler;
    sg_optim *optim;    /* NULL while a method of second order is at work */
    const char *advice; /* a sentence on what often helps when numbers are not finite */
};

void sgi_subject_destroy(sgi_subject *subject); /* NULL is allowed */

#endif
