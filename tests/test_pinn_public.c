/* The public level of problems, stablegrad/pinn.h, through that header alone: gradients and
 * Jacobians of every shipped problem against differences, given against sampled points, values by
 * name, training with a callback, mistakes, and every allocation failing in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stablegrad/pinn.h"
#include "support/problem.h"
#include "support/support.h"

enum { ITEMS = 7, MOST_SETS = 8 };

static const char heat[] = "coordinates: {x: [0, 1], t: [0, 1]}\n"
                           "fields: [u]\n"
                           "constants: {k: 0.1}\n"
                           "equations: {heat: u_t = k*u_xx}\n"
                           "conditions:\n"
                           "  start: {at: t = 0, u: sin(pi*x), points: 32, weight: 10}\n"
                           "  ends: {at: x = 0 | x = 1, u: 0, points: 32, weight: 10}\n"
                           "points: 128\n"
                           "reference: {u: exp(-k*pi^2*t)*sin(pi*x)}\n"
                           "network: {hidden: 2 x 12}\n"
                           "training: {steps: 40, optimizer: {rate: 5e-3}}\n"
                           "evaluation: {grid: 21 x 11, points: 64, condition_points: 16}\n";

static void complain(const sg_diagnostic *diagnostic)
{
    char text[2048];
    sg_diagnostic_format(diagnostic, text, sizeof text);
    fail_msg("%s", text);
}

static sg_pinn *read_pinn(const char *text, const char *const *sets, size_t count)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "test", text, strlen(text), sets, count, NULL, &diagnostic) != SG_OK)
        complain(&diagnostic);
    return pinn;
}

static sg_pinn *open_shipped(const char *name)
{
    const char *const sets[] = {"network.precision=double", "network.hidden=2 x 6"};
    char path[512];
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    snprintf(path, sizeof path, "%s/../problems/%s.yaml", SG_TEST_DATA, name);
    if (sg_pinn_open(&pinn, path, sets, 2, NULL, &diagnostic) != SG_OK)
        complain(&diagnostic);
    return pinn;
}

/* A few items for each set. */
static sg_pinn_batch *small_batch(sg_pinn *pinn, sg_pool *pool)
{
    static const size_t items[MOST_SETS] = {ITEMS, ITEMS, ITEMS, ITEMS, ITEMS, ITEMS, ITEMS, ITEMS};
    sg_pinn_batch_config config = sg_pinn_batch_defaults();
    sg_pinn_batch *batch;
    config.items = items;
    config.tangents = true;
    config.pool = pool;
    assert_true(sg_pinn_describe(pinn)->set_count <= MOST_SETS);
    assert_ok(sg_pinn_batch_create(&batch, pinn, &config, NULL));
    sg_pinn_draw(batch, 5);
    return batch;
}

static void *reserve(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

static double loss_of(sg_pinn_batch *batch)
{
    sg_pinn_loss loss;
    sg_pinn_loss_at(batch, &loss);
    return loss.total;
}

/* ---- Derivatives ------------------------------------------------------------------------------
 */

static const char *const shipped[] = {"burgers", "burgers3d", "heat",  "helmholtz",
                                      "poisson", "wave",      "cavity"};
enum { SHIPPED = sizeof shipped / sizeof shipped[0] };

/* Sixth-order differences, whose error is far below the tolerance for weights of order one. */
static const double stencil[] = {-1, 9, -45, 0, 45, -9, 1};
static const double spacing = 1e-3;

static void check_gradient(sg_pinn *pinn, const char *name)
{
    sg_pinn_batch *batch = small_batch(pinn, NULL);
    size_t count = sg_params_elements(sg_pinn_params(pinn));
    double *values = sg_jet_network_values(sg_pinn_network(pinn));
    const double *gradient = sg_jet_network_gradients(sg_pinn_network(pinn));
    double largest = 0;
    sg_pinn_loss loss;
    sg_pinn_gradient(batch, NULL, &loss);
    double weighted = 0;
    for (size_t k = 0; k < loss.term_count; k++)
        weighted += loss.terms[k].weight * loss.terms[k].value;
    assert_relative(weighted, loss.total, 1e-12);
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(gradient[i]));
    assert_true(largest > 0);
    for (size_t i = 0; i < count; i += 3) {
        double centre = values[i], sum = 0;
        for (int k = 0; k < 7; k++) {
            values[i] = centre + (k - 3) * spacing;
            sum += stencil[k] * loss_of(batch);
        }
        values[i] = centre;
        double slope = sum / (60 * spacing);
        if (fabs(slope - gradient[i]) > 1e-7 * largest)
            fail_msg("%s, parameter %zu: %.12g, by differences %.12g", name, i, gradient[i], slope);
    }
    sg_pinn_batch_destroy(batch);
}

