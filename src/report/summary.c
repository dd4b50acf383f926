/* The numbers of a comparison: see report.h and summary.h. */
#include "report/summary.h"

#include <math.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/image_run.h"

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

/* ---- Of images ---------------------------------------------------------------------------- */

static double top1(const sg_run *run, double target)
{
    (void)target;
    return sg_columns_last(&run->evaluation, "validation/top1");
}

static double top5(const sg_run *run, double target)
{
    (void)target;
    return sg_columns_last(&run->evaluation, "validation/top5");
}

static double best_top1(const sg_run *run, double target)
{
    (void)target;
    double step;
    return sg_image_best(run, &step);
}

static double best_step(const sg_run *run, double target)
{
    (void)target;
    double step;
    (void)sg_image_best(run, &step);
    return step;
}

static double top1_reached(const sg_run *run, double target)
{
    const double *share = sg_columns_find(&run->evaluation, "validation/top1");
    for (size_t r = 0; share && r < run->evaluation.rows; r++)
        if (share[r] >= target && isfinite(share[r]))
            return run->evaluation.items[0].values[r];
    return NAN;
}

static double epochs(const sg_run *run, double target)
{
    (void)target;
    return sg_image_epochs(run);
}

static double images_per_second(const sg_run *run, double target)
{
    (void)target;
    return sg_run_number(run, NULL, "images_per_second");
}

static double memory(const sg_run *run, double target)
{
    (void)target;
    return sg_image_memory(run);
}

static double skipped(const sg_run *run, double target)
{
    (void)target;
    return sg_columns_last(&run->training, "skipped");
}

static double collapsed(const sg_run *run, double target)
{
    (void)target;
    return sg_image_collapsed(run);
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

static void summarise_images(sg_report_variant *entry, const sg_runs *runs,
                             const sg_variant *variant)
{
    entry->top1 = over_seeds(runs, variant, top1, 0);
    entry->top5 = over_seeds(runs, variant, top5, 0);
    entry->best_top1 = over_seeds(runs, variant, best_top1, 0);
    entry->best_step = over_seeds(runs, variant, best_step, 0);
    entry->epochs = over_seeds(runs, variant, epochs, 0);
    entry->images_per_second = over_seeds(runs, variant, images_per_second, 0);
    entry->memory = over_seeds(runs, variant, memory, 0);
    entry->skipped = over_seeds(runs, variant, skipped, 0);
    entry->collapsed = over_seeds(runs, variant, collapsed, 0);
    for (size_t i = 0; i < variant->count; i++) {
        const sg_run *run = &runs->runs[variant->first + i];
        entry->at_chance += sg_image_at_chance(run, top1(run, 0));
    }
}

static void summarise(sg_report_variant *entry, const sg_report_variant *base, const sg_runs *runs,
                      const sg_variant *variant)
{
    static const sg_statistic none = {0, NAN, NAN};
    bool images = runs->images;
    entry->runs = variant->count;
    entry->validation = over_seeds(runs, variant, validation, 0);
    entry->seconds = over_seeds(runs, variant, seconds, 0);
    entry->steps = over_seeds(runs, variant, steps, 0);
    entry->relative_l2 = images ? none : over_seeds(runs, variant, relative_l2, 0);
    entry->max_error = images ? none : over_seeds(runs, variant, max_error, 0);
    entry->top1 = entry->top5 = entry->best_top1 = entry->best_step = entry->epochs = none;
    entry->images_per_second = entry->memory = entry->skipped = entry->collapsed = none;
    entry->reached = none;
    if (images)
        summarise_images(entry, runs, variant);
    /* After the rest: the baseline's own target is in its own entry. */
    if (!images)
        entry->reached = over_seeds(runs, variant, reached, base->validation.mean);
    else if (base->at_chance < base->runs)
        entry->reached = over_seeds(runs, variant, top1_reached, base->top1.mean);
}

sg_status sg_summary_make(sg_report_summary *out, const sg_runs *runs)
{
    *out = (sg_report_summary){
        .allocator = runs->allocator,
        .images = runs->images,
        .chance = runs->images ? sg_image_chance(&runs->runs[0]) : NAN,
    };
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
        summarise(entry, &out->variants[0], runs, variant);
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
