/* run.json: what was run, on what, and how it ended. */
#ifndef SG_TRAIN_RECORD_H
#define SG_TRAIN_RECORD_H

#include "train/train.h"

typedef struct sgi_run_record {
    const sgi_train_config *config;
    const char *state; /* "running", "finishing", "complete", "interrupted", "failed" */
    const char *reason;
    const char *started; /* UTC */
    double seconds;
    uint64_t steps_done;
    sgi_seal problem, metrics; /* of problem.yaml and metrics.jsonl as they were written */
} sgi_run_record;

SG_CHECKED sg_status sgi_record_write(const sgi_run_record *record, sg_diagnostic *diagnostic);

/* Calls a run complete that is "finishing": everything that belongs to it is there. */
SG_CHECKED sg_status sgi_record_complete(const char *folder, sg_diagnostic *diagnostic);

/* What a record says of rescaling, and of an optimizer: for the subjects, which know their stages.
 */
json_t *sgi_record_scaling(const sg_scale_config *scale, const sgi_training_settings *training);
void sgi_record_optimizer(json_t *object, const sgi_training_settings *training);

#endif
