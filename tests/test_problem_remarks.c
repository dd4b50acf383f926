/* What is odd about problems that can be read: under-determined ones, expressions that are not
 * finite, and where a step meets one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "pinn/bad_point.h"
#include "problem/remarks.h"
#include "support/support.h"

static sgi_problem *read_problem(const char *text)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    sg_status status =
        sgi_problem_read(&problem, "p.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s\n%s", text, diagnostic.message);
    return problem;
}

#define XT    "coordinates: {x: [0, 1], t: [0, 1]}\n"
#define START "  start: {at: t = 0, u: sin(pi*x)}\n"
#define ENDS  "  ends: {at: x = 0 | x = 1, u: 0}\n"

static void test_under_determined(void **state)
{
    (void)state;
    static const struct {
        const char *text, *remark; /* NULL: none */
    } cases[] = {
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS, NULL},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
            "training: {optimizer: levenberg}\n",
         NULL},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
            "training: [{steps: 5}, {optimizer: ssbroyden}]\nnetwork: {hidden: 4 x 64}\n",
         "a step of 'ssbroyden' with 12737 weights takes seconds: 'network.hidden: 4 x 20' is "
         "enough for most problems, and the optimizer 'lbfgs' is for larger networks"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
            "training: {optimizer: levenberg}\nnetwork: {hidden: 4 x 64}\n",
         "a step of 'levenberg' with 12737 weights takes seconds: 'network.hidden: 4 x 20' is "
         "enough for most problems, and the optimizer 'kernel' is for larger networks"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
            "training: {optimizer: kernel}\nnetwork: {hidden: 4 x 64}\n",
         NULL},
        {XT "fields: u\nequations: {a: u_t = u_xx}\n",
         "there are no conditions: the equations alone leave the solution open"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" ENDS,
         "no condition says where 'u' starts, and its equations contain u_t: add one at t = 0"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START,
         "'u' is of order 2 in x, which usually takes 2 conditions on faces of x; there are 0"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n"
            "  start: {at: t = 0, u: sin(pi*x), exact: true}\n"
            "  ends: {at: x = 0 | x = 1, u: 0, exact: true}\n"
            "reference: {u: exp(-pi^2*t)*sin(pi*x)}\n",
         NULL},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" ENDS
            "  start: {at: t = 0, u: sin(pi*x), exact: true, weight: 10}\n",
         "condition 'start' holds exactly: its points and weight are not used"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" ENDS
            "  start: {at: t = 0, u: 0, exact: true}\nreference: {u: 2}\n",
         "the reference differs by 2 from the exact condition 'start'"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START
            "  wrap: {periodic: x, slopes: true}\n",
         NULL},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START
            "inputs: {raw: t, periodic: {x: 2}}\n",
         NULL},
        {XT "fields: u\nequations: {a: u_tt = u_xx}\nconditions:\n" START ENDS,
         "'u' is of second order in t, and at t = 0 only u is given: add u_t there"},
        {XT "fields: u\nequations: {a: u_tt = u_xx}\nconditions:\n" START ENDS
            "  rest: {at: t = 0, u_t: 0}\n",
         NULL},
        {XT "fields: u\nequations: {a: u_tt = u_xx}\nconditions:\n" START ENDS
            "  finish: {at: t = 1, u: 0}\n",
         NULL},
        {XT "fields: u\nequations: {a: u_t + u_x = 0}\nconditions:\n" START,
         "'u' is carried along x, and no condition is on a face of x: what flows in is open"},
        {XT "fields: u\nequations: {a: u_t + u_x = 0}\nconditions:\n" START
            "  inflow: {at: x = 0, u: 0}\n",
         NULL},
        {XT "fields: [u, v]\nequations: {a: u_t = u_xx, b: u_x = u}\nconditions:\n" START ENDS
            "  other: {at: t = 0, v: 0}\n",
         "no equation contains 'v': inside the domain nothing determines it"},
        {XT "fields: [u, v]\nequations: {a: u_t = u_xx + v}\nconditions:\n" START ENDS,
         "there are 2 fields and 1 equation"},
        {XT
         "fields: [u, p]\nequations: {a: u_t + p_x = u_xx, b: u_x = 0}\nconditions:\n" START ENDS,
         "no condition contains 'p': its equations leave a constant open, at least"},
        {XT "fields: [u, q]\nequations: {a: u_t = q_x, b: q = u_x}\nconditions:\n" START ENDS,
         NULL},
        {"coordinates: {x: [0, 1]}\nfields: w\nequations: {a: w_xxxx = 1}\nconditions:\n"
         "  ends: {at: x = 0 | x = 1, w: 0}\n",
         "'w' is of order 4 in x, which usually takes 4 conditions on faces of x; there are 2"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
            "training: {stablegrad: {until: margin}}\n",
         "with the reference 'output' the margin is negative as a rule, and 'until: margin' ends "
         "rescaling after two measurements: the paper measures it with 'residual'"},
        {XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
            "training: {stablegrad: {until: margin, reference: residual}}\n",
         NULL},
        {"coordinates: {x: [0, 1]}\nfields: w\nequations: {a: w_xxxx = 1}\nconditions:\n"
         "  ends: {at: x = 0 | x = 1, w: 0, w_nn: 0}\n",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_problem *problem = read_problem(cases[i].text);
        sgi_remarks remarks;
        assert_ok(sgi_problem_remarks(problem, &remarks));
        if (remarks.count != (cases[i].remark != NULL))
            fail_msg("%s\n%d remarks, the first: %s", cases[i].text, remarks.count,
                     remarks.texts[0]);
        if (cases[i].remark)
            assert_string_equal(remarks.texts[0], cases[i].remark);
        sgi_problem_destroy(problem);
    }
}

