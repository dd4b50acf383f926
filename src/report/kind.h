/* What a report says of one kind of work: the sections in reading order, the statistics of a
 * variant and the rows of its table. Another kind is another file like kind_problem.c, its entry in
 * kind.c, and its own sections. */
#ifndef SG_REPORT_KIND_H
#define SG_REPORT_KIND_H

#include "report/report.h"
#include "runs/runs.h"

struct sgi_page;

typedef void sgi_section(struct sgi_page *page);

/* A number of run.json's under the report's title: "4 096 points per step". */
typedef struct sgi_report_fact {
    const char *group, *key; /* `group` may be NULL */
    const char *after;
} sgi_report_fact;

/* A number of a run, NaN when it has none. `of` names a column or a number in run.json; `target` is
 * for those that ask when something was reached. */
typedef double sgi_run_value(const sgi_run *run, const char *of, double target);

/* A statistic over the seeds of a variant, and where it stands in sgi_report_variant. */
typedef struct sgi_report_statistic {
    size_t offset;
    sgi_run_value *value;
    const char *of;
    double (*whole)(const sgi_run *run); /* in place of `value`: takes no more than the run */
} sgi_report_statistic;

struct sgi_report_kind {
    const char *task; /* the word for it in run.json */
    const char *noun; /* what its file is called: "problem", "task" */
    const char *next; /* what to type after a comparison, or NULL */
    const sgi_report_row *rows;
    size_t row_count;
    size_t target; /* offset of the statistic that `reached` asks for, and */
    sgi_unit target_unit;
    sgi_section *const *sections;
    size_t section_count;
    const sgi_report_fact *facts;
    size_t fact_count;
    const char *compared_network; /* run.json's text that all variants of a comparison share */
    bool every_variant;       /* layers are drawn of every variant, not of the scaled one alone */
    bool shares;              /* some lines are shares, whose means are arithmetic ones */
    sgi_section *repeat_rows; /* rows of "how to repeat it", or NULL */
    const sgi_report_statistic *statistics; /* beside those that every kind has */
    size_t statistic_count;
    /* What is none of these, and when the variant reached the target; `base` is the first variant's
     * entry, which may be the same one. */
    void (*summarise)(sgi_report_variant *entry, const sgi_report_variant *base,
                      const sgi_runs *runs, const sgi_variant *variant);
    double (*chance)(const sgi_run *run); /* top-1 of guessing; NULL: there is no such thing */
};

extern const sgi_report_kind sgi_report_problem, sgi_report_images;

/* By the word in the first run's run.json. Runs of problems before it was written have none. */
const sgi_report_kind *sgi_report_kind_of(const sgi_runs *runs);

/* Values of a column of a run's evaluations: the last, the lowest and the highest and their steps,
 * the median of the last few. Of its record: a number. */
sgi_run_value sgi_value_last, sgi_value_last_of_training, sgi_value_lowest, sgi_value_lowest_step,
    sgi_value_highest, sgi_value_highest_step, sgi_value_median, sgi_value_recorded;

/* Mean and spread over the seeds of a variant of what is found in each run; NaN: no value. */
sgi_statistic sgi_over_seeds(const sgi_runs *runs, const sgi_variant *variant,
                             const sgi_report_statistic *what, double target);

#endif
