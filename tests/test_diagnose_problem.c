/* A problem's diagnosis against the same quantities from explicit rows of the Jacobian, by LAPACK
 * and by Lanczos; the trial step leaves everything as it was, to the bit; every allocation fails in
 * turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnose.h"
#include "pinn/refinement.h"
#include "support/support.h"

/* Two fields, pairs, second derivatives. */
static const char problem[] = "coordinates: {x: [-1, 1], t: [0, 1]}\n"
                              "fields: [u, v]\n"
                              "equations:\n"
                              "  first: u_t + u*u_x - 0.1*u_xx - sin(pi*x)*t\n"
                              "  second: {expression: v_t + v_xx = u, weight: 2}\n"
                              "conditions:\n"
                              "  start: {at: t = 0, u: -sin(pi*x), v: x, weight: 10, points: 40}\n"
                              "  wrap: {periodic: x, points: 20, weight: 3}\n"
                              "points: 200\n"
                              "network: {hidden: [9, 12, 7]}\n"
                              "training: {steps: 100}\n";

enum { SETS = 3, MOST = 400 };

static sg_pinn *read_pinn(const char *const *sets, size_t count, const sg_allocator *allocator)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "test", problem, strlen(problem), sets, count, allocator,
                     &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

static sg_pinn_trainer *train(sg_pinn *pinn, int steps)
{
    sg_pinn_trainer *trainer;
    sg_pinn_step step;
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, NULL));
    for (int i = 0; i < steps; i++)
        assert_ok(sg_pinn_trainer_step(trainer, &step));
    return trainer;
}

/* The batch's J, r and layers' weights a second way: the public level, in double. */
typedef struct explicit_batch {
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    size_t rows, parameters;
    double *j, *r, *kernel;
} explicit_batch;

static void open_explicit(explicit_batch *e, sg_pinn *trained, const size_t items[SETS])
{
    static const char *const in_double[] = {"network.precision=double"};
    e->pinn = read_pinn(in_double, 1, NULL);
    sg_pinn_batch_config config = sg_pinn_batch_defaults();
    config.stream = SG_POINTS_DIAGNOSIS;
    config.items = items;
    assert_ok(sg_pinn_batch_create(&e->batch, e->pinn, &config, NULL));
    e->rows = sg_pinn_residual_count(e->batch);
    e->parameters = sg_jet_network_parameters(sg_pinn_network(e->pinn));
    const float *from = sg_jet_network_values(sg_pinn_network(trained));
    double *to = sg_jet_network_values(sg_pinn_network(e->pinn));
    for (size_t i = 0; i < e->parameters; i++)
        to[i] = (double)from[i];
    e->j = malloc(e->rows * e->parameters * sizeof *e->j);
    e->r = malloc(e->rows * sizeof *e->r);
    e->kernel = malloc(e->rows * e->rows * sizeof *e->kernel);
    size_t row = 0;
    for (size_t s = 0; s < SETS; s++) {
        assert_ok(sg_pinn_rows(e->batch, s, 0, items[s], e->j + row * e->parameters));
        row += items[s] * sg_pinn_describe(e->pinn)->sets[s].components;
    }
    sg_pinn_residuals(e->batch, e->r);
}

static void close_explicit(explicit_batch *e)
{
    free(e->j);
    free(e->r);
    free(e->kernel);
    sg_pinn_batch_destroy(e->batch);
    sg_pinn_close(e->pinn);
}

