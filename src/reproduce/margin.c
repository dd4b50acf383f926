/* Whether ending the rescaling by the theorem's margin keeps its gains and avoids its losses. */
#include <math.h>

#include "reproduce/results.h"
#include "reproduce/tables.h"

#define SG "training.stablegrad."

static const sgi_arm arms[] = {
    {.name = "adamw", .label = "AdamW", .sets = {SG "method=none"}},
    {.name = "throughout", .label = "residual, throughout", .sets = {SG "until=forever"}},
    {.name = "half", .label = "residual, first half", .sets = {SG "until=half"}},
    {.name = "margin", .label = "residual, until: margin", .sets = {SG "until=margin"}},
    {.name = "output",
     .label = "output, first half",
     .sets = {SG "reference=output", SG "until=half"}},
};
enum { ARMS = sizeof arms / sizeof arms[0] };

#define PART(word, heading, ...)                                                                   \
    .name = word, .title = heading, .file = word, .arms = arms, .arm_count = ARMS,                 \
    .sets = {"training.stablegrad.reference=residual", __VA_ARGS__}

static const sgi_experiment_part parts[] = {
    {PART("burgers3d", "Burgers in three dimensions, 1,000 steps", "training.steps=1000"),
     .budgets = {{"200 of 1,000 steps", {"training.steps=200"}}}},
    {PART("heat", "Heat in a rod"), .budgets = {{"500 of 5,000 steps", {"training.steps=500"}}}},
    {PART("wave", "A swinging string"),
     .budgets = {{"500 of 8,000 steps", {"training.steps=500"}}}},
    {PART("poisson", "Poisson, an eighth of the points, 3,500 steps", "points=2048",
          "conditions.boundary.points=512", "training.steps=3500"),
     .budgets = {{"350 of 3,500 steps", {"training.steps=350"}}}},
    {PART("burgers", "Burgers, nu = 0.01/pi, 6,144 points, 3,000 steps", "constants.nu=0.01/pi",
          "points=5120", "conditions.initial.points=512", "conditions.boundary.points=512",
          "training.steps=3000", "evaluation.grid=256x100"),
     .budgets = {{"300 of 3,000 steps", {"training.steps=300"}}}},
    {PART("helmholtz", "Helmholtz, an eighth of the points, 3,000 steps", "points=4096",
          "conditions.boundary.points=1024", "training.steps=3000", "evaluation.grid=48x48x48"),
     .budgets = {{"300 of 3,000 steps, a warm-up of 30",
                  {"training.steps=300", "training.schedule.warmup=30"}}}},
    {PART("cavity", "A lid-driven cavity, 5,000 steps", "training.steps=5000"),
     .budgets = {{"500 of 5,000 steps", {"training.steps=500"}}}},
};

/* Rescaling to the end has helped or hurt by more than a tenth; the margin has kept most of it. */
static const char *verdict(double adamw, double throughout, double margin)
{
    const double level = 1.1;
    if (!isfinite(adamw) || !isfinite(throughout) || !isfinite(margin))
        return "open";
    if (throughout * level < adamw)
        return margin <= sqrt(adamw * throughout) ? "gain kept" : "gain lost";
    if (throughout > level * adamw)
        return margin <= level * adamw ? "loss avoided" : "loss not avoided";
    return "nothing to keep or avoid";
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    static const char *const columns[] = {"problem",
                                          "AdamW",
                                          "residual, throughout",
                                          "residual, first half",
                                          "residual, until: margin",
                                          "output, first half",
                                          "margin positive",
                                          "until: margin",
                                          NULL};
    sgi_table_begin(tables, "Validation loss at the end", columns);
    for (size_t p = 0; p < results->experiment->part_count; p++) {
        const sgi_part_result *part = &results->parts[p];
        double losses[ARMS];
        if (!part->there)
            continue;
        sgi_table_row(tables);
        sgi_table_text(tables, part->part->title);
        for (size_t a = 0; a < ARMS; a++) {
            losses[a] = sgi_arm_last(part, arms[a].name, "validation/loss");
            sgi_table_number(tables, losses[a]);
        }
        const sgi_run *run = sgi_arm_run(part, "margin");
        size_t held = 0, of = run ? run->diagnosis.rows : 0;
        for (size_t r = 0; r < of; r++)
            held +=
                sgi_arm_diagnosis(part, "margin", "margin", run->diagnosis.items[0].values[r]) > 0;
        sgi_table_format(tables, "%zu of %zu", held, of);
        sgi_table_text(tables, verdict(losses[0], losses[1], losses[3]));
    }
    sgi_table_note(tables, "A gain is kept when the margin has at least half of it on a "
                           "logarithmic scale, a loss avoided when it ends within a tenth of "
                           "AdamW's loss.");
}

const sgi_experiment sgi_experiment_margin = {
    .name = "margin",
    .summary = "ending the rescaling by the theorem's margin, on seven problems",
    .source = "section 4; the paper does not do this",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
};
