/* What the report says of a problem: see kind.h. */
#include <math.h>
#include <stddef.h>

#include "report/kind.h"
#include "report/page.h"
#include "runs/evaluations.h"

static double relative_l2(const sgi_run *run, double target)
{
    (void)target;
    return sgi_columns_last(&run->evaluation, "error/all/relative_l2");
}

static double max_error(const sgi_run *run, double target)
{
    (void)target;
    return sgi_columns_last(&run->evaluation, "error/all/max");
}

static double reached(const sgi_run *run, double target)
{
    const double *loss = sgi_columns_find(&run->evaluation, "validation/loss");
    for (size_t r = 0; loss && r < run->evaluation.rows; r++)
        if (loss[r] <= target)
            return run->evaluation.items[0].values[r];
    return NAN;
}

static double lowest_validation(const sgi_run *run, double target)
{
    (void)target;
    double step;
    return sgi_evaluations_lowest(run, "validation/loss", &step);
}

static double lowest_validation_step(const sgi_run *run, double target)
{
    (void)target;
    double step;
    (void)sgi_evaluations_lowest(run, "validation/loss", &step);
    return step;
}

static double lowest_l2(const sgi_run *run, double target)
{
    (void)target;
    double step;
    return sgi_evaluations_lowest(run, "error/all/relative_l2", &step);
}

static double lowest_l2_step(const sgi_run *run, double target)
{
    (void)target;
    double step;
    (void)sgi_evaluations_lowest(run, "error/all/relative_l2", &step);
    return step;
}

static double median_validation(const sgi_run *run, double target)
{
    (void)target;
    return sgi_evaluations_median(run, "validation/loss");
}

static double median_l2(const sgi_run *run, double target)
{
    (void)target;
    return sgi_evaluations_median(run, "error/all/relative_l2");
}

static bool restless(const sgi_run *run, const char *column)
{
    const double *values = sgi_columns_find(&run->evaluation, column);
    return values && sgi_restless(values, run->evaluation.rows);
}

static void summarise(sgi_report_variant *entry, const sgi_report_variant *base,
                      const sgi_runs *runs, const sgi_variant *variant)
{
    entry->relative_l2 = sgi_over_seeds(runs, variant, relative_l2, 0);
    entry->max_error = sgi_over_seeds(runs, variant, max_error, 0);
    entry->lowest_validation = sgi_over_seeds(runs, variant, lowest_validation, 0);
    entry->lowest_validation_step = sgi_over_seeds(runs, variant, lowest_validation_step, 0);
    entry->lowest_l2 = sgi_over_seeds(runs, variant, lowest_l2, 0);
    entry->lowest_l2_step = sgi_over_seeds(runs, variant, lowest_l2_step, 0);
    entry->median_validation = sgi_over_seeds(runs, variant, median_validation, 0);
    entry->median_l2 = sgi_over_seeds(runs, variant, median_l2, 0);
    for (size_t i = 0; i < variant->count; i++) {
        const sgi_run *run = &runs->runs[variant->first + i];
        entry->restless |=
            restless(run, "validation/loss") || restless(run, "error/all/relative_l2");
    }
    entry->reached = sgi_over_seeds(runs, variant, reached, base->validation.mean);
}

#define AT(member) offsetof(sgi_report_variant, member)

static const sgi_report_row rows[] = {
    {"validation loss", "validation loss", AT(validation), SG_UNIT_NUMBER, SG_BETTER_LOWER, false,
     true},
    {"lowest validation loss", "lowest", AT(lowest_validation), SG_UNIT_NUMBER, SG_BETTER_LOWER,
     false, true},
    {"at step", "at step", AT(lowest_validation_step), SG_UNIT_COUNT, SG_BETTER_NEITHER, false,
     false},
    {"median of the last five validation losses", "median of last 5", AT(median_validation),
     SG_UNIT_NUMBER, SG_BETTER_LOWER, false, true},
    {"relative L2 error", "relative L2 error", AT(relative_l2), SG_UNIT_NUMBER, SG_BETTER_LOWER,
     false, true},
    {"lowest relative L2 error", "lowest", AT(lowest_l2), SG_UNIT_NUMBER, SG_BETTER_LOWER, false,
     true},
    {"at step", "at step", AT(lowest_l2_step), SG_UNIT_COUNT, SG_BETTER_NEITHER, false, false},
    {"median of the last five relative L2 errors", "median of last 5", AT(median_l2),
     SG_UNIT_NUMBER, SG_BETTER_LOWER, false, true},
    {"largest error", "largest error", AT(max_error), SG_UNIT_NUMBER, SG_BETTER_LOWER, false, true},
    {"baseline’s final loss reached at step", NULL, AT(reached), SG_UNIT_COUNT, SG_BETTER_LOWER,
     true, false},
    {"steps", NULL, AT(steps), SG_UNIT_COUNT, SG_BETTER_NEITHER, false, false},
    {"time", "seconds", AT(seconds), SG_UNIT_DURATION, SG_BETTER_NEITHER, false, false},
};

static sgi_section *const sections[] = {sgi_page_result,   sgi_page_statement, sgi_page_curves,
                                        sgi_page_solution, sgi_page_scaling,   sgi_page_table,
                                        sgi_page_repeat};

static const sgi_report_fact facts[] = {{NULL, "points_per_step", " points per step"}};

const sgi_report_kind sgi_report_problem = {
    .task = "problem",
    .noun = "problem",
    .next = "stablegrad new my-problem.yaml",
    .rows = rows,
    .row_count = sizeof rows / sizeof rows[0],
    .target = AT(validation),
    .target_unit = SG_UNIT_NUMBER,
    .sections = sections,
    .section_count = sizeof sections / sizeof sections[0],
    .facts = facts,
    .fact_count = sizeof facts / sizeof facts[0],
    .compared_network = "network",
    .summarise = summarise,
};
