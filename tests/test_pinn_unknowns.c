/* Unknown constants: their map, gradients and Jacobians, optimizers, files, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pinn/pinn.h"
#include "support/residuals.h"
#include "support/support.h"

/* Unknowns in an equation, a definition, a condition, a pair and on both sides of an integral. */
static const char everything[] =
    "coordinates: {x: [-1, 1], t: [0, 1]}\n"
    "fields: [u, v]\n"
    "definitions: {flux: -k*u_x}\n"
    "unknowns:\n"
    "  k: {start: 0.5, bounds: [0.1, 2]}\n"
    "  c: {start: -3, scale: 2}\n"
    "  m: {start: 2, bounds: [1, inf]}\n"
    "  w: {start: 1, bounds: [-inf, 4]}\n"
    "equations:\n"
    "  heat: u_t + flux_x = c*v\n"
    "  other: v_t = m*exp(-k)*v_xx + sin(c*u)\n"
    "conditions:\n"
    "  start: {at: t = 0, u: c*sin(pi*x), v: m, points: 37, weight: 3}\n"
    "  ends: {periodic: x, slopes: true, points: 29}\n"
    "  tied: {at: x = -1, expression: u - k*v_x = 0, points: 31}\n"
    "  mass: {over: t = 1, w*u: k, points: 50}\n"
    "points: 141\n"
    "network: {hidden: 2 x 7}\n";

static sg_pinn *open_with(const char *text, const char *const *overrides, size_t count)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "test.yaml", text, strlen(text), overrides, count, NULL, &diagnostic) !=
        SG_OK)
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

static sg_pinn *open_as(const char *text, const char *override)
{
    return open_with(text, &override, override ? 1 : 0);
}

/* ---- The map ----------------------------------------------------------------------------------
 */

static void values_stay_between_their_bounds(void **state)
{
    (void)state;
    const sgi_unknown all[] = {
        {"a", "unknowns.a", 1e8, -INFINITY, INFINITY, 1e8, 1},
        {"b", "unknowns.b", 1e-8, 0, INFINITY, 1e-8, 1},
        {"c", "unknowns.c", -3, -INFINITY, -1, 3, 1},
        {"d", "unknowns.d", 1e-5, 1e-10, 1e-2, 1e-5, 1},
        {"e", "unknowns.e", 300, 299, 301, 0.5, 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const sgi_unknown *u = &all[i];
        assert_relative(sgi_unknown_value(u, 0), u->start, 1e-14);
        assert_relative(sgi_unknown_slope(u, 0), u->scale, 1e-12);
        double before = -INFINITY;
        for (double p = -20; p <= 20; p += 0.37) {
            double value = sgi_unknown_value(u, p), h = 1e-5;
            double slope = (sgi_unknown_value(u, p + h) - sgi_unknown_value(u, p - h)) / (2 * h);
            assert_true(value > u->lower && value < u->upper && value > before);
            if (fabs(sgi_unknown_slope(u, p) - slope) > 1e-6 * (u->scale + slope))
                fail_msg("%s at %g: %g, by differences %g", u->name, p, sgi_unknown_slope(u, p),
                         slope);
            double back = sgi_unknown_value(u, sgi_unknown_parameter(u, value));
            assert_relative(back, value, 1e-12);
            before = value;
        }
        for (double p = 1; p < 1e300; p *= 1e10) { /* also where rounding would reach a bound */
            double high = sgi_unknown_value(u, p), low = sgi_unknown_value(u, -p);
            assert_true(high > u->lower && high < u->upper);
            assert_true(low > u->lower && low < u->upper);
        }
    }
}

static void the_scale_follows_from_start_and_bounds(void **state)
{
    (void)state;
    static const char *const texts[] = {"1e8",
                                        "-2e-8",
                                        "0",
                                        "{start: 0, bounds: [-4, 4]}",
                                        "{start: 0, bounds: [-3, inf]}",
                                        "{start: 300, bounds: [299, 301]}",
                                        "{start: 7, scale: 0.25}"};
    static const double scales[] = {1e8, 2e-8, 1, 2, 3, 0.5, 0.25};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "coordinates: {x: [0, 1]}\nfields: [u]\nunknowns: {k: %s}\n"
                 "equations: {e: u_x = k*u}\n",
                 texts[i]);
        sg_pinn *pinn = open_as(text, NULL);
        assert_relative(sg_pinn_describe(pinn)->unknowns[0].scale, scales[i], 1e-15);
        sg_pinn_close(pinn);
    }
}

