/* How far each way of training brings the error in how many seconds: not of the paper, but the
 * measure of the methods of second order. All methods have the same network and problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "reproduce/results.h"
#include "reproduce/tables.h"

#define ERROR "error/all/relative_l2"

enum { TIMES = 3, MOST_SEEDS = 64 };
static const double times[TIMES] = {10, 60, 300};

/* Of the time of a column, what a run must have computed to have a value there. */
static const double SHARE = 0.9;

/* The rate of the methods of first order falls to the end of the budget, so the column of 10
 * seconds is fair to them with the budget quick, that of 60 with hours and that of 300 with full.
 */
#define NAME(options) "training.optimizer={name: " options "}"
#define NONE          "training.stablegrad=none"
#define FALLS         "training.schedule=cosine"
#define EVERY(n)      "training.evaluate_every=" n

static const sgi_arm arms[] = {
    {.name = "adamw",
     .label = "AdamW",
     .sets = {NAME("adamw, rate: 1e-3"), FALLS, NONE, EVERY("100")}},
    {.name = "stablegrad",
     .label = "AdamW + StableGrad",
     .sets = {NAME("adamw, rate: 1e-3"), FALLS, "training.stablegrad={reference: output}",
              EVERY("100")}},
    {.name = "levenberg", .label = "Levenberg-Marquardt", .sets = {NAME("levenberg"), EVERY("5")}},
    {.name = "kernel",
     .label = "kernel form",
     .sets = {NAME("kernel, momentum: 0.9"), "training.points.most=1000", EVERY("5")}},
    {.name = "ssbroyden", .label = "SSBroyden", .sets = {NAME("ssbroyden"), EVERY("50")}},
    {.name = "lbfgs", .label = "L-BFGS", .sets = {NAME("lbfgs"), EVERY("50")}},
    {.name = "soap",
     .label = "SOAP",
     .sets = {NAME("soap, rate: 3e-3"), FALLS, NONE, EVERY("100")}},
};

/* Of steps; with the evaluations it is a little less than the column's. */
#define SECONDS "training={seconds: 285, clock: cpu}"
#define REDUCED                                                                                    \
    .budgets = {{"9.5 of 285 seconds", {"training.seconds=9.5"}},                                  \
                {"57 of 285 seconds", {"training.seconds=57"}}},                                   \
    .arms = arms, .arm_count = sizeof arms / sizeof arms[0]
#define EVALUATION "evaluation={grid: 128, points: 4096, condition_points: 1024}"

static const sgi_experiment_part parts[] = {
    {.name = "poisson",
     .title = "Poisson, exact boundary, 2 x 20",
     .file = "poisson",
     .sets = {SECONDS, "conditions.boundary.exact=true", "network.hidden=2x20", "points=2048",
              "inputs.scale=true", EVALUATION},
     REDUCED},
    {.name = "burgers",
     .title = "Burgers, nu = 0.01/pi, exact conditions, 4 x 20",
     .file = "burgers",
     .sets = {SECONDS, "constants.nu=0.01/pi", "conditions.initial.exact=true",
              "conditions.boundary.exact=true", "network.hidden=4x20", "points=4096",
              "inputs.scale=true", EVALUATION},
     REDUCED},
    {.name = "burgers-shock",
     .title = "Burgers, nu = 1e-4, in a coordinate that is fine at the shock, 4 x 20",
     .file = "burgers-shock",
     .sets = {SECONDS, EVALUATION},
     REDUCED},
    {.name = "allen-cahn",
     .title = "Allen-Cahn, causal weights, 4 x 20",
     .file = "allen-cahn",
     .sets = {"training={seconds: 285, clock: cpu, causal: 100}", EVALUATION},
     REDUCED},
    {.name = "kdv",
     .title = "Korteweg-de Vries, two solitons, 3 x 20",
     .file = "kdv",
     .sets = {SECONDS, EVALUATION},
     REDUCED},
    {.name = "wave",
     .title = "A swinging string, 3 x 20",
     .file = "wave",
     .sets = {SECONDS, "network.hidden=3x20", EVALUATION},
     REDUCED},
    {.name = "heat",
     .title = "Heat in a rod, exact conditions, 2 x 20",
     .file = "heat",
     .sets = {SECONDS, "conditions.initial.exact=true", "conditions.ends.exact=true",
              "network.hidden=2x20", EVALUATION},
     REDUCED},
    {.name = "schroedinger",
     .title = "Nonlinear Schroedinger, exact start, 3 x 20",
     .file = "schroedinger",
     .sets = {SECONDS, EVALUATION},
     REDUCED},
    {.name = "poisson-boltzmann",
     .title = "Poisson-Boltzmann in a perforated square, 3 x 20",
     .file = "poisson-boltzmann",
     .sets = {SECONDS, "network.hidden=3x20", EVALUATION},
     REDUCED},
};

/* The lowest errors that are published of the same equation and data: by quasi-Newton methods on
 * GPUs, and of the sharp shock the paper's own, after 50,000 steps of AdamW + StableGrad. */
typedef struct published {
    const char *part, *text;
} published;
static const published others[] = {
    {"poisson", "6e-8"},
    {"burgers", "8.3e-9"},
    {"burgers-shock", "1.1e-2"},
    {"allen-cahn", "1.9e-6"},
};

static const char *published_of(const char *part)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].part, part) == 0)
            return others[i].text;
    return "none";
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The time of evaluation r: what the process has computed over its threads, or, of a run that did
 * not record it, the seconds of the clock. */
