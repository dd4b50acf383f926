/* Windows in time: each goes on from the one before, and one handle evaluates all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jet/network.h"
#include "pinn/earlier.h"
#include "pinn/pinn.h"
#include "support/support.h"

/* The equation of an oscillating string: its start gives u and u_t. */
#define STRING                                                                                     \
    "coordinates: {x: [0, 1], t: [0, 1.5]}\nfields: [u]\nequations: {wave: u_tt = u_xx}\n"         \
    "reference: {u: cos(pi*t)*sin(pi*x)}\nnetwork: {hidden: 2 x 10}\n"                             \
    "evaluation: {grid: 9, points: 64, condition_points: 32}\npoints: 64\n"
#define ENDS "  ends: {at: x = 0 | x = 1, u: 0, points: 16, weight: 10}\n"
#define START                                                                                      \
    "conditions:\n" ENDS "  start: {at: t = 0, u: sin(pi*x), u_t: 0, points: 16, weight: 10}\n"
#define SECOND "training: {optimizer: levenberg, steps: 25, points: {start: 60, every: 100}}\n"

static sg_pinn *open_text(const char *text, const sg_allocator *allocator)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic = {0};
    if (sg_pinn_read(&pinn, "test", text, strlen(text), NULL, 0, allocator, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

static double value(sg_pinn *pinn, const char *expression, double x, double t)
{
    double result;
    assert_ok(sg_pinn_evaluate(pinn, &expression, 1, (double[]){x, t}, 1, &result, NULL, NULL));
    return result;
}

/* Three windows of Levenberg-Marquardt are near the solution, and their ends meet. */
static void windows_go_on_from_each_other(void **state)
{
    (void)state;
    sg_pinn *pinn = open_text(STRING START SECOND "windows: 3\n", NULL), *other;
    sg_pinn_result result;
    sg_pinn_error errors[2];
    assert_int_equal(sg_pinn_describe(pinn)->steps, 75);
    assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
    assert_int_equal(result.steps, 75);
    assert_ok(sg_pinn_errors(pinn, errors, NULL));
    assert_true(errors[0].relative_l2 < 0.1);
    for (int k = 1; k < 3; k++)
        for (double x = 0.1; x < 1; x += 0.2) {
            double t = 0.5 * k;
            assert_close(value(pinn, "u", x, t), value(pinn, "u", x, t + 1e-9), 0.05);
            assert_close(value(pinn, "u_t", x, t), value(pinn, "u_t", x, t + 1e-9), 0.3);
            assert_true(value(pinn, "u", x, t) != value(pinn, "u", x, t + 1e-9));
        }
    /* All of it is in the file. */
    char path[] = "/tmp/sg_windows_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_ok(sg_pinn_save(pinn, path, NULL));
    other = open_text(STRING START SECOND "windows: 3\n", NULL);
    assert_ok(sg_pinn_load(other, path, NULL));
    for (double t = 0; t <= 1.5; t += 0.125)
        assert_true(value(pinn, "u_x", 0.3, t) == value(other, "u_x", 0.3, t));
    sg_pinn_close(other);
    sg_diagnostic diagnostic = {0};
    other = open_text(STRING START SECOND "windows: 2\n", NULL);
    assert_status(sg_pinn_load(other, path, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "3 windows"));
    sg_pinn_close(other);
    unlink(path);
    sg_pinn_batch *batch;
    assert_status(sg_pinn_batch_create(&batch, pinn, NULL, NULL), SG_ERROR_UNSUPPORTED);
    sg_pinn_close(pinn);
}

/* The start of a later window is what the engine computes of the earlier network. */
static void the_earlier_network_is_computed_twice(void **state)
{
    static const char *const activations[] = {"tanh", "silu", "sin", "gelu", "softplus"};
    (void)state;
    for (size_t a = 0; a < sizeof activations / sizeof *activations; a++) {
        char text[600];
        enum { COUNT = 50 };
        snprintf(text, sizeof text,
                 "coordinates: {x: [0, 2], t: [1, 4]}\nfields: [u, v]\n"
                 "equations: {a: u_t = v_x, b: v = u}\n"
                 "inputs: {fourier: [1, 2], random: {count: 3, std: 1}}\n"
                 "network: {hidden: [9, 7], activation: %s, frequency: 2, precision: %s}\n",
                 activations[a], a % 2 ? "float" : "double");
        sg_pinn *pinn = open_text(text, NULL);
        sg_jet_network *network = sg_pinn_network(pinn);
        double points[2 * COUNT], wanted[4 * COUNT], wide[2][COUNT], memory[8192];
        double results[4 * SG_JET_TILE_POINTS];
        float narrow[2][COUNT];
        const char *const names[] = {"u", "u_t", "v", "v_t"};
        for (size_t i = 0; i < COUNT; i++)
            for (size_t c = 0; c < 2; c++) {
                double x = (double)(float)(1 + 0.9 * sin((double)(3 * i + c)));
                points[2 * i + c] = wide[c][i] = x;
                narrow[c][i] = (float)x;
            }
        void *columns[2];
        for (size_t c = 0; c < 2; c++)
            columns[c] = a % 2 ? (void *)narrow[c] : (void *)wide[c];
        assert_ok(sg_pinn_evaluate(pinn, names, 4, points, COUNT, wanted, NULL, NULL));
        assert_true(sgi_earlier_memory(network) <= sizeof memory);
        sgi_earlier_evaluate(network, columns, COUNT, 1, true, memory, results);
        for (size_t k = 0; k < 4; k++)
            for (size_t i = 0; i < COUNT; i++) /* the engine's float has seven digits */
                assert_close(results[k * SG_JET_TILE_POINTS + i], wanted[k * COUNT + i],
                             a % 2 ? 2e-4 : 1e-11);
        sg_pinn_close(pinn);
    }
}

/* A network whose boundary values hold exactly goes on with them: with weights of zero beyond the
 * first window, the start's residual is what the first window has. */
static void an_exact_boundary_holds_in_every_window(void **state)
{
    static const char text[] =
        STRING "conditions:\n  ends: {at: x = 0 | x = 1, u: t, exact: true}\n"
               "  start: {at: t = 0, u: sin(pi*x), u_t: 1, points: 16}\n" SECOND "windows: 2\n";
    (void)state;
    sg_pinn *pinn = open_text(text, NULL), *window;
    sgi_problem *part;
    sg_pinn_batch *batch;
    sg_diagnostic diagnostic = {0};
    enum { AT_START = 1, ITEMS = 16 };
    double points[2 * ITEMS], residuals[64 + 2 * ITEMS];
    assert_ok(sgi_problem_window(&part, pinn->problem, 1, NULL, &diagnostic));
    assert_ok(sgi_pinn_over_window(&window, part, pinn, 1, NULL));
    assert_ok(sg_pinn_batch_create(&batch, window, NULL, NULL));
    memset(sg_jet_network_values(pinn->windows[1]), 0,
           sg_jet_network_parameters(pinn->windows[1]) * sizeof(double));
    sg_pinn_points(batch, AT_START, points);
    sg_pinn_residuals(batch, residuals);
    for (size_t i = 0; i < ITEMS; i++) { /* sqrt(2 w / N) (t - u) and (1 - u_t) */
        double root = sqrt(2.0 / ITEMS), x = points[2 * i], t = points[2 * i + 1];
        assert_close(t, 0.75, 1e-15);
        assert_close(residuals[64 + 2 * i], root * (t - value(pinn, "u", x, t)), 1e-12);
        assert_close(residuals[64 + 2 * i + 1], root * (1 - value(pinn, "u_t", x, t)), 1e-12);
    }
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(window);
    sgi_problem_destroy(part);
    sg_pinn_close(pinn);
}

static void what_windows_cannot_be_is_told(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"coordinates: {x: [0, 1]}\nfields: [u]\nequations: {a: u_x = 1}\nwindows: 3\n",
         "there is no t"},
        {STRING START "windows: [0.5, 1]\n", "must end where the range of t does"},
        {STRING START "windows: [1, 0.5, 1.5]\n", "ascend"},
        {STRING START "windows: [0.5, 2]\n", "ascend"},
        {STRING START "windows: many\n", "windows.ends"},
        {STRING START "windows: 65\n", "0 to 64"},
        {STRING START "windows: {}\n", "how many"},
        {STRING "windows: 3\nconditions:\n" ENDS, "need a condition at the first time"},
        {STRING START "  late: {at: t = 1.5, u: 0}\nwindows: 3\n", "at the first time or at all"},
        {STRING START "  corner: {at: x = 0 & t = 0, u: 0}\nwindows: 3\n",
         "at the first time or at all"},
        {STRING START "  again: {periodic: t}\nwindows: 3\n", "at the first time or at all"},
        {STRING START "  sum: {over: t = 0, u: 0}\nwindows: 3\n", "integral"},
        {STRING "windows: 3\nconditions: {a: {at: t = 0, u_x: 0}}\n", "cannot start a window"},
        {STRING "windows: 3\nconditions: {a: {at: t = 0, expression: u = 0}}\n",
         "cannot start a window"},
        {STRING "windows: 3\nconditions: {a: {at: t = 0, u: 0, exact: true}}\n",
         "cannot start a window"},
        {STRING START "windows: 3\ninputs: {periodic: {t: 1}}\n", "repeats t"},
        {STRING START "windows: 3\ndiagnose: {every: 10}\n", "not measured"},
        {STRING START "windows: 3\nscales: auto\n", "do not go together"},
        {"unknowns: {k: 1}\n" STRING START "  more: {at: x = 0.5, expression: u = k}\nwindows: 3\n",
         "unknown constants"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sg_pinn *pinn;
        sg_diagnostic diagnostic = {0};
        sg_status status = sg_pinn_read(&pinn, "test", cases[i].text, strlen(cases[i].text), NULL,
                                        0, NULL, &diagnostic);
        if (status != SG_ERROR_FORMAT || !strstr(diagnostic.message, cases[i].message))
            fail_msg("case %zu: %s", i, said(&diagnostic));
    }
}

/* Reading the written problem gives the same windows; without any, nothing is written of them. */
static void windows_are_written(void **state)
{
    const char *text;
    (void)state;
    sg_pinn *pinn = open_text(STRING START "windows: {ends: [0.5, 1.5], anew: true}\n", NULL);
    assert_ok(sg_pinn_text(pinn, &text));
    assert_non_null(strstr(text, "windows:\n  ends: [0.5, 1.5]\n  anew: true\n"));
    sg_pinn_close(pinn);
    pinn = open_text(STRING START, NULL);
    assert_ok(sg_pinn_text(pinn, &text));
    assert_null(strstr(text, "windows"));
    sg_pinn_close(pinn);
}

static sg_status train_two(const sg_allocator *allocator, void *context)
{
    static const char text[] = STRING START "training: {steps: 1}\nwindows: 2\n";
    sg_pinn *pinn;
    (void)context;
    sg_status status = sg_pinn_read(&pinn, "test", text, strlen(text), NULL, 0, allocator, NULL);
    if (status == SG_OK)
        status = sg_pinn_train(pinn, NULL, NULL, allocator);
    if (status == SG_OK) {
        double values[3];
        status = sg_pinn_evaluate(pinn, (const char *[]){"u"}, 1, (double[]){0, 0, 0, 1, 1, 1}, 3,
                                  values, NULL, NULL);
    }
    sg_pinn_close(pinn);
    return status;
}

static void take_steps(sg_pinn_trainer *trainer, int count)
{
    sg_pinn_step step;
    for (int i = 0; i < count; i++)
        assert_ok(sg_pinn_trainer_step(trainer, &step));
}

/* A trainer without the parts of its window answers every question, and takes no harm from it. */
static void ask(const sg_pinn_trainer *trainer)
{
    sg_pinn_loss loss;
    size_t size;
    (void)sg_scaler_config(sg_pinn_trainer_scaler(trainer));
    (void)sg_pinn_items(sg_pinn_trainer_batch(trainer), 0);
    (void)sgi_pinn_trainer_state(trainer, &size);
    (void)sgi_pinn_trainer_causal(trainer);
    sg_pinn_trainer_validate((sg_pinn_trainer *)trainer, &loss);
    assert_non_null(sgi_pinn_trainer_stage(trainer));
    assert_false(sgi_pinn_trainer_over(trainer));
    assert_int_equal(sgi_pinn_trainer_steps(trainer), 4);
    assert_int_equal(sgi_pinn_trainer_place(trainer).window, 0);
    assert_true(sgi_pinn_trainer_share(trainer) == 0.5);
}

/* Each allocation of a change of windows fails in turn; when none fails any more, the steps are
 * those of a training to which nothing happened. */
static void a_window_that_cannot_be_entered_is_tried_again(void **state)
{
    static const char *const trainings[] = {
        "training: {steps: 4}\nrefinement: {every: 2}\n",
        "training:\n  points: {start: 20, every: 3}\n"
        "  stages: [{optimizer: multiadam, steps: 1, causal: 1}, {optimizer: levenberg, steps: 2}, "
        "{optimizer: lbfgs, steps: 1}]\n"};
    (void)state;
    for (size_t k = 0; k < sizeof trainings / sizeof *trainings; k++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%swindows: 2\n", STRING START, trainings[k]);
        failing_allocator counter = {.fail_at = -1};
        sg_allocator allocator = failing(&counter);
        sg_pinn *pinn = open_text(text, NULL), *other = open_text(text, NULL);
        sg_pinn_trainer *trainer, *undisturbed;
        sg_pinn_step step;
        sg_status status = SG_ERROR_MEMORY;
        assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, &allocator));
        take_steps(trainer, 4);
        for (long n = 0; status != SG_OK; n += n < 100 ? 1 : n / 20) {
            counter.fail_at = counter.made + n;
            status = sg_pinn_trainer_step(trainer, &step);
            if (status == SG_OK)
                continue;
            assert_status(status, SG_ERROR_MEMORY);
            assert_non_null(strstr(sgi_pinn_trainer_why(trainer)->message, "memory"));
            ask(trainer);
        }
        counter.fail_at = -1;
        take_steps(trainer, 3);
        assert_true(sgi_pinn_trainer_over(trainer));
        assert_ok(sg_pinn_trainer_create(&undisturbed, other, NULL, SG_ISA_AUTO, NULL));
        take_steps(undisturbed, 8);
        for (double t = 0.1; t < 1.5; t += 0.2)
            assert_true(value(pinn, "u", 0.3, t) == value(other, "u", 0.3, t));
        sg_pinn_trainer_destroy(trainer);
        assert_int_equal(counter.live, 0);
        sg_pinn_trainer_destroy(undisturbed);
        sg_pinn_close(pinn);
        sg_pinn_close(other);
    }
}