/* ---- Gradients and Jacobians ------------------------------------------------------------------
 */

/* Away from the start, so that the slopes of the map take part. */
static void move(const sg_pinn *pinn)
{
    size_t count = sg_jet_network_parameters(pinn->network);
    for (size_t k = 0; k < 4; k++) {
        double value = 0.3 * (double)(k + 1) - 0.6;
        if (sg_jet_network_type(pinn->network) == SG_FLOAT32)
            ((float *)sg_jet_network_values(pinn->network))[count - 4 + k] = (float)value;
        else
            ((double *)sg_jet_network_values(pinn->network))[count - 4 + k] = value;
    }
}

static sg_pinn_batch *batch_of(sg_pinn *pinn, sg_pool *pool, sg_isa isa)
{
    sg_pinn_batch *batch;
    sg_pinn_batch_config config = {.tangents = true, .pool = pool, .isa = isa};
    assert_ok(sg_pinn_batch_create(&batch, pinn, &config, NULL));
    return batch;
}

static double loss_of(sg_pinn_batch *batch)
{
    sg_pinn_loss loss;
    sg_pinn_loss_at(batch, &loss);
    return loss.total;
}

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    sg_pinn *pinn = open_as(everything, "network.precision=double");
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas);
    size_t count = sg_jet_network_parameters(pinn->network);
    double *values = sg_jet_network_values(pinn->network);
    double *gradient = calloc(count, sizeof *gradient);
    assert_non_null(gradient);
    move(pinn);
    for (size_t k = 0; k < isa_count; k++) {
        sg_pinn_batch *batch = batch_of(pinn, NULL, isas[k]);
        sg_pinn_loss loss;
        sg_pinn_gradient(batch, gradient, &loss);
        for (size_t i = count - 4 - 6; i < count; i++) {
            static const double weights[] = {-1, 9, -45, 0, 45, -9, 1};
            double centre = values[i], h = 1e-3, sum = 0;
            for (int s = 0; s < 7; s++) {
                values[i] = centre + (s - 3) * h;
                sum += weights[s] * loss_of(batch);
            }
            values[i] = centre;
            assert_true(i + 4 < count || fabs(gradient[i]) > 1e-3);
            if (fabs(sum / (60 * h) - gradient[i]) > 1e-8 * (1 + fabs(gradient[i])))
                fail_msg("parameter %zu: %.12g, by differences %.12g", i, gradient[i],
                         sum / (60 * h));
        }
        sg_pinn_batch_destroy(batch);
    }
    free(gradient);
    sg_pinn_close(pinn);
}

static void float_agrees_with_double(void **state)
{
    (void)state;
    sg_pinn *wide = open_as(everything, "network.precision=double");
    sg_pinn *narrow = open_as(everything, "network.precision=float");
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas), count = sg_jet_network_parameters(wide->network);
    sg_pinn_loss loss;
    move(wide);
    move(narrow);
    sg_pinn_batch *batch = batch_of(wide, NULL, SG_ISA_AUTO);
    sg_pinn_gradient(batch, NULL, &loss);
    sg_pinn_batch_destroy(batch);
    const double *exact = sg_jet_network_gradients(wide->network);
    for (size_t k = 0; k < isa_count; k++) {
        batch = batch_of(narrow, NULL, isas[k]);
        sg_pinn_gradient(batch, NULL, &loss);
        const float *rounded = sg_jet_network_gradients(narrow->network);
        for (size_t i = count - 4; i < count; i++)
            assert_close((double)rounded[i], exact[i], 1e-3 * (1 + fabs(exact[i])));
        sg_pinn_batch_destroy(batch);
    }
    sg_pinn_close(wide);
    sg_pinn_close(narrow);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    sg_pinn *pinn = open_as(everything, "network.precision=float");
    size_t bytes = sg_jet_network_parameters(pinn->network) * sizeof(float);
    float *first = malloc(bytes);
    assert_non_null(first);
    sg_pool *pool;
    sg_pinn_loss loss;
    move(pinn);
    assert_ok(sg_pool_create(&pool, 3, NULL));
    sg_pinn_batch *one = batch_of(pinn, NULL, SG_ISA_AUTO);
    sg_pinn_batch *three = batch_of(pinn, pool, SG_ISA_AUTO);
    sg_pinn_gradient(one, first, &loss);
    sg_pinn_gradient(three, NULL, &loss);
    assert_memory_equal(first, sg_jet_network_gradients(pinn->network), bytes);
    sg_pinn_batch_destroy(one);
    sg_pinn_batch_destroy(three);
    sg_pool_destroy(pool);
    free(first);
    sg_pinn_close(pinn);
}

