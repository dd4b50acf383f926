/* The step: factors inside the pass, clipping, skipping, per-span rates, errors. What PyTorch
 * computes over many steps is checked in test_optim_torch.c. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "support/support.h"

enum { SPANS = 3 };
static const size_t counts[SPANS] = {70001, 5, 3000};

typedef struct fixture {
    float value[SPANS][70001], gradient[SPANS][70001];
    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
} fixture;

static fixture one, two;

static void open_with(fixture *f, const sg_optim_config *optim, const sg_scale_config *scale,
                      sg_pool *pool)
{
    static const char *const names[SPANS] = {"a.weight", "a.bias", "b.weight"};
    assert_ok(sg_params_create(&f->params, NULL));
    for (size_t i = 0; i < SPANS; i++) {
        for (size_t j = 0; j < counts[i]; j++) {
            f->value[i][j] = (float)sgi_random_normal(5, i, j);
            f->gradient[i][j] = (float)(1e-3 * sgi_random_normal(6, i, j));
        }
        sg_span span = {names[i],
                        f->value[i],
                        f->gradient[i],
                        counts[i],
                        SG_FLOAT32,
                        i == 2,
                        i == 1 ? SG_ROLE_BIAS : SG_ROLE_WEIGHT,
                        0};
        assert_ok(sg_params_add(f->params, &span));
    }
    f->scaler = NULL;
    if (scale)
        assert_ok(sg_scaler_create(&f->scaler, f->params, scale, pool, NULL));
    assert_ok(sg_optim_create(&f->optim, f->params, optim, pool, NULL));
}

static void close_all(fixture *f)
{
    sg_optim_destroy(f->optim);
    sg_scaler_destroy(f->scaler);
    sg_params_destroy(f->params);
}

static void assert_same_values(void)
{
    assert_memory_equal(one.value, two.value, sizeof one.value);
}

static void measure(fixture *f, uint64_t step)
{
    assert_ok(sg_scaler_observe_scale(f->scaler, 0.02));
    assert_ok(sg_scaler_measure(f->scaler, step));
}

/* Factors inside the pass give the bits of: scale in memory, then step. */
static void fused_equals_applied(void **state)
{
    (void)state;
    for (int kind = 0; kind < SG_OPTIM_COUNT; kind++)
        for (int m = 0; m < SG_METHOD_COUNT; m++) {
            sg_optim_config config = sg_optim_defaults((sg_optim_kind)kind);
            sg_scale_config scale = sg_scale_defaults();
            config.momentum = 0.9;
            scale.method = (sg_method)m;
            scale.threshold = 5e-4; /* gradients are a thousandth of the values */
            open_with(&one, &config, &scale, NULL);
            open_with(&two, &config, &scale, NULL);
            float raw = two.gradient[0][7];
            for (uint64_t step = 0; step < 3; step++) {
                measure(&one, step);
                assert_ok(sg_scaler_apply(one.scaler));
                assert_ok(sg_optim_step(one.optim, one.scaler, NULL));
                memcpy(one.gradient, two.gradient, sizeof one.gradient);
                measure(&two, step);
                assert_ok(sg_optim_step(two.optim, two.scaler, NULL));
            }
            assert_same_values();
            assert_true(two.gradient[0][7] == raw); /* left raw in memory */
            close_all(&one);
            close_all(&two);
        }
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_scale_config scale = sg_scale_defaults();
    scale.reference = SG_REFERENCE_NORM;
    config.clip_norm = 0.05;
    open_with(&one, &config, &scale, NULL);
    for (int step = 0; step < 3; step++) {
        assert_ok(sg_scaler_measure(one.scaler, 0));
        assert_ok(sg_optim_step(one.optim, one.scaler, NULL));
    }
    for (int threads = 2; threads <= 7; threads += 5) {
        sg_pool *pool;
        assert_ok(sg_pool_create(&pool, threads, NULL));
        open_with(&two, &config, &scale, pool);
        for (int step = 0; step < 3; step++) {
            assert_ok(sg_scaler_measure(two.scaler, 0));
            assert_ok(sg_optim_step(two.optim, two.scaler, NULL));
        }
        assert_same_values();
        close_all(&two);
        sg_pool_destroy(pool);
    }
    close_all(&one);
}

static double norm_of(const fixture *f, bool signs)
{
    double sum = 0;
    for (size_t i = 0; i < SPANS; i++)
        for (size_t j = 0; j < counts[i]; j++)
            sum += signs ? f->gradient[i][j] != 0 : pow((double)f->gradient[i][j], 2);
    return sqrt(sum);
}

