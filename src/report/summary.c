/* The numbers of a comparison: see report.h and summary.h. */
#include "report/summary.h"

#include <math.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "report/kind.h"

/* What every kind has. */
static const sgi_report_statistic common[] = {
    {offsetof(sgi_report_variant, validation), sgi_value_last, "validation/loss", NULL},
    {offsetof(sgi_report_variant, seconds), sgi_value_recorded, "seconds", NULL},
    {offsetof(sgi_report_variant, steps), sgi_value_recorded, "steps_done", NULL},
};

static void fill(sgi_report_variant *entry, const sgi_report_statistic *list, size_t count,
                 const sgi_runs *runs, const sgi_variant *variant)
{
    for (size_t i = 0; i < count; i++)
        *sgi_report_place(entry, list[i].offset) = sgi_over_seeds(runs, variant, &list[i], 0);
}

static void summarise(const sgi_report_kind *kind, sgi_report_variant *entry,
                      const sgi_report_variant *base, const sgi_runs *runs,
                      const sgi_variant *variant)
{
    static const sgi_statistic none = {0, NAN, NAN};
    entry->runs = variant->count;
    entry->relative_l2 = entry->max_error = entry->reached = none;
    entry->lowest_validation = entry->lowest_validation_step = none;
    entry->lowest_l2 = entry->lowest_l2_step = none;
    entry->median_validation = entry->median_l2 = none;
    entry->restless = false;
    entry->top1 = entry->top5 = entry->best_top1 = entry->best_step = entry->epochs = none;
    entry->images_per_second = entry->memory = entry->skipped = entry->collapsed = none;
    entry->refinement = none;
    fill(entry, common, sizeof common / sizeof common[0], runs, variant);
    fill(entry, kind->statistics, kind->statistic_count, runs, variant);
    /* After the rest: the baseline's own target is in its own entry. */
    kind->summarise(entry, base, runs, variant);
}

sg_status sgi_summary_make(sgi_report_summary *out, const sgi_runs *runs)
{
    const sgi_report_kind *kind = sgi_report_kind_of(runs);
    *out = (sgi_report_summary){
        .allocator = runs->allocator,
        .kind = kind,
        .chance = kind->chance ? kind->chance(&runs->runs[0]) : NAN,
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
        summarise(kind, entry, &out->variants[0], runs, variant);
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
