/* What the runs of an experiment came to, read from its folder. */
#ifndef SG_REPRODUCE_RESULTS_H
#define SG_REPRODUCE_RESULTS_H

#include <stdbool.h>

#include "report/report.h"
#include "reproduce/experiment.h"
#include "runs/runs.h"

typedef struct sgi_part_result {
    const sgi_experiment_part *part;
    bool there; /* at least one of its runs was begun; otherwise the next two are empty */
    sgi_runs runs;
    sgi_report_summary summary;
} sgi_part_result;

typedef struct sgi_results {
    sg_allocator allocator;
    const sgi_experiment *experiment;
    const char *folder; /* the caller's */
    sgi_budget budget;
    sgi_part_result *parts; /* (experiment->part_count) */
} sgi_results;

/* A part of which nothing can be read is as one that was not begun. *out is always safe to release.
 */
SG_CHECKED sg_status sgi_results_read(sgi_results *out, const sgi_experiment *experiment,
                                      sgi_budget budget, const char *folder,
                                      const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_results_release(sgi_results *results);

/* The variant of an arm with a run, or NULL. */
const sgi_variant *sgi_arm_variant(const sgi_part_result *part, const char *arm);
/* The summary of an arm over its seeds; NULL when none was begun. */
const sgi_report_variant *sgi_arm_summary(const sgi_part_result *part, const char *arm);
/* The run of its first seed, or NULL. */
const sgi_run *sgi_arm_run(const sgi_part_result *part, const char *arm);
/* The mean over the seeds of the last value of a column of the evaluations, or NaN. */
double sgi_arm_last(const sgi_part_result *part, const char *arm, const char *column);
/* Of the first seed, the value of a column at a step; NaN without one. */
double sgi_arm_evaluation(const sgi_part_result *part, const char *arm, const char *column,
                          double step);
double sgi_arm_diagnosis(const sgi_part_result *part, const char *arm, const char *column,
                         double step);

/* Whether every run of the arm that was begun has taken all its steps. */
bool sgi_arm_complete(const sgi_part_result *part, const char *arm);

#endif
