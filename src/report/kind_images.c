/* What the report says of a network on images: see kind.h. */
#include <math.h>
#include <stddef.h>

#include "report/kind.h"
#include "report/page.h"
#include "runs/image_run.h"

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

static void summarise(sgi_report_variant *entry, const sgi_report_variant *base,
                      const sgi_runs *runs, const sgi_variant *variant)
{
    entry->top1 = sgi_over_seeds(runs, variant, top1, 0);
    entry->top5 = sgi_over_seeds(runs, variant, top5, 0);
    entry->best_top1 = sgi_over_seeds(runs, variant, best_top1, 0);
    entry->best_step = sgi_over_seeds(runs, variant, best_step, 0);
    entry->epochs = sgi_over_seeds(runs, variant, epochs, 0);
    entry->images_per_second = sgi_over_seeds(runs, variant, images_per_second, 0);
    entry->memory = sgi_over_seeds(runs, variant, memory, 0);
    entry->skipped = sgi_over_seeds(runs, variant, skipped, 0);
    entry->collapsed = sgi_over_seeds(runs, variant, collapsed, 0);
    for (size_t i = 0; i < variant->count; i++) {
        const sgi_run *run = &runs->runs[variant->first + i];
        entry->at_chance += sgi_image_at_chance(run, top1(run, 0));
    }
    if (base->at_chance < base->runs)
        entry->reached = sgi_over_seeds(runs, variant, top1_reached, base->top1.mean);
}

#define AT(member) offsetof(sgi_report_variant, member)

static const sgi_report_row rows[] = {
    {"test top-1", "test top-1", AT(top1), SG_UNIT_SHARE, SG_BETTER_HIGHER, false, false},
    {"test top-5", "test top-5", AT(top5), SG_UNIT_SHARE, SG_BETTER_HIGHER, false, false},
    {"best test top-1", "best top-1", AT(best_top1), SG_UNIT_SHARE, SG_BETTER_HIGHER, false, false},
    {"at step", "at step", AT(best_step), SG_UNIT_COUNT, SG_BETTER_NEITHER, false, false},
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
    .summarise = summarise,
    .chance = sgi_image_chance,
};
