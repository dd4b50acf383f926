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
    /* The kind's own statistics of a variant, and when it reached the target; `base` is the first
     * variant's entry, which may be the same one. */
    void (*summarise)(sgi_report_variant *entry, const sgi_report_variant *base,
                      const sgi_runs *runs, const sgi_variant *variant);
    double (*chance)(const sgi_run *run); /* top-1 of guessing; NULL: there is no such thing */
};

extern const sgi_report_kind sgi_report_problem, sgi_report_images;

/* By the word in the first run's run.json. Runs of problems before it was written have none. */
const sgi_report_kind *sgi_report_kind_of(const sgi_runs *runs);

/* Mean and spread over the seeds of a variant of what `value` finds in each run; NaN: no value. */
typedef double sgi_run_value(const sgi_run *run, double target);
sgi_statistic sgi_over_seeds(const sgi_runs *runs, const sgi_variant *variant, sgi_run_value *value,
                             double target);

#endif
