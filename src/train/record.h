/* run.json: what was run, on what, and how it ended. */
#ifndef SG_TRAIN_RECORD_H
#define SG_TRAIN_RECORD_H

#include "train/train.h"

typedef struct sg_run_record {
    const sg_train_config *config;
    const char *state; /* "running", "complete", "interrupted", "failed" */
    const char *reason;
    const char *started; /* UTC */
    double seconds;
    uint64_t steps_done;
} sg_run_record;

SG_CHECKED sg_status sg_record_write(const sg_run_record *record, sg_message *message);

#endif