static sgi_problem *resolved(sgi_problem *problem)
{
    char *text;
    assert_ok(sgi_problem_write(problem, &text));
    sgi_problem *again = read_problem(text);
    sgi_release(&problem->allocator, text);
    sgi_problem_destroy(problem);
    return again;
}

/* Options of an optimizer that it does not look at, and those that it does. The resolved file gives
 * no cause for a warning that the file gave none for. */
static void test_unused_options(void **state)
{
    (void)state;
    static const struct {
        const char *training, *option, *optimizer; /* NULL: no remark */
    } cases[] = {
        {"{optimizer: {name: levenberg, rate: 1}}", "optimizer.rate", "levenberg"},
        {"{optimizer: {name: levenberg, rate: 1e-3}}", NULL, NULL}, /* as a run's own file has it */
        {"{optimizer: {name: kernel, momentum: 0.9}}", NULL, NULL},
        {"{optimizer: {name: levenberg, momentum: 0.9}}", "optimizer.momentum", "levenberg"},
        {"{optimizer: {name: lbfgs, decay: 0.1}}", "optimizer.decay", "lbfgs"},
        {"{optimizer: {momentum: 0.9}}", "optimizer.momentum", "adamw"},
        {"{optimizer: {name: sgd, momentum: 0.9, nesterov: true}}", NULL, NULL},
        {"{optimizer: {name: sgd, betas: [0.9, 0.99]}}", "optimizer.betas", "sgd"},
        {"{optimizer: {name: sgd, eps: 1e-6}}", "optimizer.eps", "sgd"},
        {"{optimizer: {name: adam, dampening: 0.1}}", "optimizer.dampening", "adam"},
        {"{optimizer: {name: lamb, nesterov: true}}", "optimizer.nesterov", "lamb"},
        {"{optimizer: {name: soap, refresh: 10}}", NULL, NULL},
        {"{optimizer: {name: adamw, refresh: 10}}", "optimizer.refresh", "adamw"},
        {"{optimizer: adamw, points: {start: 300}}", "points.start", "adamw"},
        {"{optimizer: adamw, points: {every: 3}}", "points.every", "adamw"},
        {"{optimizer: adamw, points: {most: 3000}}", "points.most", "adamw"},
        {"{optimizer: bfgs, points: {start: 300, every: 3, most: 3000}}", NULL, NULL},
        {"[{optimizer: {rate: 1e-2}}, {optimizer: {name: bfgs, eps: 1}}]", "optimizer.eps", "bfgs"},
        {"{optimizer: {rate: 1e-2}, stages: [{optimizer: adamw}, {optimizer: bfgs}]}", NULL, NULL},
        {"{points: {start: 300}, stages: [{optimizer: adamw}, {optimizer: bfgs}]}", NULL, NULL},
        {"{optimizer: levenberg, clip: 1}", "clip", "levenberg"},
        {"{optimizer: adamw, clip: 1, schedule: cosine, stablegrad: {eps: 1e-6}}", NULL, NULL},
        {"{optimizer: kernel, schedule: cosine}", "schedule.then", "kernel"},
        {"{optimizer: kernel, schedule: {warmup: 10}}", "schedule.warmup", "kernel"},
        {"{optimizer: lbfgs, schedule: {start: 0.5}}", "schedule.start", "lbfgs"},
        {"{optimizer: lbfgs, schedule: {floor: 0.5}}", "schedule.floor", "lbfgs"},
        {"{optimizer: lbfgs, schedule: {pieces: [{from: 1, until: 9, factor: 0.5}]}}",
         "schedule.pieces", "lbfgs"},
        {"{optimizer: lbfgs, schedule: {then: constant, pieces: []}, clip: 0}", NULL, NULL},
        {"{optimizer: lbfgs, stablegrad: off}", NULL, NULL},
        {"{optimizer: lbfgs, stablegrad: on}", "stablegrad.method", "lbfgs"},
        {"{optimizer: lbfgs, stablegrad: {method: agc}}", "stablegrad.method", "lbfgs"},
        {"{optimizer: bfgs, stablegrad: {from: 3}}", "stablegrad.from", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {until: 30}}", "stablegrad.until", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {handover: keep}}", "stablegrad.handover", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {reference: norm}}", "stablegrad.reference", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {reference: 0.1}}", "stablegrad.reference", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {blocks: tensor}}", "stablegrad.blocks", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {unknowns: leave}}", "stablegrad.unknowns", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {eps: 1e-6}}", "stablegrad.eps", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {threshold: 1}}", "stablegrad.threshold", "bfgs"},
        {"{optimizer: bfgs, stablegrad: {floor: 1}}", "stablegrad.floor", "bfgs"},
        {"[{optimizer: adamw, clip: 1, stablegrad: on}, {optimizer: bfgs, steps: 9}]", NULL, NULL},
        {"[{optimizer: adamw}, {optimizer: bfgs, stablegrad: on}]", "stablegrad.method", "bfgs"},
        {"{stablegrad: {method: sign, from: 2}, clip: 1, schedule: {pieces: [{from: 1, until: 9, "
         "factor: 0.5}]}, stages: [{optimizer: adamw}, {optimizer: bfgs}]}",
         NULL, NULL},
        {"{stablegrad: on, stages: [{optimizer: adamw}, {optimizer: bfgs, stablegrad: off}]}", NULL,
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512], expected[SG_REMARK_SIZE];
        sgi_remarks remarks;
        snprintf(text, sizeof text,
                 XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
                    "network: {hidden: 1 x 4}\ntraining: %s\n",
                 cases[i].training);
        sgi_problem *problem = read_problem(text);
        assert_ok(sgi_problem_remarks(problem, &remarks));
        if (remarks.count != (cases[i].option != NULL))
            fail_msg("%s: %d remarks, the first: %s", cases[i].training, remarks.count,
                     remarks.texts[0]);
        if (cases[i].option) {
            snprintf(expected, sizeof expected, "training.%s is not used by the optimizer '%s'",
                     cases[i].option, cases[i].optimizer);
            assert_string_equal(remarks.texts[0], expected);
        } else {
            problem = resolved(problem);
            assert_ok(sgi_problem_remarks(problem, &remarks));
            if (remarks.count > 0)
                fail_msg("resolved %s: %s", cases[i].training, remarks.texts[0]);
        }
        sgi_problem_destroy(problem);
    }
}

