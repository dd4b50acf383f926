/* Causal weights: against their formula, and the derivatives of the loss and of the residuals that
 * have them against differences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pinn/causal.h"
#include "support/support.h"

#define PROBLEM                                                                                    \
    "coordinates: {x: [0, 1], t: [1, 3]}\n"                                                        \
    "fields: [u, v]\n"                                                                             \
    "unknowns: {k: {start: 0.3}}\n"                                                                \
    "equations:\n"                                                                                 \
    "  heat: {expression: u_t - k*u_xx + u*v = 0, weight: 3}\n"                                    \
    "  wave: v_t + v*u_x\n"                                                                        \
    "conditions:\n"                                                                                \
    "  start: {at: t = 1, u: sin(pi*x), v: x, points: 9}\n"                                        \
    "points: 70\n"                                                                                 \
    "training: {causal: {eps: 0.4, chunks: 5}}\n"

enum { CHUNKS = 5, ITEMS = 70, MOST = 400 };

typedef struct fixture {
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sgi_causal *causal;
    double factors[CHUNKS];
    double *values;
    size_t parameters, rows;
} fixture;

static void begin(fixture *f, const char *precision)
{
    char text[1024];
    sg_diagnostic diagnostic;
    snprintf(text, sizeof text, PROBLEM "network: {hidden: 2 x 5, precision: %s}\n", precision);
    if (sg_pinn_read(&f->pinn, "test.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic))
        fail_msg("%s", said(&diagnostic));
    sg_pinn_batch_config config = {.tangents = true};
    assert_ok(sg_pinn_batch_create(&f->batch, f->pinn, &config, NULL));
    sg_pinn_draw(f->batch, 3);
    assert_ok(sgi_causal_create(&f->causal, f->batch, &f->pinn->problem->settings.training,
                                f->factors, NULL));
    assert_non_null(f->causal);
    f->values = sg_jet_network_values(f->pinn->network);
    f->parameters = sg_jet_network_parameters(f->pinn->network);
    f->rows = sg_pinn_residual_count(f->batch);
    assert_true(f->rows == 2 * (ITEMS + 9) && f->parameters < MOST);
}

static void end(fixture *f)
{
    sgi_causal_destroy(f->causal);
    sg_pinn_batch_destroy(f->batch);
    sg_pinn_close(f->pinn);
}

/* The weights by their formula, from the residuals without them. */
static void weights_are_those_of_the_formula(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++) {
        fixture f;
        begin(&f, single ? "float" : "double");
        double plain[MOST], weighed[MOST], points[2 * ITEMS], squares[CHUNKS] = {0};
        int counts[CHUNKS] = {0};
        sg_pinn_residuals(f.batch, plain);
        sg_pinn_points(f.batch, 0, points);
        assert_ok(sgi_causal_measure(f.causal));
        sg_pinn_residuals(f.batch, weighed);
        for (int i = 0; i < ITEMS; i++) {
            int k = (int)((points[2 * i + 1] - 1) / 2 * CHUNKS);
            for (int j = 0; j < 2; j++)
                squares[k] += ITEMS / 2.0 * plain[2 * i + j] * plain[2 * i + j];
            counts[k]++;
        }
        double before = 0;
        for (int k = 0; k < CHUNKS; k++) {
            assert_true(counts[k] > 0);
            assert_relative(f.factors[k] * f.factors[k], exp(-0.4 * before), 1e-12);
            before += squares[k] / counts[k];
        }
        assert_true(f.factors[CHUNKS - 1] < 0.95);
        assert_true(sgi_causal_factor(f.causal, 0) == f.factors[0]);
        assert_true(sgi_causal_factor(f.causal, 3) == f.factors[CHUNKS - 1]);
        double tolerance = single ? 1e-6 : 1e-14; /* some roundings of the network's type */
        for (int i = 0; i < ITEMS; i++)
            for (int j = 0; j < 2; j++)
                assert_true(fabs(weighed[2 * i + j] -
                                 plain[2 * i + j] *
                                     sgi_causal_factor(f.causal, points[2 * i + 1])) < tolerance);
        /* Conditions are as they were. */
        assert_memory_equal(weighed + 2 * ITEMS, plain + 2 * ITEMS, 18 * sizeof *plain);
        end(&f);
    }
}

