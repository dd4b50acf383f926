/* What the report says of a network on images: see kind.h. */
#include <math.h>
#include <stddef.h>

#include "report/kind.h"
#include "report/page.h"
#include "runs/image_run.h"

static double top1_reached(const sgi_run *run, const char *of, double target)
{
    const double *share = sgi_columns_find(&run->evaluation, of);
    for (size_t r = 0; share && r < run->evaluation.rows; r++)
        if (share[r] >= target && isfinite(share[r]))
            return run->evaluation.items[0].values[r];
    return NAN;
}

#define TOP1 "validation/top1"

static void summarise(sgi_report_variant *entry, const sgi_report_variant *base,
                      const sgi_runs *runs, const sgi_variant *variant)
{
    const sgi_report_statistic when = {.value = top1_reached, .of = TOP1};
    for (size_t i = 0; i < variant->count; i++) {
        const sgi_run *run = &runs->runs[variant->first + i];
        entry->at_chance += sgi_image_at_chance(run, sgi_columns_last(&run->evaluation, TOP1));
    }
    if (base->at_chance < base->runs)
        entry->reached = sgi_over_seeds(runs, variant, &when, base->top1.mean);
}

#define AT(member) offsetof(sgi_report_variant, member)

static const sgi_report_statistic statistics[] = {
    {AT(top1), sgi_value_last, TOP1, NULL},
    {AT(top5), sgi_value_last, "validation/top5", NULL},
    {AT(best_top1), sgi_value_highest, TOP1, NULL},
    {AT(best_step), sgi_value_highest_step, TOP1, NULL},
    {AT(epochs), NULL, NULL, sgi_image_epochs},
    {AT(images_per_second), sgi_value_recorded, "images_per_second", NULL},
    {AT(memory), NULL, NULL, sgi_image_memory},
    {AT(skipped), sgi_value_last_of_training, "skipped", NULL},
    {AT(collapsed), NULL, NULL, sgi_image_collapsed},
};

static const sgi_report_row rows[] = {
    {"test top-1", "test top-1", AT(top1), SG_UNIT_SHARE, SG_BETTER_HIGHER, false, false},
    {"test top-5", "test top-5", AT(top5), SG_UNIT_SHARE, SG_BETTER_HIGHER, false, false},
    {"best test top-1", "best top-1", AT(best_top1), SG_UNIT_SHARE, SG_BETTER_HIGHER, false, false},
    {"step of the best test top-1", "  at step", AT(best_step), SG_UNIT_COUNT, SG_BETTER_NEITHER,
     false, false},
    {"test loss", "test loss", AT(validation), SG_UNIT_NUMBER, SG_BETTER_LOWER, false, false},
    {"baseline’s final top-1 reached at step", NULL, AT(reached), SG_UNIT_COUNT, SG_BETTER_NEITHER,
     true, false},
    {"collapsed at step", "collapsed at step", AT(collapsed), SG_UNIT_COUNT, SG_BETTER_NEITHER,
     false, false},
    {"skipped steps", "steps skipped", AT(skipped), SG_UNIT_COUNT, SG_BETTER_NEITHER, false, false},
    {"steps", NULL, AT(steps), SG_UNIT_COUNT, SG_BETTER_NEITHER, false, false},
    {"epochs", NULL, AT(epochs), SG_UNIT_RATE, SG_BETTER_NEITHER, false, false},
    {"time", "seconds", AT(seconds), SG_UNIT_DURATION, SG_BETTER_NEITHER, false, false},
    {"images per second", "images/s", AT(images_per_second), SG_UNIT_RATE, SG_BETTER_NEITHER, false,
     false},
    {"memory", NULL, AT(memory), SG_UNIT_MEMORY, SG_BETTER_NEITHER, false, false},
};

static sgi_section *const sections[] = {sgi_page_image_result, sgi_page_image_curves,
                                        sgi_page_inside,       sgi_page_scaling,
                                        sgi_page_table,        sgi_page_repeat};

static const sgi_report_fact facts[] = {
    {"data", "train_images", " training images"},
    {"data", "classes", " classes"},
    {"data", "size", " px"},
};

const sgi_report_kind sgi_report_images = {
    .task = "images",
    .noun = "task",
    .rows = rows,
    .row_count = sizeof rows / sizeof rows[0],
    .target = AT(top1),
    .target_unit = SG_UNIT_SHARE,
    .sections = sections,
    .section_count = sizeof sections / sizeof sections[0],
    .facts = facts,
    .fact_count = sizeof facts / sizeof facts[0],
    .compared_network = "model", /* the network's description names the norm, which differs */
    .every_variant = true,
    .shares = true,
    .repeat_rows = sgi_page_image_repeat,
    .statistics = statistics,
    .statistic_count = sizeof statistics / sizeof statistics[0],
    .summarise = summarise,
    .chance = sgi_image_chance,
};
