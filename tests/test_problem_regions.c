/* Equations that hold in regions, and fields that live in them: two materials. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/errors.h"
#include "pinn/pinn.h"
#include "problem/check.h"
#include "problem/remarks.h"
#include "support/support.h"

#define HEAD                                                                                       \
    "coordinates: {x: [-1, 1], y: [-1, 1], t: [0, 1]}\n"                                           \
    "fields: [a, b]\n"                                                                             \
    "shapes:\n"                                                                                    \
    "  core: {disc: {center: [0, 0], radius: 0.5}}\n"                                              \
    "  shell: box - core\n"                                                                        \
    "  right: {half-space: {point: [0, 0], normal: [-1, 0]}}\n"

/* a and b with a jump of the slope: a = t (r^2 + 3/4), b = t (4 r^2), so that 4 a_n = b_n at r =
 * 1/2.
 */
static const char two[] =
    HEAD "equations:\n"
         "  source: {expression: a_t - lap(a) = x^2 + y^2 + 3/4 - 4*t, in: core, points: 300}\n"
         "  outside: {expression: b_t - lap(b) = 4*(x^2 + y^2) - 16*t, in: shell}\n"
         "  again: {expression: a_t = x^2 + y^2 + 3/4, in: core, weight: 3}\n"
         "conditions:\n"
         "  meet: {at: core.boundary, a: b, 4*a_n: b_n, points: 70}\n"
         "  start_a: {at: t = 0 & core, a: 0, points: 60}\n"
         "  start_b: {at: t = 0 & shell, b: 0, points: 61}\n"
         "  edge: {at: boundary, b: 4*t*(x^2 + y^2), points: 80}\n"
         "points: 1000\n"
         "reference: {a: t*(x^2 + y^2 + 3/4), b: 4*t*(x^2 + y^2)}\n"
         "network: {hidden: 2 x 6, precision: double}\n"
         "evaluation: {grid: 21, points: 500}\n";

static sgi_problem *read_problem(const char *text)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    if (sgi_problem_read(&problem, "p.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic))
        fail_msg("%s\n%s", text, said(&diagnostic));
    return problem;
}

static sg_pinn *open_pinn(const char *text, const char *override)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "p.yaml", text, strlen(text), &override, override ? 1 : 0, NULL,
                     &diagnostic))
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

enum { CORE, SHELL, MEET, START_A, START_B, EDGE };

static void test_sets(void **state)
{
    (void)state;
    sgi_problem *p = read_problem(two);
    double shell = 1 - M_PI / 16;
    assert_int_equal(p->set_count, 6);
    assert_string_equal(p->sets[CORE].name, "core");
    assert_string_equal(p->sets[SHELL].name, "shell");
    assert_int_equal(p->sets[CORE].component_count, 2);
    assert_int_equal(p->sets[SHELL].component_count, 1);
    assert_int_equal(p->sets[CORE].items, 300);
    assert_close(p->sets[SHELL].share, shell, 2e-3);
    assert_close((double)p->sets[SHELL].items, 1000 * shell, 3);
    assert_string_equal(p->sets[CORE].terms[1].name, "again");
    assert_close(p->sets[CORE].terms[1].weight, 3, 0);
    assert_int_equal(sgi_problem_equation_count(p), 3);
    assert_true(p->homes[0] == 1 && p->homes[1] == 2);
    sgi_problem_destroy(p);
}

/* Points of equations, of starts and of an interface lie where they should. */
static void test_points(void **state)
{
    (void)state;
    enum { MOST = 1000 };
    static double x[3][MOST], normals[3][MOST];
    void *columns[] = {x[0], x[1], x[2]}, *out[] = {normals[0], normals[1], normals[2]};
    sgi_problem *p = read_problem(two);
    sgi_draw draw = {1, SG_POINTS_TRAINING, 3};
    for (int set = 0; set < p->set_count; set++) {
        size_t n = (size_t)p->sets[set].items;
        assert_true(n <= MOST);
        sgi_sample(p, set, (int64_t)n, &draw, 0, n, SG_FLOAT64, columns);
        sgi_sample_normals(p, set, (int64_t)n, &draw, 0, n, SG_FLOAT64, out);
        for (size_t i = 0; i < n; i++) {
            double r = hypot(x[0][i], x[1][i]);
            if (set == CORE || set == START_A)
                assert_true(r <= 0.5 + 1e-9);
            if (set == SHELL || set == START_B)
                assert_true(r >= 0.5 - 1e-9);
            if (set == START_A || set == START_B)
                assert_close(x[2][i], 0, 0);
            if (set != MEET)
                continue;
            assert_close(r, 0.5, 1e-12);
            assert_close(normals[0][i] * x[0][i] + normals[1][i] * x[1][i], 0.5, 1e-9);
        }
    }
    sgi_problem_destroy(p);
}