static void test_gradients_of_shipped_problems(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHIPPED; i++) {
        sg_pinn *pinn = open_shipped(shipped[i]);
        check_gradient(pinn, shipped[i]);
        sg_pinn_close(pinn);
    }
}

/* A vector that is not special in any way. */
static void fill(double *vector, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vector[i] = sin(1.7 * (double)i + 0.3);
}

static double norm(const double *vector, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += vector[i] * vector[i];
    return sqrt(sum);
}

static void assert_vectors(const double *a, const double *b, size_t count, double tolerance,
                           const char *what)
{
    double size = norm(b, count);
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * size))
            fail_msg("%s, element %zu: %.12g, not %.12g", what, i, a[i], b[i]);
}

/* The whole Jacobian (rows, parameters), set after set. */
static double *jacobian(sg_pinn_batch *batch, const sg_pinn_information *information,
                        size_t parameters)
{
    double *rows = reserve(sg_pinn_residual_count(batch) * parameters, sizeof *rows), *at = rows;
    for (size_t s = 0; s < information->set_count; s++) {
        size_t items = sg_pinn_items(batch, s), half = items / 2;
        size_t step = information->sets[s].components * parameters;
        assert_ok(sg_pinn_rows(batch, s, 0, half, at));
        assert_ok(sg_pinn_rows(batch, s, half, items - half, at + half * step));
        at += items * step;
    }
    return rows;
}

/* The engine's Jacobian as a whole (jet.h) is that of the batch, row for row. */
static void check_whole_jacobian(sg_pinn_batch *batch, const double *v, const double *w, size_t n,
                                 const char *name)
{
    size_t m = sg_pinn_residual_count(batch);
    double *pushed = reserve(2 * m, sizeof *pushed), *pulled = reserve(2 * n, sizeof *pulled);
    double *residuals = reserve(2 * m, sizeof *residuals);
    sg_jacobian_config config = {.jet = sg_pinn_engine(batch)};
    sg_jacobian *whole;
    assert_ok(sg_jacobian_create(&whole, &config, NULL));
    assert_int_equal(sg_jacobian_residuals(whole), m);
    assert_ok(sg_jacobian_push(whole, 1, v, pushed));
    assert_ok(sg_jacobian_pull(whole, 1, w, pulled));
    sg_normal_equations parts = {.residuals = residuals};
    assert_ok(sg_jacobian_normal(whole, &parts));
    assert_ok(sg_pinn_push(batch, v, pushed + m));
    assert_ok(sg_pinn_pull(batch, w, pulled + n));
    sg_pinn_residuals(batch, residuals + m);
    assert_vectors(pushed, pushed + m, m, 1e-12, name);
    assert_vectors(pulled, pulled + n, n, 1e-12, name);
    assert_vectors(residuals, residuals + m, m, 1e-12, name);
    sg_jacobian_destroy(whole);
    free(pushed);
    free(pulled);
    free(residuals);
}

static void check_jacobian(sg_pinn *pinn, const char *name)
{
    sg_pinn_batch *batch = small_batch(pinn, NULL);
    size_t n = sg_params_elements(sg_pinn_params(pinn)), m = sg_pinn_residual_count(batch);
    double *values = sg_jet_network_values(sg_pinn_network(pinn));
    double *rows = jacobian(batch, sg_pinn_describe(pinn), n);
    double *v = reserve(n, sizeof *v), *w = reserve(m, sizeof *w), *start = reserve(n, sizeof *v);
    double *pushed = reserve(m, sizeof *pushed), *pulled = reserve(n, sizeof *pulled);
    double *want_m = reserve(m, sizeof *want_m), *want_n = reserve(n, sizeof *want_n);
    double *r = reserve(m, sizeof *r);
    fill(v, n);
    fill(w, m);
    memcpy(start, values, n * sizeof *start);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < n; k++) {
            want_m[i] += rows[i * n + k] * v[k];
            want_n[k] += rows[i * n + k] * w[i];
        }
    assert_ok(sg_pinn_push(batch, v, pushed));
    assert_ok(sg_pinn_pull(batch, w, pulled));
    assert_vectors(pushed, want_m, m, 1e-12, name);
    assert_vectors(pulled, want_n, n, 1e-12, name);
    check_whole_jacobian(batch, v, w, n, name);

    /* J v again, as the slope of the residual vector along v. */
    memset(want_m, 0, m * sizeof *want_m);
    for (int k = 0; k < 7; k++) {
        for (size_t i = 0; i < n; i++)
            values[i] = start[i] + (k - 3) * 1e-4 * v[i];
        sg_pinn_residuals(batch, r);
        for (size_t i = 0; i < m; i++)
            want_m[i] += stencil[k] * r[i] / (60 * 1e-4);
    }
    memcpy(values, start, n * sizeof *start);
    assert_vectors(pushed, want_m, m, 1e-7, name);

    /* L = |r|^2 / 2, and its gradient is J^T r. */
    sg_pinn_loss loss;
    sg_pinn_residuals(batch, r);
    sg_pinn_gradient(batch, want_n, &loss);
    assert_ok(sg_pinn_pull(batch, r, pulled));
    assert_relative(norm(r, m) * norm(r, m) / 2, loss.total, 1e-12);
    assert_vectors(pulled, want_n, n, 1e-12, name);
    double *const arrays[] = {rows, v, w, start, pushed, pulled, want_m, want_n, r};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    sg_pinn_batch_destroy(batch);
}

