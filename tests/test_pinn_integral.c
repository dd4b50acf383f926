/* Conditions on integrals: their points, values, gradients and Jacobian; and conditions of every
 * kind on curved boundaries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/pinn.h"
#include "problem/check.h"
#include "problem/quadrature.h"
#include "problem/remarks.h"
#include "support/support.h"

#define HEAD                                                                                       \
    "coordinates: {x: [-1, 1], y: [-1, 1]}\n"                                                      \
    "fields: [u, p]\n"                                                                             \
    "shapes:\n"                                                                                    \
    "  hole: {disc: {center: [0.2, 0.1], radius: 0.4}}\n"                                          \
    "  half: {half-space: {point: [0, 0], normal: [0, 1]}}\n"                                      \
    "domain: box - hole\n"                                                                         \
    "equations: {one: lap(u) = 0, two: lap(p) + u = 0}\n"                                          \
    "network: {hidden: 2 x 7, precision: double}\n"                                                \
    "points: 50\n"

/* A nonlinear integrand, two components, more points than fit into a tile, several places. */
static const char text[] =
    HEAD "conditions:\n"
         "  mean: {over: domain, p: 0.3, u^2: 1, points: 301, weight: 3}\n"
         "  flux: {over: hole.boundary, u_n*p: -0.5, points: 220, weight: 2}\n"
         "  edge: {at: boundary, u: x, p: 0, points: 64}\n"
         "  out: {over: x = 1 & y > 0, expression: u*y = 0.2, points: 130}\n";

enum { DOMAIN, MEAN, FLUX, EDGE, OUT, SETS };

static sg_pinn *open_pinn(const char *problem, const char *override)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "p.yaml", problem, strlen(problem), &override, override ? 1 : 0, NULL,
                     &diagnostic))
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

/* The integral of a function over the place of a set, by the set's own points. */
static double integrate(const sgi_problem *problem, int set, size_t items,
                        double (*f)(const double *x, const double *n))
{
    size_t d = (size_t)problem->names.coordinate_count;
    double *points = calloc(items * (2 * d + 1), sizeof *points), sum = 0, whole = 0;
    assert_non_null(points);
    double *normals = points + items * d, *weights = normals + items * d;
    sgi_quadrature(problem, &problem->sets[set], items, points, normals, weights);
    for (size_t i = 0; i < items; i++) {
        sum += weights[i] * f(points + i * d, normals + i * d);
        whole += weights[i];
    }
    assert_close(whole, 1, 1e-12);
    free(points);
    return problem->sets[set].measure * sum;
}

static double one(const double *x, const double *n)
{
    (void)x;
    (void)n;
    return 1;
}

static double square(const double *x, const double *n)
{
    (void)n;
    return x[0] * x[0];
}

/* Of the field (x, 0), outward. */
static double flow(const double *x, const double *n)
{
    return x[0] * n[0];
}

/* Against integrals that are known. The tolerances are a few times what is seen, for lattices of
 * these sizes. */
