/* How long training goes on: see budget.h. */
#include "commands/budget.h"

#include <math.h>
#include <stdio.h>

#include "progress.h"
#include "session.h"
#include "train/metrics.h"

enum { BUDGET_SIZE = 160 };

static bool has_steps(const sgi_training_settings *stage)
{
    return stage->steps < SG_STEPS_WITHOUT_END;
}

/* "3 s, or until the loss is below 1e-09": what ends a stage beside its steps; "": nothing. */
static const char *other_ends(const sgi_training_settings *stage, char text[BUDGET_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    if (stage->seconds > 0)
        used = (size_t)snprintf(text, BUDGET_SIZE, "%g %s", stage->seconds,
                                stage->clock == SGI_CLOCK_CPU ? "CPU seconds" : "s");
    if (stage->tolerance > 0)
        snprintf(text + used, BUDGET_SIZE - used, "%suntil the loss is below %g",
                 used ? ", or " : "", stage->tolerance);
    return text;
}

/* "200 steps, or 3 s". */
static const char *all_ends(const sgi_training_settings *stage, char text[BUDGET_SIZE])
{
    char steps[32], other[BUDGET_SIZE];
    other_ends(stage, other);
    if (!has_steps(stage))
        return other_ends(stage, text);
    format_thousands((uint64_t)stage->steps, steps, sizeof steps);
    snprintf(text, BUDGET_SIZE, "%s step%s%s%.100s", steps, stage->steps == 1 ? "" : "s",
             other[0] ? ", or " : "", other);
    return text;
}

void print_stages(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    char ends[BUDGET_SIZE];
    for (int i = 0; i < stages->count && stages->count > 1; i++)
        printf("%sstage %d        %s, %s\n", i ? "" : "\n", i + 1,
               sgi_training_optimizer_title(&stages->values[i]),
               all_ends(&stages->values[i], ends));
}

/* Seconds that a stage takes at most; NaN: nobody knows. */
static double stage_seconds(const sgi_training_settings *stage, double step)
{
    bool counted = has_steps(stage) && !sgi_training_is_second(stage);
    double most = counted ? step * (double)stage->steps : (double)NAN;
    return stage->seconds > 0 ? fmin(most, stage->seconds) : most; /* the one that is a number */
}

static void print_sum(const sg_pinn *pinn, double step)
{
    const sgi_problem *problem = pinn->problem;
    const sgi_stages *stages = &problem->settings.stages;
    double sum = 0, steps = (double)sg_pinn_describe(pinn)->steps;
    bool early = false;
    char time[32];
    for (int i = 0; i < stages->count; i++) {
        sum += stage_seconds(&stages->values[i], step);
        early = early || stages->values[i].tolerance > 0;
    }
    if (isnan(sum)) {
        printf("whole run      as long as its stages take\n");
        return;
    }
    format_estimate(sum * fmax(1, problem->windows.count), time, sizeof time);
    printf("whole run      %s%s", early ? "at most " : "", time);
    if (steps < (double)SG_STEPS_WITHOUT_END)
        printf(" for %.0f steps", steps);
    printf("\n");
}

void print_whole_run(const sg_pinn *pinn, double step, bool most)
{
    const sgi_problem *problem = pinn->problem;
    const sgi_training_settings *training = &problem->settings.training;
    char ends[BUDGET_SIZE], time[32];
    double steps = (double)sg_pinn_describe(pinn)->steps;
    if (problem->settings.stages.count > 1) {
        print_sum(pinn, step);
        return;
    }
    if (has_steps(training) && !isnan(step)) {
        format_estimate(step * steps, time, sizeof time);
        printf("whole run      %s%s for %.0f steps", most ? "at most " : "", time, steps);
        if (other_ends(training, ends)[0])
            printf(", or %s", ends);
    } else {
        printf("whole run      %s", all_ends(training, ends));
    }
    if (problem->windows.count > 0 && other_ends(training, ends)[0])
        printf(", in each of %d windows", problem->windows.count);
    printf("\n");
}

static json_t *number_or_null(double value, bool given)
{
    return given ? sgi_json_number(value) : json_null();
}

json_t *json_stages(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    json_t *array = json_array();
    for (int i = 0; i < stages->count; i++) {
        const sgi_training_settings *stage = &stages->values[i];
        json_t *object = json_object();
        json_object_set_new(object, "optimizer", json_string(sgi_training_optimizer(stage)));
        json_object_set_new(object, "steps",
                            has_steps(stage) ? json_integer((json_int_t)stage->steps)
                                             : json_null());
        json_object_set_new(object, "seconds", number_or_null(stage->seconds, stage->seconds > 0));
        json_object_set_new(object, "tolerance",
                            number_or_null(stage->tolerance, stage->tolerance > 0));
        json_array_append_new(array, object);
    }
    return array;
}
