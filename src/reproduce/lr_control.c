/* The learning-rate control (appendix B.2): AdamW whose rate is multiplied, interval by interval,
 * by the ratio of the kernels' largest eigenvalues that one's own StableGrad run has. */
#include <math.h>
#include <stdio.h>

#include "base/diagnostic.h"
#include "config/training.h"
#include "reproduce/paper.h"
#include "reproduce/results.h"
#include "reproduce/tables.h"

static void add_piece(sgi_text *set, double from, double until, double factor)
{
    sgi_text_format(set, "%s{from: %.0f, until: %.0f, factor: %.9g}",
                    from > 0 ? ", " : "training.schedule.pieces=[", from, until, factor);
}

/* Each interval has the ratio that was measured at its end; that of epoch 1, if it was, is not
 * used. Of several seeds the first gives the multipliers of all. */
static sg_status own_multipliers(const sgi_results *results, size_t part, sgi_text *set,
                                 sg_diagnostic *diagnostic)
{
    const sgi_part_result *of = &results->parts[part];
    const sgi_run *run = sgi_arm_run(of, "stablegrad");
    double from = 0;
    size_t pieces = 0;
    if (!run || !sgi_arm_complete(of, "stablegrad"))
        return sgi_fail(diagnostic, SG_ERROR_STATE,
                        "the multipliers follow from the StableGrad run, which is not complete");
    for (size_t r = 0; r < run->diagnosis.rows && pieces < SG_MOST_PIECES; r++) {
        double step = run->diagnosis.items[0].values[r];
        double ratio = sgi_arm_diagnosis(of, "stablegrad", "lambda_ratio", step);
        if (step <= 1 || !isfinite(ratio) || ratio <= 0)
            continue;
        add_piece(set, from, step, ratio);
        from = step;
        pieces++;
    }
    sgi_text_add(set, "]");
    if (pieces == 0)
        return sgi_fail(diagnostic, SG_ERROR_STATE,
                        "the StableGrad run has no measurement of its kernels: diagnose.every is "
                        "larger than training.steps");
    return SG_OK;
}

static sg_status paper_multipliers(const sgi_results *results, size_t part, sgi_text *set,
                                   sg_diagnostic *diagnostic)
{
    (void)results;
    (void)part;
    (void)diagnostic;
    for (size_t i = 0; i < SG_PAPER_MULTIPLIERS; i++)
        add_piece(set, 500 * (double)i, 500 * (double)(i + 1), sgi_paper_multipliers[i]);
    sgi_text_add(set, "]");
    return SG_OK;
}

#define NONE "training.stablegrad.method=none"
static const sgi_arm arms[] = {
    {.name = "adamw", .sets = {NONE}},
    {.name = "stablegrad", .sets = {"training.stablegrad.method=stablegrad"}},
    {.name = "schedule",
     .label = "AdamW, rate scheduled by our ratios",
     .sets = {NONE},
     .derive = own_multipliers},
    {.name = "paper-schedule",
     .label = "AdamW, rate scheduled by the paper's",
     .sets = {NONE},
     .derive = paper_multipliers},
};

static const sgi_experiment_part parts[] = {
    {.name = "burgers3d",
     .title = "Burgers in three dimensions",
     .file = "burgers3d",
     .sets = {"training.stablegrad.reference=residual", "training.stablegrad.until=forever",
              "diagnose.every=500", "diagnose.residuals=9216"},
     .budgets = {{"1,000 of 5,000 epochs, a third of the residuals measured",
                  {"training.steps=1000", "diagnose.residuals=3072"}}},
     .arms = arms,
     .arm_count = sizeof arms / sizeof arms[0]},
};

/* ---- Tables ------------------------------------------------------------------------------- */

#define LOSS "validation/loss"