/* All rows of J, set after set. */
static double *rows_of(sg_pinn_batch *batch, const sg_pinn *pinn)
{
    size_t n = sg_pinn_residual_count(batch), m = sg_jet_network_parameters(pinn->network);
    double *rows = calloc(n * m, sizeof *rows), *at = rows;
    assert_non_null(rows);
    for (size_t s = 0; s < pinn->information.set_count; s++) {
        size_t items = sg_pinn_items(batch, s);
        assert_ok(sg_pinn_rows(batch, s, 0, items, at));
        at += items * pinn->information.sets[s].components * m;
    }
    return rows;
}

/* The columns of the unknowns, by differences of the residual vector. */
static void check_columns(sg_pinn_batch *batch, const sg_pinn *pinn, const double *rows)
{
    size_t n = sg_pinn_residual_count(batch), m = sg_jet_network_parameters(pinn->network);
    double *values = sg_jet_network_values(pinn->network);
    double *up = calloc(2 * n, sizeof *up), *down = up + n, h = 1e-5;
    assert_non_null(up);
    for (size_t p = m - 4; p < m; p++) {
        double centre = values[p];
        values[p] = centre + h;
        sg_pinn_residuals(batch, up);
        values[p] = centre - h;
        sg_pinn_residuals(batch, down);
        values[p] = centre;
        for (size_t i = 0; i < n; i++)
            assert_close((up[i] - down[i]) / (2 * h), rows[i * m + p], 1e-7);
    }
    free(up);
}

static void jacobians_have_their_columns(void **state)
{
    (void)state;
    sg_pinn *pinn = open_as(everything, "network.precision=double");
    move(pinn);
    sg_pinn_batch *batch = batch_of(pinn, NULL, SG_ISA_AUTO);
    size_t n = sg_pinn_residual_count(batch), m = sg_jet_network_parameters(pinn->network);
    double *rows = rows_of(batch, pinn), *right = calloc(m, sizeof *right);
    double *r = calloc(n, sizeof *r), *products = calloc(n, sizeof *products);
    double *direction = calloc(m, sizeof *direction);
    assert_true(right && r && products && direction);
    check_columns(batch, pinn, rows);
    sg_pinn_loss loss;
    sg_pinn_residuals(batch, r);
    sg_pinn_gradient(batch, NULL, &loss);
    assert_ok(sg_pinn_pull(batch, r, right));
    for (size_t p = 0; p < m; p++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += rows[i * m + p] * r[i];
        assert_close(right[p], sum, 1e-10);
        assert_close(((double *)sg_jet_network_gradients(pinn->network))[p], sum, 1e-10);
        direction[p] = sin((double)p);
    }
    assert_ok(sg_pinn_push(batch, direction, products));
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t p = 0; p < m; p++)
            sum += rows[i * m + p] * direction[p];
        assert_close(products[i], sum, 1e-10);
    }
    free(rows);
    free(right);
    free(r);
    free(products);
    free(direction);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* J P J^T, from rows and from products of inputs and adjoints, with a number for each tensor. */
