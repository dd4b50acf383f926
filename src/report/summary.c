/* The numbers of a comparison: see report.h and summary.h. */
#include "report/summary.h"

#include <math.h>

#include "base/file.h"
#include "base/memory.h"

typedef double (*value_of)(const sg_run *run, double target);

static double validation(const sg_run *run, double target)
{
    (void)target;
    return sg_columns_last(&run->evaluation, "validation/loss");
}

static double relative_l2(const sg_run *run, double target)
{
    (void)target;
    return sg_columns_last(&run->evaluation, "error/all/relative_l2");
}

static double max_error(const sg_run *run, double target)
{
    (void)target;
    return sg_columns_last(&run->evaluation, "error/all/max");
}

static double seconds(const sg_run *run, double target)
{
    (void)target;
    return sg_run_number(run, NULL, "seconds");
}

static double steps(const sg_run *run, double target)
{
    (void)target;
    return sg_run_number(run, NULL, "steps_done");
}

static double reached(const sg_run *run, double target)
{
    const double *loss = sg_columns_find(&run->evaluation, "validation/loss");
    for (size_t r = 0; loss && r < run->evaluation.rows; r++)
        if (loss[r] <= target)
            return run->evaluation.items[0].values[r];
    return NAN;
}

static sg_statistic over_seeds(const sg_runs *runs, const sg_variant *variant, value_of value,
                               double target)
{
    sg_statistic s = {0, NAN, NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < variant->count; i++) {
        double x = value(&runs->runs[variant->first + i], target);
        if (!isnan(x)) {
            sum += x;
            s.count++;
        }
    }
    if (s.count)
        s.mean = sum / (double)s.count;
    for (size_t i = 0; i < variant->count; i++) {
        double x = value(&runs->runs[variant->first + i], target);
        if (!isnan(x))
            squares += (x - s.mean) * (x - s.mean);
    }
    if (s.count > 1 && isfinite(s.mean))
        s.spread = sqrt(squares / (double)(s.count - 1));
    return s;
}

sg_status sg_summary_make(sg_report_summary *out, const sg_runs *runs)
{
    *out = (sg_report_summary){.allocator = runs->allocator};
    out->variants = sg_allocate(&out->allocator, runs->variant_count, sizeof *out->variants);
    if (!out->variants)
        return SG_ERROR_MEMORY;
    for (size_t v = 0; v < runs->variant_count; v++) {
        const sg_variant *variant = &runs->variants[v];
        sg_report_variant *entry = &out->variants[out->count++];
        entry->name = sg_copy_text(&out->allocator, variant->name);
        entry->label = sg_copy_text(&out->allocator, variant->label);
        if (!entry->name || !entry->label) {
            sg_report_summary_release(out);
            return SG_ERROR_MEMORY;
        }
        entry->runs = variant->count;
        entry->validation = over_seeds(runs, variant, validation, 0);
        entry->relative_l2 = over_seeds(runs, variant, relative_l2, 0);
        entry->max_error = over_seeds(runs, variant, max_error, 0);
        entry->reached = over_seeds(runs, variant, reached, out->variants[0].validation.mean);
        entry->seconds = over_seeds(runs, variant, seconds, 0);
        entry->steps = over_seeds(runs, variant, steps, 0);
    }
    return SG_OK;
}

sg_status sg_report_summarise(sg_report_summary *out, const char *folder,
                              const sg_allocator *allocator, char *message, size_t message_size)
{
    *out = (sg_report_summary){.allocator = sg_allocator_or_heap(allocator)};
    sg_runs runs;
    sg_status status = sg_runs_read(&runs, folder, false, allocator, message, message_size);
    if (status != SG_OK)
        return status;
    status = sg_summary_make(out, &runs);
    sg_runs_release(&runs);
    if (status != SG_OK)
        sg_explain(status, message, message_size, "%s: out of memory", folder);
    return status;
}

void sg_report_summary_release(sg_report_summary *summary)
{
    for (size_t v = 0; v < summary->count; v++) {
        sg_release(&summary->allocator, summary->variants[v].name);
        sg_release(&summary->allocator, summary->variants[v].label);
    }
    sg_release(&summary->allocator, summary->variants);
    summary->variants = NULL;
    summary->count = 0;
}
