/* `stablegrad check` of a PDE: the plan, the cost, and whether the reference solves the problem. */
#include "problem_check.h"

#include <math.h>
#include <string.h>

#include "pinn/check.h"
#include "progress.h"
#include "train/pinn_subject.h"

enum { TIMED_STEPS = 3 };

/* Seconds of one step without the optimizer's pass, the fastest of a few. */
static double time_step(sgi_trainer *trainer)
{
    double best = INFINITY;
    sgi_trainer_gradient(trainer, 0);
    for (uint64_t i = 1; i <= TIMED_STEPS; i++) {
        double began = seconds_now();
        sgi_trainer_gradient(trainer, i);
        best = fmin(best, seconds_now() - began);
    }
    return best;
}

static void print_sets(const sgi_trainer *trainer, const sgi_problem *problem)
{
    printf("\n%-14s %10s  %s\n", "points", "per step", "channels");
    for (int k = 0; k < problem->set_count; k++) {
        char channels[256], items[32];
        sgi_trainer_channels(trainer, k, channels, sizeof channels);
        format_thousands((uint64_t)problem->sets[k].items, items, sizeof items);
        printf("%-14s %10s  %s%s\n", problem->sets[k].name, items, channels,
               problem->sets[k].kind == SG_SET_PAIRS ? "  (pairs)" : "");
    }
}

static void print_cost(sgi_trainer *trainer, const sgi_problem *problem, sg_pool *pool)
{
    char parameters[32], total[32];
    double seconds = time_step(trainer), flops = sgi_trainer_flops(trainer);
    double steps = (double)problem->settings.training.steps;
    format_thousands(sg_jet_network_parameters(sgi_trainer_network(trainer)), parameters,
                     sizeof parameters);
    format_duration(seconds * steps, total, sizeof total);
    printf("\nparameters     %s\nmemory         %.1f MB\n", parameters,
           1e-6 * (double)sgi_trainer_memory(trainer));
    printf("time per step  %.3g ms on %d threads (%s, %.0f GFLOP/s)\nwhole run      about %s for "
           "%.0f steps\n",
           1e3 * seconds, sg_pool_threads(pool), sgi_trainer_kernels(trainer),
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

static void print_json_plan(sgi_trainer *trainer, const sgi_problem *problem)
{
    json_t *object = json_object(), *sets = json_array();
    for (int k = 0; k < problem->set_count; k++) {
        char channels[256];
        json_t *set = json_object();
        sgi_trainer_channels(trainer, k, channels, sizeof channels);
        json_object_set_new(set, "name", json_string(problem->sets[k].name));
        json_object_set_new(set, "points", json_integer((json_int_t)problem->sets[k].items));
        json_object_set_new(set, "channels", json_string(channels));
        json_array_append_new(sets, set);
    }
    json_object_set_new(object, "name", json_string(problem->settings.name));
    json_object_set_new(
        object, "parameters",
        json_integer((json_int_t)sg_jet_network_parameters(sgi_trainer_network(trainer))));
    json_object_set_new(object, "memory_bytes",
                        json_integer((json_int_t)sgi_trainer_memory(trainer)));
    json_object_set_new(object, "seconds_per_step", json_real(time_step(trainer)));
    json_object_set_new(object, "sets", sets);
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputc('\n', stdout);
    json_decref(object);
}

int check_problem(sgi_problem *problem, const cli_arguments *arguments)
{
    sg_pool *pool = open_pool(arguments);
    sgi_trainer *trainer = NULL;
    int code;
    sg_status status =
        pool ? sgi_trainer_create(&trainer, problem, pool, SG_ISA_AUTO, NULL) : SG_ERROR_THREAD;
    if (status != SG_OK) {
        complain("the problem cannot be set up: %s", sg_status_text(status));
        code = exit_code_of(status);
    } else if (arguments->json) {
        print_json_plan(trainer, problem);
        code = check_reference(problem, true);
    } else {
        if (!arguments->quiet)
            print_problem(problem, trainer);
        print_sets(trainer, problem);
        print_cost(trainer, problem, pool);
        code = check_reference(problem, false);
    }
    sgi_trainer_destroy(trainer);
    sg_pool_destroy(pool);
    return code;
}
