/* How far each way of training brings the error in how many seconds: not of the paper, but the
 * measure of the methods of second order. All methods have the same network and problem. */
#include <string.h>

#include "reproduce/seconds.h"

/* The rate of the methods of first order falls to the end of the budget, so the column of 10
 * seconds is fair to them with the budget quick, that of 60 with hours and that of 300 with full.
 */
#define NAME(options) SGI_TIMED_METHOD(options)
#define NONE          "training.stablegrad=none"
#define FALLS         "training.schedule=cosine"
#define EVERY(n)      SGI_TIMED_EVERY(n)

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

/* Seconds of steps: with the evaluations it is a little less than the column's. */
static const sgi_experiment_part parts[] = {
    SGI_TIMED_PARTS("285",
                    .budgets = {{"9.5 of 285 seconds", {"training.seconds=9.5"}},
                                {"57 of 285 seconds", {"training.seconds=57"}}},
                    .arms = arms, .arm_count = sizeof arms / sizeof arms[0]),
};

/* The lowest errors that are published of the same equation and data: by quasi-Newton methods on
 * GPUs, and of the sharp shock the paper's own, after 50,000 steps of AdamW + StableGrad. */
static const char *published(const char *part)
{
    static const struct {
        const char *part, *text;
    } others[] = {
        {"poisson", "6e-8"},
        {"burgers", "8.3e-9"},
        {"burgers-shock", "1.1e-2"},
        {"allen-cahn", "1.9e-6"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].part, part) == 0)
            return others[i].text;
    return "none";
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    sgi_seconds_tables(results, published, tables);
}

const sgi_experiment sgi_experiment_accuracy = {
    .name = "accuracy",
    .summary = "how small the error is after 10, 60 and 300 seconds, by seven ways of training",
    .source = "not in the paper",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .tabulate = tabulate,
    .draw = sgi_seconds_draw,
};
