/* Figure 2 and appendix C: EfficientNetV2-S on CIFAR-100 with BatchNorm, without, and without but
 * with StableGrad or signs; and the scales of its activations until the run without collapses. */
#include <math.h>
#include <string.h>

#include "draw/chart.h"
#include "report/layers.h"
#include "reproduce/paper.h"
#include "reproduce/reproduction.h"
#include "runs/image_run.h"

enum { WIDTH = 960, HEIGHT = 560 };

#define NO_NORM   "network.norm=none"
#define METHOD(m) "training.stablegrad.method=" m

static const sgi_arm arms[] = {
    {.name = "batchnorm", .sets = {"network.norm=batch", METHOD("none")}},
    {.name = "plain", .sets = {NO_NORM, METHOD("none")}},
    {.name = "stablegrad", .sets = {NO_NORM, METHOD("stablegrad")}},
    {.name = "sign", .sets = {NO_NORM, METHOD("sign")}},
};

static const sgi_experiment_part parts[] = {
    {.name = "efficientnet",
     .title = "EfficientNetV2-S on CIFAR-100",
     .file = "cifar100-efficientnet",
     .sets = {"data.size=224", "training.batch=128", "training.epochs=100",
              "training.observe_every=20"},
     .budgets = {{"32 px, 120 steps of 64 images, 500 test images",
                  {"data.size=32", "data.test_images=500", "training.batch=64",
                   "training.steps=120", "training.log_every=5", "training.observe_every=5",
                   "training.evaluate_every=60", "training.checkpoint_every=60"}},
                 {"15 of 100 epochs, at 32 of 224 px",
                  {"data.size=32", "training.epochs=15", "training.observe_every=10"}}},
     .arms = arms,
     .arm_count = sizeof arms / sizeof arms[0],
     .metric = "validation/top1",
     .metric_title = "Test images whose class is the first guess"},
};

/* ---- Tables --------------------------------------------------------------------------------- */

/* The step of the first event of a kind, or NaN. */
static double first_event(const sgi_run *run, sgi_image_event_kind kind)
{
    for (size_t i = 0; i < sgi_image_run_events(run); i++) {
        sgi_event event;
        if (sgi_image_run_event(run, i, &event) && event.kind == kind)
            return event.step;
    }
    return NAN;
}

static void accuracy_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"variant",
                                          "paper, best top-1 in %",
                                          "ours",
                                          "ours over the paper's",
                                          "last top-1 in %",
                                          "last test loss",
                                          "loss exploded at step",
                                          "collapsed at step",
                                          NULL};
    sgi_table_begin(tables, "Figure 2: test accuracy", columns);
    for (size_t a = 0; a < part->part->arm_count; a++) {
        const sgi_report_variant *all = sgi_arm_summary(part, part->part->arms[a].name);
        const sgi_run *run = sgi_arm_run(part, part->part->arms[a].name);
        if (!all || !run)
            continue;
        sgi_table_row(tables);
        sgi_table_text(tables, all->label);
        sgi_table_beside(tables, sgi_paper_figure2[a],
                         all->best_top1.count ? 100 * all->best_top1.mean : NAN);
        sgi_table_number(tables, all->top1.count ? 100 * all->top1.mean : NAN);
        sgi_table_number(tables, all->validation.count ? all->validation.mean : NAN);
        sgi_table_number(tables, first_event(run, SG_EVENT_EXPLODED));
        sgi_table_number(tables, sgi_image_collapsed(run));
    }
    sgi_table_note(tables, "Guessing gets 1%% right. The paper's run without BatchNorm stops with "
                           "numbers that are not finite, its run with signs stays at chance.");
}

/* Whether an arm ended above chance; false as well while it is not complete. */
static bool trains(const sgi_part_result *part, const char *arm)
{
    const sgi_run *run = sgi_arm_run(part, arm);
    double top1 = sgi_arm_last(part, arm, "validation/top1");
    return run && isfinite(top1) && !sgi_image_at_chance(run, top1) &&
           !isfinite(sgi_image_collapsed(run));
}

/* Complete, or ended by itself. */
static bool ended(const sgi_part_result *part, const char *arm)
{
    const sgi_run *run = sgi_arm_run(part, arm);
    return run && (sgi_arm_complete(part, arm) ||
                   strcmp(sgi_run_text(run, NULL, "status"), "failed") == 0);
}