/* Training that nothing but a tolerance ends may go on for ever. */
static void test_tolerance_alone(void **state)
{
    (void)state;
    static const struct {
        const char *training, *what; /* NULL: no remark */
    } cases[] = {
        {"{tolerance: 1e-9}", "training"},
        {"{optimizer: lbfgs, tolerance: 1e-9}", "training"},
        {"{tolerance: 1e-9, steps: 10}", NULL},
        {"{tolerance: 1e-9, seconds: 10}", NULL},
        {"{seconds: 10}", NULL},
        {"[{optimizer: adamw, steps: 9}, {optimizer: levenberg, tolerance: 1e-9}]",
         "stage 2 of training"},
        {"[{optimizer: adamw, tolerance: 1, steps: 9}, {optimizer: levenberg, seconds: 9}]", NULL},
        {"{tolerance: 1e-9, steps: 9, stages: [{optimizer: adamw}, {optimizer: sgd}]}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512], expected[SG_REMARK_SIZE];
        sgi_remarks remarks;
        snprintf(text, sizeof text,
                 XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
                    "network: {hidden: 1 x 4}\ntraining: %s\n",
                 cases[i].training);
        sgi_problem *problem = read_problem(text);
        assert_ok(sgi_problem_remarks(problem, &remarks));
        if (remarks.count != (cases[i].what != NULL))
            fail_msg("%s: %d remarks, the first: %s", cases[i].training, remarks.count,
                     remarks.texts[0]);
        if (cases[i].what) {
            snprintf(expected, sizeof expected,
                     "only its tolerance ends %s, and the loss may never be below 1e-09: 'steps' "
                     "or 'seconds' beside it end it in any case",
                     cases[i].what);
            assert_string_equal(remarks.texts[0], expected);
        }
        sgi_problem_destroy(problem);
    }
}

/* The most is never fewer than a stage begins with, unless that is said, which is refused. */
static void test_fewest_points_at_most(void **state)
{
    (void)state;
    static const struct {
        const char *points;
        int64_t start, most;
    } cases[] = {
        {"{most: 100}", 100, 100},
        {"{most: 1000}", 700, 1000},
        {"{start: 100, most: 100}", 100, 100},
        {"{start: 900}", 900, 900}, /* of five residuals for each of 17 parameters */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
                    "network: {hidden: 1 x 4}\ntraining: {optimizer: levenberg, points: %s}\n",
                 cases[i].points);
        sgi_problem *problem = read_problem(text);
        const sgi_training_settings *training = &problem->settings.training;
        assert_int_equal(training->points_start, cases[i].start);
        assert_int_equal(sgi_problem_most_points(problem, training), cases[i].most);
        sgi_problem_destroy(problem);
    }
}