static void test_quadrature(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(text, NULL);
    const sgi_problem *p = pinn->problem;
    double r = 0.4, area = M_PI * r * r;
    assert_close(integrate(p, MEAN, 2000, one), 4 - area, 2e-3);
    assert_close(integrate(p, MEAN, 2000, square), 4.0 / 3 - area * (0.04 + r * r / 4), 3e-3);
    assert_close(integrate(p, FLUX, 200, one), 2 * M_PI * r, 1e-9);
    assert_close(integrate(p, FLUX, 200, square), 2 * M_PI * r * (0.04 + r * r / 2), 1e-9);
    assert_close(integrate(p, FLUX, 200, flow), -area, 1e-9); /* into the hole */
    assert_close(integrate(p, OUT, 200, one), 1, 1e-4);
    assert_close(integrate(p, OUT, 200, flow), 1, 1e-4);
    sg_pinn_close(pinn);
    pinn = open_pinn("coordinates: {x: [0, 2], y: [0, 1], t: [0, 3]}\nfields: u\n"
                     "shapes: {core: {disc: {center: [1, 0.5], radius: 0.25}}}\n"
                     "equations: {one: u_t = lap(u)}\n"
                     "conditions:\n"
                     "  all: {over: domain, u: 1, points: 100}\n"
                     "  core: {over: core & x > 1, u: 1, points: 100}\n"
                     "  end: {over: t = 3 & core, u: 1, points: 100}\n"
                     "  side: {over: x = 2 | x = 0, u_n: 1, points: 100}\n"
                     "  given: {at: core & t < 1, u: 1, points: 100}\n",
                     NULL);
    p = pinn->problem;
    area = M_PI / 16;
    assert_close(integrate(p, 1, 3000, one), 6, 1e-12);
    assert_close(integrate(p, 1, 3000, square), 8, 2e-2);
    assert_close(integrate(p, 2, 3000, one), 1.5 * area, 1e-3);
    assert_close(integrate(p, 3, 3000, one), area, 1e-3);
    assert_close(integrate(p, 4, 3000, one), 6, 1e-12);
    assert_close(integrate(p, 4, 3000, flow), 6, 1e-12);
    sg_pinn_close(pinn);
}

static double loss_of(sg_pinn_batch *batch)
{
    sg_pinn_loss loss;
    sg_pinn_loss_at(batch, &loss);
    return loss.total;
}