static void test_jacobians(void **state)
{
    (void)state;
    const char *const wide[] = {"network.precision=double"};
    for (size_t i = 0; i < SHIPPED; i++) {
        sg_pinn *pinn = open_shipped(shipped[i]);
        check_jacobian(pinn, shipped[i]);
        sg_pinn_close(pinn);
    }
    sg_pinn *pinn = read_pinn(problem_of_everything, wide, 1);
    check_gradient(pinn, "everything");
    check_jacobian(pinn, "everything");
    sg_pinn_close(pinn);
}

static void test_jacobian_calls_that_are_refused(void **state)
{
    (void)state;
    sg_pinn *pinn = read_pinn(heat, NULL, 0);
    sg_pinn_batch *batch;
    float row[1], direction[1];
    double products[1];
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    assert_status(sg_pinn_rows(batch, 9, 0, 0, row), SG_ERROR_ARGUMENT);
    assert_status(sg_pinn_rows(batch, 0, 128, 1, row), SG_ERROR_ARGUMENT);
    assert_status(sg_pinn_push(batch, direction, products), SG_ERROR_ORDER);
    sg_pinn_batch_destroy(batch);
    sg_pinn_batch_config config = {.items = (const size_t[]){1, 0, 1}};
    assert_status(sg_pinn_batch_create(&batch, pinn, &config, NULL), SG_ERROR_ARGUMENT);
    assert_null(batch);
    sg_pinn_close(pinn);
}

/* ---- Points -----------------------------------------------------------------------------------
 */

static double *points_of(const sg_pinn *pinn, const sg_pinn_batch *batch, size_t set)
{
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    size_t width = information->sets[set].points_per_item * information->coordinate_count;
    double *points = reserve(sg_pinn_items(batch, set) * width, sizeof *points);
    sg_pinn_points(batch, set, points);
    return points;
}

/* Sampled points, given back as the caller's own, have the same loss and gradient to the bit. */
static void test_given_points_are_sampled_points(void **state)
{
    (void)state;
    const char *const precisions[] = {"network.precision=float", "network.precision=double"};
    for (int p = 0; p < 2; p++) {
        sg_pinn *pinn = read_pinn(problem_of_everything, &precisions[p], 1);
        size_t bytes = sg_params_elements(sg_pinn_params(pinn)) * (p ? sizeof(double) : 4);
        sg_pinn_batch *sampled, *given;
        sg_pinn_loss a, b;
        void *gradient = reserve(1, bytes), *again = reserve(1, bytes);
        assert_ok(sg_pinn_batch_create(&sampled, pinn, NULL, NULL));
        assert_ok(sg_pinn_batch_create(&given, pinn, NULL, NULL));
        sg_pinn_draw(sampled, 3);
        for (size_t s = 0; s < sg_pinn_describe(pinn)->set_count; s++) {
            double *points = points_of(pinn, sampled, s);
            assert_ok(sg_pinn_give(given, s, points, sg_pinn_items(sampled, s), NULL));
            double *back = points_of(pinn, given, s);
            size_t width = sg_pinn_describe(pinn)->sets[s].points_per_item * 3;
            assert_memory_equal(points, back, sg_pinn_items(given, s) * width * sizeof *points);
            free(points);
            free(back);
        }
        sg_pinn_draw(given, 99); /* given points stay */
        sg_pinn_gradient(sampled, gradient, &a);
        sg_pinn_gradient(given, again, &b);
        assert_memory_equal(&a.total, &b.total, sizeof a.total);
        assert_memory_equal(&a.output, &b.output, sizeof a.output);
        assert_memory_equal(&a.residual, &b.residual, sizeof a.residual);
        assert_memory_equal(gradient, again, bytes);
        for (size_t s = 0; s < sg_pinn_describe(pinn)->set_count; s++)
            assert_ok(sg_pinn_give(given, s, NULL, 0, NULL));
        sg_pinn_draw(given, 3);
        sg_pinn_gradient(given, again, &b);
        assert_memory_equal(gradient, again, bytes);
        sg_pinn_draw(given, 4);
        sg_pinn_gradient(given, again, &b);
        assert_true(a.total != b.total);
        free(gradient);
        free(again);
        sg_pinn_batch_destroy(sampled);
        sg_pinn_batch_destroy(given);
        sg_pinn_close(pinn);
    }
}