/* A region that goes on beyond the domain is cut by it. */
static void test_region_is_cut(void **state)
{
    (void)state;
    static double x[3][500];
    void *columns[] = {x[0], x[1], x[2]};
    sgi_problem *p = read_problem(HEAD "domain: shell\n"
                                       "equations:\n"
                                       "  one: {expression: a_t = b, in: right, points: 500}\n"
                                       "  two: a_t + b_t = 0\n"
                                       "conditions: {start: {at: t = 0, a: 0, b: 0}}\n");
    sgi_draw draw = {1, SG_POINTS_TRAINING, 3};
    assert_close(p->sets[0].share, 0.5, 2e-3);
    assert_true(p->homes[0] == 0 && p->homes[1] == 0);
    assert_null(p->sets[1].region);
    sgi_sample(p, 0, 500, &draw, 0, 500, SG_FLOAT64, columns);
    for (int i = 0; i < 500; i++)
        assert_true(x[0][i] >= 0 && x[0][i] <= 1 && fabs(x[1][i]) <= 1 &&
                    hypot(x[0][i], x[1][i]) >= 0.5 && x[2][i] >= 0 && x[2][i] <= 1);
    sgi_problem_destroy(p);
}

static void test_round_trip(void **state)
{
    (void)state;
    sgi_problem *p = read_problem(two), *q;
    char *text, *again;
    assert_ok(sgi_problem_write(p, &text));
    q = read_problem(text);
    assert_ok(sgi_problem_write(q, &again));
    assert_string_equal(text, again);
    assert_int_equal(q->sets[CORE].items, 300);
    assert_non_null(strstr(text, "in: core, points: 300, weight: 1}"));
    sgi_release(&p->allocator, text);
    sgi_release(&q->allocator, again);
    sgi_problem_destroy(p);
    sgi_problem_destroy(q);
}

static void test_reference_fits(void **state)
{
    (void)state;
    sgi_problem *p = read_problem(two);
    sgi_check check;
    sgi_remarks remarks;
    sg_diagnostic diagnostic;
    assert_ok(sgi_problem_check(p, &check));
    assert_true(check.passed);
    assert_int_equal(check.count, 8);
    assert_string_equal(check.rows[2].what, "equation");
    assert_string_equal(check.rows[3].what, "condition");
    sgi_check_release(p, &check);
    assert_ok(sgi_problem_remarks(p, &remarks));
    if (remarks.count)
        fail_msg("%s", remarks.texts[0]);
    assert_ok(sgi_problem_finite(p, &diagnostic));
    sgi_problem_destroy(p);
}

/* Each field has values where it lives, and errors are taken there alone: a reference of `a` that
 * is infinite in the shell does no harm. */
static void test_values_at_home(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(two, "reference.a=t*(x^2 + y^2 + 3/4) + where(x > 0.8, log(-x), 0)");
    sgi_errors *errors;
    char text[300];
    assert_ok(sgi_errors_create(&errors, pinn->problem, NULL, NULL));
    assert_string_equal(sgi_errors_sentence(errors, text, sizeof text), "");
    assert_ok(sgi_errors_measure(errors, pinn->network, NULL));
    double sums[3] = {0}, sizes[3] = {0};
    for (size_t i = 0; i < errors->grid.total; i++) {
        double point[3];
        sgi_box_grid_points(&errors->grid, i, 1, point);
        double r = hypot(point[0], point[1]);
        assert_true(isnan(errors->prediction[0][i]) == (r > 0.5 + 1e-9));
        assert_true(isnan(errors->prediction[1][i]) == (r < 0.5 - 1e-9));
        for (int f = 0; f < 2; f++) {
            double exact = point[2] * (f ? 4 * r * r : r * r + 0.75);
            double error = errors->prediction[f][i] - exact;
            if (isnan(error))
                continue;
            for (int k = f; k < 3; k += 2 - f) {
                sums[k] += error * error;
                sizes[k] += exact * exact;
            }
        }
    }
    for (int k = 0; k < 3; k++)
        assert_close(errors->fields[k].relative_l2, sqrt(sums[k] / sizes[k]), 1e-9);
    sgi_errors_destroy(errors);
    sg_pinn_close(pinn);
}