/* The loss of an integral again, from values at its points. */
static void test_loss_by_hand(void **state)
{
    (void)state;
    enum { N = 220 };
    sg_pinn *pinn = open_pinn(text, NULL);
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    double points[N * 2], normals[N * 2], weights[N], values[3 * N], sum = 0;
    const char *wanted[] = {"u_x", "u_y", "p"};
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    sg_pinn_loss_at(batch, &loss);
    sgi_quadrature(pinn->problem, &pinn->problem->sets[FLUX], N, points, normals, weights);
    assert_ok(sg_pinn_evaluate(pinn, wanted, 3, points, N, values, NULL, NULL));
    for (int i = 0; i < N; i++)
        sum += weights[i] * (values[i] * normals[2 * i] + values[N + i] * normals[2 * i + 1]) *
               values[2 * N + i];
    double integral = 2 * M_PI * 0.4 * sum + 0.5;
    assert_string_equal(loss.terms[3].name, "flux");
    assert_close(loss.terms[3].value, integral * integral, 1e-12);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* In all and for each set, with threads and without, against differences of sixth order. */
static void test_gradient_by_differences(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(text, NULL);
    sg_pinn_batch_config config = sg_pinn_batch_defaults();
    sg_pinn_batch *batch, *threaded;
    sg_pinn_loss loss;
    assert_ok(sg_pinn_batch_create(&batch, pinn, &config, NULL));
    assert_ok(sg_pool_create(&config.pool, 3, NULL));
    assert_ok(sg_pinn_batch_create(&threaded, pinn, &config, NULL));
    size_t count = sg_jet_network_parameters(pinn->network);
    double *values = sg_jet_network_values(pinn->network);
    double *gradients[SETS], *gradient = calloc(count, sizeof *gradient);
    double *other = calloc(count, sizeof *other);
    assert_true(gradient && other);
    for (int s = 0; s < SETS; s++)
        assert_non_null(gradients[s] = calloc(count, sizeof **gradients));
    sg_pinn_gradient(batch, gradient, &loss);
    sg_pinn_gradient(threaded, other, &loss);
    assert_memory_equal(gradient, other, count * sizeof *gradient);
    sg_pinn_gradients(batch, (void *const *)gradients, &loss);
    for (size_t i = 0; i < count; i++) {
        static const double weights[] = {-1, 9, -45, 0, 45, -9, 1};
        double centre = values[i], h = 1e-3, sum = 0, parts = 0;
        for (int k = 0; k < 7; k++) {
            values[i] = centre + (k - 3) * h;
            sum += weights[k] * loss_of(batch);
        }
        values[i] = centre;
        for (int s = 0; s < SETS; s++)
            parts += gradients[s][i];
        assert_close(gradient[i], sum / (60 * h), 1e-8 * (1 + fabs(gradient[i])));
        assert_close(parts, gradient[i], 1e-12 * (1 + fabs(gradient[i])));
    }
    for (int s = 0; s < SETS; s++)
        free(gradients[s]);
    free(gradient);
    free(other);
    sg_pinn_batch_destroy(batch);
    sg_pinn_batch_destroy(threaded);
    sg_pool_destroy(config.pool);
    sg_pinn_close(pinn);
}

/* The residual vector has the loss as half its square, J^T r is the gradient, rows and products say
 * the same, and the averaged kernel is J J^T. */
static void test_jacobian(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(text, NULL);
    sg_pinn_batch_config config = sg_pinn_batch_defaults();
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    const size_t items[] = {7, 9, 5, 6, 4};
    config.tangents = true;
    config.items = items;
    assert_ok(sg_pinn_batch_create(&batch, pinn, &config, NULL));
    size_t n = sg_pinn_residual_count(batch), m = sg_jet_network_parameters(pinn->network);
    assert_int_equal(n, 14 + 18 + 5 + 12 + 4);
    double *r = calloc(n, sizeof *r), *rows = calloc(n * m, sizeof *rows);
    double *gradient = calloc(m, sizeof *gradient), *pulled = calloc(m, sizeof *pulled);
    double *pushed = calloc(n, sizeof *pushed), *kernel = calloc(n * n, sizeof *kernel);
    assert_true(r && rows && gradient && pulled && pushed && kernel);
    sg_pinn_gradient(batch, gradient, &loss);
    sg_pinn_residuals(batch, r);
    size_t at = 0, components[] = {2, 2, 1, 2, 1};
    for (size_t s = 0; s < SETS; s++) {
        assert_ok(sg_pinn_rows(batch, s, 0, items[s], rows + at * m));
        at += items[s] * components[s];
    }
    double half = 0;
    for (size_t i = 0; i < n; i++)
        half += r[i] * r[i] / 2;
    assert_close(half, loss.total, 1e-12);
    assert_ok(sg_pinn_pull(batch, r, pulled));
    assert_ok(sg_pinn_push(batch, gradient, pushed));
    for (size_t p = 0; p < m; p++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += rows[i * m + p] * r[i];
        assert_close(sum, gradient[p], 1e-11);
        assert_close(pulled[p], gradient[p], 1e-11);
    }
    sg_jacobian *jacobian;
    sg_jacobian_config how = {.jet = sg_pinn_engine(batch)};
    assert_ok(sg_jacobian_create(&jacobian, &how, NULL));
    assert_ok(sg_jacobian_kernel(jacobian, NULL, kernel));
    sgi_pinn_average_kernel(batch, kernel);
    for (size_t i = 0; i < n; i++) {
        double product = 0;
        for (size_t p = 0; p < m; p++)
            product += rows[i * m + p] * gradient[p];
        assert_close(pushed[i], product, 1e-10);
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t p = 0; p < m; p++)
                sum += rows[i * m + p] * rows[j * m + p];
            assert_close(kernel[i * n + j], sum, 1e-10);
        }
    }
    assert_status(sg_pinn_rows(batch, MEAN, 5, 5, rows), SG_ERROR_ARGUMENT);
    sg_jacobian_destroy(jacobian);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
    free(r);
    free(rows);
    free(gradient);
    free(pulled);
    free(pushed);
    free(kernel);
}

