/* What each choice of the method does: reference scale, blocks, window, start, Adam's eps, and SGD.
 */
#include "reproduce/arm_table.h"

#define SG       "training.stablegrad."
#define ADAM_EPS "training.optimizer.eps="
#define SGD      "training.optimizer.name=sgd", "training.optimizer.rate=1e-2"

/* Those after `heat` has its last one are for Burgers alone. */
static const sgi_arm arms[] = {
    {.name = "adamw", .label = "AdamW", .sets = {SG "method=none"}},
    {.name = "stablegrad", .label = "StableGrad: residual, layer, throughout"},
    {.name = "output", .label = "output", .group = "reference", .sets = {SG "reference=output"}},
    {.name = "norm", .label = "norm", .group = "reference", .sets = {SG "reference=norm"}},
    {.name = "inner", .label = "inner", .group = "reference", .sets = {SG "reference=inner"}},
    {.name = "constant", .label = "constant, 1", .group = "reference", .sets = {SG "reference=1"}},
    {.name = "tensor", .label = "tensor", .group = "blocks", .sets = {SG "blocks=tensor"}},
    {.name = "weight", .label = "weight", .group = "blocks", .sets = {SG "blocks=weight"}},
    {.name = "all", .label = "all", .group = "blocks", .sets = {SG "blocks=all"}},
    {.name = "sign", .label = "sign", .group = "method", .sets = {SG "method=sign"}},
    {.name = "half", .label = "first half", .group = "window", .sets = {SG "until=half"}},
    {.name = "margin", .label = "until: margin", .group = "window", .sets = {SG "until=margin"}},
    {.name = "eps-1e-6", .label = "1e-6", .group = "Adam's eps", .sets = {ADAM_EPS "1e-6"}},
    {.name = "eps-1e-4", .label = "1e-4", .group = "Adam's eps", .sets = {ADAM_EPS "1e-4"}},
    {.name = "output-eps-1e-12",
     .label = "1e-12, reference output",
     .group = "Adam's eps",
     .sets = {SG "reference=output", ADAM_EPS "1e-12"}},
    {.name = "fan-out-adamw",
     .label = "AdamW, fan out",
     .group = "start",
     .sets = {SG "method=none", "network.init.fan=out"}},
    {.name = "fan-out", .label = "fan out", .group = "start", .sets = {"network.init.fan=out"}},
    {.name = "gain-auto-adamw",
     .label = "AdamW, gain 1.593",
     .group = "start",
     .sets = {SG "method=none", "network.init.gain=auto"}},
    {.name = "gain-auto",
     .label = "gain 1.593",
     .group = "start",
     .sets = {"network.init.gain=auto"}},
    {.name = "sgd", .label = "SGD", .group = "SGD, rate 1e-2", .sets = {SG "method=none", SGD}},
    {.name = "sgd-stablegrad",
     .label = "SGD + StableGrad (residual)",
     .group = "SGD, rate 1e-2",
     .sets = {SGD}},
    {.name = "sgd-norm",
     .label = "SGD + StableGrad (norm)",
     .group = "SGD, rate 1e-2",
     .sets = {SGD, SG "reference=norm"}},
};
enum { ARMS = sizeof arms / sizeof arms[0], HEAT_ARMS = ARMS - 5 };

#define COMMON SG "reference=residual", SG "until=forever"

static const sgi_experiment_part parts[] = {
    {.name = "burgers3d",
     .title = "Burgers in three dimensions",
     .file = "burgers3d",
     .sets = {COMMON, "training.evaluate_every=250"},
     .budgets = {{"200 of 5,000 steps", {"training.steps=200", "training.evaluate_every=50"}},
                 {"2,500 of 5,000 steps", {"training.steps=2500"}}},
     .arms = arms,
     .arm_count = ARMS},
    {.name = "heat",
     .title = "Heat in a rod, where StableGrad does not help",
     .file = "heat",
     .sets = {COMMON, "network.init.gain=1", "training.evaluate_every=250"},
     .budgets = {{"500 of 5,000 steps", {"training.steps=500", "training.evaluate_every=50"}}},
     .arms = arms,
     .arm_count = HEAT_ARMS},
};

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    for (size_t p = 0; p < results->experiment->part_count; p++)
        sgi_arm_table(&results->parts[p], tables);
}

const sgi_experiment sgi_experiment_ablations = {
    .name = "ablations",
    .summary = "what each choice of the method does, with AdamW and with SGD",
    .source = "appendix A.2 and C.2; the paper has no numbers for PINNs",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
};
