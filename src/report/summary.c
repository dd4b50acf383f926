/* The numbers of a comparison: see report.h and summary.h. */
#include "report/summary.h"

#include <math.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "report/image_run.h"

typedef double (*value_of)(const sgi_run *run, double target);

static double validation(const sgi_run *run, double target)
{
    (void)target;
    return sgi_columns_last(&run->evaluation, "validation/loss");
}

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

static double seconds(const sgi_run *run, double target)
{
    (void)target;
    return sgi_run_number(run, NULL, "seconds");
}

static double steps(const sgi_run *run, double target)
{
    (void)target;
    return sgi_run_number(run, NULL, "steps_done");
}

static double reached(const sgi_run *run, double target)
{
    const double *loss = sgi_columns_find(&run->evaluation, "validation/loss");
    for (size_t r = 0; loss && r < run->evaluation.rows; r++)
        if (loss[r] <= target)
            return run->evaluation.items[0].values[r];
    return NAN;
}

/* ---- Of images ---------------------------------------------------------------------------- */

static double top1(const sgi_run *run, double target)
{
    (void)target;
    return sgi_columns_last(&run->evaluation, "validation/top1");
}

static double top5(const sgi_run *run, double target)
{
    (void)target;
    return sgi_columns_last(&run->evaluation, "validation/top5");
}

static double best_top1(const sgi_run *run, double target)
{
    (void)target;
    double step;
    return sgi_image_best(run, &step);
}

static double best_step(const sgi_run *run, double target)
{
    (void)target;
    double step;
    (void)sgi_image_best(run, &step);
    return step;
}

static double top1_reached(const sgi_run *run, double target)
{
    const double *share = sgi_columns_find(&run->evaluation, "validation/top1");
    for (size_t r = 0; share && r < run->evaluation.rows; r++)
        if (share[r] >= target && isfinite(share[r]))
            return run->evaluation.items[0].values[r];
    return NAN;
}

static double epochs(const sgi_run *run, double target)
{
    (void)target;
    return sgi_image_epochs(run);
}

static double images_per_second(const sgi_run *run, double target)
{
    (void)target;
    return sgi_run_number(run, NULL, "images_per_second");
}

static double memory(const sgi_run *run, double target)
{
    (void)target;
    return sgi_image_memory(run);
}

static double skipped(const sgi_run *run, double target)
{
    (void)target;
    return sgi_columns_last(&run->training, "skipped");
}

static double collapsed(const sgi_run *run, double target)
{
    (void)target;
    return sgi_image_collapsed(run);
}

static sgi_statistic over_seeds(const sgi_runs *runs, const sgi_variant *variant, value_of value,
                                double target)
{
    sgi_statistic s = {0, NAN, NAN};
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

static void summarise_images(sgi_report_variant *entry, const sgi_runs *runs,
                             const sgi_variant *variant)
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
        const sgi_run *run = &runs->runs[variant->first + i];
        entry->at_chance += sgi_image_at_chance(run, top1(run, 0));
    }
}

static void summarise(sgi_report_variant *entry, const sgi_report_variant *base,
                      const sgi_runs *runs, const sgi_variant *variant)
{
    static const sgi_statistic none = {0, NAN, NAN};
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

sg_status sgi_summary_make(sgi_report_summary *out, const sgi_runs *runs)
{
    *out = (sgi_report_summary){
        .allocator = runs->allocator,
        .images = runs->images,
        .chance = runs->images ? sgi_image_chance(&runs->runs[0]) : NAN,
    };
    out->variants = sgi_allocate(&out->allocator, runs->variant_count, sizeof *out->variants);
    if (!out->variants)
        return SG_ERROR_MEMORY;
    for (size_t v = 0; v < runs->variant_count; v++) {
        const sgi_variant *variant = &runs->variants[v];
        sgi_report_variant *entry = &out->variants[out->count++];
        entry->name = sgi_copy_text(&out->allocator, variant->name);
        entry->label = sgi_copy_text(&out->allocator, variant->label);
        if (!entry->name || !entry->label) {
            sgi_report_summary_release(out);
            return SG_ERROR_MEMORY;
        }
        summarise(entry, &out->variants[0], runs, variant);
    }
    return SG_OK;
}

sg_status sgi_report_summarise(sgi_report_summary *out, const char *folder,
                               const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    *out = (sgi_report_summary){.allocator = sgi_allocator_or_heap(allocator)};
    sgi_runs runs;
    sg_status status = sgi_runs_read(&runs, folder, false, allocator, diagnostic);
    if (status != SG_OK)
        return status;
    status = sgi_summary_make(out, &runs);
    sgi_runs_release(&runs);
    if (status != SG_OK)
        sgi_fail_file(diagnostic, status, folder, "out of memory");
    return status;
}

void sgi_report_summary_release(sgi_report_summary *summary)
{
    for (size_t v = 0; v < summary->count; v++) {
        sgi_release(&summary->allocator, summary->variants[v].name);
        sgi_release(&summary->allocator, summary->variants[v].label);
    }
    sgi_release(&summary->allocator, summary->variants);
    summary->variants = NULL;
    summary->count = 0;
}
