/* Training with a progress line: what `train` and `compare` share. */
#ifndef SG_CLI_TRAINING_H
#define SG_CLI_TRAINING_H

#include "session.h"
#include "train/train.h"

typedef struct training {
    const cli_arguments *arguments;
    sg_problem *problem;
    sg_pool *pool;
    sg_isa isa;
    const char *folder;
    bool resume;
    const char *variant; /* "adamw", "stablegrad" ... */
    const char *shown;   /* what the progress line calls it */
} training;

/* "AdamW", "AdamW + StableGrad (output)", "SGD + sign". */
void describe_method(const sg_problem *problem, char *text, size_t size);

/* "burgers3d  4 x 96 tanh, 30,723 parameters, 3,072 points per step, channels u u_t ...", once. */
void print_heading(const training *t);

/* Trains; trouble and the end are told. Returns an exit code; `result` may be NULL. */
int train_and_tell(const training *t, sg_train_result *result);

/* After a run: field.vti, and report.html for a run of its own. Failing is told, not fatal. */
void write_field_files(const sg_problem *problem, const char *folder);
bool write_report(const char *folder);

#endif
