/* Table 2 (appendix B.1): the quantities of the theorem along a run on Burgers in three dimensions.
 */
#include <math.h>
#include <stddef.h>

#include "reproduce/paper.h"
#include "reproduce/results.h"
#include "reproduce/tables.h"

#define LOSS "validation/loss"

static const sgi_arm arms[] = {
    {.name = "adamw", .sets = {"training.stablegrad.method=none"}},
    {.name = "stablegrad", .sets = {"training.stablegrad.method=stablegrad"}},
};

/* As many residuals are measured as a training step has. */
static const sgi_experiment_part parts[] = {
    {.name = "burgers3d",
     .title = "Burgers in three dimensions",
     .file = "burgers3d",
     .sets = {"training.stablegrad.reference=residual", "training.stablegrad.until=forever",
              "diagnose.every=500", "diagnose.residuals=9216"},
     .budgets = {{"1,000 of 5,000 epochs, a third of the residuals measured",
                  {"training.steps=1000", "diagnose.residuals=3072"}}},
     .arms = arms,
     .arm_count = 2},
};

/* A column of table 2: where it stands in the paper's row and in our diagnosis; NULL: the
 * validation loss, which is an evaluation. */
typedef struct quantity {
    size_t paper;
    const char *column;
} quantity;

#define AT(member) offsetof(sgi_paper_epoch, member)
static const quantity quantities[] = {
    {AT(validation), NULL},       {AT(rho), "rho"},
    {AT(rho_sg), "rho_sg"},       {AT(stability), "stability"},
    {AT(margin), "margin"},       {AT(e_lin), "e_lin"},
    {AT(r_std_raw), "r_std_raw"}, {AT(r_std_scaled), "r_std_scaled"},
};
enum { QUANTITIES = sizeof quantities / sizeof quantities[0] };

static double paper_value(const sgi_paper_epoch *epoch, const quantity *q)
{
    return *(const double *)(const void *)((const char *)epoch + q->paper);
}

static double own_value(const sgi_part_result *part, double epoch, const quantity *q)
{
    return q->column ? sgi_arm_diagnosis(part, "stablegrad", q->column, epoch)
                     : sgi_arm_evaluation(part, "stablegrad", LOSS, epoch);
}

static const sgi_paper_epoch *in_paper(double epoch)
{
    for (size_t i = 0; i < SG_PAPER_EPOCHS; i++)
        if (sgi_paper_table2[i].epoch == epoch)
            return &sgi_paper_table2[i];
    return NULL;
}

/* Rows of one epoch: the paper's, ours, and the ratio. */
static void epoch_rows(const sgi_part_result *part, double epoch, sgi_tables *tables)
{
    static const char *const names[] = {"paper", "ours", "ours / paper"};
    const sgi_paper_epoch *paper = in_paper(epoch);
    for (int row = paper ? 0 : 1; row < (paper ? 3 : 2); row++) {
        sgi_table_row(tables);
        sgi_table_format(tables, "%.0f", epoch);
        sgi_table_text(tables, names[row]);
        for (size_t q = 0; q < QUANTITIES; q++) {
            double theirs = paper ? paper_value(paper, &quantities[q]) : NAN;
            double own = own_value(part, epoch, &quantities[q]);
            double value = row == 0 ? theirs : row == 1 ? own : own / theirs;
            if (quantities[q].paper == AT(r_std_scaled) && isfinite(value))
                sgi_table_format(tables, "%.2f", value);
            else
                sgi_table_number(tables, value);
        }
    }
}

static void epoch_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"epoch", "",     "validation loss", "ρ",     "ρ_SG",
                                          "s_SG",  "M_SG", "E_lin",           "R_std", "scaled",
                                          NULL};
    const sgi_run *run = sgi_arm_run(part, "stablegrad");
    sgi_table_begin(tables, "Table 2: the StableGrad run on the fixed batch", columns);
    for (size_t r = 0; run && r < run->diagnosis.rows; r++)
        epoch_rows(part, run->diagnosis.items[0].values[r], tables);
}

/* ---- What the paper says of it ------------------------------------------------------------ */