static void claims_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"what the paper finds", "here", NULL};
    bool all = ended(part, "batchnorm") && ended(part, "stablegrad");
    sgi_table_begin(tables, "The paper's ranking", columns);
    sgi_table_claim(tables, "BatchNorm trains", ended(part, "batchnorm"),
                    trains(part, "batchnorm"));
    sgi_table_claim(tables, "without it training collapses", ended(part, "plain"),
                    !trains(part, "plain"));
    sgi_table_claim(tables, "StableGrad trains without it", ended(part, "stablegrad"),
                    trains(part, "stablegrad"));
    sgi_table_claim(tables, "and ends above BatchNorm", all,
                    sgi_arm_last(part, "stablegrad", "validation/top1") >
                        sgi_arm_last(part, "batchnorm", "validation/top1"));
    sgi_table_claim(tables, "signs collapse", ended(part, "sign"), !trains(part, "sign"));
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    if (!results->parts[0].there)
        return;
    accuracy_table(&results->parts[0], tables);
    claims_table(&results->parts[0], tables);
}

/* ---- Activation scales (appendix C.1) ------------------------------------------------------- */

/* "features.2.0.block.1.0": convolutions of the body, neither gates nor sums. */
static bool is_convolution(const char *name)
{
    size_t length = strlen(name);
    return strncmp(name, "features.", 9) == 0 && length > 2 && strcmp(name + length - 2, ".0") == 0;
}

/* One line for each convolution: its scale in decades against that at the start, shifted by a
 * quarter of a decade for each layer before it. Returns how many. */
static size_t shifted_lines(sgi_page *page, const sgi_layers *layers, sgi_line *lines)
{
    size_t count = 0, all = 0;
    for (size_t l = 0; l < layers->count; l++)
        all += is_convolution(layers->names[l]);
    for (size_t l = 0; l < layers->count; l++) {
        if (!is_convolution(layers->names[l]))
            continue;
        double *y = sgi_page_memory(page, layers->rows, sizeof *y);
        if (!y)
            return 0;
        for (size_t r = 0; r < layers->rows; r++)
            y[r] = log10(layers->values[l][r] / layers->values[l][0]) + 0.25 * (double)count;
        lines[count] = (sgi_line){.label = layers->names[l],
                                  .colour = SG_COLOUR_OWN,
                                  .x = layers->steps,
                                  .y = y,
                                  .count = layers->rows};
        sgi_chart_ramp_colour(&lines[count], all > 1 ? (double)count / (double)(all - 1) : 0);
        count++;
    }
    return count;
}

static void draw_scales(sgi_page *page, const sgi_part_result *part, const char *arm)
{
    const sgi_run *run = sgi_arm_run(part, arm);
    const sgi_report_variant *all = sgi_arm_summary(part, arm);
    sgi_layers layers;
    if (!run || !all || !sgi_layers_find(page, run, "activations", "std", &layers))
        return;
    sgi_line *lines = sgi_page_memory(page, layers.count, sizeof *lines);
    size_t count = lines ? shifted_lines(page, &layers, lines) : 0;
    double exploded = first_event(run, SG_EVENT_EXPLODED);
    sgi_mark mark = {exploded, true, "the loss explodes"};
    sgi_chart chart = {.title = all->label,
                       .x_label = "step",
                       .y_label = "decades since the start, + 1/4 for each layer",
                       .width = WIDTH,
                       .height = HEIGHT,
                       .lines = lines,
                       .line_count = count,
                       .marks = &mark,
                       .mark_count = isfinite(exploded)};
    if (count > 0)
        sgi_chart_draw(page->out, &chart);
}

static void draw(const sgi_results *results, sgi_text *out)
{
    const sgi_part_result *part = &results->parts[0];
    if (!part->there)
        return;
    sgi_page page = {out, &part->runs, &part->summary, NULL, false};
    sgi_text_add(out, "<section id=\"scales\">\n<h2>Activation scales of the convolutions</h2>\n"
                      "<p>Logarithms of the standard deviations of each convolution’s output, each "
                      "curve shifted upwards for readability.</p>\n");
    sgi_chart_ramp(out, "first", "last layer");
    for (size_t a = 1; a < part->part->arm_count; a++)
        draw_scales(&page, part, part->part->arms[a].name);
    sgi_text_add(out, "</section>\n");
    sgi_page_release(&page);
}

const sgi_experiment sgi_experiment_cnn = {
    .name = "cnn",
    .summary = "EfficientNetV2-S with and without BatchNorm, with StableGrad and with signs",
    .source = "figure 2, appendix C",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
    .draw = draw,
};
