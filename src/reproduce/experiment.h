/* The paper's experiments as data: what `stablegrad reproduce` trains, and what it makes of it.
 *
 * An experiment has parts, a part is one problem or task file, and a part has arms: the file with a
 * few values set, one run for each seed. A part is trained in a folder of its own, which is that of
 * a comparison; so each part has a report as `stablegrad compare` writes it.
 *
 *     runs/reproduce-table1-full/reproduce.json, report.html
 *     runs/reproduce-table1-full/poisson-6/compare.json, report.html
 *     runs/reproduce-table1-full/poisson-6/adamw, adamw-1, stablegrad, stablegrad-1
 *
 * Another experiment is one file like table1.c, its declaration below, and its row in
 * experiments.c. The numbers of the paper are in paper.h. */
#ifndef SG_REPRODUCE_EXPERIMENT_H
#define SG_REPRODUCE_EXPERIMENT_H

#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/list.h"
#include "stablegrad/status.h"
#include "text/text.h"

#define SG_BUDGET_LIST(X)                                                                          \
    X(SG_BUDGET_QUICK, "quick")                                                                    \
    X(SG_BUDGET_HOURS, "hours")                                                                    \
    X(SG_BUDGET_FULL, "full")

typedef enum sgi_budget { SG_BUDGET_LIST(SG_LIST_ENUM) } sgi_budget;
enum { SG_BUDGETS = 0 SG_BUDGET_LIST(SG_LIST_COUNT) };

const char *sgi_budget_name(sgi_budget budget);

/* Room in the lists of "key=value" below, which end with NULL. */
enum { SG_PART_SETS = 8, SG_ARM_SETS = 5 };

/* The parts of an experiment and the arms of a part are no more than these; the tests see to it. */
enum { SG_EXPERIMENT_PARTS = 64, SG_PART_ARMS = 64 };

struct sgi_results;
struct sgi_tables;

/* Appends one more "key=value", which follows from other runs of the part, to `set`; SG_ERROR_STATE
 * when these are not there yet. */
typedef sg_status sgi_derive(const struct sgi_results *results, size_t part, sgi_text *set,
                             sg_diagnostic *diagnostic);

typedef struct sgi_arm {
    const char *name;  /* of its folder */
    const char *label; /* in tables and charts; NULL: what its file says of the method */
    const char *sets[SG_ARM_SETS + 1];
    const char *group;  /* what is varied: "blocks"; NULL: it belongs to every group */
    sgi_derive *derive; /* NULL: `sets` are all */
} sgi_arm;

/* What a budget sets, and how the tables say so; a note of NULL: nothing is reduced. */
typedef struct sgi_reduction {
    const char *note; /* "5,000 of 50,000 steps" */
    const char *sets[SG_PART_SETS + 1];
} sgi_reduction;

typedef struct sgi_experiment_part {
    const char *name;  /* of its folder, and for --only */
    const char *title; /* "Poisson, 6 hidden layers" */
    const char *file;  /* the shipped problem or task */
    const char *sets[SG_PART_SETS + 1];
    sgi_reduction budgets[SG_BUDGETS];
    const sgi_arm *arms; /* the first is the baseline */
    size_t arm_count;
    const char *metric;       /* a share among the evaluations that is drawn beside the loss, as
                                 "validation/top1"; NULL: the relative L2 error */
    const char *metric_title; /* of its chart */
} sgi_experiment_part;

typedef struct sgi_experiment {
    const char *name;    /* what is typed */
    const char *summary; /* one line */
    const char *source;  /* of the paper: "table 1" */
    const sgi_experiment_part *parts;
    size_t part_count;
    /* Makes the tables from the runs that are there. */
    void (*tabulate)(const struct sgi_results *results, struct sgi_tables *tables);
    /* What it measures without training runs, before the tables are made; NULL: nothing. Writes
     * files of its own into `folder`. */
    sg_status (*measure)(const char *folder, sgi_budget budget, sg_diagnostic *diagnostic);
    /* Figures of its own in the report, after the tables; NULL: only the curves of its parts. */
    void (*draw)(const struct sgi_results *results, sgi_text *out);
} sgi_experiment;

extern const sgi_experiment sgi_experiment_table1, sgi_experiment_diagnostics,
    sgi_experiment_lr_control, sgi_experiment_figure1, sgi_experiment_cnn, sgi_experiment_ablations,
    sgi_experiment_neighbours, sgi_experiment_margin, sgi_experiment_accuracy,
    sgi_experiment_metrics;

/* All of them, in the order in which they are listed. */
extern const sgi_experiment *const sgi_experiments[];
extern const size_t sgi_experiment_count;

/* The values that an arm sets: those of the part, of the arm and of the budget, in this order, so
 * that the later ones win. Returns how many; `sets` has room for SG_MOST_ARM_SETS. */
enum { SG_MOST_ARM_SETS = 2 * SG_PART_SETS + SG_ARM_SETS };
size_t sgi_arm_sets(const sgi_experiment_part *part, const sgi_arm *arm, sgi_budget budget,
                    const char **sets);

#endif