static void ratio_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"epoch",
                                          "AdamW",
                                          "StableGrad",
                                          "schedule",
                                          "schedule / StableGrad, paper",
                                          "ours",
                                          "ours / paper",
                                          "StableGrad lower",
                                          "with the paper's multipliers",
                                          NULL};
    sgi_table_begin(tables, "Validation loss: does a larger rate explain StableGrad?", columns);
    for (size_t i = 0; i < SG_PAPER_RATIOS; i++) {
        double epoch = sgi_paper_ratios[i].epoch;
        double adamw = sgi_arm_evaluation(part, "adamw", LOSS, epoch);
        double stablegrad = sgi_arm_evaluation(part, "stablegrad", LOSS, epoch);
        double schedule = sgi_arm_evaluation(part, "schedule", LOSS, epoch);
        sgi_table_row(tables);
        sgi_table_format(tables, "%.0f", epoch);
        sgi_table_number(tables, adamw);
        sgi_table_number(tables, stablegrad);
        sgi_table_number(tables, schedule);
        sgi_table_beside(tables, sgi_paper_ratios[i].ratio, schedule / stablegrad);
        sgi_table_verdict(tables, isfinite(schedule / stablegrad), schedule > stablegrad);
        sgi_table_number(tables, sgi_arm_evaluation(part, "paper-schedule", LOSS, epoch));
    }
    double adamw = log(sgi_arm_last(part, "adamw", LOSS));
    double share = (adamw - log(sgi_arm_last(part, "schedule", LOSS))) /
                   (adamw - log(sgi_arm_last(part, "stablegrad", LOSS)));
    if (isfinite(share))
        sgi_table_note(tables,
                       "At the end, on a logarithmic scale, the schedule has come %.0f%% of the "
                       "way from AdamW to StableGrad; in the paper %.0f%%.",
                       100 * share,
                       100 * log(sgi_paper_final_adamw / sgi_paper_final_schedule) /
                           log(sgi_paper_final_adamw / sgi_paper_final_stablegrad));
}

static double last_diagnosis(const sgi_part_result *part, const char *arm, const char *column)
{
    char name[80];
    const sgi_run *run = sgi_arm_run(part, arm);
    (void)snprintf(name, sizeof name, "diagnosis/%s", column);
    return run ? sgi_columns_last(&run->diagnosis, name) : NAN;
}

static void geometry_row(const sgi_part_result *part, const sgi_arm *arm,
                         const sgi_paper_geometry *paper, sgi_tables *tables)
{
    const sgi_report_variant *summary = sgi_arm_summary(part, arm->name);
    if (!summary)
        return;
    sgi_table_row(tables);
    sgi_table_text(tables, summary->label);
    sgi_table_number(tables, paper ? paper->spread : NAN);
    sgi_table_number(tables, last_diagnosis(part, arm->name, "update_spread_tensors"));
    sgi_table_number(tables, last_diagnosis(part, arm->name, "update_spread"));
    sgi_table_number(tables, paper ? paper->energy : NAN);
    sgi_table_number(tables, last_diagnosis(part, arm->name, "energy_largest"));
    sgi_table_number(tables, sgi_arm_last(part, arm->name, LOSS));
    sgi_table_number(tables, sgi_arm_last(part, arm->name, "error/all/relative_l2"));
}

static void geometry_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"run",
                                          "relative updates, largest / smallest: paper",
                                          "ours, of tensors",
                                          "ours, of layers",
                                          "largest share of update energy: paper",
                                          "ours",
                                          "validation loss",
                                          "relative L2 error",
                                          NULL};
    sgi_table_begin(tables, "Update geometry at the last measurement", columns);
    geometry_row(part, &arms[0], NULL, tables);
    geometry_row(part, &arms[1], &sgi_paper_geometry_stablegrad, tables);
    geometry_row(part, &arms[2], &sgi_paper_geometry_schedule, tables);
    geometry_row(part, &arms[3], NULL, tables);
    double schedule = last_diagnosis(part, "schedule", "energy_largest");
    double stablegrad = last_diagnosis(part, "stablegrad", "energy_largest");
    if (isfinite(schedule) && isfinite(stablegrad))
        sgi_table_note(tables,
                       "The paper's ranking, that StableGrad's updates are less concentrated than "
                       "the schedule's, %s.",
                       stablegrad < schedule ? "holds" : "does not hold");
}

static void multiplier_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"epochs up to", "paper", "ours", "ours / paper", NULL};
    sgi_table_begin(tables, "Multipliers: λmax(K_SG) / λmax(K) of the StableGrad run", columns);
    for (size_t i = 0; i < SG_PAPER_MULTIPLIERS; i++) {
        double epoch = 500 * (double)(i + 1);
        sgi_table_row(tables);
        sgi_table_format(tables, "%.0f", epoch);
        sgi_table_beside(tables, sgi_paper_multipliers[i],
                         sgi_arm_diagnosis(part, "stablegrad", "lambda_ratio", epoch));
    }
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    if (!results->parts[0].there)
        return;
    ratio_table(&results->parts[0], tables);
    geometry_table(&results->parts[0], tables);
    multiplier_table(&results->parts[0], tables);
}

const sgi_experiment sgi_experiment_lr_control = {
    .name = "lr-control",
    .summary = "whether a larger learning rate alone explains StableGrad",
    .source = "appendix B.2",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
};