static void clipping_by_the_global_norm(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
    sg_step_info info;
    config.rate = 1;
    config.clip_norm = 0.01;
    open_with(&one, &config, NULL, NULL);
    float before = one.value[2][1];
    double norm = norm_of(&one, false), factor = 0.01 / (norm + 1e-6);
    assert_ok(sg_optim_step(one.optim, NULL, &info));
    assert_relative(info.gradient_norm, norm, 1e-12);
    assert_relative(info.clip_factor, factor, 1e-12);
    assert_relative(one.value[2][1], before - (float)(factor * one.gradient[2][1]), 1e-6);
    close_all(&one);
    config.clip_norm = 1e6; /* above the norm: nothing happens */
    open_with(&one, &config, NULL, NULL);
    assert_ok(sg_optim_step(one.optim, NULL, &info));
    assert_true(info.clip_factor == 1);
    close_all(&one);
}

static void clipping_comes_after_stablegrad(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
    sg_scale_config scale = sg_scale_defaults();
    sg_step_info info;
    config.clip_norm = 0.01;
    open_with(&one, &config, &scale, NULL);
    measure(&one, 0);
    double expected = 0;
    for (size_t b = 0; b < 2; b++) {
        const sg_block_report *r = &sg_scaler_report(one.scaler)->blocks[b];
        expected += r->factor * r->factor * r->norm2;
    }
    assert_ok(sg_optim_step(one.optim, one.scaler, &info));
    assert_relative(info.gradient_norm, sqrt(expected), 1e-12);
    close_all(&one);
    scale.method = SG_METHOD_SIGN;
    open_with(&one, &config, &scale, NULL);
    one.gradient[0][0] = 0;
    assert_ok(sg_scaler_measure(one.scaler, 0));
    assert_ok(sg_optim_step(one.optim, one.scaler, &info));
    assert_relative(info.gradient_norm, norm_of(&one, true), 1e-12);
    close_all(&one);
}

static void non_finite_steps_are_skipped(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_scale_config scale = sg_scale_defaults();
    for (int with_scaler = 0; with_scaler < 2; with_scaler++) {
        config.clip_norm = with_scaler ? 0 : 1;
        open_with(&one, &config, &scale, NULL);
        memcpy(two.value, one.value, sizeof one.value);
        one.gradient[1][2] = NAN;
        sg_step_info info;
        if (with_scaler)
            measure(&one, 0);
        assert_ok(sg_optim_step(one.optim, with_scaler ? one.scaler : NULL, &info));
        assert_true(info.skipped);
        assert_int_equal(sg_optim_skipped(one.optim), 1);
        assert_int_equal(sg_optim_steps(one.optim), 1);
        assert_same_values();
        one.gradient[1][2] = 0;
        if (with_scaler)
            measure(&one, 1);
        assert_ok(sg_optim_step(one.optim, with_scaler ? one.scaler : NULL, &info));
        assert_false(info.skipped);
        assert_int_equal(info.step, 1);
        /* Bias correction did not advance in the skipped step: the first step moves by the rate. */
        assert_relative(fabs((double)one.value[2][1] - (double)two.value[2][1] * (1 - 1e-5)), 1e-3,
                        1e-3);
        close_all(&one);
    }
}

static void rates_of_single_spans(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
    config.rate = 0.5;
    open_with(&one, &config, NULL, NULL);
    memcpy(two.value, one.value, sizeof one.value);
    assert_ok(sg_optim_set_rate_factor(one.optim, 1, 0));
    assert_ok(sg_optim_set_rate_factor(one.optim, 2, 4));
    assert_ok(sg_optim_set_rate(one.optim, 0.25));
    assert_ok(sg_optim_step(one.optim, NULL, NULL));
    assert_true(one.value[0][0] == two.value[0][0] - 0.25f * one.gradient[0][0]);
    assert_memory_equal(one.value[1], two.value[1], sizeof one.value[1]);
    assert_true(one.value[2][0] == two.value[2][0] - 1.0f * one.gradient[2][0]);
    assert_status(sg_optim_set_rate_factor(one.optim, SPANS, 1), SG_ERROR_ARGUMENT);
    assert_status(sg_optim_set_rate_factor(one.optim, 0, -1), SG_ERROR_ARGUMENT);
    assert_status(sg_optim_set_rate(one.optim, NAN), SG_ERROR_ARGUMENT);
    close_all(&one);
}