static double loss_of(sg_pinn_batch *batch)
{
    sg_pinn_loss loss;
    sg_pinn_loss_at(batch, &loss);
    return loss.total;
}

/* The gradient, in all and of each set, against differences of sixth order. */
static void test_gradient_by_differences(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(two, NULL);
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    size_t count = sg_jet_network_parameters(pinn->network);
    double *values = sg_jet_network_values(pinn->network);
    double *gradients[6], *gradient = calloc(count, sizeof *gradient);
    for (int s = 0; s < 6; s++)
        assert_non_null(gradients[s] = calloc(count, sizeof **gradients));
    sg_pinn_gradient(batch, gradient, &loss);
    sg_pinn_gradients(batch, (void *const *)gradients, &loss);
    for (size_t i = 0; i < count; i++) {
        static const double weights[] = {-1, 9, -45, 0, 45, -9, 1};
        double centre = values[i], h = 1e-3, sum = 0, parts = 0;
        for (int k = 0; k < 7; k++) {
            values[i] = centre + (k - 3) * h;
            sum += weights[k] * loss_of(batch);
        }
        values[i] = centre;
        for (int s = 0; s < 6; s++)
            parts += gradients[s][i];
        assert_close(gradient[i], sum / (60 * h), 1e-8 * (1 + fabs(gradient[i])));
        assert_close(parts, gradient[i], 1e-12 * (1 + fabs(gradient[i])));
    }
    for (int s = 0; s < 6; s++)
        free(gradients[s]);
    free(gradient);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* Validation points follow the regions' shares. */
static void test_validation_points(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(two, NULL);
    sg_pinn_batch_config config = sg_pinn_batch_defaults();
    sg_pinn_batch *batch;
    config.stream = SG_POINTS_VALIDATION;
    assert_ok(sg_pinn_batch_create(&batch, pinn, &config, NULL));
    assert_close((double)sg_pinn_items(batch, CORE), 500 * M_PI / 16, 2);
    assert_close((double)sg_pinn_items(batch, SHELL), 500 - 500 * M_PI / 16, 2);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* MultiAdam keeps the gradients of regions apart, too. */
static void test_multiadam(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(two, "training.optimizer.name=multiadam");
    assert_int_equal(sg_pinn_optim_config(pinn).groups, 6);
    sg_pinn_trainer *trainer;
    sg_pinn_step step;
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, NULL));
    double before = loss_of(sg_pinn_trainer_batch(trainer));
    for (int i = 0; i < 50; i++)
        assert_ok(sg_pinn_trainer_step(trainer, &step));
    assert_true(loss_of(sg_pinn_trainer_batch(trainer)) < before);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
}

static void test_remarks(void **state)
{
    (void)state;
    static const struct {
        const char *equations, *remark;
    } cases[] = {
        {"{one: {expression: a_t = 0, in: core}, two: {expression: b_t = 0, in: core}}",
         "no equation holds in 80% of the domain, as at x = "},
        {"{one: {expression: a_t = 0, in: box}, two: {expression: b_t = 0, in: right}}",
         "the regions 'box' and 'right' overlap: the equations of both hold there"},
        {"{one: {expression: a_t = b, in: core}, two: {expression: b_t = 0, in: shell}}",
         "there are 2 fields and 1 equation in core"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        sgi_remarks remarks;
        bool found = false;
        snprintf(text, sizeof text,
                 HEAD "equations: %s\nconditions: {start: {at: t = 0, a: 0, b: 0}}\n",
                 cases[i].equations);
        sgi_problem *p = read_problem(text);
        assert_ok(sgi_problem_remarks(p, &remarks));
        for (int k = 0; k < remarks.count; k++)
            found =
                found || strncmp(remarks.texts[k], cases[i].remark, strlen(cases[i].remark)) == 0;
        if (!found)
            fail_msg("%s: %s", cases[i].remark, remarks.count ? remarks.texts[0] : "no remark");
        sgi_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_region_is_cut),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_reference_fits),
        cmocka_unit_test(test_values_at_home),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_validation_points),
        cmocka_unit_test(test_multiadam),
        cmocka_unit_test(test_remarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
