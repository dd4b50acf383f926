/* Residuals through the engine: losses and gradients of whole problems. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/residuals.h"
#include "support/support.h"

static double total(setup *s, double *means)
{
    sgi_loss loss = {.means = means};
    sg_jet_forward(s->engine);
    sgi_residual_collect(s->residual, s->engine, &loss);
    return loss.total;
}

static void test_gradient_by_differences(void **state)
{
    (void)state;
    setup s;
    open_setup(&s, problem_of_everything, "network.precision=double", 1, SG_ISA_AUTO);
    size_t count = sg_jet_network_parameters(s.network);
    double *values = sg_jet_network_values(s.network), *gradient = calloc(count, sizeof *gradient);
    assert_non_null(gradient);
    sg_jet_gradient(s.engine, gradient);
    for (size_t i = 0; i < count; i += 3) {
        static const double weights[] = {-1, 9, -45, 0, 45, -9, 1};
        double centre = values[i], h = 1e-3, sum = 0;
        for (int k = 0; k < 7; k++) {
            values[i] = centre + (k - 3) * h;
            sum += weights[k] * total(&s, NULL);
        }
        values[i] = centre;
        if (fabs(sum / (60 * h) - gradient[i]) > 1e-8 * (1 + fabs(gradient[i])))
            fail_msg("parameter %zu: %.12g, by differences %.12g", i, gradient[i], sum / (60 * h));
    }
    free(gradient);
    close_setup(&s);
}

enum { START = 37 }; /* points of the condition `start` */

/* Its points (START, 3), and the network's values (START, 2) there. */
static void values_at_start(const setup *s, double *points, double *values)
{
    double columns[3][START];
    void *coordinates[] = {columns[0], columns[1], columns[2]};
    sgi_draw draw = {5, SG_POINTS_TRAINING, 77};
    sgi_sample(s->problem, 1, START, &draw, 0, START, SG_FLOAT64, coordinates);
    for (int i = 0; i < START; i++)
        for (int k = 0; k < 3; k++)
            points[3 * i + k] = columns[k][i];
    sg_jet_plan *plan;
    sg_jet_request request = {.order = 0};
    assert_ok(sg_jet_plan_create(&plan, 3, &request, 1, NULL));
    assert_ok(sg_jet_evaluate(s->network, plan, NULL, points, NULL, START, values, NULL));
    sg_jet_plan_destroy(plan);
}

/* The loss again, from values at the points and the formulas themselves. */
static void test_loss_by_hand(void **state)
{
    (void)state;
    setup s;
    open_setup(&s, problem_of_everything, "network.precision=double", 1, SG_ISA_AUTO);
    double means[5], loss = total(&s, means);
    assert_int_equal(sgi_residual_terms(s.residual), 5);
    assert_close(loss, means[0] + 2 * means[1] + 10 * means[2] + means[3] + 3 * means[4], 1e-12);
    double points[3 * START], values[2 * START], sum = 0;
    values_at_start(&s, points, values);
    for (int i = 0; i < START; i++) {
        double a = values[2 * i] + sin(3.14159265358979323846 * points[3 * i]);
        double b = values[2 * i + 1] - points[3 * i] * points[3 * i + 1];
        sum += a * a + b * b;
    }
    assert_close(means[2], sum / START, 1e-13);
    close_setup(&s);
}

static void test_float_against_double(void **state)
{
    (void)state;
    setup wide, narrow;
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas);
    open_setup(&wide, problem_of_everything, "network.precision=double", 1, SG_ISA_AUTO);
    size_t count = sg_jet_network_parameters(wide.network);
    sg_jet_gradient(wide.engine, NULL);
    const double *exact = sg_jet_network_gradients(wide.network);
    for (size_t k = 0; k < isa_count; k++) {
        open_setup(&narrow, problem_of_everything, "network.precision=float", 1, isas[k]);
        sgi_loss a = {0}, b = {0};
        sg_jet_gradient(narrow.engine, NULL);
        sgi_residual_collect(wide.residual, wide.engine, &a);
        sgi_residual_collect(narrow.residual, narrow.engine, &b);
        assert_relative(b.total, a.total, 1e-4);
        assert_relative(sg_moments_std(&b.residual), sg_moments_std(&a.residual), 1e-4);
        const float *rounded = sg_jet_network_gradients(narrow.network);
        for (size_t i = 0; i < count; i++)
            assert_close((double)rounded[i], exact[i], 1e-3);
        close_setup(&narrow);
    }
    close_setup(&wide);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    setup one, three;
    open_setup(&one, problem_of_everything, "network.precision=float", 1, SG_ISA_AUTO);
    open_setup(&three, problem_of_everything, "network.precision=float", 3, SG_ISA_AUTO);
    sg_jet_gradient(one.engine, NULL);
    sg_jet_gradient(three.engine, NULL);
    sgi_loss a = {0}, b = {0};
    sgi_residual_collect(one.residual, one.engine, &a);
    sgi_residual_collect(three.residual, three.engine, &b);
    assert_memory_equal(&a.total, &b.total, sizeof a.total);
    assert_memory_equal(sg_jet_network_gradients(one.network),
                        sg_jet_network_gradients(three.network),
                        sg_jet_network_parameters(one.network) * sizeof(float));
    close_setup(&one);
    close_setup(&three);
}

