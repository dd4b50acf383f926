/* What steps of second order take: see second_cost.h. */
#include "commands/second_cost.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "commands/budget.h"
#include "progress.h"

enum { TIMED_STEPS = 4 };

static const double LONGEST = 0.5;     /* seconds: after a step that ends later no other is taken */
static const double MOST_WORK = 5e10;  /* operations of a step that is measured: a second or two */
static const double PASSES = 40;       /* operations for each weight of evaluating a residual */
static const double CG_PRODUCTS = 120; /* with J and its transpose, at most */

/* Operations of a step with so many points of the domain, roughly. */
static double operations(const sg_pinn *pinn, double points)
{
    const sgi_training_settings *t = &pinn->problem->settings.training;
    double n = sgi_problem_parameters(pinn->problem);
    double m = points * (double)pinn->information.sets[0].components, passes = PASSES * m * n;
    if (!sgi_second_has_jacobian(sgi_training_second(t)))
        return passes + (sgi_second_is_dense(sgi_training_second(t)) ? 8 * n * n : 0);
    if (sgi_training_solver(t) == SGI_SOLVER_FREE)
        return CG_PRODUCTS * passes;
    double side = sgi_training_solver(t) == SGI_SOLVER_KERNEL ? m : fmin(m, n);
    return passes + side * m * n + side * side * side / 3;
}

static double points_most(const sg_pinn *pinn)
{
    return (double)sgi_problem_most_points(pinn->problem, &pinn->problem->settings.training);
}

static double points_first(const sg_pinn *pinn)
{
    return fmin((double)pinn->problem->settings.training.points_start, points_most(pinn));
}

/* Seconds of the fastest of a few steps. */
static double time_steps(sg_pinn_trainer *trainer)
{
    double begun = sgi_seconds(), best = NAN;
    for (int i = 0; i < TIMED_STEPS && (i == 0 || sgi_seconds() - begun < LONGEST); i++) {
        sg_pinn_step step;
        double began = sgi_seconds();
        if (sg_pinn_trainer_step(trainer, &step) != SG_OK || step.info.skipped)
            break;
        best = fmin(best, sgi_seconds() - began); /* of the two the one that is a number */
    }
    return best;
}

second_cost measure_second(const sg_pinn *pinn, sg_pinn_trainer *trainer)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sg_jet_network *network = sg_pinn_network(pinn);
    size_t count = sg_jet_network_parameters(network);
    double work = operations(pinn, points_first(pinn));
    second_cost cost = {NAN, NAN};
    if (pinn->problem->settings.stages.count > 1 || work > MOST_WORK)
        return cost;
    double *kept = sgi_allocate(&heap, count, sizeof *kept);
    if (!kept)
        return cost;
    memcpy(kept, sg_jet_network_values(network), count * sizeof *kept);
    cost.first = time_steps(trainer);
    cost.most = cost.first * operations(pinn, points_most(pinn)) / work;
    memcpy(sg_jet_network_values(network), kept, count * sizeof *kept);
    sgi_release(&heap, kept);
    return cost;
}

static const char *format_step(double seconds, char *text, size_t size)
{
    if (seconds < 1)
        snprintf(text, size, "%.3g ms", 1e3 * seconds);
    else
        snprintf(text, size, "%.3g s", seconds);
    return text;
}

void print_second_cost(const sg_pinn *pinn, sg_pinn_trainer *trainer, int threads)
{
    second_cost cost = measure_second(pinn, trainer);
    char first[32], most[32], start[32], end[32];
    if (isnan(cost.first)) {
        printf("time           not estimated: %s\n",
               pinn->problem->settings.stages.count > 1
                   ? "steps of second order take longer with their points"
                   : "a step takes seconds");
        print_whole_run(pinn, NAN, false);
        return;
    }
    format_thousands((uint64_t)points_first(pinn), start, sizeof start);
    format_thousands((uint64_t)points_most(pinn), end, sizeof end);
    printf("time per step  %s with %s points", format_step(cost.first, first, sizeof first), start);
    if (points_most(pinn) > points_first(pinn))
        printf(", about %s with %s", format_step(cost.most, most, sizeof most), end);
    printf(", on %d thread%s (%s)\n", threads, threads == 1 ? "" : "s",
           sg_jet_kernels(sg_pinn_engine(sg_pinn_trainer_batch(trainer))));
    print_whole_run(pinn, fmax(cost.first, cost.most), true);
}
