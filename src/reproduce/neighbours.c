/* The same protocol for the neighbours of the method, each at several learning rates. Another one
 * is a few rows of `arms`. */
#include <math.h>
#include <string.h>

#include "reproduce/arm_table.h"

#define NONE    "training.stablegrad.method=none"
#define RATE(r) "training.optimizer.rate=" r
#define NAME(n) "training.optimizer.name=" n
#define EPS(e)  "training.optimizer.eps=" e

/* An optimizer that the method's gradients do not go through, at one rate. */
#define OPTIMIZER(word, title, r)                                                                  \
    {                                                                                              \
        .name = word "-" r, .label = title ", rate " r, .group = title, .sets = {                  \
            NONE,                                                                                  \
            NAME(word),                                                                            \
            RATE(r)                                                                                \
        }                                                                                          \
    }

/* With the betas of its authors. */
#define MULTIADAM(r)                                                                               \
    {                                                                                              \
        .name = "multiadam-" r, .label = "MultiAdam, rate " r, .group = "MultiAdam", .sets = {     \
            NONE,                                                                                  \
            NAME("multiadam"),                                                                     \
            RATE(r),                                                                               \
            "training.optimizer.betas=[0.99, 0.99]"                                                \
        }                                                                                          \
    }

/* A method in StableGrad's place, under AdamW. */
#define METHOD(word, title, r, more)                                                               \
    {                                                                                              \
        .name = word "-" r, .label = title ", rate " r, .group = title, .sets = {                  \
            "training.stablegrad.method=" word,                                                    \
            RATE(r),                                                                               \
            more                                                                                   \
        }                                                                                          \
    }

/* AdamW that forgets the size of old gradients sooner: they fall by orders of magnitude, and what
 * rescaling takes away may be no more than that memory. */
#define BETA2(b)                                                                                   \
    {                                                                                              \
        .name = "adamw-beta2-" b, .label = "AdamW, beta2 " b, .group = "AdamW, other beta2",       \
        .sets = {                                                                                  \
            NONE,                                                                                  \
            "training.optimizer.betas=[0.9, " b "]"                                                \
        }                                                                                          \
    }

static const sgi_arm arms[] = {
    {.name = "adamw", .label = "AdamW, rate 1e-3", .group = "AdamW", .sets = {NONE}},
    {.name = "stablegrad", .label = "StableGrad, rate 1e-3", .group = "StableGrad"},
    OPTIMIZER("adamw", "AdamW", "3e-4"),
    OPTIMIZER("adamw", "AdamW", "3e-3"),
    OPTIMIZER("adamw", "AdamW", "1e-2"),
    {.name = "stablegrad-3e-4",
     .label = "StableGrad, rate 3e-4",
     .group = "StableGrad",
     .sets = {RATE("3e-4")}},
    {.name = "stablegrad-3e-3",
     .label = "StableGrad, rate 3e-3",
     .group = "StableGrad",
     .sets = {RATE("3e-3")}},
    OPTIMIZER("adam-mini", "Adam-mini", "3e-4"),
    OPTIMIZER("adam-mini", "Adam-mini", "1e-3"),
    OPTIMIZER("adam-mini", "Adam-mini", "3e-3"),
    OPTIMIZER("novograd", "NovoGrad", "3e-3"),
    OPTIMIZER("novograd", "NovoGrad", "1e-2"),
    OPTIMIZER("novograd", "NovoGrad", "3e-2"),
    OPTIMIZER("lamb", "LAMB", "3e-3"),
    OPTIMIZER("lamb", "LAMB", "1e-2"),
    OPTIMIZER("lamb", "LAMB", "3e-2"),
    MULTIADAM("1e-3"),
    MULTIADAM("3e-3"),
    METHOD("znorm", "ZNorm", "1e-3", "training.stablegrad.blocks=tensor"),
    METHOD("znorm", "ZNorm", "3e-3", "training.stablegrad.blocks=tensor"),
    METHOD("agc", "AGC", "1e-3", "training.stablegrad.threshold=0.01"),
    METHOD("agc", "AGC", "3e-3", "training.stablegrad.threshold=0.01"),
    BETA2("0.99"),
    BETA2("0.9"),
    {.name = "adamw-eps-1e-6",
     .label = "AdamW, eps 1e-6",
     .group = "AdamW, other eps",
     .sets = {NONE, EPS("1e-6")}},
    {.name = "adamw-eps-1e-4",
     .label = "AdamW, eps 1e-4",
     .group = "AdamW, other eps",
     .sets = {NONE, EPS("1e-4")}},
};

static const sgi_experiment_part parts[] = {
    {.name = "burgers3d",
     .title = "Burgers in three dimensions",
     .file = "burgers3d",
     .sets = {"training.stablegrad.reference=residual", "training.stablegrad.until=forever",
              "training.evaluate_every=250"},
     .budgets = {{"200 of 5,000 steps", {"training.steps=200", "training.evaluate_every=50"}},
                 {"2,500 of 5,000 steps", {"training.steps=2500"}}},
     .arms = arms,
     .arm_count = sizeof arms / sizeof arms[0]},
};

/* Whether arm a is the first of its group. */
static bool is_first(const sgi_experiment_part *part, size_t a)
{
    for (size_t i = 0; i < a; i++)
        if (strcmp(part->arms[i].group, part->arms[a].group) == 0)
            return false;
    return true;
}

/* Each neighbour at the rate that suits it best, against StableGrad at its best. */
static void best_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"method",
                                          "at its best",
                                          "validation loss",
                                          "relative L2 error",
                                          "times StableGrad's best loss",
                                          NULL};
    const sgi_arm *own = sgi_best_arm(part, "StableGrad");
    double loss = own ? sgi_arm_last(part, own->name, "validation/loss") : NAN;
    size_t ahead = 0, of = 0;
    sgi_table_begin(tables, "Each at the best of its rates", columns);
    for (size_t a = 0; a < part->part->arm_count; a++) {
        const char *group = part->part->arms[a].group;
        const sgi_arm *best = is_first(part->part, a) ? sgi_best_arm(part, group) : NULL;
        if (!best)
            continue;
        double other = sgi_arm_last(part, best->name, "validation/loss");
        sgi_table_row(tables);
        sgi_table_text(tables, group);
        sgi_table_text(tables, sgi_arm_title(part, best));
        sgi_table_number(tables, other);
        sgi_table_number(tables, sgi_arm_last(part, best->name, "error/all/relative_l2"));
        sgi_table_number(tables, other / loss);
        of += best != own;
        ahead += best != own && other > loss;
    }
    sgi_table_note(tables, "StableGrad at its best has a lower loss than %zu of %zu others.", ahead,
                   of);
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    if (!results->parts[0].there)
        return;
    best_table(&results->parts[0], tables);
    sgi_arm_table(&results->parts[0], tables);
}

const sgi_experiment sgi_experiment_neighbours = {
    .name = "neighbours",
    .summary = "other methods that scale gradients or steps, each at several rates",
    .source = "not in the paper",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
};