static double loss_of(fixture *f)
{
    sg_pinn_loss loss;
    sg_pinn_loss_at(f->batch, &loss);
    return loss.total;
}

/* The gradient and J^T r, with the weights as they are, against differences of sixth order. */
static void gradients_agree_with_differences(void **state)
{
    (void)state;
    static const double stencil[] = {-1, 9, -45, 0, 45, -9, 1}, h = 1e-3;
    fixture f;
    double gradient[MOST], residuals[MOST], pulled[MOST], largest = 0;
    sg_pinn_loss loss;
    begin(&f, "double");
    assert_ok(sgi_causal_measure(f.causal));
    sg_pinn_gradient(f.batch, gradient, &loss);
    sg_pinn_residuals(f.batch, residuals);
    assert_ok(sg_pinn_pull(f.batch, residuals, pulled));
    double half = 0;
    for (size_t i = 0; i < f.rows; i++)
        half += 0.5 * residuals[i] * residuals[i];
    assert_relative(half, loss.total, 1e-12);
    for (size_t i = 0; i < f.parameters; i++)
        largest = fmax(largest, fabs(gradient[i]));
    for (size_t i = 0; i < f.parameters; i++) {
        double centre = f.values[i], sum = 0;
        for (int k = 0; k < 7; k++) {
            f.values[i] = centre + (k - 3) * h;
            sum += stencil[k] * loss_of(&f);
        }
        f.values[i] = centre;
        if (fabs(sum / (60 * h) - gradient[i]) > 1e-7 * largest)
            fail_msg("parameter %zu: %.12g, by differences %.12g", i, gradient[i], sum / (60 * h));
        assert_true(fabs(pulled[i] - gradient[i]) < 1e-11 * largest);
    }
    end(&f);
}

/* J v, and through it the rows of J, against differences of the residuals. */
static void jacobians_agree_with_differences(void **state)
{
    (void)state;
    fixture f;
    double direction[MOST], pushed[MOST], ahead[MOST], behind[MOST];
    const double h = 1e-5;
    begin(&f, "double");
    assert_ok(sgi_causal_measure(f.causal));
    for (size_t i = 0; i < f.parameters; i++)
        direction[i] = sin(1 + (double)i);
    assert_ok(sg_pinn_push(f.batch, direction, pushed));
    for (size_t i = 0; i < f.parameters; i++)
        f.values[i] += h * direction[i];
    sg_pinn_residuals(f.batch, ahead);
    for (size_t i = 0; i < f.parameters; i++)
        f.values[i] -= 2 * h * direction[i];
    sg_pinn_residuals(f.batch, behind);
    for (size_t i = 0; i < f.rows; i++) /* h^2 times a third derivative, and rounding over h */
        assert_true(fabs((ahead[i] - behind[i]) / (2 * h) - pushed[i]) <
                    1e-7 * (1 + fabs(pushed[i])));
    end(&f);
}

static void more_points_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    fixture f;
    sg_diagnostic diagnostic;
    static double points[2 * (ITEMS + 1)];
    begin(&f, "double");
    for (int i = 0; i <= ITEMS; i++) {
        points[2 * i] = 0.5;
        points[2 * i + 1] = 2;
    }
    assert_ok(sg_pinn_give(f.batch, 0, points, ITEMS + 1, &diagnostic));
    assert_status(sgi_causal_measure(f.causal), SG_ERROR_ARGUMENT);
    assert_ok(sg_pinn_give(f.batch, 0, points, ITEMS - 1, &diagnostic));
    assert_ok(sgi_causal_measure(f.causal));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_the_formula),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(jacobians_agree_with_differences),
        cmocka_unit_test(more_points_than_there_is_room_for_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
