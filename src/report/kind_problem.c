/* What the report says of a problem: see kind.h. */
#include <math.h>
#include <stddef.h>

#include "report/kind.h"
#include "report/page.h"
#include "runs/evaluations.h"

static double reached(const sgi_run *run, const char *of, double target)
{
    const double *loss = sgi_columns_find(&run->evaluation, of);
    for (size_t r = sgi_evaluations_first(run); loss && r < run->evaluation.rows; r++)
        if (loss[r] <= target)
            return run->evaluation.items[0].values[r];
    return NAN;
}

static bool restless(const sgi_run *run, const char *column)
{
    const double *values = sgi_columns_find(&run->evaluation, column);
    size_t first = sgi_evaluations_first(run);
    return values && sgi_restless(values + first, run->evaluation.rows - first);
}

#define LOSS  "validation/loss"
#define ERROR "error/all/relative_l2"

static void summarise(sgi_report_variant *entry, const sgi_report_variant *base,
                      const sgi_runs *runs, const sgi_variant *variant)
{
    for (size_t i = 0; i < variant->count; i++) {
        const sgi_run *run = &runs->runs[variant->first + i];
        entry->restless |= restless(run, LOSS) || restless(run, ERROR);
    }
    const sgi_report_statistic when = {.value = reached, .of = LOSS};
    entry->reached = sgi_over_seeds(runs, variant, &when, base->validation.mean);
}

#define AT(member) offsetof(sgi_report_variant, member)

static const sgi_report_statistic statistics[] = {
    {AT(relative_l2), sgi_value_last, ERROR, NULL},
    {AT(max_error), sgi_value_last, "error/all/max", NULL},
    {AT(lowest_validation), sgi_value_lowest, LOSS, NULL},
    {AT(lowest_validation_step), sgi_value_lowest_step, LOSS, NULL},
    {AT(lowest_l2), sgi_value_lowest, ERROR, NULL},
    {AT(lowest_l2_step), sgi_value_lowest_step, ERROR, NULL},
    {AT(median_validation), sgi_value_median, LOSS, NULL},
    {AT(median_l2), sgi_value_median, ERROR, NULL},
    {AT(refinement), sgi_value_last_of_training, "refinement_seconds", NULL},
};

static const sgi_report_row rows[] = {
    {"validation loss", "validation loss", AT(validation), SG_UNIT_NUMBER, SG_BETTER_LOWER, false,
     true},
    {"lowest validation loss", "lowest loss", AT(lowest_validation), SG_UNIT_NUMBER,
     SG_BETTER_LOWER, false, true},
    {"step of the lowest validation loss", "  at step", AT(lowest_validation_step), SG_UNIT_COUNT,
     SG_BETTER_NEITHER, false, false},
    {"median of the last five validation losses", "median of last 5", AT(median_validation),
     SG_UNIT_NUMBER, SG_BETTER_LOWER, false, true},
    {"relative L2 error", "relative L2 error", AT(relative_l2), SG_UNIT_NUMBER, SG_BETTER_LOWER,
     false, true},
    {"lowest relative L2 error", "lowest L2 error", AT(lowest_l2), SG_UNIT_NUMBER, SG_BETTER_LOWER,
     false, true},
    {"step of the lowest relative L2 error", "  at step", AT(lowest_l2_step), SG_UNIT_COUNT,
     SG_BETTER_NEITHER, false, false},
    {"median of the last five relative L2 errors", "median of last 5", AT(median_l2),
     SG_UNIT_NUMBER, SG_BETTER_LOWER, false, true},
    {"largest error", "largest error", AT(max_error), SG_UNIT_NUMBER, SG_BETTER_LOWER, false, true},
    {"baseline’s final loss reached at step", NULL, AT(reached), SG_UNIT_COUNT, SG_BETTER_LOWER,
     true, false},
    {"steps", NULL, AT(steps), SG_UNIT_COUNT, SG_BETTER_NEITHER, false, false},
    {"time", "seconds", AT(seconds), SG_UNIT_DURATION, SG_BETTER_NEITHER, false, false},
    {"of that, choosing points", "  refinement", AT(refinement), SG_UNIT_DURATION,
     SG_BETTER_NEITHER, false, false},
};

static sgi_section *const sections[] = {sgi_page_result,    sgi_page_statement, sgi_page_domain,
                                        sgi_page_curves,    sgi_page_second,    sgi_page_unknowns,
                                        sgi_page_solution,  sgi_page_data,      sgi_page_scaling,
                                        sgi_page_diagnosis, sgi_page_table,     sgi_page_repeat};

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
    .statistics = statistics,
    .statistic_count = sizeof statistics / sizeof statistics[0],
    .summarise = summarise,
};
