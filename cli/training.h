/* Training with a progress line: what `train` and `compare` share. */
#ifndef SG_CLI_TRAINING_H
#define SG_CLI_TRAINING_H

#include "lanes.h"
#include "work.h"

typedef struct training {
    const cli_arguments *arguments;
    const work *work;
    sg_pool *pool;
    sg_isa isa;
    const char *folder;
    bool resume;
    bool heading;        /* say first what will be trained */
    const char *variant; /* "adamw", "stablegrad" ... */
    const char *shown;   /* what the progress line calls it */
    const char *go_on;   /* the command and folder to resume: "train runs/heat-0001" */
    bool reports;        /* finish_run follows, which writes the report of this run */
    lane *place;         /* of the lane that trains it, whose share of work goes ... */
    double from, to;     /* ... from here to there meanwhile; NULL: none */
} training;

/* Trains; trouble and the end are told. Returns an exit code; `result` may be NULL. */
int train_and_tell(const training *t, sgi_train_result *result);

/* The folder that --resume means: the operand itself, --out, or the newest run of the problem.
 * False after saying what is wrong. */
bool find_run(const cli_arguments *arguments, char folder[SG_PATH_SIZE]);

/* The results of the last evaluation, a line each. */
void print_result(const sgi_train_result *result);

/* The report of a run that was trained with `reports`, after which it is complete if all its steps
 * are taken. False after saying what went wrong. */
bool finish_run(const training *t, bool complete);

/* report.html of a run or a comparison. Failing is told. */
sg_status write_report(const char *folder);

#endif
