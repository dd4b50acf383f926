/* `stablegrad check` of a PDE: the plan, the cost, and whether the reference solves the problem. */
#include "problem_check.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

#include "pinn/check.h"
#include "progress.h"
#include "train/pinn_subject.h"

enum { TIMED_STEPS = 3 };

/* Seconds of one step without the optimizer's pass, the fastest of a few. */
static double time_step(sg_pinn_batch *batch)
{
    double best = INFINITY;
    sg_pinn_loss loss;
    sg_pinn_gradient(batch, NULL, &loss);
    for (uint64_t i = 1; i <= TIMED_STEPS; i++) {
        double began = sgi_seconds();
        sg_pinn_draw(batch, i);
        sg_pinn_gradient(batch, NULL, &loss);
        best = fmin(best, sgi_seconds() - began);
    }
    return best;
}

static void print_sets(const sg_pinn_batch *batch, const sg_pinn_information *information)
{
    printf("\n%-14s %10s  %s\n", "points", "per step", "channels");
    for (size_t k = 0; k < information->set_count; k++) {
        const sg_pinn_set *set = &information->sets[k];
        char channels[256], items[32];
        sgi_pinn_channels(batch, k, channels, sizeof channels);
        format_thousands(set->items, items, sizeof items);
        printf("%-14s %10s  %s%s\n", set->name, items, channels,
               set->points_per_item == 2 ? "  (pairs)" : "");
    }
}

static void print_cost(const sg_pinn *pinn, const sg_pinn_trainer *trainer, sg_pool *pool)
{
    sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
    char parameters[32], total[32];
    double seconds = time_step(batch), flops = sgi_pinn_flops(batch);
    double steps = (double)sg_pinn_describe(pinn)->steps;
    format_thousands(sg_jet_network_parameters(sg_pinn_network(pinn)), parameters,
                     sizeof parameters);
    format_duration(seconds * steps, total, sizeof total);
    printf("\nparameters     %s\nmemory         %.1f MB\n", parameters,
           1e-6 * (double)sgi_pinn_trainer_memory(trainer));
    printf("time per step  %.3g ms on %d threads (%s, %.0f GFLOP/s)\nwhole run      about %s for "
           "%.0f steps\n",
           1e3 * seconds, sg_pool_threads(pool), sg_jet_kernels(sg_pinn_engine(batch)),
           1e-9 * flops / seconds, total, steps);
}

static void print_check(const sgi_problem *problem, const sgi_check *check)
{
    printf("\nreference      residual relative to the size of its terms, at %d points\n",
           SG_CHECK_POINTS);
    for (size_t i = 0; i < check->count; i++) {
        const sgi_check_row *row = &check->rows[i];
        printf("  %-12s %-12s %.1e  %s", row->set, row->term, row->largest,
               row->passed ? "fits" : "DOES NOT FIT, worst at");
        for (int c = 0; !row->passed && c < problem->names.coordinate_count; c++)
            printf(" %s = %.4g", problem->names.coordinates[c], row->worst[c]);
        printf("\n");
    }
}

static int check_reference(sgi_problem *problem, bool quiet)
{
    sgi_check check;
    sg_status status = sgi_problem_check(problem, &check);
    if (status == SG_ERROR_UNSUPPORTED) {
        if (!quiet)
            printf("\nreference      %s\n", problem->solution.kind == SG_SOLUTION_NONE
                                                ? "none given"
                                                : "its derivatives cannot be checked");
        return EXIT_DONE;
    }
    if (status != SG_OK) {
        complain("the reference could not be checked: %s", sg_status_text(status));
        return exit_code_of(status);
    }
    if (!quiet)
        print_check(problem, &check);
    int code = check.passed ? EXIT_DONE : EXIT_BAD_INPUT;
    if (!check.passed)
        complain("the reference does not satisfy the problem");
    sgi_check_release(problem, &check);
    return code;
}

static void print_json_plan(const sg_pinn *pinn, const sg_pinn_trainer *trainer)
{
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
    json_t *object = json_object(), *sets = json_array();
    for (size_t k = 0; k < information->set_count; k++) {
        char channels[256];
        json_t *set = json_object();
        sgi_pinn_channels(batch, k, channels, sizeof channels);
        json_object_set_new(set, "name", json_string(information->sets[k].name));
        json_object_set_new(set, "points", json_integer((json_int_t)information->sets[k].items));
        json_object_set_new(set, "channels", json_string(channels));
        json_array_append_new(sets, set);
    }
    json_object_set_new(object, "name", json_string(information->name));
    json_object_set_new(object, "parameters",
                        json_integer((json_int_t)sg_jet_network_parameters(sg_pinn_network(pinn))));
    json_object_set_new(object, "memory_bytes",
                        json_integer((json_int_t)sgi_pinn_trainer_memory(trainer)));
    json_object_set_new(object, "seconds_per_step", json_real(time_step(batch)));
    json_object_set_new(object, "sets", sets);
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputc('\n', stdout);
    json_decref(object);
}

int check_problem(sgi_problem *problem, const cli_arguments *arguments)
{
    sg_pool *pool = open_pool(arguments);
    sg_pinn *pinn = NULL;
    sg_pinn_trainer *trainer = NULL;
    int code;
    sg_status status = pool ? sgi_pinn_over(&pinn, problem, NULL) : SG_ERROR_THREAD;
    if (status == SG_OK)
        status = sg_pinn_trainer_create(&trainer, pinn, pool, SG_ISA_AUTO, NULL);
    if (status != SG_OK) {
        complain("the problem cannot be set up: %s", sg_status_text(status));
        code = exit_code_of(status);
    } else if (arguments->json) {
        print_json_plan(pinn, trainer);
        code = check_reference(problem, true);
    } else {
        if (!arguments->quiet)
            print_problem(pinn, sg_pinn_trainer_batch(trainer));
        print_sets(sg_pinn_trainer_batch(trainer), sg_pinn_describe(pinn));
        print_cost(pinn, trainer, pool);
        code = check_reference(problem, false);
    }
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    sg_pool_destroy(pool);
    return code;
}