static void the_schedule_sets_the_rate(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
    sg_schedule_term terms[] = {sg_schedule_warmup(4, 0.5), sg_schedule_interval(2, 3, 10)};
    config.rate = 2;
    config.schedule = terms;
    config.schedule_count = 2;
    open_with(&one, &config, NULL, NULL);
    terms[0] = sg_schedule_constant(99); /* copied: no effect */
    const double expected[] = {1, 1.25, 15, 1.75, 2};
    for (int step = 0; step < 5; step++) {
        sg_step_info info;
        assert_relative(sg_optim_rate(one.optim), expected[step], 1e-15);
        assert_ok(sg_optim_step(one.optim, NULL, &info));
        assert_relative(info.rate, expected[step], 1e-15);
    }
    close_all(&one);
}

static void calls_that_do_not_fit(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAM);
    sg_scale_config scale = sg_scale_defaults();
    open_with(&one, &config, &scale, NULL);
    open_with(&two, &config, &scale, NULL);
    assert_status(sg_optim_step(one.optim, one.scaler, NULL), SG_ERROR_ORDER);
    measure(&one, 0);
    assert_status(sg_optim_step(two.optim, one.scaler, NULL), SG_ERROR_MISMATCH);
    assert_ok(sg_optim_step(one.optim, one.scaler, NULL));
    assert_status(sg_optim_step(one.optim, one.scaler, NULL), SG_ERROR_ORDER);
    assert_status(sg_optim_step(NULL, NULL, NULL), SG_ERROR_ARGUMENT);
    close_all(&one);
    close_all(&two);
    sg_optim_destroy(NULL);
}

static void bad_configurations(void **state)
{
    (void)state;
    sg_optim_config good = sg_optim_defaults(SG_OPTIM_ADAMW), bad[12];
    sg_schedule_term term = sg_schedule_interval(5, 5, 1);
    for (int i = 0; i < 12; i++)
        bad[i] = good;
    bad[0].rate = -1;
    bad[1].rate = NAN;
    bad[2].beta1 = 1;
    bad[3].beta2 = -0.1;
    bad[4].eps = -1;
    bad[5].decay = INFINITY;
    bad[6].clip_norm = -1;
    bad[7].kind = (sg_optim_kind)9;
    bad[8].kind = SG_OPTIM_SGD, bad[8].nesterov = true;
    bad[9].kind = SG_OPTIM_SGD, bad[9].momentum = -1;
    bad[10].schedule = &term, bad[10].schedule_count = 1;
    bad[11].schedule = NULL, bad[11].schedule_count = 1;
    open_with(&one, &good, NULL, NULL);
    sg_optim *optim;
    for (int i = 0; i < 12; i++) {
        assert_status(sg_optim_create(&optim, one.params, &bad[i], NULL, NULL), SG_ERROR_ARGUMENT);
        assert_null(optim);
    }
    good.isa = (sg_isa)9;
    assert_status(sg_optim_create(&optim, one.params, &good, NULL, NULL), SG_ERROR_UNSUPPORTED);
    good.isa = SG_ISA_AUTO;
    assert_status(sg_params_bind(one.params, 0, NULL, one.gradient[0]), SG_ERROR_ARGUMENT);
    sg_params *gradients_only;
    sg_span span = {"g", NULL, one.gradient[0], 1, SG_FLOAT32, 0, SG_ROLE_WEIGHT, 0};
    assert_ok(sg_params_create(&gradients_only, NULL));
    assert_ok(sg_params_add(gradients_only, &span));
    assert_status(sg_optim_create(&optim, gradients_only, &good, NULL, NULL), SG_ERROR_ARGUMENT);
    sg_params_destroy(gradients_only);
    close_all(&one);
    assert_string_equal(sg_optim_name(SG_OPTIM_ADAMW), "adamw");
    assert_string_equal(sg_optim_name(SG_OPTIM_ADAM), "adam");
    assert_string_equal(sg_optim_name(SG_OPTIM_SGD), "sgd");
    assert_string_equal(sg_optim_name((sg_optim_kind)9), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_equals_applied),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(clipping_by_the_global_norm),
        cmocka_unit_test(clipping_comes_after_stablegrad),
        cmocka_unit_test(non_finite_steps_are_skipped),
        cmocka_unit_test(rates_of_single_spans),
        cmocka_unit_test(the_schedule_sets_the_rate),
        cmocka_unit_test(calls_that_do_not_fit),
        cmocka_unit_test(bad_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