/* The lowest and highest value of a quantity over the measurements from epoch 500 on. */
static void range(const sgi_part_result *part, const char *column, double *low, double *high)
{
    const sgi_run *run = sgi_arm_run(part, "stablegrad");
    *low = *high = NAN;
    for (size_t r = 0; run && r < run->diagnosis.rows; r++) {
        double epoch = run->diagnosis.items[0].values[r];
        double value = sgi_arm_diagnosis(part, "stablegrad", column, epoch);
        if (epoch > 1) {
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
}

static void claim(sgi_tables *tables, const char *text, double paper, double ours, bool known,
                  bool holds)
{
    sgi_table_row(tables);
    sgi_table_text(tables, text);
    sgi_table_beside(tables, paper, ours);
    sgi_table_verdict(tables, known && !isnan(ours), holds);
}

/* At how many of the paper's epochs the sign of the margin is the paper's, and how many there are.
 */
static size_t same_signs(const sgi_part_result *part, size_t *of)
{
    size_t same = 0;
    *of = 0;
    for (size_t i = 0; i < SG_PAPER_EPOCHS; i++) {
        double own = sgi_arm_diagnosis(part, "stablegrad", "margin", sgi_paper_table2[i].epoch);
        if (isnan(own))
            continue;
        ++*of;
        same += (own > 0) == (sgi_paper_table2[i].margin > 0);
    }
    return same;
}

/* The epoch at which the StableGrad run comes down to a loss: between two evaluations as a straight
 * line on a logarithmic scale; NaN when it does not. */
static double epoch_below(const sgi_part_result *part, double target)
{
    const sgi_run *run = sgi_arm_run(part, "stablegrad");
    const double *loss = run ? sgi_columns_find(&run->evaluation, LOSS) : NULL;
    const double *epoch = run ? run->evaluation.items[0].values : NULL;
    for (size_t r = 0; loss && r < run->evaluation.rows; r++) {
        if (!(loss[r] <= target))
            continue;
        double share = r > 0 ? log(loss[r - 1] / target) / log(loss[r - 1] / loss[r]) : 1;
        return r > 0 ? epoch[r - 1] + share * (epoch[r] - epoch[r - 1]) : epoch[r];
    }
    return NAN;
}

static void claims(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"what the paper finds", "paper",   "ours",
                                          "ours / paper",         "verdict", NULL};
    const double about = 1.25;
    double adamw = sgi_arm_last(part, "adamw", LOSS), low, high;
    double stablegrad = sgi_arm_last(part, "stablegrad", LOSS);
    double passed = epoch_below(part, adamw);
    bool done = sgi_arm_complete(part, "adamw") && sgi_arm_complete(part, "stablegrad");
    sgi_table_begin(tables, "What the paper says of the two runs", columns);
    sgi_table_row(tables);
    sgi_table_text(tables, "AdamW's validation loss at the end");
    sgi_table_beside(tables, sgi_paper_final_adamw, adamw);
    sgi_table_text(tables, "");
    claim(tables, "StableGrad's, which is lower", sgi_paper_final_stablegrad, stablegrad, done,
          stablegrad < adamw);
    claim(tables, "epoch at which StableGrad is below AdamW's last loss", sgi_paper_passed, passed,
          done, passed <= about * sgi_paper_passed);
    range(part, "stability", &low, &high);
    claim(tables, "largest s_SG, far below 2", 0.134, high, done, high < 2);
    range(part, "e_lin", &low, &high);
    claim(tables, "largest E_lin, in the range of 1e-3", 4.18e-3, high, done, high < 1e-2);
    range(part, "r_std_raw", &low, &high);
    claim(tables, "smallest R_std of raw gradients, far above 1", 42.7, low, done, low > 10);
    range(part, "r_std_scaled", &low, &high);
    claim(tables, "largest R_std after rescaling, 1.00", 1, high, done, fabs(high - 1) < 0.005);
    size_t of, same = same_signs(part, &of);
    claim(tables, "epochs whose margin has the paper's sign", (double)of, (double)same,
          done && of == SG_PAPER_EPOCHS, same == of);
    sgi_table_note(tables, "The epoch lies on a straight line, in the logarithm of the loss, "
                           "between the evaluations before and after it.");
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    if (!results->parts[0].there)
        return;
    claims(&results->parts[0], tables);
    epoch_table(&results->parts[0], tables);
}

const sgi_experiment sgi_experiment_diagnostics = {
    .name = "diagnostics",
    .summary = "the theorem's quantities along a run on Burgers in three dimensions",
    .source = "table 2, appendix B.1",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
};
