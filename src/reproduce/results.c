/* Results of an experiment: see results.h. */
#include "reproduce/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "report/kind.h"
#include "report/summary.h"

/* Only the lack of memory is a failure. */
static sg_status read_part(sgi_part_result *part, const char *folder, const sg_allocator *allocator,
                           sg_diagnostic *diagnostic)
{
    char *path = sgi_path_join(allocator, folder, part->part->name);
    sg_status status = path ? SG_OK : SG_ERROR_MEMORY;
    if (status == SG_OK) {
        status = sgi_runs_read(&part->runs, path, false, allocator, NULL);
        if (status == SG_OK)
            status = sgi_summary_make(&part->summary, &part->runs);
        part->there = status == SG_OK && part->runs.comparison;
        sgi_release(allocator, path);
    }
    if (status == SG_ERROR_MEMORY)
        return sgi_fail(diagnostic, status, "out of memory");
    return SG_OK;
}

sg_status sgi_results_read(sgi_results *out, const sgi_experiment *experiment, sgi_budget budget,
                           const char *folder, const sg_allocator *allocator,
                           sg_diagnostic *diagnostic)
{
    *out = (sgi_results){.allocator = sgi_allocator_or_heap(allocator),
                         .experiment = experiment,
                         .budget = budget,
                         .folder = folder};
    out->parts = sgi_allocate(&out->allocator, experiment->part_count, sizeof *out->parts);
    if (!out->parts)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    sg_status status = SG_OK;
    for (size_t p = 0; p < experiment->part_count && status == SG_OK; p++) {
        out->parts[p].part = &experiment->parts[p];
        status = read_part(&out->parts[p], folder, &out->allocator, diagnostic);
    }
    return status;
}

void sgi_results_release(sgi_results *results)
{
    for (size_t p = 0; results->parts && p < results->experiment->part_count; p++) {
        sgi_report_summary_release(&results->parts[p].summary);
        sgi_runs_release(&results->parts[p].runs);
    }
    sgi_release(&results->allocator, results->parts);
    results->parts = NULL;
}

const sgi_variant *sgi_arm_variant(const sgi_part_result *part, const char *arm)
{
    for (size_t v = 0; part->there && v < part->runs.variant_count; v++) {
        const sgi_variant *variant = &part->runs.variants[v];
        if (variant->count > 0 && strcmp(variant->name, arm) == 0)
            return variant;
    }
    return NULL;
}

const sgi_report_variant *sgi_arm_summary(const sgi_part_result *part, const char *arm)
{
    const sgi_variant *variant = sgi_arm_variant(part, arm);
    return variant ? &part->summary.variants[variant - part->runs.variants] : NULL;
}

const sgi_run *sgi_arm_run(const sgi_part_result *part, const char *arm)
{
    const sgi_variant *variant = sgi_arm_variant(part, arm);
    return variant ? &part->runs.runs[variant->first] : NULL;
}

double sgi_arm_last(const sgi_part_result *part, const char *arm, const char *column)
{
    const sgi_variant *variant = sgi_arm_variant(part, arm);
    const sgi_report_statistic last = {.value = sgi_value_last, .of = column};
    return variant ? sgi_over_seeds(&part->runs, variant, &last, 0).mean : NAN;
}

static double value_at(const sgi_columns *columns, const char *column, double step)
{
    const double *values = sgi_columns_find(columns, column);
    for (size_t r = 0; values && r < columns->rows; r++)
        if (columns->items[0].values[r] == step)
            return values[r];
    return NAN;
}

double sgi_arm_evaluation(const sgi_part_result *part, const char *arm, const char *column,
                          double step)
{
    const sgi_run *run = sgi_arm_run(part, arm);
    return run ? value_at(&run->evaluation, column, step) : NAN;
}

double sgi_arm_diagnosis(const sgi_part_result *part, const char *arm, const char *column,
                         double step)
{
    char name[80];
    const sgi_run *run = sgi_arm_run(part, arm);
    (void)snprintf(name, sizeof name, "diagnosis/%s", column);
    return run ? value_at(&run->diagnosis, name, step) : NAN;
}

bool sgi_arm_complete(const sgi_part_result *part, const char *arm)
{
    const sgi_variant *variant = sgi_arm_variant(part, arm);
    for (size_t i = 0; variant && i < variant->count; i++) {
        const sgi_run *run = &part->runs.runs[variant->first + i];
        if (!(sgi_run_number(run, NULL, "steps_done") >= sgi_run_number(run, NULL, "steps")))
            return false;
    }
    return variant != NULL;
}
