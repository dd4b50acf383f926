/* Table 1: AdamW without and with StableGrad on three PDEs at two depths. */
#include <math.h>
#include <string.h>

#include "reproduce/paper.h"
#include "reproduce/results.h"
#include "reproduce/tables.h"

static const sgi_arm arms[] = {
    {.name = "adamw", .sets = {"training.stablegrad.method=none"}},
    {.name = "stablegrad", .sets = {"training.stablegrad.method=stablegrad"}},
};

#define EIGHTH    "20,000 of 50,000 steps, an eighth of the points"
#define SIXTEENTH "1,000 of 50,000 steps, a sixteenth of the points"

#define QUICK "training.steps=1000", "training.evaluate_every=100"
#define HOURS "training.steps=20000", "training.evaluate_every=500"

#define POISSON(depth)                                                                             \
    {                                                                                              \
        .name = "poisson-" #depth, .title = "Poisson, " #depth " hidden layers",                   \
        .file = "poisson", .sets = {"network.hidden=" #depth "x64"},                               \
        .budgets = {{SIXTEENTH,                                                                    \
                     {QUICK, "points=1024", "conditions.boundary.points=256",                      \
                      "evaluation.grid=64x64"}},                                                   \
                    {EIGHTH, {HOURS, "points=2048", "conditions.boundary.points=512"}}},           \
        .arms = arms, .arm_count = 2                                                               \
    }

#define BURGERS(depth)                                                                             \
    {                                                                                              \
        .name = "burgers-" #depth, .title = "Burgers, " #depth " hidden layers",                   \
        .file = "burgers", .sets = {"network.hidden=" #depth "x64"},                               \
        .budgets = {{SIXTEENTH ", errors on a grid of 512 x 101",                                  \
                     {QUICK, "points=6250", "conditions.initial.points=128",                       \
                      "conditions.boundary.points=128", "evaluation.grid=512x101"}},               \
                    {EIGHTH,                                                                       \
                     {HOURS, "points=12500", "conditions.initial.points=256",                      \
                      "conditions.boundary.points=256"}}},                                         \
        .arms = arms, .arm_count = 2                                                               \
    }

#define HELMHOLTZ(depth)                                                                           \
    {                                                                                              \
        .name = "helmholtz-" #depth, .title = "Helmholtz, " #depth " hidden layers",               \
        .file = "helmholtz", .sets = {"network.hidden=" #depth "x64"},                             \
        .budgets = {{SIXTEENTH                                                                     \
                     ", a warm-up of 100 in place of 1,000 steps, errors on a grid of 48³",        \
                     {QUICK, "points=2048", "conditions.boundary.points=512",                      \
                      "training.schedule.warmup=100", "evaluation.grid=48x48x48"}},                \
                    {EIGHTH, {HOURS, "points=4096", "conditions.boundary.points=1024"}}},          \
        .arms = arms, .arm_count = 2                                                               \
    }

static const sgi_experiment_part parts[] = {BURGERS(6),  BURGERS(12),  POISSON(6),
                                            POISSON(12), HELMHOLTZ(6), HELMHOLTZ(12)};

static const sgi_part_result *find_part(const sgi_results *results, const char *name)
{
    for (size_t p = 0; p < results->experiment->part_count; p++)
        if (strcmp(results->experiment->parts[p].name, name) == 0)
            return &results->parts[p];
    return NULL;
}

/* ---- At the end --------------------------------------------------------------------------- */

/* Two numbers within a tenth of each other are level. */
static const double level = 1.1;

static void final_row(const sgi_part_result *part, const sgi_paper_pinn *paper, sgi_tables *tables,
                      int *held, int *known)
{
    double adamw = sgi_arm_last(part, "adamw", paper->column);
    double stablegrad = sgi_arm_last(part, "stablegrad", paper->column);
    bool done = sgi_arm_complete(part, "adamw") && sgi_arm_complete(part, "stablegrad");
    bool differs = paper->stablegrad * level < paper->adamw;
    bool holds = paper->stablegrad < paper->adamw ? stablegrad < adamw : stablegrad <= adamw;
    sgi_table_row(tables);
    sgi_table_text(tables, paper->part);
    sgi_table_text(tables, paper->quantity);
    sgi_table_beside(tables, paper->adamw, adamw);
    sgi_table_beside(tables, paper->stablegrad, stablegrad);
    sgi_table_number(tables, paper->adamw / paper->stablegrad);
    sgi_table_number(tables, adamw / stablegrad);
    if (done && differs && fabs(log(adamw / stablegrad)) < log(level))
        sgi_table_text(tables, "level");
    else
        sgi_table_verdict(tables, done, holds);
    *known += done;
    *held += done && (differs ? stablegrad * level <= adamw : stablegrad <= level * adamw);
}

static void final_table(const sgi_results *results, sgi_tables *tables)
{
    static const char *const columns[] = {"problem",   "on validation points", "AdamW, paper",
                                          "ours",      "ours / paper",         "StableGrad, paper",
                                          "ours",      "ours / paper",         "gain in the paper",
                                          "gain here", "StableGrad better",    NULL};
    int held = 0, known = 0;
    sgi_table_begin(tables, "Table 1: at the end", columns);
    for (size_t i = 0; i < sgi_paper_table1_count; i++) {
        const sgi_part_result *part = find_part(results, sgi_paper_table1[i].part);
        if (part && part->there)
            final_row(part, &sgi_paper_table1[i], tables, &held, &known);
    }
    sgi_table_note(tables,
                   "The paper's ranking holds in %d of the %d numbers whose runs are done; within "
                   "a tenth of each other both are level.",
                   held, known);
}

/* ---- On the way --------------------------------------------------------------------------- */

static const double shares[] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1};
enum { SHARES = sizeof shares / sizeof shares[0] };

/* The relative L2 error of the first seed at the last evaluation up to a share of all steps; NaN
 * when the run has not come that far. */
static double error_at(const sgi_part_result *part, const char *arm, double share)
{
    const sgi_run *run = sgi_arm_run(part, arm);
    const double *values = run ? sgi_columns_find(&run->evaluation, "error/all/relative_l2") : NULL;
    double until = run ? share * sgi_run_number(run, NULL, "steps") : NAN, found = NAN;
    if (!values || !(sgi_run_number(run, NULL, "steps_done") >= until))
        return NAN;
    for (size_t r = 0; r < run->evaluation.rows; r++)
        if (run->evaluation.items[0].values[r] <= until)
            found = values[r];
    return found;
}

static void way_rows(const sgi_part_result *part, sgi_tables *tables)
{
    double errors[2][SHARES];
    for (size_t a = 0; a < 2; a++) {
        sgi_table_row(tables);
        sgi_table_text(tables, a == 0 ? part->part->name : "");
        sgi_table_text(tables, a == 0 ? "AdamW" : "StableGrad");
        for (size_t i = 0; i < SHARES; i++) {
            errors[a][i] = error_at(part, arms[a].name, shares[i]);
            sgi_table_number(tables, errors[a][i]);
        }
    }
    sgi_table_row(tables);
    sgi_table_text(tables, "");
    sgi_table_text(tables, "ahead");
    for (size_t i = 0; i < SHARES; i++) {
        double ratio = errors[0][i] / errors[1][i];
        sgi_table_text(tables, isnan(ratio)        ? "open"
                               : ratio > 1.1       ? "StableGrad"
                               : ratio < 1 / level ? "AdamW"
                                                   : "level");
    }
}

static void way_table(const sgi_results *results, sgi_tables *tables)
{
    static const char *const columns[] = {"problem", "mode", "5%",  "10%", "20%",  "30%",
                                          "40%",     "50%",  "60%", "80%", "100%", NULL};
    sgi_table_begin(tables, "Relative L2 error on the way, by the share of all steps", columns);
    for (size_t p = 0; p < results->experiment->part_count; p++)
        if (results->parts[p].there)
            way_rows(&results->parts[p], tables);
    sgi_table_note(tables, "Of the first seed. Within a tenth of each other both are level. "
                           "StableGrad ends at 50%%.");
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    final_table(results, tables);
    way_table(results, tables);
}

const sgi_experiment sgi_experiment_table1 = {
    .name = "table1",
    .summary = "AdamW and StableGrad on Burgers, Poisson and Helmholtz at depths 6 and 12",
    .source = "table 1, section 5.2",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
};