static double time_at(const sgi_run *run, size_t r)
{
    const double *computed = sgi_columns_find(&run->evaluation, "cpu_seconds");
    const double *clock = sgi_columns_find(&run->evaluation, "seconds");
    double threads = sgi_run_number(run, NULL, "threads");
    if (computed && threads >= 1)
        return computed[r] / threads;
    return clock ? clock[r] : (double)NAN;
}

static double last_time(const sgi_run *run)
{
    return run->evaluation.rows ? time_at(run, run->evaluation.rows - 1) : 0;
}

/* The error of the last evaluation within `time`; NaN when the run was too short for it. */
static double error_at(const sgi_run *run, double time)
{
    const double *errors = sgi_columns_find(&run->evaluation, ERROR);
    double error = NAN;
    if (!errors || !(last_time(run) >= SHARE * time))
        return NAN;
    for (size_t r = 0; r < run->evaluation.rows && time_at(run, r) <= time; r++)
        error = errors[r];
    return error;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the seeds that have a value, NaN without one; of an even number the upper one. */
static double median_at(const sgi_part_result *part, const sgi_variant *variant, double time)
{
    double values[MOST_SEEDS];
    size_t count = 0;
    for (size_t i = 0; i < variant->count && count < MOST_SEEDS; i++) {
        double value = error_at(&part->runs.runs[variant->first + i], time);
        if (!isnan(value))
            values[count++] = value;
    }
    qsort(values, count, sizeof *values, ascending);
    return count ? values[count / 2] : (double)NAN;
}

/* ---- Tables and charts ------------------------------------------------------------------------
 */

static void add_rows(const sgi_part_result *part, sgi_tables *tables)
{
    for (size_t a = 0; a < part->part->arm_count; a++) {
        const sgi_variant *variant = sgi_arm_variant(part, part->part->arms[a].name);
        if (!variant)
            continue;
        sgi_table_row(tables);
        sgi_table_text(tables, part->part->name);
        sgi_table_text(tables, part->part->arms[a].label);
        for (size_t t = 0; t < TIMES; t++)
            sgi_table_number(tables, median_at(part, variant, times[t]));
        sgi_table_number(tables, last_time(&part->runs.runs[variant->first]));
        sgi_table_format(tables, "%zu", variant->count);
        sgi_table_text(tables, published_of(part->part->name));
    }
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    static const char *const columns[] = {"problem", "method", "10 s",           "60 s", "300 s",
                                          "all s",   "seeds",  "published best", NULL};
    sgi_table_begin(tables, "Relative L2 error", columns);
    for (size_t p = 0; p < results->experiment->part_count; p++)
        if (results->parts[p].there)
            add_rows(&results->parts[p], tables);
    sgi_table_note(tables, "Seconds are those that the process has computed over its threads, "
                           "evaluations included: what it takes on cores with nothing else to do.");
    sgi_table_note(tables,
                   "Each number is the median over the seeds of the last evaluation within "
                   "the time. A run that computed for less than nine tenths of it has none.");
    sgi_table_note(tables,
                   "What is published was computed on GPUs, with other networks and times.");
}

/* The curve of an arm's first seed; false when it has none. */
static bool curve(sgi_page *page, const sgi_run *run, sgi_line *line)
{
    const double *errors = sgi_columns_find(&run->evaluation, ERROR);
    size_t rows = run->evaluation.rows;
    double *x = errors ? sgi_page_memory(page, rows, sizeof *x) : NULL;
    if (!x)
        return false;
    for (size_t r = 0; r < rows; r++)
        x[r] = time_at(run, r);
    line->x = x;
    line->y = errors;
    line->count = rows;
    return true;
}

static void draw_part(const sgi_part_result *part, sgi_text *out, bool legend)
{
    enum { WIDTH = 468, HEIGHT = 280 };
    sgi_page page = {out, &part->runs, &part->summary, NULL, false};
    sgi_line lines[sizeof arms / sizeof arms[0]];
    size_t count = 0;
    for (size_t a = 0; a < part->part->arm_count; a++) {
        const sgi_run *run = sgi_arm_run(part, part->part->arms[a].name);
        lines[count] = (sgi_line){.label = part->part->arms[a].label, .colour = (int)a};
        count += run && curve(&page, run, &lines[count]);
    }
    sgi_chart chart = {.title = part->part->title,
                       .x_label = "seconds computed, over the threads",
                       .y_label = "relative L2 error",
                       .log_x = true,
                       .log_y = true,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .lines = lines,
                       .line_count = count};
    if (legend)
        sgi_chart_legend(out, lines, count);
    else if (count > 0)
        sgi_chart_draw(out, &chart);
    sgi_page_release(&page);
}

static void draw(const sgi_results *results, sgi_text *out)
{
    const sgi_part_result *most = NULL; /* has curves of most methods: its key is that of all */
    for (size_t p = 0; p < results->experiment->part_count; p++) {
        const sgi_part_result *part = &results->parts[p];
        if (part->there && (!most || part->runs.run_count > most->runs.run_count))
            most = part;
    }
    if (!most)
        return;
    sgi_text_add(out, "<section id=\"times\">\n<h2>Error against seconds</h2>\n");
    draw_part(most, out, true);
    sgi_text_add(out, "<div class=\"two\">\n");
    for (size_t p = 0; p < results->experiment->part_count; p++)
        if (results->parts[p].there)
            draw_part(&results->parts[p], out, false);
    sgi_text_add(out, "</div>\n</section>\n");
}

const sgi_experiment sgi_experiment_accuracy = {
    .name = "accuracy",
    .summary = "how small the error is after 10, 60 and 300 seconds, by seven ways of training",
    .source = "not in the paper",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
    .draw = draw,
};