static void kernels_have_their_share(void **state)
{
    (void)state;
    static const char *const overrides[] = {"network.precision=double", "points=20"};
    sg_pinn *pinn = open_with(everything, overrides, 2);
    move(pinn);
    sg_pinn_batch *batch = batch_of(pinn, NULL, SG_ISA_AUTO);
    size_t n = sg_pinn_residual_count(batch), m = sg_jet_network_parameters(pinn->network);
    size_t spans = sg_params_count(pinn->params);
    double *rows = rows_of(batch, pinn), *kernel = calloc(n * n, sizeof *kernel);
    double *matrix = calloc(m * m, sizeof *matrix), weights[16];
    assert_true(kernel && matrix && spans == 10);
    for (size_t s = 0; s < spans; s++)
        weights[s] = 1 + 0.5 * (double)s;
    for (int method = SG_JACOBIAN_CHEAPEST; method <= SG_JACOBIAN_GRAM; method++) {
        sg_jacobian *jacobian;
        sg_jacobian_config config = {.jet = sg_pinn_engine(batch),
                                     .method = (sg_jacobian_method)method};
        assert_ok(sg_jacobian_create(&jacobian, &config, NULL));
        assert_ok(sg_jacobian_kernel(jacobian, weights, kernel));
        sgi_pinn_average_kernel(batch, kernel);
        for (size_t i = 0; i < n; i += 7)
            for (size_t j = 0; j < n; j += 5) {
                double sum = 0;
                size_t p = 0;
                for (size_t s = 0; s < spans; s++)
                    for (size_t end = p + sg_params_at(pinn->params, s)->count; p < end; p++)
                        sum += weights[s] * rows[i * m + p] * rows[j * m + p];
                assert_close(kernel[i * n + j], sum, 1e-9 * (1 + fabs(sum)));
            }
        assert_ok(sg_jacobian_normal(jacobian, &(sg_normal_equations){.matrix = matrix}));
        sg_jacobian_destroy(jacobian);
    }
    free(rows);
    free(kernel);
    free(matrix);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* ---- Training ---------------------------------------------------------------------------------
 */

/* u_x = -k u seen on the whole line: k is %g, and the coordinate is as long as 1/k. */
#define DECAY                                                                                      \
    "coordinates: {x: [0, %g]}\nfields: [u]\nconstants: {truth: %g}\n"                             \
    "unknowns: {k: {start: 2.5*truth%s}}\n"                                                        \
    "equations: {decay: {expression: (u_x + k*u)/truth = 0}, "                                     \
    "seen: u = exp(-truth*x)}\n"                                                                   \
    "network: {hidden: 1 x 8}\ntraining: {optimizer: %s, steps: %d}\npoints: 64\n"

static double train_decay(double truth, const char *bounds, const char *optimizer, int steps)
{
    char text[1024];
    snprintf(text, sizeof text, DECAY, 2 / truth, truth, bounds, optimizer, steps);
    sg_pinn *pinn = open_as(text, NULL);
    sg_pinn_result result;
    assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
    assert_int_equal(result.end, SG_PINN_COMPLETE);
    double value = sg_pinn_unknown_value(pinn, 0);
    sg_pinn_close(pinn);
    return value;
}

static void second_order_finds_large_and_small_ones(void **state)
{
    (void)state;
    static const double truths[] = {1e8, 1, 1e-8};
    for (size_t i = 0; i < 3; i++) {
        assert_relative(train_decay(truths[i], "", "levenberg", 40), truths[i], 1e-3);
        assert_relative(train_decay(truths[i], ", bounds: [0, 1000*truth]", "levenberg", 40),
                        truths[i], 1e-3);
        assert_relative(train_decay(truths[i], ", bounds: [0, inf]", "ssbroyden", 200), truths[i],
                        1e-2);
    }
    /* A bound that excludes the truth is approached and kept. */
    double held = train_decay(1, ", bounds: [1.5, 10]", "levenberg", 40);
    assert_true(held > 1.5 && held < 1.6);
}

static void first_order_moves_them(void **state)
{
    (void)state;
    static const char *const optimizers[] = {"{name: adamw, rate: 1e-2, decay: 0.1}",
                                             "{name: adam, rate: 1e-2}",
                                             "{name: lamb, rate: 1e-2}",
                                             "{name: novograd, rate: 1e-2}",
                                             "{name: adam-mini, rate: 1e-2}",
                                             "{name: multiadam, rate: 1e-2}",
                                             "{name: sgd, rate: 1e-2}"};
    for (size_t i = 0; i < sizeof optimizers / sizeof optimizers[0]; i++) {
        double value = train_decay(1e8, "", optimizers[i], 400);
        if (!(value > 0 && value < 2.2e8))
            fail_msg("%s leaves it at %g", optimizers[i], value);
    }
}

/* An unknown function of some of the coordinates: u_t = f(x), seen as u = t sin(x). */
static void functions_are_found_as_fields(void **state)
{
    (void)state;
    static const char text[] =
        "coordinates: {x: [0, 2], t: [0, 1]}\nfields: [u, f]\n"
        "equations: {growth: u_t = f, steady: f_t = 0, seen: u = t*sin(x)}\n"
        "network: {hidden: 1 x 10}\npoints: 128\ntraining: {optimizer: levenberg, steps: 40}\n";
    sg_pinn *pinn = open_as(text, NULL);
    assert_ok(sg_pinn_train(pinn, NULL, NULL, NULL));
    double points[] = {0.3, 0.1, 1, 0.5, 1.7, 0.9}, values[3];
    assert_ok(sg_pinn_evaluate(pinn, (const char *[]){"f"}, 1, points, 3, values, NULL, NULL));
    for (size_t i = 0; i < 3; i++)
        assert_close(values[i], sin(points[2 * i]), 1e-2);
    sg_pinn_close(pinn);
}

/* The factor of the scaler on the unknown's gradient after a step. */
static double factor_of(const char *setting, double *rate_share)
{
    char text[1024];
    snprintf(text, sizeof text, DECAY, 2.0, 1.0, ", rate: 3", "{name: sgd, rate: 1e-3}", 5);
    sg_pinn *pinn = open_as(text, setting);
    sg_pinn_trainer *trainer;
    sg_pinn_step step;
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, NULL));
    assert_ok(sg_pinn_trainer_step(trainer, &step));
    const sg_block_report *block = &step.scale->blocks[step.scale->block_count - 1];
    assert_string_equal(block->name, "unknowns.k");
    const sg_span *span = sg_params_at(pinn->params, sg_params_find(pinn->params, "unknowns.k"));
    assert_int_equal(span->role, SG_ROLE_SCALAR);
    double moved = *(const float *)span->value, gradient = *(const float *)span->gradient;
    double factor = block->factor;
    *rate_share = moved / (-1e-3 * factor * gradient);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    return factor;
}