/* K = sum over tensors of factor J_s J_s^T; NULL: factors 1. Returns its largest eigenvalue. */
static double kernel_of(explicit_batch *e, const sgi_diagnosis *d, bool scaled, double *rho,
                        double *decrease)
{
    const sg_jet_network *network = sg_pinn_network(e->pinn);
    memset(e->kernel, 0, e->rows * e->rows * sizeof *e->kernel);
    for (size_t l = 0; l < d->block_count; l++) {
        sg_jet_layer layer = sg_jet_network_layer(network, (int)l);
        size_t end = layer.bias + (size_t)layer.outputs;
        double factor = scaled ? d->blocks[l].factor : 1;
        for (size_t a = 0; a < e->rows; a++)
            for (size_t b = 0; b < e->rows; b++)
                for (size_t k = layer.weight; k < end; k++)
                    e->kernel[a * e->rows + b] +=
                        factor * e->j[a * e->parameters + k] * e->j[b * e->parameters + k];
    }
    double *product = calloc(e->rows, sizeof *product), above = 0, below = 0;
    for (size_t a = 0; a < e->rows; a++) {
        for (size_t b = 0; b < e->rows; b++)
            product[a] += e->kernel[a * e->rows + b] * e->r[b];
        above += e->r[a] * product[a];
        below += e->r[a] * e->r[a];
    }
    *rho = above / below;
    *decrease = sgi_linear_decrease(e->r, product, e->rows, d->theorem.rate);
    free(product);
    failing_allocator counted = {.fail_at = -1};
    sg_allocator heap = failing(&counted);
    sgi_spectrum spectrum;
    assert_ok(sgi_spectrum_create(&spectrum, e->rows, &heap));
    assert_ok(sgi_spectrum_dense(&spectrum, e->kernel, e->rows, e->r, &heap));
    double largest = spectrum.values[0];
    sgi_spectrum_release(&spectrum, &heap);
    return largest;
}

static void compare(const sgi_diagnosis *d, explicit_batch *e, double tolerance)
{
    const sgi_theorem *t = &d->theorem;
    double rho, decrease;
    assert_true(d->finite && d->stepped && d->residuals == e->rows);
    assert_relative(t->largest, kernel_of(e, d, false, &rho, &decrease), tolerance);
    assert_relative(t->rho, rho, 1e-11);
    assert_relative(d->decrease, decrease, 1e-9);
    assert_relative(t->largest_scaled, kernel_of(e, d, true, &rho, &decrease), tolerance);
    assert_relative(t->rho_scaled, rho, 1e-11);
    assert_relative(d->decrease_scaled, decrease, 1e-9);
    assert_relative(t->stability, t->rate * t->largest_scaled, 1e-14);
    assert_close(t->margin, t->rho_scaled * (1 - t->stability / 2) - t->rho, 1e-12);
    assert_close(d->ratio_scaled, 1, 1e-4); /* eps of the factors: 1e-8 beside std of 1e-3 */
    assert_true(d->ratio_raw > 1.5);
    double share = 0;
    for (size_t b = 0; b < d->block_count; b++) {
        assert_relative(d->blocks[b].scaled_std, d->blocks[b].factor * d->blocks[b].std, 1e-14);
        share += d->blocks[b].update.share;
    }
    assert_relative(share, 1, 1e-12);
}

/* E_lin a second way: the weights after the trainer's own next step. */
static void compare_step(const sgi_diagnosis *d, explicit_batch *e, sg_pinn *trained)
{
    const float *after = sg_jet_network_values(sg_pinn_network(trained));
    double *values = sg_jet_network_values(sg_pinn_network(e->pinn));
    double *moved = malloc(e->rows * sizeof *moved), *product = calloc(e->rows, sizeof *product);
    for (size_t i = 0; i < e->rows; i++)
        for (size_t k = 0; k < e->parameters; k++)
            product[i] += e->j[i * e->parameters + k] * ((double)after[k] - values[k]);
    for (size_t k = 0; k < e->parameters; k++)
        values[k] = (double)after[k];
    sg_pinn_residuals(e->batch, moved);
    double error = sgi_linear_error(e->r, moved, product, e->rows);
    assert_true(error > 1e-6 && error < 0.5);
    assert_relative(d->linear_error, error, 1e-6);
    free(moved);
    free(product);
}

static void diagnose_at(const char *setting, size_t residuals, const size_t items[SETS])
{
    const char *sets[] = {setting};
    sg_pinn *pinn = read_pinn(sets, 1, NULL);
    sg_pinn_trainer *trainer = train(pinn, 30);
    sgi_diagnose *diagnose;
    sgi_diagnose_config config = {.residuals = residuals, .isa = SG_ISA_AUTO};
    sgi_diagnosis d;
    assert_ok(sgi_diagnose_create(&diagnose, pinn, &config, NULL));
    assert_ok(sgi_diagnose_measure(diagnose, trainer, &d));
    assert_true(d.step == 30);
    assert_true(d.plain->whole == (d.residuals <= SGI_DENSE_RESIDUALS));
    explicit_batch e;
    open_explicit(&e, pinn, items);
    compare(&d, &e, d.plain->whole ? 1e-10 : 1e-6);
    sg_pinn_step step;
    assert_ok(sg_pinn_trainer_step(trainer, &step));
    compare_step(&d, &e, pinn);
    close_explicit(&e);
    sgi_diagnose_destroy(diagnose);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
}