/* The moments of the weighted residuals r give the loss, L = |r|^2 / 2. */
static void test_moments_of_residuals(void **state)
{
    (void)state;
    setup s;
    open_setup(&s, problem_of_everything, "network.precision=double", 1, SG_ISA_AUTO);
    sgi_loss loss = {0};
    sg_jet_forward(s.engine);
    sgi_residual_collect(s.residual, s.engine, &loss);
    const sg_moments *m = &loss.residual;
    assert_relative((m->m2 + m->count * m->mean * m->mean) / 2, loss.total, 1e-12);
    assert_close(m->count, 2 * 301 + 2 * 37 + 2 * 101 + 4 * 53, 0);
    close_setup(&s);
}

/* Rows of the Jacobian of the weighted residuals: J^T r is the gradient. The set is `start`, whose
 * residuals u + sin(pi x) and v - x y are easily had from values. */
static void test_jacobian_rows(void **state)
{
    (void)state;
    setup s;
    open_setup(&s, problem_of_everything, "network.precision=double", 1, SG_ISA_AUTO);
    sg_jet *alone;
    sg_jet_config config = sg_jet_defaults();
    config.network = s.network;
    config.sets = sgi_residual_sets(s.residual) + 1;
    config.set_count = 1;
    assert_ok(sg_jet_create(&alone, &config, NULL));
    size_t parameters = sg_jet_network_parameters(s.network);
    double *gradient = calloc(parameters, sizeof *gradient);
    double *rows = calloc(2 * START * parameters, sizeof *rows);
    assert_true(gradient && rows);
    sg_jet_gradient(alone, gradient);
    assert_ok(sg_jet_rows(alone, 0, 0, START, rows));
    double points[3 * START], values[2 * START];
    values_at_start(&s, points, values);
    for (size_t p = 0; p < parameters; p++) {
        double sum = 0, root = sqrt(2 * 10.0 / START);
        for (size_t i = 0; i < START; i++) {
            double x = points[3 * i], y = points[3 * i + 1];
            double first = root * (values[2 * i] + sin(3.14159265358979323846 * x));
            double second = root * (values[2 * i + 1] - x * y);
            sum +=
                first * rows[2 * i * parameters + p] + second * rows[(2 * i + 1) * parameters + p];
        }
        assert_close(sum, gradient[p], 1e-12);
    }
    sg_jet_destroy(alone);
    free(rows);
    free(gradient);
    close_setup(&s);
}

/* The engine's normal equations over all sets: r has the size of the loss, and J^T r is its
 * gradient. */
static void test_normal_equations(void **state)
{
    (void)state;
    enum { ROWS = 2 * 301 + 2 * 37 + 2 * 101 + 4 * 53 };
    setup s;
    open_setup(&s, problem_of_everything, "network.precision=double", 2, SG_ISA_AUTO);
    sg_jacobian *jacobian;
    assert_ok(sg_jacobian_create(&jacobian, &(sg_jacobian_config){.jet = s.engine}, NULL));
    assert_int_equal(sg_jacobian_residuals(jacobian), ROWS);
    size_t parameters = sg_jet_network_parameters(s.network);
    double *right = calloc(parameters, sizeof *right), r[ROWS], squares = 0;
    assert_non_null(right);
    assert_ok(sg_jacobian_normal(jacobian, &(sg_normal_equations){.right = right, .residuals = r}));
    sgi_loss loss = {0};
    sg_jet_gradient(s.engine, NULL);
    sgi_residual_collect(s.residual, s.engine, &loss);
    for (size_t i = 0; i < ROWS; i++)
        squares += r[i] * r[i];
    assert_relative(squares / 2, loss.total, 1e-12);
    const double *gradient = sg_jet_network_gradients(s.network);
    for (size_t p = 0; p < parameters; p++)
        assert_close(right[p], gradient[p], 1e-11);
    sg_jacobian_destroy(jacobian);
    free(right);
    close_setup(&s);
}

static sg_status create_residual(const sg_allocator *allocator, void *problem)
{
    sgi_residual_options options = {.type = SG_FLOAT32, .workers = 2};
    sgi_residual *residual;
    sg_status status = sgi_residual_create(&residual, problem, &options, allocator);
    sgi_residual_destroy(residual);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    setup s;
    open_setup(&s, problem_of_everything, "network.precision=float", 1, SG_ISA_AUTO);
    each_allocation_fails(create_residual, s.problem, 5);
    close_setup(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_loss_by_hand),
        cmocka_unit_test(test_float_against_double),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_moments_of_residuals),
        cmocka_unit_test(test_jacobian_rows),
        cmocka_unit_test(test_normal_equations),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
