/* What a damped step is measured by: columns of the Jacobian, StableGrad's factors of the layers,
 * which make the matrix the paper's K_SG, or nothing; for the step of all weights and for that of
 * few points. */
#include "reproduce/seconds.h"

#define ARM(optimizer, metric_, label_, ...)                                                       \
    {                                                                                              \
        .name = optimizer "-" metric_, .label = label_ ", " metric_, .sets = {                     \
            SGI_TIMED_METHOD(optimizer),                                                           \
            "training.metric=" metric_,                                                            \
            SGI_TIMED_EVERY("5"),                                                                  \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define LEVENBERG(metric) ARM("levenberg", metric, "Levenberg-Marquardt", NULL)
#define KERNEL(metric)    ARM("kernel", metric, "kernel form", "training.points.most=1000")

static const sgi_arm arms[] = {
    LEVENBERG("columns"), LEVENBERG("stablegrad"), LEVENBERG("none"),
    KERNEL("columns"),    KERNEL("stablegrad"),    KERNEL("none"),
};

static const sgi_experiment_part parts[] = {
    SGI_TIMED_PARTS("57", .budgets = {{"9.5 of 57 seconds", {"training.seconds=9.5"}}},
                    .arms = arms, .arm_count = sizeof arms / sizeof arms[0]),
};

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    sgi_seconds_tables(results, NULL, tables);
}

const sgi_experiment sgi_experiment_metrics = {
    .name = "metrics",
    .summary = "damped steps measured by columns, by StableGrad's factors and by nothing",
    .source = "not in the paper; its K_SG put to use",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
    .draw = sgi_seconds_draw,
};