static void agrees_with_rows(void **state)
{
    (void)state;
    const size_t small[SETS] = {80, 16, 8}, whole[SETS] = {200, 40, 20};
    diagnose_at("training.stablegrad.reference=output", 208, small); /* of 520: 0.4 */
    diagnose_at("training.stablegrad.reference=residual", 208, small);
    diagnose_at("training.stablegrad=off", 208, small);
    diagnose_at("training.optimizer={name: sgd, momentum: 0.9}", 208, small);
    diagnose_at("training.stablegrad.reference=residual", 0, whole); /* by Lanczos */
}

/* The reference scale is that of a whole training batch, however small the diagnostic one is. */
static void reference_follows_the_batch(void **state)
{
    (void)state;
    const char *const references[] = {"output", "residual", "norm", "0.25"};
    for (size_t k = 0; k < 4; k++) {
        char setting[80];
        double found[2];
        const char *sets[] = {setting};
        snprintf(setting, sizeof setting, "training.stablegrad.reference=%s", references[k]);
        sg_pinn *pinn = read_pinn(sets, 1, NULL);
        sg_pinn_trainer *trainer = train(pinn, 10);
        for (int small = 0; small < 2; small++) {
            sgi_diagnose *diagnose;
            sgi_diagnosis d;
            sgi_diagnose_config config = {.residuals = small ? 130 : 0, .isa = SG_ISA_AUTO};
            assert_ok(sgi_diagnose_create(&diagnose, pinn, &config, NULL));
            assert_ok(sgi_diagnose_measure(diagnose, trainer, &d));
            found[small] = d.reference;
            sgi_diagnose_destroy(diagnose);
        }
        assert_relative(found[1], found[0], 0.3); /* other points; without the factor: 2 or 4 */
        sg_pinn_trainer_destroy(trainer);
        sg_pinn_close(pinn);
    }
}

static void measures_beside(const char *refinement)
{
    sg_pinn *pinns[2];
    sg_pinn_trainer *trainers[2];
    sgi_diagnose *diagnose;
    sgi_diagnosis d;
    sgi_diagnose_config config = {.residuals = 100, .isa = SG_ISA_AUTO};
    const char *const sets[] = {"training.stablegrad.until=12", /* a hand-over on the way */
                                "refinement.every=5", refinement};
    for (int k = 0; k < 2; k++) {
        pinns[k] = read_pinn(sets, 3, NULL);
        trainers[k] = train(pinns[k], 0);
    }
    assert_ok(sgi_diagnose_create(&diagnose, pinns[1], &config, NULL));
    for (int i = 0; i < 20; i++) {
        sg_pinn_step steps[2];
        size_t sizes[2];
        const void *states[2];
        sgi_refinement *chooser = sgi_pinn_trainer_refinement(trainers[1]);
        double seconds = sgi_refinement_seconds(chooser);
        assert_ok(sgi_diagnose_measure(diagnose, trainers[1], &d));
        assert_true(d.rescaled == (i < 12));
        assert_true(sgi_refinement_seconds(chooser) == seconds);
        for (int k = 0; k < 2; k++) {
            assert_ok(sg_pinn_trainer_step(trainers[k], &steps[k]));
            states[k] = sg_optim_state(sg_pinn_trainer_optim(trainers[k]), &sizes[k]);
        }
        for (size_t s = 0; s < SETS; s++)
            assert_int_equal(sg_pinn_items(sg_pinn_trainer_batch(trainers[0]), s),
                             sg_pinn_items(sg_pinn_trainer_batch(trainers[1]), s));
        assert_true(steps[0].loss.total == steps[1].loss.total);
        assert_true(steps[0].scale->steps_scaled == steps[1].scale->steps_scaled);
        assert_true(steps[0].scale->steps_inactive == steps[1].scale->steps_inactive);
        assert_memory_equal(states[0], states[1], sizes[0]);
        assert_memory_equal(sg_jet_network_values(sg_pinn_network(pinns[0])),
                            sg_jet_network_values(sg_pinn_network(pinns[1])),
                            sizeof(float) * sg_jet_network_parameters(sg_pinn_network(pinns[0])));
    }
    sgi_diagnose_destroy(diagnose);
    for (int k = 0; k < 2; k++) {
        sg_pinn_trainer_destroy(trainers[k]);
        sg_pinn_close(pinns[k]);
    }
}