/* The next window reads the file again. While it is away the trainer is whole, and says which. */
static void a_file_that_is_gone_at_a_change_of_windows_is_told(void **state)
{
    char folder[] = "/tmp/sg_windows_XXXXXX", file[64], away[64], name[64];
    static const char shape[] =
        "{\"type\": \"Polygon\", \"coordinates\": [[[0, 0], [1, 0], [0.5, 1], [0, 0]]]}";
    static const char text[] =
        "coordinates: {x: [0, 1], y: [0, 1], t: [0, 1]}\nfields: [u]\n"
        "shapes: {lake: {polygon: {file: lake.geojson}}}\ndomain: lake\n"
        "equations: {heat: u_t = lap(u)}\nconditions: {start: {at: t = 0, u: x, points: 8}}\n"
        "points: 16\nnetwork: {hidden: 1 x 4}\ntraining: {steps: 2}\nwindows: 2\n";
    sg_pinn *pinn;
    sg_pinn_trainer *trainer;
    sg_pinn_step step;
    sg_diagnostic diagnostic = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/lake.geojson", folder);
    snprintf(away, sizeof away, "%s/away", folder);
    snprintf(name, sizeof name, "%s/lake.yaml", folder);
    FILE *written = fopen(file, "w");
    assert_non_null(written);
    fputs(shape, written);
    assert_int_equal(fclose(written), 0);
    if (sg_pinn_read(&pinn, name, text, strlen(text), NULL, 0, NULL, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, NULL));
    take_steps(trainer, 2);
    assert_int_equal(rename(file, away), 0);
    for (int i = 0; i < 2; i++) {
        assert_status(sg_pinn_trainer_step(trainer, &step), SG_ERROR_FORMAT);
        assert_non_null(strstr(sgi_pinn_trainer_why(trainer)->message, "lake.geojson"));
        assert_non_null(sg_pinn_trainer_batch(trainer));
        assert_int_equal(sg_optim_steps(sg_pinn_trainer_optim(trainer)), 2);
    }
    assert_int_equal(rename(away, file), 0);
    take_steps(trainer, 2);
    assert_true(sgi_pinn_trainer_over(trainer));
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    unlink(file);
    rmdir(folder);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    some_allocations_fail(train_two, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_go_on_from_each_other),
        cmocka_unit_test(the_earlier_network_is_computed_twice),
        cmocka_unit_test(an_exact_boundary_holds_in_every_window),
        cmocka_unit_test(what_windows_cannot_be_is_told),
        cmocka_unit_test(windows_are_written),
        cmocka_unit_test(a_window_that_cannot_be_entered_is_tried_again),
        cmocka_unit_test(a_file_that_is_gone_at_a_change_of_windows_is_told),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
