/* Training of second order on problems: what it asks of a file, its steps, points and stages, the
 * same bits after a break and for any number of threads, failing memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "pinn/moving.h"
#include "pinn/second.h"
#include "support/support.h"

#define HEAT                                                                                       \
    "coordinates: {x: [0, 1], t: [0, 1]}\n"                                                        \
    "fields: [u]\n"                                                                                \
    "equations: {heat: u_t - 0.1*u_xx}\n"                                                          \
    "conditions:\n"                                                                                \
    "  start: {at: t = 0, u: sin(pi*x), points: 40}\n"                                             \
    "  ends: {at: x = 0 | x = 1, u: 0, points: 40}\n"                                              \
    "network: {hidden: 2 x 6}\n"

static sg_status read_problem(sg_pinn **pinn, const char *text, sg_diagnostic *diagnostic)
{
    return sg_pinn_read(pinn, "test.yaml", text, strlen(text), NULL, 0, NULL, diagnostic);
}

static sg_pinn *open(const char *text)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    sg_status status = read_problem(&pinn, text, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

static sg_pinn_trainer *train(sg_pinn *pinn, sg_pool *pool)
{
    sg_pinn_trainer *trainer;
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, pool, SG_ISA_AUTO, NULL));
    return trainer;
}

/* ---- Files ------------------------------------------------------------------------------------
 */