static void leaves_no_trace(void **state)
{
    (void)state;
    measures_beside("refinement.method=none");
    measures_beside("refinement.method=rad");
    measures_beside("refinement.method=rar-d");
    measures_beside("refinement.method=r3");
}

/* What rescaling makes of the kernels at the start, with this training. */
static double rescaled_action(const char *training)
{
    const char *sets[] = {training};
    sg_pinn *pinn = read_pinn(sets, 1, NULL);
    sg_pinn_trainer *trainer = train(pinn, 0);
    sgi_diagnose *diagnose;
    sgi_diagnosis d;
    sgi_diagnose_config config = {.residuals = 100, .isa = SG_ISA_AUTO};
    assert_ok(sgi_diagnose_create(&diagnose, pinn, &config, NULL));
    assert_ok(sgi_diagnose_measure(diagnose, trainer, &d));
    sgi_diagnose_destroy(diagnose);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    return d.theorem.rho_scaled;
}

/* Of several stages, that of the first that rescales. */
static void stages_are_measured_as_they_rescale(void **state)
{
    (void)state;
    double residual = rescaled_action("training={stablegrad: {reference: residual}}");
    assert_true(residual != rescaled_action("training={stablegrad: {reference: output}}"));
    assert_true(residual == rescaled_action("training=[{stablegrad: off, steps: 5},"
                                            " {optimizer: sgd,"
                                            " stablegrad: {reference: residual}}]"));
}

/* A network of NaN is told as such, and no error. */
static void not_finite(void **state)
{
    (void)state;
    sg_pinn *pinn = read_pinn(NULL, 0, NULL);
    sg_pinn_trainer *trainer = train(pinn, 1);
    sgi_diagnose *diagnose;
    sgi_diagnosis d;
    sgi_diagnose_config config = {.residuals = 100, .isa = SG_ISA_AUTO};
    ((float *)sg_jet_network_values(sg_pinn_network(pinn)))[3] = NAN;
    assert_ok(sgi_diagnose_create(&diagnose, pinn, &config, NULL));
    assert_ok(sgi_diagnose_measure(diagnose, trainer, &d));
    assert_true(!d.finite && !d.stepped && !d.theorem.holds);
    sgi_diagnose_destroy(diagnose);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
}

static void allocations_fail(void **state)
{
    (void)state;
    sg_pinn *pinn = read_pinn(NULL, 0, NULL);
    sg_pinn_trainer *trainer = train(pinn, 3);
    sgi_diagnose_config config = {.residuals = 100, .isa = SG_ISA_AUTO};
    sg_status status = SG_ERROR_MEMORY;
    long fail_at = 0;
    for (; status == SG_ERROR_MEMORY; fail_at++) {
        failing_allocator counted = {.fail_at = fail_at};
        sg_allocator allocator = failing(&counted);
        sgi_diagnose *diagnose;
        sgi_diagnosis d;
        status = sgi_diagnose_create(&diagnose, pinn, &config, &allocator);
        if (status == SG_OK)
            status = sgi_diagnose_measure(diagnose, trainer, &d);
        sgi_diagnose_destroy(diagnose);
        assert_true(counted.live == 0);
    }
    assert_ok(status);
    assert_true(fail_at > 30);
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_rows), cmocka_unit_test(reference_follows_the_batch),
        cmocka_unit_test(leaves_no_trace),  cmocka_unit_test(stages_are_measured_as_they_rescale),
        cmocka_unit_test(not_finite),       cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
