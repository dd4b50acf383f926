/* A run: a subject with its folder, metrics and checkpoints, from start or resumed.
 *
 * Nothing is printed; what happens is told through callbacks. */
#ifndef SG_TRAIN_TRAIN_H
#define SG_TRAIN_TRAIN_H

#include <signal.h>

#include "base/list.h"
#include "stablegrad/pinn.h"
#include "stablegrad/ranks.h"
#include "train/subject.h"

/* Steps that may be skipped in a row before the run gives up. */
enum { SG_MOST_SKIPPED = SG_PINN_MOST_SKIPPED };

/* The part of the time that goes to the page of a running run is at most one of so many. The first
 * is written after SG_PAGE_FIRST seconds. */
enum { SG_PAGE_PART = 40, SG_PAGE_FIRST = 3 };

/* Numbers of an evaluation that a result keeps. */
enum { SG_MOST_RESULTS = 72 };

/* What a run tells while it goes on; any may be NULL. */
typedef struct sgi_train_events {
    void *context;
    void (*step)(void *context, const sgi_step_metrics *step); /* every step */
    void (*evaluation)(void *context, const sgi_evaluation_metrics *evaluation);
    void (*note)(void *context, const char *sentence); /* trouble that the run survives */
    void (*begin)(void *context); /* everything is ready, and a checkpoint was accepted */
    void (*diagnosis)(void *context, const sgi_diagnosis *diagnosis);
    /* The folder has what a page shows of the run so far. Called after some evaluations: all that
     * is done for the page takes at most 1/SG_PAGE_PART of the time. */
    void (*page)(void *context);
} sgi_train_events;

typedef struct sgi_train_config {
    sgi_subject *subject;
    const char *folder;  /* exists; new, or a run to resume. The caller holds its lock */
    bool resume;         /* from its checkpoint; without one, from step 0 with a note */
    bool insist;         /* resume a checkpoint of another problem or seed too */
    bool report_follows; /* the caller adds a report, and then calls sgi_record_complete */
    const char *variant; /* "adamw", "stablegrad": for run.json */
    const char *label;   /* "AdamW + StableGrad (output)" */
    const char *command; /* how to repeat it */
    int threads;
    sgi_train_events events;
    const volatile sig_atomic_t *stop; /* set by a signal: checkpoint and end; may be NULL */
    /* NULL: alone. Otherwise every rank calls sgi_train with the same subject; the first one
     * writes, the others only read the checkpoint. Steps, evaluations and diagnoses are then
     * collective. */
    const sg_ranks *ranks;
    sg_pool *pool; /* the subject's; needed with ranks */
} sgi_train_config;

#define SG_TRAIN_END_LIST(X)                                                                       \
    X(SG_TRAIN_COMPLETE, "complete")                                                               \
    /* by `stop`, with a checkpoint */                                                             \
    X(SG_TRAIN_INTERRUPTED, "interrupted")                                                         \
    /* numerics; `diagnostic` says why, and the last good checkpoint is kept */                    \
    X(SG_TRAIN_FAILED, "failed")
typedef enum sgi_train_end { SG_TRAIN_END_LIST(SG_LIST_ENUM) } sgi_train_end;

/* The word for it in run.json and in the program's JSON. */
const char *sgi_train_end_name(sgi_train_end end);

typedef struct sgi_train_result {
    sgi_train_end end;
    uint64_t first_step, steps; /* where this call began, and where it ended */
    double seconds;             /* of training, before this call too */
    double loss;                /* of the last step */
    bool evaluated;
    double validation_loss;
    sgi_value values[SG_MOST_RESULTS]; /* (value_count) of the last evaluation */
    size_t value_count;
} sgi_train_result;

/* The result of that key, or NaN. */
double sgi_train_value(const sgi_train_result *result, const char *key);

/* Trains to the subject's number of steps. A status other than SG_OK means that the environment
 * failed (disk, memory) or the checkpoint cannot be used; `diagnostic` says what. */
SG_CHECKED sg_status sgi_train(const sgi_train_config *config, sgi_train_result *result,
                               sg_diagnostic *diagnostic, const sg_allocator *allocator);

#endif