static void test_shipped_problems_raise_none(void **state)
{
    (void)state;
    static const char *const names[] = {"burgers",   "burgers3d", "heat",
                                        "helmholtz", "poisson",   "wave"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        sgi_problem *problem;
        sgi_remarks remarks;
        sg_diagnostic diagnostic;
        snprintf(path, sizeof path, SG_TEST_DATA "/../problems/%s.yaml", names[i]);
        assert_ok(sgi_problem_load(&problem, path, NULL, 0, NULL, &diagnostic));
        assert_ok(sgi_problem_remarks(problem, &remarks));
        if (remarks.count)
            fail_msg("%s: %s", names[i], remarks.texts[0]);
        assert_ok(sgi_problem_finite(problem, &diagnostic));
        sgi_problem_destroy(problem);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    static const struct {
        const char *equation, *condition,
            *message; /* the message's beginning and end; NULL: fine */
        const char *culprit;
        int line;
    } cases[] = {
        {"u_t = u_xx*log(x - 2)", "u: 0", "equation 'a' is not finite at x = ", "log(-", 4},
        {"u_t = u_xx + sqrt(-1 - u^2)", "u: 0", "equation 'a' is not finite at x = ", "sqrt(-", 4},
        {"u_t = u_xx", "u: 1/(t*x)", "condition 's' is not finite at x = ", " / 0", 6},
        {"u_t = u_xx", "u: 'log(x) + acos(2 + t)'",
         "condition 's' is not finite at x = ", "acos(2)", 6},
        {"u_t = u_xx + where(x > 2, log(x - 2), x)", "u: 0", NULL, NULL, 0},
        {"u_t = u_xx + where(x > 2, u*log(x - 2), x)", "u: 0", NULL, NULL, 0},
        {"u_t = u_xx + log(u) + sqrt(-u_x)", "u: 0", NULL, NULL, 0}, /* a network can do that */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        sg_diagnostic diagnostic;
        sgi_problem *problem;
        snprintf(text, sizeof text,
                 XT "fields: u\nequations:\n  a: %s\nconditions:\n  s: {at: t = 0, %s}\n",
                 cases[i].equation, cases[i].condition);
        problem = read_problem(text);
        sg_status status = sgi_problem_finite(problem, &diagnostic);
        assert_status(status, cases[i].message ? SG_ERROR_FORMAT : SG_OK);
        if (cases[i].message) {
            assert_memory_equal(diagnostic.message, cases[i].message, strlen(cases[i].message));
            if (!strstr(diagnostic.message, cases[i].culprit))
                fail_msg("%s", diagnostic.message);
            assert_int_equal(diagnostic.line, cases[i].line);
        }
        sgi_problem_destroy(problem);
    }
}

/* A batch that meets a number that is not finite can say where. */
static void test_bad_points_of_a_batch(void **state)
{
    (void)state;
    static const char text[] =
        XT "fields: u\nequations: {a: u_t = u_xx}\nconditions:\n" START ENDS
           "  odd: {at: t = 1, u_x: 0, u: '1/where(x > 0.75, 0, 1)'}\nnetwork: {hidden: 2 x 8}\n"
           "points: 300\n";
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sg_diagnostic diagnostic;
    sgi_bad_point bad;
    assert_ok(sg_pinn_read(&pinn, "p", text, sizeof text - 1, NULL, 0, NULL, &diagnostic));
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    assert_ok(sgi_batch_bad_point(pinn, batch, NULL, &bad));
    assert_true(bad.found);
    assert_int_equal(bad.set, 3);
    assert_int_equal(bad.component, 1);
    assert_true(bad.coordinates[0] > 0.75);
    assert_close(bad.coordinates[1], 1, 0);
    static const double fine[] = {0.5, 1};
    assert_ok(sg_pinn_give(batch, 3, fine, 1, &diagnostic));
    assert_ok(sgi_batch_bad_point(pinn, batch, NULL, &bad));
    assert_false(bad.found);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* The ends of a line are single points: one each, with the loss of a thousand. */
static void test_ends_of_a_line(void **state)
{
    (void)state;
    static const char text[] =
        "coordinates: {x: [0, 2]}\nfields: u\nequations: {a: u_xx = -1}\nconditions:\n"
        "  robin: {at: boundary, u_n + 3*u: 1, points: 1000, weight: 10}\n"
        "  left: {at: x = 0, u: 1}\n"
        "  wrap: {periodic: x, slopes: true, points: 77}\n"
        "network: {hidden: 2 x 8, precision: double}\npoints: 64\n";
    static const size_t few[] = {64, 2, 1, 1}, many[] = {64, 1000, 1024, 77};
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    double losses[2];
    assert_ok(sg_pinn_read(&pinn, "p", text, sizeof text - 1, NULL, 0, NULL, &diagnostic));
    for (int i = 0; i < 2; i++) {
        sg_pinn_batch *batch;
        sg_pinn_batch_config config = sg_pinn_batch_defaults();
        config.items = i ? many : NULL;
        assert_ok(sg_pinn_batch_create(&batch, pinn, &config, NULL));
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(sg_pinn_items(batch, k), i ? many[k] : few[k]);
        sg_pinn_loss loss;
        sg_pinn_loss_at(batch, &loss);
        losses[i] = loss.total;
        sg_pinn_batch_destroy(batch);
    }
    assert_close(losses[0], losses[1], 1e-12 * fabs(losses[1]));
    sg_pinn_batch *validation;
    sg_pinn_batch_config config = sg_pinn_batch_defaults();
    config.stream = SG_POINTS_VALIDATION;
    assert_ok(sg_pinn_batch_create(&validation, pinn, &config, NULL));
    assert_int_equal(sg_pinn_items(validation, 1), 2);
    sg_pinn_batch_destroy(validation);
    sg_pinn_close(pinn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_under_determined), cmocka_unit_test(test_shipped_problems_raise_none),
        cmocka_unit_test(test_not_finite),       cmocka_unit_test(test_bad_points_of_a_batch),
        cmocka_unit_test(test_ends_of_a_line),   cmocka_unit_test(test_unused_options),
        cmocka_unit_test(test_tolerance_alone),  cmocka_unit_test(test_fewest_points_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