static void rescaling_leaves_them_unless_told(void **state)
{
    (void)state;
    double rate;
    assert_true(factor_of("training.stablegrad.unknowns=leave", &rate) == 1);
    assert_close(rate, 3, 1e-5);
    assert_true(factor_of("training.stablegrad.blocks=all", &rate) == 1);
    assert_true(factor_of("training.stablegrad.method=znorm", &rate) == 1);
    assert_true(factor_of("training.stablegrad.unknowns=block", &rate) != 1);
    assert_close(rate, 3, 1e-4);
}

/* ---- Files ------------------------------------------------------------------------------------
 */

static void weights_carry_them(void **state)
{
    (void)state;
    char path[64] = "/tmp/sg_unknowns_XXXXXX";
    sg_diagnostic diagnostic;
    int file = mkstemp(path);
    assert_true(file >= 0);
    sg_pinn *pinn = open_as(everything, NULL);
    sg_pinn *same = open_as(everything, NULL);
    sg_pinn *other = open_as(everything, "unknowns.k={start: 1, bounds: [0, 3]}");
    sg_pinn *narrow = open_as(everything, "unknowns.k={start: 1, bounds: [0.9, 3]}");
    move(pinn);
    double k = sg_pinn_unknown_value(pinn, 0);
    assert_ok(sg_pinn_save(pinn, path, &diagnostic));
    assert_ok(sg_pinn_load(same, path, &diagnostic));
    assert_memory_equal(sg_jet_network_values(pinn->network), sg_jet_network_values(same->network),
                        sg_jet_network_parameters(pinn->network) * sizeof(float));
    assert_ok(sg_pinn_load(other, path, &diagnostic));
    assert_relative(sg_pinn_unknown_value(other, 0), k, 1e-6);
    assert_true(k < 0.9);
    assert_status(sg_pinn_load(narrow, path, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "not between its bounds"));
    sg_pinn_close(pinn);
    sg_pinn_close(same);
    sg_pinn_close(other);
    sg_pinn_close(narrow);
    (void)!close(file);
    (void)!unlink(path);
}