/* What is set for one stage, and what is set for all that do not say it themselves. */
static void stages_are_set_from_outside(void **state)
{
    static const char text[] =
        HEAT "training:\n  - {optimizer: adamw, steps: 7, stablegrad: off}\n  - levenberg: 1\n";
    static const char *const sets[] = {"training.stages.2={optimizer: sgd}",
                                       "training.stages.1.steps=9",
                                       "training.stages.2.optimizer.momentum=0.5",
                                       "training.stages.1.schedule=cosine",
                                       "training.steps=11",
                                       "training.seed=4"};
    sg_pinn *pinn, *again;
    sg_diagnostic diagnostic = {0};
    const char *written;
    (void)state;
    if (sg_pinn_read(&pinn, "test.yaml", text, strlen(text), sets, 6, NULL, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    const sgi_stages *stages = &pinn->problem->settings.stages;
    assert_int_equal(stages->count, 2);
    assert_int_equal(stages->values[0].steps, 9);
    assert_int_equal(stages->values[0].optimizer, SG_OPTIM_ADAMW);
    assert_int_equal(stages->values[0].then, SG_SCHEDULE_COSINE);
    assert_int_equal(stages->values[0].method, SG_METHOD_NONE);
    assert_int_equal(stages->values[1].steps, 11);
    assert_int_equal(stages->values[1].optimizer, SG_OPTIM_SGD);
    assert_true(stages->values[1].momentum == 0.5);
    assert_int_equal(stages->values[1].seed, 4);
    /* In the file of a run every stage says everything. */
    assert_ok(sg_pinn_text(pinn, &written));
    const char *const later[] = {"training.stages.2.steps=12", "training.steps=13"};
    assert_ok(
        sg_pinn_read(&again, "test.yaml", written, strlen(written), later, 1, NULL, &diagnostic));
    assert_int_equal(again->problem->settings.stages.values[1].steps, 12);
    assert_true(again->problem->settings.stages.values[1].momentum == 0.5);
    sg_pinn_close(again);
    assert_status(
        sg_pinn_read(&again, "test.yaml", written, strlen(written), later, 2, NULL, &diagnostic),
        SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.suggestion, "training.stages.1.steps"));
    sg_pinn_close(pinn);
}

static void the_optimizer_brings_its_defaults(void **state)
{
    (void)state;
    sg_pinn *pinn = open(HEAT "training: {optimizer: levenberg}\n");
    const sgi_settings *settings = &pinn->problem->settings;
    assert_int_equal(sg_jet_network_type(pinn->network), SG_FLOAT64);
    assert_int_equal(settings->training.steps, 500);
    assert_int_equal(settings->training.log_every, 1);
    assert_int_equal(settings->training.method, SG_METHOD_NONE);
    assert_false(settings->stages.listed);
    sg_pinn_close(pinn);
    pinn = open(HEAT "training: {optimizer: lm, seconds: 5, log_every: 7}\n");
    settings = &pinn->problem->settings;
    assert_true(settings->training.steps == SG_STEPS_WITHOUT_END);
    assert_true(settings->training.seconds == 5);
    assert_int_equal(settings->training.log_every, 7);
    sg_pinn_close(pinn);
    pinn = open(HEAT "training: {optimizer: levenberg, seconds: 0, tolerance: 0}\n");
    assert_int_equal(pinn->problem->settings.training.steps, 500); /* as if they were not said */
    sg_pinn_close(pinn);
    pinn = open(HEAT "training: {seconds: 5, stages: [{optimizer: lbfgs, seconds: 0}, {}]}\n");
    assert_int_equal(pinn->problem->settings.stages.values[0].steps, 5000);
    assert_true(pinn->problem->settings.stages.values[1].steps == SG_STEPS_WITHOUT_END);
    sg_pinn_close(pinn);
    pinn = open(HEAT "training: {optimizer: adamw}\n");
    assert_int_equal(sg_jet_network_type(pinn->network), SG_FLOAT32);
    assert_int_equal(pinn->problem->settings.training.steps, 10000);
    sg_pinn_close(pinn);
}

/* The numbers that the descriptions of the options name. */
static void described_defaults_are_those_that_are_used(void **state)
{
    (void)state;
    static const struct {
        const char *optimizer;
        int64_t steps, log, evaluate, checkpoint;
    } cases[] = {{"adamw", 10000, 100, 0, 5000},
                 {"levenberg", 500, 1, 10, 50},
                 {"kernel", 500, 1, 10, 50},
                 {"lbfgs", 5000, 20, 200, 1000},
                 {"ssbroyden", 5000, 20, 200, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAT "training: {optimizer: %s}\n", cases[i].optimizer);
        sg_pinn *pinn = open(text);
        const sgi_training_settings *t = &pinn->problem->settings.training;
        assert_int_equal(t->steps, cases[i].steps);
        assert_int_equal(t->log_every, cases[i].log);
        assert_int_equal(t->evaluate_every, cases[i].evaluate);
        assert_int_equal(t->checkpoint_every, cases[i].checkpoint);
        sg_pinn_close(pinn);
    }
}

/* Seconds without steps are what a cosine goes by, and what the half is of. */
static void seconds_are_a_share_of_the_run(void **state)
{
    (void)state;
    static const struct {
        double share, factor;
        bool rescaled;
    } cases[] = {
        {0, 1, true}, {0.25, 0.8535534, true}, {0.5, 0.5, false}, {0.75, 0.1464466, false}};
    sg_pinn *pinn = open(HEAT "training: {optimizer: {name: adamw, rate: 1e-2}, seconds: 1e9,"
                              " schedule: cosine, stablegrad: {until: half}}\n");
    sg_pinn_trainer *trainer = train(pinn, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size;
        const void *live = sgi_pinn_trainer_state(trainer, &size);
        void *saved = malloc(size);
        memcpy(saved, live, size);
        sgi_trainer_place place = sgi_pinn_trainer_place(trainer);
        place.stage_seconds = 1e9 * cases[i].share;
        sgi_pinn_trainer_restore(trainer, &place, i, saved, size);
        free(saved);
        sg_pinn_step step;
        assert_ok(sg_pinn_trainer_step(trainer, &step));
        assert_close(step.info.rate, 1e-2 * cases[i].factor, 1e-7);
        assert_int_equal(step.scale->outcome,
                         cases[i].rescaled ? SG_STEP_SCALED : SG_STEP_INACTIVE);
        assert_true(step.info.handed_over == (cases[i].share == 0.5));
    }
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
}

/* What a list says of each stage, what it leaves to the section and to the optimizer; and the same
 * after it was written and read. */
static void stages_are_read_and_written(void **state)
{
    (void)state;
    sg_pinn *pinn = open(HEAT "training:\n"
                              "  seed: 3\n"
                              "  checkpoint_every: 9\n"
                              "  stages:\n"
                              "    - {optimizer: {name: adam, rate: 2e-3}, steps: 20,"
                              " schedule: cosine}\n"
                              "    - {optimizer: levenberg, tolerance: 1e-12}\n");
    for (int round = 0; round < 2; round++) {
        const sgi_stages *stages = &pinn->problem->settings.stages;
        const sgi_training_settings *first = &stages->values[0], *second = &stages->values[1];
        assert_true(stages->listed);
        assert_int_equal(stages->count, 2);
        assert_int_equal(first->optimizer, SG_OPTIM_ADAM);
        assert_true(first->rate == 2e-3 && second->rate == 1e-3);
        assert_int_equal(first->steps, 20);
        assert_int_equal(first->then, SG_SCHEDULE_COSINE);
        assert_int_equal(first->log_every, 100);
        assert_int_equal(second->log_every, 1);
        assert_true(sgi_training_is_second(second));
        assert_true(second->steps == SG_STEPS_WITHOUT_END);
        assert_true(second->tolerance == 1e-12 && first->tolerance == 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(stages->values[i].seed, 3);
            assert_int_equal(stages->values[i].checkpoint_every, 9);
        }
        if (round == 0) {
            const char *text;
            assert_ok(sg_pinn_text(pinn, &text));
            sg_pinn *again = open(text);
            sg_pinn_close(pinn);
            pinn = again;
        }
    }
    sg_pinn_close(pinn);
}

static void assert_refused(const char *training, const char *word)
{
    char text[1024];
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    snprintf(text, sizeof text, HEAT "%s\n", training);
    assert_status(read_problem(&pinn, text, &diagnostic), SG_ERROR_FORMAT);
    if (!strstr(diagnostic.message, word) || !diagnostic.line)
        fail_msg("'%s' is answered with '%s'", training, said(&diagnostic));
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    assert_refused("training: {optimizer: levenberg}\nnetwork: {precision: float}",
                   "key"); /* twice the same section */
    assert_refused("training: {optimizer: levenberg}\ndiagnose: {every: 5}", "levenberg");
    assert_refused("training: {optimizer: levenberg, stablegrad: {until: margin}}", "margin");
    assert_refused("training: [{optimizer: adamw}, {stablegrad: {until: margin}}]", "one stage");
    assert_refused("training: [{stablegrad: {until: margin}}, {optimizer: adamw}]", "one stage");
    assert_refused("training: {stablegrad: {until: margin}, stages: [{steps: 5}, {steps: 6}]}",
                   "one stage");
    sg_pinn_close(open(HEAT "training: [{stablegrad: {until: margin}}]\n"));
    assert_refused("training: {optimizer: levenburg}", "levenburg");
    assert_refused("training: []", "stages");
    assert_refused("training: [adamw]", "stages");
    assert_refused("training: {stages: 5}", "stages");
    assert_refused("training: [{optimizer: adamw, seed: 5}]", "seed");
    assert_refused("training: [{optimizer: adamw, stages: []}]", "stages");
    assert_refused("training: [{optimizer: adamw, step: 5}]", "step");
    assert_refused("training: 5", "training");
    assert_refused("training: {optimizer: levenberg, points: {start: 0}}", "start");
    assert_refused("training: {optimizer: adamw, metric: columns}", "training.metric");
    assert_refused("training: {optimizer: lbfgs, metric: none}", "training.metric");
    assert_refused("training: {optimizer: levenberg, metric: rows}", "rows");
    assert_refused("training: {optimizer: levenberg, solver: cg}", "training.solver");
    assert_refused("training: {optimizer: {name: kernel, momentum: 1}}", "momentum");
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    static const char *const sets[] = {"network.precision=float", "training.optimizer=levenberg"};
    assert_status(sg_pinn_read(&pinn, "test.yaml", HEAT, strlen(HEAT), sets, 2, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "double"));
}

static void what_does_not_fit_is_refused_with_what_would(void **state)
{
    (void)state;
    static const char *const sets[] = {"network.hidden=4x2000", "training.optimizer=levenberg",
                                       "training.points.most=4000000"};
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    assert_ok(
        sgi_problem_read(&problem, "test.yaml", HEAT, strlen(HEAT), sets, 3, NULL, &diagnostic));
    assert_status(sgi_problem_fits(problem, true, &diagnostic), SG_ERROR_MEMORY);
    assert_non_null(strstr(diagnostic.message, "levenberg"));
    assert_non_null(strstr(diagnostic.suggestion, "most: "));
    assert_ok(sgi_problem_fits(problem, false, &diagnostic));
    sgi_problem_destroy(problem);
    /* the kernel form can do without its matrix, and says so */
    static const char *const kernel[] = {"network.hidden=4x64", "training.optimizer=kernel",
                                         "training.points.most=200000", "training.solver=cg"};
    assert_ok(
        sgi_problem_read(&problem, "test.yaml", HEAT, strlen(HEAT), kernel, 3, NULL, &diagnostic));
    assert_status(sgi_problem_fits(problem, true, &diagnostic), SG_ERROR_MEMORY);
    assert_non_null(strstr(diagnostic.message, "12737 parameters and 200000 points"));
    assert_non_null(strstr(diagnostic.suggestion, "'training.solver: cg'"));
    sgi_problem_destroy(problem);
    assert_ok(
        sgi_problem_read(&problem, "test.yaml", HEAT, strlen(HEAT), kernel, 4, NULL, &diagnostic));
    assert_ok(sgi_problem_fits(problem, true, &diagnostic));
    sgi_problem_destroy(problem);
}

/* Reads the problem with the settings and asks whether it fits; what is said goes to `diagnostic`.
 */
static sg_status fits_with(const char *const *sets, size_t count, sg_diagnostic *diagnostic)
{
    sgi_problem *problem;
    assert_ok(
        sgi_problem_read(&problem, "test.yaml", HEAT, strlen(HEAT), sets, count, NULL, diagnostic));
    sg_status status = sgi_problem_fits(problem, true, diagnostic);
    sgi_problem_destroy(problem);
    return status;
}

static double memory_of_the_machine(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* The matrices of all stages are taken before the first step: here two, of 0.6 of the machine. */
static void stages_have_to_fit_together(void **state)
{
    (void)state;
    int points = (int)sqrt(0.6 * memory_of_the_machine() / (2 * sizeof(double)));
    char stages[256];
    const char *sets[] = {stages};
    sg_diagnostic diagnostic;
    snprintf(stages, sizeof stages, "training=[{optimizer: kernel, points: {most: %d}}]", points);
    assert_ok(fits_with(sets, 1, &diagnostic));
    snprintf(stages, sizeof stages,
             "training=[{steps: 5}, {optimizer: kernel, points: {most: %d}}, "
             "{optimizer: kernel, points: {most: %d}}]",
             points, points + 1);
    assert_status(fits_with(sets, 1, &diagnostic), SG_ERROR_MEMORY);
    assert_non_null(strstr(diagnostic.message, "training in 3 stages"));
    assert_non_null(strstr(diagnostic.message, "'kernel' of stage 3 with"));
    assert_non_null(strstr(diagnostic.suggestion, "in each stage of second order would fit"));
    assert_non_null(strstr(diagnostic.suggestion, "'solver: cg' there"));
}

/* H is of the size of the network, whatever the points: what helps is another network or method. */
static void dense_methods_say_which_networks_would_fit(void **state)
{
    (void)state;
    static const char *const methods[] = {"bfgs", "ssbfgs", "ssbroyden"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char method[64];
        const char *sets[] = {method, "network.hidden=4x2000", "training.points.most=100000000000"};
        sg_diagnostic diagnostic;
        snprintf(method, sizeof method, "training.optimizer=%s", methods[i]);
        assert_status(fits_with(sets, 2, &diagnostic), SG_ERROR_MEMORY);
        assert_non_null(strstr(diagnostic.message, "12014001 parameters needs"));
        assert_non_null(strstr(diagnostic.suggestion, "'lbfgs', which needs no matrix"));
        double most = strtod(diagnostic.suggestion + strlen("a network of at most "), NULL);
        double bytes = sizeof(double) * most * most, machine = memory_of_the_machine();
        assert_true(bytes < machine && 1.3 * bytes > machine);
        sets[1] = "network.hidden=2x6"; /* now it is the points */
        assert_status(fits_with(sets, 3, &diagnostic), SG_ERROR_MEMORY);
        assert_non_null(strstr(diagnostic.message, "and 100000000000 points"));
        assert_non_null(strstr(diagnostic.suggestion, "'training.points: {start: "));
    }
}

/* A file that names no network gets a small one where the method is for such. */
static void networks_are_small_by_themselves(void **state)
{
    (void)state;
    static const struct {
        const char *training;
        int width;
    } cases[] = {{"{steps: 5}", 64},          {"{optimizer: levenberg}", 20},
                 {"{optimizer: bfgs}", 20},   {"[{steps: 5}, {optimizer: ssbroyden}]", 20},
                 {"{optimizer: kernel}", 64}, {"{optimizer: lbfgs}", 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        sgi_problem *problem;
        sg_diagnostic diagnostic;
        snprintf(text, sizeof text,
                 "coordinates: {x: [0, 1]}\nfields: [u]\nequations: {a: u_xx = 1}\n"
                 "conditions: {ends: {at: x = 0 | x = 1, u: 0}}\ntraining: %s\n",
                 cases[i].training);
        assert_ok(
            sgi_problem_read(&problem, "t.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic));
        assert_int_equal(problem->settings.network.hidden.count, 4);
        assert_int_equal(problem->settings.network.hidden.values[3], cases[i].width);
        sgi_problem_destroy(problem);
    }
}

/* ---- Steps ------------------------------------------------------------------------------------
 */

static void few_steps_go_far(void **state)
{
    (void)state;
    sg_pinn *pinn = open(HEAT "training: {optimizer: levenberg, steps: 40, points: {start: 60}}\n");
    sg_pinn_result result;
    assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
    assert_int_equal(result.end, SG_PINN_COMPLETE);
    assert_int_equal(result.steps, 40);
    assert_true(result.loss < 1e-4); /* 1e-7 or so here; half a unit at the start */
    sg_pinn_close(pinn);
}

static void a_tolerance_ends_the_training(void **state)
{
    (void)state;
    sg_pinn *pinn =
        open(HEAT "training: {optimizer: levenberg, tolerance: 1e-2, points: {start: 60}}\n");
    sg_pinn_result result;
    assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
    assert_int_equal(result.end, SG_PINN_COMPLETE);
    assert_true(result.loss < 1e-2 && result.steps < 100);
    sg_pinn_close(pinn);
}

static void seconds_end_a_stage(void **state)
{
    (void)state;
    sg_pinn *pinn = open(HEAT "training: [{optimizer: levenberg, seconds: 1e-9},"
                              " {optimizer: adamw, steps: 2}]\n");
    sg_pinn_trainer *trainer = train(pinn, NULL);
    sg_pinn_step step;
    for (uint64_t i = 0; i < 3; i++) {
        assert_false(sgi_pinn_trainer_over(trainer));
        assert_int_equal(sgi_pinn_trainer_place(trainer).stage, i ? 1 : 0);
        assert_int_equal(sg_pinn_trainer_optim(trainer) != NULL, i > 0);
        assert_ok(sg_pinn_trainer_step(trainer, &step));
        assert_int_equal(step.step, i + 1);
    }
    assert_true(sgi_pinn_trainer_over(trainer));
    assert_true(sgi_pinn_trainer_share(trainer) == 1);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
}

/* Seconds by `clock: cpu` are at most what the process has computed in the steps, over its threads.
 */
static void seconds_of_the_processor(void **state)
{
    (void)state;
    sg_pool *pool;
    sg_pinn_step step;
    assert_ok(sg_pool_create(&pool, 2, NULL));
    sg_pinn *pinn = open(HEAT "training: {optimizer: levenberg, seconds: 1e6, clock: cpu}\n");
    sg_pinn_trainer *trainer = train(pinn, pool);
    double began = sgi_cpu_seconds();
    for (int i = 0; i < 5; i++)
        assert_ok(sg_pinn_trainer_step(trainer, &step));
    double share = sgi_pinn_trainer_share(trainer), computed = sgi_cpu_seconds() - began;
    assert_true(share > 0 && share * 1e6 <= computed / 2);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    sg_pool_destroy(pool);
}

static sg_status live(const sg_allocator *allocator, void *context)
{
    sg_pinn *pinn = context;
    sg_pinn_trainer *trainer;
    sg_pinn_step step;
    sg_status status = sg_pinn_initialize(pinn, 0);
    if (status == SG_OK)
        status = sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, allocator);
    else
        return status;
    for (int i = 0; i < 2 && status == SG_OK; i++)
        status = sg_pinn_trainer_step(trainer, &step);
    sg_pinn_trainer_destroy(trainer);
    return status;
}

/* The loss is finite at the start and its derivative by k is not: no step is a step, the points are
 * drawn anew for each, and training gives up with the weights that it began with. */
static void a_gradient_that_is_not_finite_is_no_step(void **state)
{
    (void)state;
    static const char *const optimizers[] = {"levenberg",
                                             "{name: levenberg}, metric: stablegrad",
                                             "kernel",
                                             "{name: kernel, momentum: 0.9}, metric: columns",
                                             "kernel, solver: cg",
                                             "lbfgs",
                                             "ssbroyden"};
    for (size_t i = 0; i < sizeof optimizers / sizeof optimizers[0]; i++) {
        char text[1024];
        double before[200];
        snprintf(text, sizeof text,
                 "coordinates: {x: [0, 1], t: [0, 1]}\n"
                 "fields: [u]\n"
                 "unknowns: {k: {start: 0}}\n"
                 "equations: {heat: u_t - sqrt(k)*u_xx}\n"
                 "conditions: {start: {at: t = 0, u: sin(pi*x), points: 40}}\n"
                 "network: {hidden: 2 x 6}\n"
                 "training: {optimizer: %s, steps: 60, points: {start: 20, every: 0}}\n",
                 optimizers[i]);
        sg_pinn *pinn = open(text);
        size_t bytes = sg_jet_network_parameters(pinn->network) * sizeof(double);
        memcpy(before, sg_jet_network_values(pinn->network), bytes);
        sg_pinn_result result;
        assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
        assert_int_equal(result.end, SG_PINN_FAILED);
        assert_int_equal(result.skipped, SG_PINN_MOST_SKIPPED);
        assert_true(isfinite(result.loss));
        assert_memory_equal(sg_jet_network_values(pinn->network), before, bytes);
        sg_pinn_close(pinn);
    }
}

/* Steps [0, count) of a fresh trainer, with a break after `at` of them: its state and weights go to
 * another trainer. Leaves the weights in `values`. */
static void steps_with_break(const char *text, int count, int at, int threads, double *values)
{
    sg_pool *pool;
    sg_pinn_step step;
    assert_ok(sg_pool_create(&pool, threads, NULL));
    sg_pinn *pinn = open(text);
    sg_pinn_trainer *trainer = train(pinn, pool);
    size_t parameters = sg_jet_network_parameters(pinn->network);
    for (int i = 0; i < count; i++) {
        if (i == at) {
            size_t size;
            const void *state = sgi_pinn_trainer_state(trainer, &size);
            sgi_trainer_place place = sgi_pinn_trainer_place(trainer);
            sg_pinn *other = open(text);
            sg_pinn_trainer *resumed = train(other, pool);
            memcpy(sg_jet_network_values(other->network), sg_jet_network_values(pinn->network),
                   parameters * sizeof(double));
            assert_ok(sgi_pinn_trainer_fits(resumed, &place, state, size));
            assert_status(sgi_pinn_trainer_fits(resumed, &place, state, size - 1), SG_ERROR_STATE);
            sgi_pinn_trainer_restore(resumed, &place, sgi_pinn_trainer_steps(trainer), state, size);
            sg_pinn_trainer_destroy(trainer);
            sg_pinn_close(pinn);
            trainer = resumed;
            pinn = other;
        }
        assert_ok(sg_pinn_trainer_step(trainer, &step));
        assert_int_equal(step.step, i + 1);
    }
    memcpy(values, sg_jet_network_values(pinn->network), parameters * sizeof(double));
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    sg_pool_destroy(pool);
}

static void quasi_newton_lowers_the_loss(void **state)
{
    (void)state;
    static const char *const names[] = {"lbfgs", "bfgs", "ssbfgs", "ssbroyden"};
    for (int i = 0; i < 4; i++) {
        char text[1024];
        double whole[200], broken[200];
        memset(whole, 0, sizeof whole);
        memset(broken, 0, sizeof broken);
        snprintf(text, sizeof text,
                 HEAT "training: {optimizer: %s, steps: 60, points: {start: 100, every: 20}}\n",
                 names[i]);
        sg_pinn *pinn = open(text);
        sg_pinn_result result;
        assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
        assert_true(result.loss < 0.05); /* 0.5 at the start */
        each_allocation_fails(live, pinn, 30);
        sg_pinn_close(pinn);
        steps_with_break(text, 24, -1, 1, whole);
        steps_with_break(text, 24, 7, 3, broken);
        assert_memory_equal(whole, broken, sizeof whole);
        steps_with_break(text, 24, 20, 2, broken);
        assert_memory_equal(whole, broken, sizeof whole);
    }
}

static void breaks_change_no_bit(const char *text, int steps)
{
    double whole[200], broken[200];
    memset(whole, 0, sizeof whole);
    memset(broken, 0, sizeof broken);
    steps_with_break(text, steps, -1, 1, whole);
    for (int at = 1; at < steps; at++) {
        steps_with_break(text, steps, at, 1 + at % 3, broken);
        assert_memory_equal(whole, broken, sizeof whole);
    }
}

static void a_break_and_threads_change_no_bit(void **state)
{
    (void)state;
    static const char text[] = HEAT "training:\n"
                                    "  - {optimizer: adamw, steps: 4}\n"
                                    "  - {optimizer: levenberg, steps: 6,"
                                    " points: {start: 50, every: 2}}\n"
                                    "  - {optimizer: sgd, steps: 2}\n"
                                    "  - {optimizer: {name: kernel, momentum: 0.9}, steps: 5,"
                                    " points: {start: 12, every: 2}}\n";
    breaks_change_no_bit(text, 17);
}

/* Causal weights are measured anew, or part of the state. */
static void breaks_of_causal_weights_change_no_bit(void **state)
{
    (void)state;
    static const char text[] =
        HEAT "training:\n"
             "  causal: {eps: 2, chunks: 5}\n"
             "  stages:\n"
             "    - {optimizer: adamw, steps: 3}\n"
             "    - {optimizer: levenberg, steps: 5, points: {start: 50, every: 3}}\n"
             "    - {optimizer: adam, steps: 2, causal: {eps: 0}}\n"
             "    - {optimizer: lbfgs, steps: 6, points: {start: 60, every: 4}}\n";
    breaks_change_no_bit(text, 16);
}

/* ---- Points -----------------------------------------------------------------------------------
 */

static void points_go_where_the_residual_is(void **state)
{
    (void)state;
    /* The residual is large near x = 1 alone, whatever the network is. */
    sg_pinn *pinn = open("coordinates: {x: [0, 1], y: [0, 1]}\n"
                         "fields: [u]\n"
                         "equations: {large: 1e-9*u + exp(20*(x - 1))}\n"
                         "conditions: {side: {at: x = 0, u: 0, points: 100}}\n"
                         "network: {hidden: 1 x 4, precision: double}\n");
    enum { MOST = 1000 };
    static double points[2 * MOST], again[2 * MOST];
    size_t items[] = {MOST, 100};
    sg_pinn_batch_config config = {.items = items};
    sg_pinn_batch *batch;
    sgi_moving *moving;
    assert_ok(sg_pinn_batch_create(&batch, pinn, &config, NULL));
    assert_ok(sgi_moving_create(&moving, batch, MOST, points, NULL, SG_ISA_AUTO, NULL));
    sgi_moving_draw(moving, 3, 800, NULL);
    assert_int_equal(sg_pinn_items(batch, 0), 800);
    assert_int_equal(sg_pinn_items(batch, 1), 100);
    size_t near = 0;
    for (size_t i = 0; i < 800; i++) {
        assert_true(points[2 * i] >= 0 && points[2 * i] <= 1);
        near += points[2 * i] > 0.8;
    }
    /* Half the weight is uniform, which is a fifth; nearly all of the other half lies there. */
    assert_true(near > 400 && near < 560);
    sg_pinn_points(batch, 0, again);
    assert_memory_equal(points, again, 2 * 800 * sizeof *points);
    memcpy(again, points, sizeof again);
    sgi_moving_draw(moving, 4, 120, NULL);
    assert_true(memcmp(points, again, 240 * sizeof *points) != 0);
    assert_int_equal(sg_pinn_items(batch, 1), 64);
    sgi_moving_draw(moving, 3, 800, NULL);
    assert_memory_equal(points, again, 2 * 800 * sizeof *points);
    sgi_moving_destroy(moving);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* ---- Memory -----------------------------------------------------------------------------------
 */

static void allocations_fail(void **state)
{
    (void)state;
    sg_pinn *pinn = open(HEAT "training: {optimizer: levenberg, points: {start: 30, every: 1}}\n");
    long plain = each_allocation_fails(live, pinn, 50);
    sg_pinn_close(pinn);
    pinn = open(HEAT "training: {optimizer: levenberg, points: {start: 30}, causal: 1}\n");
    each_allocation_fails(live, pinn, plain + 4);
    sg_pinn_close(pinn);
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    sg_pinn *pinn =
        open(HEAT "training: {optimizer: levenberg, points: {start: 30, every: 2}, causal: 1}\n");
    sg_pinn_trainer *trainer;
    sg_pinn_step step;
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, &allocator));
    long before = counter.made;
    for (int i = 0; i < 8; i++)
        assert_ok(sg_pinn_trainer_step(trainer, &step));
    assert_int_equal(counter.made, before);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
}

/* The arrays of these methods are made for the points that they choose. */
static void points_are_not_given_to_a_method_of_second_order(void **state)
{
    enum { COUNT = 5000 };
    static const char *const methods[] = {"levenberg", "kernel", "lbfgs"};
    double *points = calloc((size_t)2 * COUNT, sizeof *points);
    (void)state;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        char text[800];
        snprintf(text, sizeof text,
                 "%straining: {optimizer: %s, steps: 3, points: {start: 30}}\n"
                 "conditions:\n  start: {at: t = 0, u: sin(pi*x), points: 20}\n"
                 "  mean: {over: t = 1, u: 0.2, points: 10}\n",
                 "coordinates: {x: [0, 1], t: [0, 1]}\nfields: [u]\n"
                 "equations: {heat: u_t - 0.1*u_xx}\nnetwork: {hidden: 1 x 5}\n",
                 methods[k]);
        sg_pinn *pinn = open(text);
        sg_pinn_trainer *trainer = train(pinn, NULL);
        sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
        sg_pinn_step step;
        sg_diagnostic diagnostic = {0};
        for (size_t set = 0; set < sg_pinn_describe(pinn)->set_count; set++) {
            size_t items = sg_pinn_items(batch, set);
            assert_status(sg_pinn_give(batch, set, points, COUNT, &diagnostic),
                          SG_ERROR_UNSUPPORTED);
            assert_non_null(strstr(said(&diagnostic), "second order"));
            assert_status(sg_pinn_give(batch, set, NULL, 0, NULL), SG_ERROR_UNSUPPORTED);
            assert_int_equal(sg_pinn_items(batch, set), items);
        }
        assert_ok(sg_pinn_trainer_step(trainer, &step));
        sg_pinn_trainer_destroy(trainer);
        sg_pinn_close(pinn);
    }
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimizer_brings_its_defaults),
        cmocka_unit_test(described_defaults_are_those_that_are_used),
        cmocka_unit_test(stages_are_set_from_outside),
        cmocka_unit_test(seconds_are_a_share_of_the_run),
        cmocka_unit_test(stages_are_read_and_written),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_would),
        cmocka_unit_test(stages_have_to_fit_together),
        cmocka_unit_test(dense_methods_say_which_networks_would_fit),
        cmocka_unit_test(networks_are_small_by_themselves),
        cmocka_unit_test(few_steps_go_far),
        cmocka_unit_test(a_tolerance_ends_the_training),
        cmocka_unit_test(seconds_end_a_stage),
        cmocka_unit_test(seconds_of_the_processor),
        cmocka_unit_test(a_gradient_that_is_not_finite_is_no_step),
        cmocka_unit_test(quasi_newton_lowers_the_loss),
        cmocka_unit_test(a_break_and_threads_change_no_bit),
        cmocka_unit_test(breaks_of_causal_weights_change_no_bit),
        cmocka_unit_test(points_go_where_the_residual_is),
        cmocka_unit_test(points_are_not_given_to_a_method_of_second_order),
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