/* Points of the caller's own have equal weights. */
static void test_given_points(void **state)
{
    (void)state;
    sg_pinn *pinn = open_pinn(text, NULL);
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    double points[] = {0.9, 0.9, -0.5, 0.5, -0.9, -0.1}, values[3], sum = 0;
    const char *wanted[] = {"p"};
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    assert_ok(sg_pinn_give(batch, MEAN, points, 3, NULL));
    sg_pinn_loss_at(batch, &loss);
    double with = loss.terms[2].value;
    assert_ok(sg_pinn_give(batch, MEAN, NULL, 0, NULL));
    assert_int_equal(sg_pinn_items(batch, MEAN), 301);
    assert_ok(sg_pinn_evaluate(pinn, wanted, 1, points, 3, values, NULL, NULL));
    for (int i = 0; i < 3; i++)
        sum += values[i] / 3;
    double measure = pinn->problem->sets[MEAN].measure, p = measure * sum - 0.3;
    assert_ok(sg_pinn_evaluate(pinn, (const char *[]){"u^2"}, 1, points, 3, values, NULL, NULL));
    double u = measure * (values[0] + values[1] + values[2]) / 3 - 1;
    assert_close(with, p * p + u * u, 1e-12);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* Values, slopes, Robin's condition, a flux, an integral and a point on curves, against a solution
 * that has them all: u = x^2 - y^2 + x, p = -(x^4 - y^4)/12 - x^3/6. */
static void test_every_kind_on_curves(void **state)
{
    (void)state;
    static const char reference[] = "reference: {u: x^2 - y^2 + x, p: -(x^4 - y^4)/12 - x^3/6}\n";
    static const char conditions[] =
        "conditions:\n"
        "  value: {at: hole.boundary & half, u: x^2 - y^2 + x}\n"
        "  robin: {at: hole.boundary & y > 0,\n"
        "          u_n + 3*u: '-((2*x + 1)*(x - 0.2) - 2*y*(y - 0.1))/0.4 + 3*(x^2 - y^2 + x)'}\n"
        "  flux: {over: hole.boundary, u_n: 0}\n"
        "  outflow: {over: box.boundary, u_n: 0}\n"
        "  mean: {over: domain, u: -0.16*pi*(0.2^2 - 0.1^2 + 0.2)}\n" /* the box has 0 */
        "  pin: {at: x = 1 & y = 1, p: -1/6}\n";
    char whole[2000];
    snprintf(whole, sizeof whole, "%s%s%s", HEAD, reference, conditions);
    sg_pinn *pinn = open_pinn(whole, NULL);
    sgi_check check;
    char sentence[400];
    assert_ok(sgi_problem_check(pinn->problem, &check));
    if (!check.passed)
        fail_msg("%s", sgi_check_sentence(pinn->problem, &check, sentence, sizeof sentence));
    sgi_check_release(pinn->problem, &check);
    sg_pinn_close(pinn);
    pinn = open_pinn(whole, "conditions.mean.u=0.1");
    assert_ok(sgi_problem_check(pinn->problem, &check));
    assert_false(check.passed);
    sgi_check_sentence(pinn->problem, &check, sentence, sizeof sentence);
    assert_non_null(strstr(sentence, "condition 'mean'"));
    sgi_check_release(pinn->problem, &check);
    sg_pinn_close(pinn);
}

/* What is written reads as the same, and all memory may run out. */
static sg_status make(const sg_allocator *allocator, void *context)
{
    sg_pinn *pinn = NULL;
    sg_pinn_batch *batch = NULL;
    sg_diagnostic diagnostic;
    (void)context;
    sg_status status =
        sg_pinn_read(&pinn, "p.yaml", text, strlen(text), NULL, 0, allocator, &diagnostic);
    if (status == SG_OK)
        status = sg_pinn_batch_create(&batch, pinn, NULL, allocator);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
    return status;
}

static void test_round_trip(void **state)
{
    (void)state;
    const char *written, *again;
    sg_pinn *pinn = open_pinn(text, NULL);
    assert_ok(sg_pinn_text(pinn, &written));
    sg_pinn *copy = open_pinn(written, NULL);
    assert_ok(sg_pinn_text(copy, &again));
    assert_string_equal(written, again);
    assert_true(copy->problem->sets[MEAN].integral && !copy->problem->sets[EDGE].integral);
    sg_pinn_close(pinn);
    sg_pinn_close(copy);
    some_allocations_fail(make, NULL, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadrature),
        cmocka_unit_test(test_loss_by_hand),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_jacobian),
        cmocka_unit_test(test_given_points),
        cmocka_unit_test(test_every_kind_on_curves),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