static void weights_without_them_are_refused(void **state)
{
    (void)state;
    static const char plain[] = "coordinates: {x: [0, 1]}\nfields: [u]\n"
                                "constants: {k: 1}\nequations: {e: u_x = k*u}\n"
                                "network: {hidden: 1 x 4}\n";
    static const char inverse[] = "coordinates: {x: [0, 1]}\nfields: [u]\n"
                                  "unknowns: {k: 1}\nequations: {e: u_x = k*u}\n"
                                  "network: {hidden: 1 x 4}\n";
    char path[64] = "/tmp/sg_unknowns_XXXXXX";
    sg_diagnostic diagnostic;
    int file = mkstemp(path);
    assert_true(file >= 0);
    sg_pinn *without = open_as(plain, NULL), *with = open_as(inverse, NULL);
    float before = *(float *)sg_jet_network_values(with->network);
    assert_ok(sg_pinn_save(without, path, &diagnostic));
    assert_status(sg_pinn_load(with, path, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "saved without this unknown constant"));
    assert_true(before == *(float *)sg_jet_network_values(with->network));
    assert_ok(sg_pinn_save(with, path, &diagnostic));
    assert_ok(sg_pinn_load(without, path, &diagnostic));
    sg_pinn_close(without);
    sg_pinn_close(with);
    (void)!close(file);
    (void)!unlink(path);
}

/* ---- The handle -------------------------------------------------------------------------------
 */

static void values_are_read_and_set(void **state)
{
    (void)state;
    sg_pinn *pinn = open_as(everything, "network.precision=double");
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    static const char *const expressions[] = {"flux + k*u_x", "c + k", "flux_x + k*u_xx"};
    double point[] = {0.3, 0.4}, values[3];
    assert_int_equal(information->unknown_count, 4);
    assert_string_equal(information->unknowns[1].name, "c");
    assert_true(information->unknowns[0].lower == 0.1 &&
                information->unknowns[2].upper == INFINITY);
    assert_relative(sg_pinn_unknown_value(pinn, 0), 0.5, 1e-14);
    assert_ok(sg_pinn_set_unknown(pinn, 0, 1.75));
    assert_ok(sg_pinn_set_unknown(pinn, 1, 40));
    assert_relative(sg_pinn_unknown_value(pinn, 0), 1.75, 1e-14);
    assert_status(sg_pinn_set_unknown(pinn, 0, 2), SG_ERROR_ARGUMENT);
    assert_status(sg_pinn_set_unknown(pinn, 0, (double)NAN), SG_ERROR_ARGUMENT);
    assert_status(sg_pinn_set_unknown(pinn, 4, 1), SG_ERROR_ARGUMENT);
    assert_status(sg_pinn_set_unknown(NULL, 0, 1), SG_ERROR_ARGUMENT);
    assert_true(isnan(sg_pinn_unknown_value(pinn, 4)) && isnan(sg_pinn_unknown_value(NULL, 0)));
    assert_ok(sg_pinn_evaluate(pinn, expressions, 3, point, 1, values, NULL, NULL));
    assert_close(values[0], 0, 1e-13);
    assert_close(values[1], 41.75, 1e-12);
    assert_close(values[2], 0, 1e-12);
    assert_ok(sg_pinn_evaluate(pinn, (const char *[]){"2*k"}, 1, point, 1, values, NULL, NULL));
    assert_close(values[0], 3.5, 1e-12); /* without a field */
    assert_ok(sg_pinn_initialize(pinn, 7));
    assert_relative(sg_pinn_unknown_value(pinn, 0), 0.5, 1e-14);
    const char *text;
    assert_ok(sg_pinn_text(pinn, &text));
    sg_pinn *again = open_as(text, NULL);
    for (size_t k = 0; k < 4; k++)
        assert_memory_equal(&information->unknowns[k].start,
                            &sg_pinn_describe(again)->unknowns[k].start, 4 * sizeof(double));
    sg_pinn_close(again);
    sg_pinn_close(pinn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stay_between_their_bounds),
        cmocka_unit_test(the_scale_follows_from_start_and_bounds),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(float_agrees_with_double),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(jacobians_have_their_columns),
        cmocka_unit_test(kernels_have_their_share),
        cmocka_unit_test(second_order_finds_large_and_small_ones),
        cmocka_unit_test(first_order_moves_them),
        cmocka_unit_test(functions_are_found_as_fields),
        cmocka_unit_test(rescaling_leaves_them_unless_told),
        cmocka_unit_test(weights_carry_them),
        cmocka_unit_test(weights_without_them_are_refused),
        cmocka_unit_test(values_are_read_and_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