/* Half of the points: a mean over fewer items, found again through the residual vector. */
static void test_fewer_points(void **state)
{
    (void)state;
    const char *const wide[] = {"network.precision=double"};
    sg_pinn *pinn = read_pinn(problem_of_everything, wide, 1);
    sg_pinn_batch *batch = small_batch(pinn, NULL);
    double before[64], after[64];
    double *points = points_of(pinn, batch, 0);
    assert_int_equal(sg_pinn_residual_count(batch), ITEMS * (2 + 2 + 2 + 4));
    double *all = reserve(sg_pinn_residual_count(batch), sizeof *all);
    sg_pinn_residuals(batch, all);
    memcpy(before, all, 2 * ITEMS * sizeof *all);
    assert_ok(sg_pinn_give(batch, 0, points, 3, NULL));
    assert_int_equal(sg_pinn_items(batch, 0), 3);
    sg_pinn_residuals(batch, all);
    memcpy(after, all, 6 * sizeof *all);
    for (int i = 0; i < 6; i++) /* sqrt(2 w / N) r with another N */
        assert_relative(after[i] * sqrt(3.0), before[i] * sqrt((double)ITEMS), 1e-13);
    free(points);
    free(all);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

static void test_points_that_are_refused(void **state)
{
    (void)state;
    sg_pinn *pinn = read_pinn(problem_of_everything, NULL, 0);
    sg_pinn_batch *batch = small_batch(pinn, NULL);
    const double inside[] = {0.1, 0.5, 0.2}, nowhere[] = {0.1, NAN, 0.2};
    sg_diagnostic diagnostic;
    double before = loss_of(batch);
    assert_status(sg_pinn_give(batch, 2, inside, 1, &diagnostic), SG_ERROR_ARGUMENT);
    assert_non_null(strstr(diagnostic.message, "none of its faces"));
    assert_status(sg_pinn_give(batch, 0, nowhere, 1, &diagnostic), SG_ERROR_ARGUMENT);
    assert_non_null(strstr(diagnostic.message, "not finite"));
    assert_status(sg_pinn_give(batch, 9, inside, 1, &diagnostic), SG_ERROR_ARGUMENT);
    assert_true(diagnostic.message[0]);
    assert_status(sg_pinn_give(batch, 0, inside, 0, NULL), SG_ERROR_ARGUMENT);
    assert_true(loss_of(batch) == before);
    assert_ok(
        sg_pinn_give(batch, 1, inside, 1, NULL)); /* no normals there: points may be anywhere */
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* The gradient of each set's loss is J^T R with the residuals of the other sets at 0, and they add
 * up to that of all; loss and dL/du are those of all. */
static void test_gradients_of_each_set(void **state)
{
    (void)state;
    for (size_t p = 0; p < SHIPPED; p++) {
        sg_pinn *pinn = open_shipped(shipped[p]);
        sg_pinn_batch *batch = small_batch(pinn, NULL);
        const sg_pinn_information *about = sg_pinn_describe(pinn);
        size_t n = sg_params_elements(sg_pinn_params(pinn)), rows = sg_pinn_residual_count(batch);
        double *sets = reserve(MOST_SETS * n, sizeof *sets), *whole = reserve(n, sizeof *whole);
        double *pulled = reserve(n, sizeof *pulled), *r = reserve(rows, sizeof *r);
        double *kept = reserve(rows, sizeof *kept);
        void *gradients[MOST_SETS];
        sg_pinn_loss loss, all;
        for (size_t s = 0; s < MOST_SETS; s++)
            gradients[s] = sets + s * n;
        sg_pinn_gradient(batch, whole, &all);
        double of_all = all.total, mean = all.output.mean, m2 = all.output.m2;
        sg_pinn_gradients(batch, gradients, &loss);
        assert_relative(loss.total, of_all, 1e-12);
        assert_true(loss.output.count == all.output.count);
        assert_close(loss.output.mean, mean, 1e-12);
        assert_relative(loss.output.m2, m2, 1e-10);
        assert_vectors(sg_jet_network_gradients(sg_pinn_network(pinn)), whole, n, 1e-12,
                       shipped[p]);
        sg_pinn_residuals(batch, r);
        size_t begin = 0;
        for (size_t s = 0; s < about->set_count; s++) {
            size_t count = sg_pinn_items(batch, s) * about->sets[s].components;
            memset(kept, 0, rows * sizeof *kept);
            memcpy(kept + begin, r + begin, count * sizeof *kept);
            assert_ok(sg_pinn_pull(batch, kept, pulled));
            for (size_t i = 0; i < n; i++)
                assert_true(fabs(sets[s * n + i] - pulled[i]) <= 1e-12 * norm(whole, n));
            begin += count;
        }
        free(sets);
        free(whole);
        free(pulled);
        free(r);
        free(kept);
        sg_pinn_batch_destroy(batch);
        sg_pinn_close(pinn);
    }
}

static void test_multiadam(void **state)
{
    (void)state;
    const char *const sets[] = {"training.optimizer={name: multiadam, betas: [0.99, 0.99]}",
                                "training.stablegrad=off"};
    float *first = NULL;
    size_t bytes = 0;
    for (int threads = 1; threads <= 3; threads += 2) {
        sg_pinn *pinn = read_pinn(heat, sets, 2);
        sg_pool *pool;
        sg_pinn_result result;
        assert_ok(sg_pool_create(&pool, threads, NULL));
        sg_pinn_train_config config = {.pool = pool};
        assert_int_equal(sg_pinn_optim_config(pinn).groups, 3);
        assert_ok(sg_pinn_train(pinn, &config, &result, NULL));
        assert_int_equal(result.steps, 40);
        bytes = sg_params_elements(sg_pinn_params(pinn)) * sizeof(float);
        if (!first) {
            first = reserve(1, bytes);
            memcpy(first, sg_jet_network_values(sg_pinn_network(pinn)), bytes);
        }
        assert_memory_equal(first, sg_jet_network_values(sg_pinn_network(pinn)), bytes);
        sg_pool_destroy(pool);
        sg_pinn_close(pinn);
    }
    free(first);
    sg_pinn *refused;
    sg_diagnostic diagnostic;
    const char *const signs[] = {"training.optimizer.name=multiadam",
                                 "training.stablegrad.method=sign"};
    assert_status(sg_pinn_read(&refused, "test", heat, strlen(heat), signs, 2, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "multiadam keeps the gradients"));
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    sg_pinn *pinn = read_pinn(problem_of_everything, NULL, 0);
    sg_pool *pool;
    assert_ok(sg_pool_create(&pool, 3, NULL));
    sg_pinn_batch_config config = {.pool = pool};
    sg_pinn_batch *one, *three;
    assert_ok(sg_pinn_batch_create(&one, pinn, NULL, NULL));
    assert_ok(sg_pinn_batch_create(&three, pinn, &config, NULL));
    size_t bytes = sg_params_elements(sg_pinn_params(pinn)) * sizeof(float);
    float *a = reserve(1, bytes), *b = reserve(1, bytes);
    sg_pinn_loss loss;
    sg_pinn_gradient(one, a, &loss);
    sg_pinn_gradient(three, b, &loss);
    assert_memory_equal(a, b, bytes);
    free(a);
    free(b);
    sg_pinn_batch_destroy(one);
    sg_pinn_batch_destroy(three);
    sg_pool_destroy(pool);
    sg_pinn_close(pinn);
}

/* ---- Values -----------------------------------------------------------------------------------
 */

static void test_values_by_name(void **state)
{
    (void)state;
    const char *const wide[] = {"network.precision=double"};
    const char *const wanted[] = {"u", "u_x", "u_t - k*u_xx", "x*t"};
    const char *const wrong[] = {"u", "u_y"};
    sg_pinn *pinn = read_pinn(heat, wide, 1);
    double h = 1e-4, x = 0.3, t = 0.6, values[4][2], exact[2];
    double points[4] = {x - h, t, x + h, t};
    assert_ok(sg_pinn_evaluate(pinn, wanted, 1, points, 2, &values[0][0], NULL, NULL));
    double slope = (values[0][1] - values[0][0]) / (2 * h);
    points[0] = x;
    assert_ok(sg_pinn_evaluate(pinn, wanted, 4, points, 2, &values[0][0], NULL, NULL));
    assert_close(values[1][0], slope, 1e-7);
    assert_close(values[3][0], x * t, 1e-15);
    assert_ok(sg_pinn_exact(pinn, points, 2, exact, NULL));
    assert_close(exact[0], exp(-0.1 * M_PI * M_PI * t) * sin(M_PI * x), 1e-14);

    sg_pinn_batch *batch = small_batch(pinn, NULL);
    double r[64];
    assert_ok(sg_pinn_give(batch, 0, points, 2, NULL));
    sg_pinn_residuals(batch, r);
    for (int i = 0; i < 2; i++) /* weight 1, two items: sqrt(2 / 2) r */
        assert_close(r[i], values[2][i], 1e-13);
    sg_pinn_batch_destroy(batch);

    sg_diagnostic diagnostic;
    assert_status(sg_pinn_evaluate(pinn, wrong, 2, points, 2, &values[0][0], NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.file, "expression");
    assert_non_null(strstr(diagnostic.message, "u_y"));
    assert_status(sg_pinn_evaluate(pinn, wrong, 0, points, 2, &values[0][0], NULL, NULL),
                  SG_ERROR_ARGUMENT);
    sg_pinn_close(pinn);
}

static void test_description(void **state)
{
    (void)state;
    const char *const sets[] = {"name=other", "training.steps=77"};
    sg_pinn *pinn = read_pinn(problem_of_everything, sets, 2), *copy;
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    assert_string_equal(information->name, "other");
    assert_int_equal(information->steps, 77);
    assert_int_equal(information->coordinate_count, 3);
    assert_string_equal(information->coordinates[0].name, "x");
    assert_true(information->coordinates[0].lower == -1 && information->coordinates[0].upper == 1);
    assert_int_equal(information->field_count, 2);
    assert_string_equal(information->fields[1], "v");
    assert_int_equal(information->set_count, 4);
    assert_string_equal(information->sets[0].name, "domain");
    assert_int_equal(information->sets[0].items, 301);
    assert_int_equal(information->sets[3].points_per_item, 2);
    assert_int_equal(information->term_count, 5);
    assert_string_equal(information->terms[1].name, "second");
    assert_true(information->terms[2].weight == 10 && information->terms[2].set == 1);
    assert_false(information->has_exact);
    double values[6];
    assert_status(sg_pinn_exact(pinn, (const double[]){0, 0, 0}, 1, values, NULL),
                  SG_ERROR_UNSUPPORTED);
    sg_pinn_error errors[3];
    assert_status(sg_pinn_errors(pinn, errors, NULL), SG_ERROR_UNSUPPORTED);

    /* The resolved text is the same problem. */
    const char *text, *again;
    assert_ok(sg_pinn_text(pinn, &text));
    copy = read_pinn(text, NULL, 0);
    assert_ok(sg_pinn_text(copy, &again));
    assert_string_equal(text, again);
    sg_pinn_close(copy);
    sg_pinn_close(pinn);
    sg_pinn_close(NULL);
}

/* ---- Training ---------------------------------------------------------------------------------
 */

typedef struct diary {
    uint64_t calls, stop_at;
    double first, last;
} diary;

static bool write_down(void *context, const sg_pinn_step *step)
{
    diary *d = context;
    d->calls++;
    assert_int_equal(step->step, d->calls);
    assert_int_equal(step->loss.term_count, 3);
    if (d->calls == 1)
        d->first = step->loss.total;
    d->last = step->loss.total;
    return d->calls != d->stop_at;
}

static void test_training(void **state)
{
    (void)state;
    sg_pinn *pinn = read_pinn(heat, NULL, 0), *other = read_pinn(heat, NULL, 0);
    size_t bytes = sg_params_elements(sg_pinn_params(pinn)) * sizeof(float);
    diary d = {0};
    sg_pinn_train_config config = {.step = write_down, .context = &d};
    sg_pinn_result result;
    sg_pinn_error errors[2];
    assert_ok(sg_pinn_train(pinn, &config, &result, NULL));
    assert_int_equal(result.end, SG_PINN_COMPLETE);
    assert_int_equal(result.steps, 40);
    assert_int_equal(result.skipped, 0);
    assert_int_equal(d.calls, 40);
    assert_true(result.loss == d.last && d.last < d.first);
    assert_ok(sg_pinn_errors(pinn, errors, NULL));
    assert_string_equal(errors[0].field, "u");
    assert_string_equal(errors[1].field, "all");
    assert_true(errors[0].relative_l2 < 1 && errors[0].relative_l2 == errors[1].relative_l2);

    /* Step by step, and with one's own scaler and optimizer, it is the same. */
    sg_pinn_batch *batch;
    sg_scaler *scaler;
    sg_optim *optim;
    sg_scale_config scale = sg_pinn_scale_config(other);
    sg_optim_config adamw = sg_pinn_optim_config(other);
    assert_ok(sg_pinn_batch_create(&batch, other, NULL, NULL));
    assert_ok(sg_scaler_create(&scaler, sg_pinn_params(other), &scale, NULL, NULL));
    assert_ok(sg_optim_create(&optim, sg_pinn_params(other), &adamw, NULL, NULL));
    for (uint64_t step = 0; step < 40; step++) {
        sg_pinn_loss loss;
        sg_pinn_draw(batch, step);
        sg_pinn_gradient(batch, NULL, &loss);
        assert_ok(sg_scaler_observe_moments(scaler, &loss.output));
        assert_ok(sg_scaler_measure(scaler, step));
        assert_ok(sg_optim_step(optim, scaler, NULL));
    }
    assert_memory_equal(sg_jet_network_values(sg_pinn_network(pinn)),
                        sg_jet_network_values(sg_pinn_network(other)), bytes);
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_pinn_batch_destroy(batch);

    /* The callback ends it. */
    assert_ok(sg_pinn_initialize(other, 7));
    d = (diary){.stop_at = 3};
    assert_ok(sg_pinn_train(other, &config, &result, NULL));
    assert_int_equal(result.end, SG_PINN_STOPPED);
    assert_int_equal(result.steps, 3);
    /* At the last step there is nothing left to end. */
    d = (diary){.stop_at = 40};
    assert_ok(sg_pinn_train(other, &config, &result, NULL));
    assert_int_equal(result.end, SG_PINN_COMPLETE);
    sg_pinn_close(other);
    sg_pinn_close(pinn);
}

/* Weights that overflow: every step is skipped, and training gives up. */
static void test_training_that_fails(void **state)
{
    (void)state;
    sg_pinn *pinn = read_pinn(heat, NULL, 0);
    sg_pinn_result result;
    ((float *)sg_jet_network_values(sg_pinn_network(pinn)))[0] = INFINITY;
    assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
    assert_int_equal(result.end, SG_PINN_FAILED);
    assert_int_equal(result.steps, SG_PINN_MOST_SKIPPED);
    assert_int_equal(result.skipped, SG_PINN_MOST_SKIPPED);
    sg_pinn_close(pinn);
    /* And when there were only a few to be. */
    const char *const few[] = {"training.steps=3"};
    pinn = read_pinn(heat, few, 1);
    ((float *)sg_jet_network_values(sg_pinn_network(pinn)))[0] = INFINITY;
    assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
    assert_int_equal(result.end, SG_PINN_FAILED);
    assert_int_equal(result.skipped, 3);
    sg_pinn_close(pinn);
}

static void test_weight_files(void **state)
{
    (void)state;
    const char *const wide[] = {"network.hidden=2 x 13"};
    char path[] = "/tmp/sg_pinn_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    sg_pinn *pinn = read_pinn(heat, NULL, 0), *other = read_pinn(heat, wide, 1);
    size_t bytes = sg_params_elements(sg_pinn_params(pinn)) * sizeof(float);
    void *values = sg_jet_network_values(sg_pinn_network(pinn)), *kept = reserve(1, bytes);
    sg_diagnostic diagnostic;
    memcpy(kept, values, bytes);
    assert_ok(sg_pinn_save(pinn, path, &diagnostic));
    assert_ok(sg_pinn_initialize(pinn, 12));
    assert_memory_not_equal(values, kept, bytes);
    assert_ok(sg_pinn_load(pinn, path, &diagnostic));
    assert_memory_equal(values, kept, bytes);
    assert_status(sg_pinn_load(other, path, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "shape"));
    assert_status(sg_pinn_load(pinn, "/nonexistent", &diagnostic), SG_ERROR_IO);
    assert_true(diagnostic.message[0]);
    assert_status(sg_pinn_save(pinn, "/nonexistent/folder/w", NULL), SG_ERROR_IO);
    assert_memory_equal(values, kept, bytes);
    unlink(path);
    free(kept);
    sg_pinn_close(other);
    sg_pinn_close(pinn);
}

/* ---- Mistakes, and memory ----------------------------------------------------------------------
 */

static void test_mistakes_are_data(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "a: [", "coordinates: {x: [0, 1]}\n", "fields: [u]\n",
                                        "coordinates: {x: [0, 1]}\nfields: [u]\n"
                                        "equations: {one: u_xx - w}\n"};
    const char *const sets[] = {"trainin.steps=3"};
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_status(
            sg_pinn_read(&pinn, "p", texts[i], strlen(texts[i]), NULL, 0, NULL, &diagnostic),
            SG_ERROR_FORMAT);
        assert_null(pinn);
        assert_true(diagnostic.message[0]);
        assert_status(sg_pinn_read(&pinn, "p", texts[i], strlen(texts[i]), NULL, 0, NULL, NULL),
                      SG_ERROR_FORMAT);
    }
    assert_string_equal(diagnostic.file, "p");
    assert_int_equal(diagnostic.line, 3);
    assert_non_null(strstr(diagnostic.message, "'w'"));
    assert_status(sg_pinn_read(&pinn, "p", heat, strlen(heat), sets, 1, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.suggestion, "training"));
    assert_status(sg_pinn_open(&pinn, "/no/such/file.yaml", NULL, 0, NULL, &diagnostic),
                  SG_ERROR_IO);
    assert_null(pinn);
    assert_string_equal(diagnostic.file, "/no/such/file.yaml");
}

/* Everything a caller does once; SG_ERROR_MEMORY as soon as an allocation fails. */
static sg_status use_everything(const sg_allocator *allocator, void *context)
{
    (void)context;
    const char *const wanted[] = {"u", "u_x*u_xx"}, *text;
    const double points[] = {0.2, 0.3, 0.4, 0.5};
    const char *const sets[] = {"training.steps=2"};
    double values[4];
    sg_pinn *pinn = NULL;
    sg_pinn_batch *batch = NULL;
    sg_pinn_error errors[2];
    sg_diagnostic diagnostic;
    sg_status status =
        sg_pinn_read(&pinn, "heat", heat, strlen(heat), sets, 1, allocator, &diagnostic);
    if (status == SG_OK)
        status = sg_pinn_text(pinn, &text);
    if (status == SG_OK)
        status = sg_pinn_batch_create(&batch, pinn, NULL, allocator);
    if (status == SG_OK)
        status = sg_pinn_give(batch, 0, points, 2, &diagnostic);
    if (status == SG_OK)
        status = sg_pinn_evaluate(pinn, wanted, 2, points, 2, values, NULL, &diagnostic);
    if (status == SG_OK)
        status = sg_pinn_exact(pinn, points, 2, values, NULL);
    if (status == SG_OK)
        status = sg_pinn_errors(pinn, errors, NULL);
    if (status == SG_OK)
        status = sg_pinn_train(pinn, NULL, NULL, allocator);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
    return status;
}

static void test_every_allocation_in_turn(void **state)
{
    (void)state;
    each_allocation_fails(use_everything, NULL, 31);
}

/* Work on a batch and repeated values take no memory that stays. */
static void test_memory_does_not_grow(void **state)
{
    (void)state;
    const char *const wanted[] = {"u", "u_x*u_xx"};
    const double points[] = {0.2, 0.3, 0.4, 0.5};
    double values[4];
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    assert_ok(sg_pinn_read(&pinn, "heat", heat, strlen(heat), NULL, 0, &allocator, NULL));
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, &allocator));
    assert_ok(sg_pinn_evaluate(pinn, wanted, 2, points, 2, values, NULL, NULL));
    long live = counter.live, made = counter.made;
    for (uint64_t step = 0; step < 3; step++) {
        sg_pinn_draw(batch, step);
        sg_pinn_gradient(batch, NULL, &loss);
        sg_pinn_loss_at(batch, &loss);
    }
    assert_int_equal(counter.made, made);
    for (int i = 0; i < 5; i++)
        assert_ok(sg_pinn_evaluate(pinn, wanted, 2, points, 2, values, NULL, NULL));
    assert_int_equal(counter.live, live);

    /* After memory ran out once, the handle works again. */
    counter.fail_at = counter.made;
    const char *const more[] = {"u_t*u_xx + u_xxx"};
    assert_status(sg_pinn_evaluate(pinn, more, 1, points, 2, values, NULL, NULL), SG_ERROR_MEMORY);
    counter.fail_at = -1;
    assert_ok(sg_pinn_evaluate(pinn, more, 1, points, 2, values, NULL, NULL));
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
    assert_int_equal(counter.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_of_shipped_problems),
        cmocka_unit_test(test_jacobians),
        cmocka_unit_test(test_jacobian_calls_that_are_refused),
        cmocka_unit_test(test_given_points_are_sampled_points),
        cmocka_unit_test(test_fewer_points),
        cmocka_unit_test(test_points_that_are_refused),
        cmocka_unit_test(test_gradients_of_each_set),
        cmocka_unit_test(test_multiadam),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_values_by_name),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_training_that_fails),
        cmocka_unit_test(test_weight_files),
        cmocka_unit_test(test_mistakes_are_data),
        cmocka_unit_test(test_every_allocation_in_turn),
        cmocka_unit_test(test_memory_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
