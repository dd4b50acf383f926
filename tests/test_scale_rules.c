/* Every rule of the method, on a small set of spans: two layers of weight and bias. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "support/support.h"

enum { SPANS = 4 };

typedef struct fixture {
    double g[SPANS][6];
    size_t count[SPANS];
    sg_params *params;
    sg_scaler *scaler;
} fixture;

static const double start[SPANS][6] = {{1, -2, 3, -4, 5, -6}, {0.5, 0.25}, {10, 30, -20}, {-7}};
static const size_t counts[SPANS] = {6, 2, 3, 1};
static const char *const names[SPANS] = {"layers.0.weight", "layers.0.bias", "layers.1.weight",
                                         "layers.1.bias"};

static void open_with(fixture *f, const sg_scale_config *config)
{
    memcpy(f->g, start, sizeof start);
    assert_ok(sg_params_create(&f->params, NULL));
    for (size_t i = 0; i < SPANS; i++) {
        f->count[i] = counts[i];
        sg_span span = {names[i],
                        f->g[i],
                        f->g[i],
                        counts[i],
                        SG_FLOAT64,
                        (int)i / 2,
                        i % 2 ? SG_ROLE_BIAS : SG_ROLE_WEIGHT,
                        0};
        assert_ok(sg_params_add(f->params, &span));
    }
    assert_ok(sg_scaler_create(&f->scaler, f->params, config, NULL, NULL));
}

static void close_all(fixture *f)
{
    sg_scaler_destroy(f->scaler);
    sg_params_destroy(f->params);
}

static double std_of(const double *x, size_t n)
{
    double mean = 0, m2 = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        m2 += (x[i] - mean) * (x[i] - mean);
    return n == 1 ? fabs(x[0]) : sqrt(m2 / (double)n);
}

/* The block of spans a..b of the starting values. */
static double std_of_spans(size_t a, size_t b)
{
    double all[12];
    size_t n = 0;
    for (size_t i = a; i <= b; i++)
        for (size_t j = 0; j < counts[i]; j++)
            all[n++] = start[i][j];
    return std_of(all, n);
}

static double norm2_of_spans(size_t a, size_t b)
{
    double sum = 0;
    for (size_t i = a; i <= b; i++)
        for (size_t j = 0; j < counts[i]; j++)
            sum += start[i][j] * start[i][j];
    return sum;
}

static const double signal[] = {0.1, -0.3, 0.2, 0.4};

static void measure_with_signal(fixture *f, uint64_t step)
{
    assert_ok(sg_scaler_observe(f->scaler, signal, SG_FLOAT64, 4, 1));
    assert_ok(sg_scaler_measure(f->scaler, step));
}

static void assert_scaled_by(const fixture *f, size_t span, double factor)
{
    for (size_t j = 0; j < counts[span]; j++)
        assert_relative(f->g[span][j], start[span][j] * factor, 1e-14);
}

static void layers_by_default(void **state)
{
    (void)state;
    fixture f;
    open_with(&f, NULL);
    measure_with_signal(&f, 0);
    const sg_scale_report *r = sg_scaler_report(f.scaler);
    double c = std_of(signal, 4), s0 = std_of_spans(0, 1), s1 = std_of_spans(2, 3);
    assert_int_equal(r->outcome, SG_STEP_SCALED);
    assert_int_equal(r->block_count, 2);
    assert_relative(r->reference, c, 1e-14);
    assert_string_equal(r->blocks[0].name, "layers.0");
    assert_string_equal(r->blocks[1].name, "layers.1");
    assert_relative(r->blocks[0].std, s0, 1e-14);
    assert_relative(r->blocks[0].factor, c / (s0 + 1e-8), 1e-14);
    assert_relative(r->blocks[1].scaled_std, c * s1 / (s1 + 1e-8), 1e-14);
    assert_relative(r->blocks[1].norm2, norm2_of_spans(2, 3), 1e-14);
    assert_relative(r->ratio_raw, s1 / s0, 1e-14);
    assert_close(r->ratio_scaled, 1, 1e-7);
    assert_memory_equal(f.g, start, sizeof start); /* measuring changes nothing */
    assert_ok(sg_scaler_apply(f.scaler));
    assert_scaled_by(&f, 0, c / (s0 + 1e-8));
    assert_scaled_by(&f, 1, c / (s0 + 1e-8));
    assert_scaled_by(&f, 3, c / (s1 + 1e-8));
    close_all(&f);
}

static void partitions(void **state)
{
    (void)state;
    fixture f;
    double c = std_of(signal, 4);
    sg_scale_config config = sg_scale_defaults();
    config.blocks = SG_BLOCKS_TENSOR;
    open_with(&f, &config);
    measure_with_signal(&f, 0);
    assert_int_equal(sg_scaler_report(f.scaler)->block_count, 4);
    assert_string_equal(sg_scaler_report(f.scaler)->blocks[3].name, "layers.1.bias");
    assert_ok(sg_scaler_apply(f.scaler));
    for (size_t i = 0; i < SPANS; i++)
        assert_scaled_by(&f, i, c / (std_of_spans(i, i) + 1e-8));
    close_all(&f);

    config.blocks = SG_BLOCKS_WEIGHT;
    open_with(&f, &config);
    measure_with_signal(&f, 0);
    assert_ok(sg_scaler_apply(f.scaler));
    assert_scaled_by(&f, 0, c / (std_of_spans(0, 0) + 1e-8));
    assert_scaled_by(&f, 1, 1);
    assert_scaled_by(&f, 2, c / (std_of_spans(2, 2) + 1e-8));
    assert_scaled_by(&f, 3, 1);
    /* Untouched blocks are reported but do not count in the ratio. */
    assert_relative(sg_scaler_report(f.scaler)->ratio_raw, std_of_spans(2, 2) / std_of_spans(0, 0),
                    1e-14);
    close_all(&f);

    config.blocks = SG_BLOCKS_ALL;
    open_with(&f, &config);
    measure_with_signal(&f, 0);
    assert_int_equal(sg_scaler_report(f.scaler)->block_count, 1);
    assert_string_equal(sg_scaler_report(f.scaler)->blocks[0].name, "all");
    assert_ok(sg_scaler_apply(f.scaler));
    for (size_t i = 0; i < SPANS; i++)
        assert_scaled_by(&f, i, c / (std_of_spans(0, 3) + 1e-8));
    close_all(&f);
}

static double inner_with_start(const fixture *f, bool squared)
{
    double sum = 0;
    for (size_t i = 0; i < SPANS; i++)
        for (size_t j = 0; j < counts[i]; j++)
            sum += f->g[i][j] * (squared ? f->g[i][j] : start[i][j]);
    return sum;
}

static void norm_and_inner_keep_what_they_say(void **state)
{
    (void)state;
    fixture f;
    sg_scale_config config = sg_scale_defaults();
    config.eps = 0.5; /* large, so that a formula without eps would show */
    config.reference = SG_REFERENCE_NORM;
    open_with(&f, &config);
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_ok(sg_scaler_apply(f.scaler));
    assert_relative(inner_with_start(&f, true), norm2_of_spans(0, 3), 1e-13);
    close_all(&f);
    config.reference = SG_REFERENCE_INNER;
    open_with(&f, &config);
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_ok(sg_scaler_apply(f.scaler));
    assert_relative(inner_with_start(&f, false), norm2_of_spans(0, 3), 1e-13);
    close_all(&f);
}

static void constant_and_given_scales(void **state)
{
    (void)state;
    fixture f;
    sg_scale_config config = sg_scale_defaults();
    config.reference = SG_REFERENCE_CONSTANT;
    config.constant = 0.125;
    open_with(&f, &config);
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_true(sg_scaler_report(f.scaler)->reference == 0.125);
    close_all(&f);
    open_with(&f, NULL);
    assert_ok(sg_scaler_observe_scale(f.scaler, 0.75));
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_true(sg_scaler_report(f.scaler)->reference == 0.75);
    /* What was observed holds for one step. */
    assert_status(sg_scaler_measure(f.scaler, 1), SG_ERROR_NO_SIGNAL);
    close_all(&f);
}

static void several_point_sets_are_one_signal(void **state)
{
    (void)state;
    fixture f;
    const float first[] = {0.5f, -0.25f};
    const double second[] = {0.4, 0.8, -0.6};
    const double all[] = {0.5, -0.25, 0.2, 0.4, -0.3};
    open_with(&f, NULL);
    assert_ok(sg_scaler_observe(f.scaler, first, SG_FLOAT32, 2, 1));
    assert_ok(sg_scaler_observe(f.scaler, second, SG_FLOAT64, 3, 0.5));
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_relative(sg_scaler_report(f.scaler)->reference, std_of(all, 5), 1e-14);
    sg_moments m = {0, 0, 0};
    sg_moments_add(&m, all, SG_FLOAT64, 5, 1);
    assert_ok(sg_scaler_observe_moments(f.scaler, &m));
    assert_ok(sg_scaler_measure(f.scaler, 1));
    assert_relative(sg_scaler_report(f.scaler)->reference, std_of(all, 5), 1e-14);
    close_all(&f);
}

static void one_output_value_counts_by_its_size(void **state)
{
    (void)state;
    fixture f;
    double value = -0.3;
    open_with(&f, NULL);
    assert_ok(sg_scaler_observe(f.scaler, &value, SG_FLOAT64, 1, 1));
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_relative(sg_scaler_report(f.scaler)->reference, 0.3, 1e-15);
    close_all(&f);
}

static void blocks_without_spread_are_left(void **state)
{
    (void)state;
    fixture f;
    sg_scale_config config = sg_scale_defaults();
    config.blocks = SG_BLOCKS_TENSOR;
    open_with(&f, &config);
    memset(f.g[0], 0, sizeof f.g[0]);        /* all zero */
    f.g[2][0] = f.g[2][1] = f.g[2][2] = 0.1; /* all equal */
    measure_with_signal(&f, 0);
    const sg_scale_report *r = sg_scaler_report(f.scaler);
    assert_int_equal(r->outcome, SG_STEP_SCALED);
    assert_true(r->blocks[0].std == 0 && r->blocks[0].factor == 1);
    assert_true(r->blocks[2].std == 0 && r->blocks[2].factor == 1);
    assert_ok(sg_scaler_apply(f.scaler));
    assert_true(f.g[0][0] == 0 && f.g[2][1] == 0.1);
    assert_relative(f.g[3][0], -std_of(signal, 4), 1e-8); /* one element: |g| */
    close_all(&f);
}

static void a_zero_block_of_one_element_is_left(void **state)
{
    (void)state;
    fixture f;
    sg_scale_config config = sg_scale_defaults();
    config.blocks = SG_BLOCKS_TENSOR;
    open_with(&f, &config);
    f.g[3][0] = 0;
    measure_with_signal(&f, 0);
    assert_true(sg_scaler_report(f.scaler)->blocks[3].factor == 1);
    close_all(&f);
}

static void no_reference_leaves_and_counts(void **state)
{
    (void)state;
    fixture f;
    const double zeros[3] = {0};
    open_with(&f, NULL);
    assert_ok(sg_scaler_observe(f.scaler, zeros, SG_FLOAT64, 3, 1));
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_ok(sg_scaler_apply(f.scaler));
    assert_memory_equal(f.g, start, sizeof start);
    const sg_scale_report *r = sg_scaler_report(f.scaler);
    assert_int_equal(r->outcome, SG_STEP_NO_REFERENCE);
    assert_int_equal(r->steps_no_reference, 1);
    assert_true(r->ratio_raw == r->ratio_scaled);
    close_all(&f);
}

static void non_finite_gradients_are_never_scaled(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t b = 0; b < 3; b++)
        for (size_t span = 0; span < SPANS; span++) {
            fixture f;
            sg_scale_config config = sg_scale_defaults();
            config.blocks = SG_BLOCKS_WEIGHT; /* untouched biases are guarded too */
            open_with(&f, &config);
            f.g[span][0] = bad[b];
            measure_with_signal(&f, 0);
            assert_ok(sg_scaler_apply(f.scaler));
            const sg_scale_report *r = sg_scaler_report(f.scaler);
            assert_int_equal(r->outcome, SG_STEP_NOT_FINITE);
            assert_int_equal(r->steps_not_finite, 1);
            for (size_t i = 0; i < SPANS; i++)
                assert_true(r->blocks[i].finite == (i != span));
            for (size_t i = 0; i < SPANS; i++)
                if (i != span)
                    assert_scaled_by(&f, i, 1);
            close_all(&f);
        }
}

static void a_non_finite_signal_skips_too(void **state)
{
    (void)state;
    fixture f;
    double value[2] = {1, NAN};
    open_with(&f, NULL);
    assert_ok(sg_scaler_observe(f.scaler, value, SG_FLOAT64, 2, 1));
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_int_equal(sg_scaler_report(f.scaler)->outcome, SG_STEP_NOT_FINITE);
    assert_false(sg_scaler_report(f.scaler)->signal_finite);
    measure_with_signal(&f, 1); /* and the next step is a new one */
    assert_int_equal(sg_scaler_report(f.scaler)->outcome, SG_STEP_SCALED);
    close_all(&f);
}

static void active_window(void **state)
{
    (void)state;
    fixture f;
    sg_scale_config config = sg_scale_defaults();
    config.from = 3;
    config.until = 5;
    open_with(&f, &config);
    for (uint64_t step = 0; step < 8; step++) {
        if (step == 3 || step == 4)
            measure_with_signal(&f, step);
        else
            assert_ok(sg_scaler_measure(f.scaler, step)); /* no signal needed outside */
        assert_int_equal(sg_scaler_report(f.scaler)->outcome,
                         step == 3 || step == 4 ? SG_STEP_SCALED : SG_STEP_INACTIVE);
    }
    assert_int_equal(sg_scaler_report(f.scaler)->steps_scaled, 2);
    assert_int_equal(sg_scaler_report(f.scaler)->steps_inactive, 6);
    /* The window can be moved. */
    assert_status(sg_scaler_set_window(NULL, 0, 1), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_set_window(f.scaler, 2, 1), SG_ERROR_ARGUMENT);
    assert_ok(sg_scaler_set_window(f.scaler, 8, SG_FOREVER));
    measure_with_signal(&f, 8);
    assert_int_equal(sg_scaler_report(f.scaler)->outcome, SG_STEP_SCALED);
    assert_ok(sg_scaler_set_window(f.scaler, 8, 8));
    /* The guard watches outside the window too. */
    f.g[0][0] = NAN;
    assert_ok(sg_scaler_measure(f.scaler, 9));
    assert_int_equal(sg_scaler_report(f.scaler)->outcome, SG_STEP_NOT_FINITE);
    close_all(&f);
}

static void signs(void **state)
{
    (void)state;
    fixture f;
    sg_scale_config config = sg_scale_defaults();
    config.method = SG_METHOD_SIGN;
    config.blocks = SG_BLOCKS_WEIGHT;
    open_with(&f, &config);
    f.g[2][1] = 0;
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_ok(sg_scaler_apply(f.scaler));
    for (size_t j = 0; j < 6; j++)
        assert_true(f.g[0][j] == (j % 2 ? -1 : 1));
    assert_true(f.g[2][1] == 0 && f.g[2][2] == -1);
    assert_scaled_by(&f, 1, 1);
    close_all(&f);
}

static void no_method_only_watches(void **state)
{
    (void)state;
    fixture f;
    sg_scale_config config = sg_scale_defaults();
    config.method = SG_METHOD_NONE;
    open_with(&f, &config);
    assert_ok(sg_scaler_measure(f.scaler, 0));
    assert_ok(sg_scaler_apply(f.scaler));
    assert_memory_equal(f.g, start, sizeof start);
    assert_int_equal(sg_scaler_report(f.scaler)->outcome, SG_STEP_INACTIVE);
    assert_relative(sg_scaler_report(f.scaler)->blocks[0].std, std_of_spans(0, 1), 1e-14);
    close_all(&f);
}

static void factors_stay_in_the_range_of_the_type(void **state)
{
    (void)state;
    float g[2][2] = {{1e-3f, -1e-3f}, {1, -1}};
    sg_params *params;
    assert_ok(sg_params_create(&params, NULL));
    for (int i = 0; i < 2; i++) {
        sg_span span = {i ? "b" : "a", g[i], g[i], 2, SG_FLOAT32, i, SG_ROLE_WEIGHT, 0};
        assert_ok(sg_params_add(params, &span));
    }
    sg_scaler *scaler;
    assert_ok(sg_scaler_create(&scaler, params, NULL, NULL, NULL));
    const double scales[] = {1e37, 1e300, 1e-60};
    for (int k = 0; k < 3; k++) {
        assert_ok(sg_scaler_observe_scale(scaler, scales[k]));
        assert_ok(sg_scaler_measure(scaler, 0));
        assert_true(sg_scaler_report(scaler)->blocks[0].factor == 1);
        assert_ok(sg_scaler_apply(scaler));
        for (int i = 0; i < 4; i++)
            assert_true(isfinite(g[i / 2][i % 2]) && g[i / 2][i % 2] != 0);
    }
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
}

static void spans_without_gradient_are_passed_over(void **state)
{
    (void)state;
    fixture f;
    open_with(&f, NULL);
    assert_ok(sg_params_bind(f.params, 0, f.g[0], NULL));
    measure_with_signal(&f, 0);
    const sg_scale_report *r = sg_scaler_report(f.scaler);
    assert_relative(r->blocks[0].std, std_of_spans(1, 1), 1e-14);
    assert_int_equal(r->blocks[0].count, 2);
    assert_ok(sg_scaler_apply(f.scaler));
    assert_scaled_by(&f, 0, 1);
    close_all(&f);
}

static void calls_out_of_order(void **state)
{
    (void)state;
    fixture f;
    open_with(&f, NULL);
    assert_status(sg_scaler_apply(f.scaler), SG_ERROR_ORDER);
    measure_with_signal(&f, 0);
    assert_ok(sg_scaler_apply(f.scaler));
    assert_status(sg_scaler_apply(f.scaler), SG_ERROR_ORDER);
    assert_status(sg_scaler_measure(f.scaler, 1), SG_ERROR_NO_SIGNAL);
    assert_status(sg_scaler_apply(f.scaler), SG_ERROR_ORDER);
    close_all(&f);
}

static void bad_arguments(void **state)
{
    (void)state;
    fixture f;
    open_with(&f, NULL);
    sg_scaler *other;
    sg_scale_config bad[10];
    for (int i = 0; i < 10; i++)
        bad[i] = sg_scale_defaults();
    bad[0].eps = -1;
    bad[1].eps = NAN;
    bad[2].from = 2, bad[2].until = 1;
    bad[3].reference = SG_REFERENCE_CONSTANT, bad[3].constant = 0;
    bad[4].reference = (sg_reference)9;
    bad[5].blocks = (sg_blocks)9;
    bad[6].method = (sg_method)9;
    bad[7].sharding = (sg_sharding)9;
    bad[8].eps = INFINITY;
    bad[9].reference = SG_REFERENCE_CONSTANT, bad[9].constant = INFINITY;
    for (int i = 0; i < 10; i++) {
        assert_status(sg_scaler_create(&other, f.params, &bad[i], NULL, NULL), SG_ERROR_ARGUMENT);
        assert_null(other);
    }
    sg_scale_config no_such_isa = sg_scale_defaults();
    no_such_isa.isa = (sg_isa)9;
    assert_status(sg_scaler_create(&other, f.params, &no_such_isa, NULL, NULL),
                  SG_ERROR_UNSUPPORTED);
    assert_status(sg_scaler_create(&other, NULL, NULL, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_observe(f.scaler, NULL, SG_FLOAT64, 1, 1), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_observe(f.scaler, signal, (sg_type)9, 1, 1), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_observe(f.scaler, signal, SG_FLOAT64, 1, NAN), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_observe_scale(f.scaler, -1), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_observe_scale(f.scaler, NAN), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_observe_moments(f.scaler, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_measure(NULL, 0), SG_ERROR_ARGUMENT);
    assert_status(sg_scaler_apply(NULL), SG_ERROR_ARGUMENT);
    close_all(&f);
    sg_scaler_destroy(NULL);
}

static void counters_are_restored_and_outcomes_named(void **state)
{
    (void)state;
    fixture f;
    open_with(&f, NULL);
    sg_scaler_set_counters(f.scaler, (const uint64_t[4]){10, 20, 30, 40});
    measure_with_signal(&f, 0);
    const sg_scale_report *r = sg_scaler_report(f.scaler);
    assert_int_equal(r->steps_scaled, 11);
    assert_int_equal(r->steps_inactive, 20);
    assert_int_equal(r->steps_no_reference, 30);
    assert_int_equal(r->steps_not_finite, 40);
    assert_true(sg_scaler_config(f.scaler)->eps == 1e-8);
    assert_string_equal(sg_outcome_name(SG_STEP_SCALED), "scaled");
    assert_string_equal(sg_outcome_name(SG_STEP_INACTIVE), "inactive");
    assert_string_equal(sg_outcome_name(SG_STEP_NO_REFERENCE), "no reference");
    assert_string_equal(sg_outcome_name(SG_STEP_NOT_FINITE), "not finite");
    assert_string_equal(sg_outcome_name((sg_outcome)9), "unknown");
    close_all(&f);
}

static void layer_blocks_are_named_by_what_their_spans_share(void **state)
{
    (void)state;
    static double g[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const char *const span_names[] = {
        "conv1.weight", "stage.0.conv.weight", "w", "fc.weight", "fc.bias", "alpha", "beta"};
    const int layers[] = {0, 1, 2, 3, 3, 4, 4};
    const char *const expected[] = {"conv1", "stage.0.conv", "w", "fc", "alpha"};
    sg_params *params;
    assert_ok(sg_params_create(&params, NULL));
    for (size_t i = 0; i < 7; i++) {
        sg_span span = {span_names[i], NULL, &g[i], 1, SG_FLOAT64, layers[i], SG_ROLE_WEIGHT, 0};
        assert_ok(sg_params_add(params, &span));
    }
    sg_scaler *scaler;
    assert_ok(sg_scaler_create(&scaler, params, NULL, NULL, NULL));
    assert_int_equal(sg_scaler_report(scaler)->block_count, 5);
    for (size_t b = 0; b < 5; b++)
        assert_string_equal(sg_scaler_report(scaler)->blocks[b].name, expected[b]);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
}

static void an_empty_set_is_allowed(void **state)
{
    (void)state;
    sg_params *params;
    sg_scaler *scaler;
    assert_ok(sg_params_create(&params, NULL));
    assert_ok(sg_scaler_create(&scaler, params, NULL, NULL, NULL));
    assert_ok(sg_scaler_observe(scaler, signal, SG_FLOAT64, 4, 1));
    assert_ok(sg_scaler_measure(scaler, 0));
    assert_ok(sg_scaler_apply(scaler));
    assert_true(sg_scaler_report(scaler)->ratio_raw == 1);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_by_default),
        cmocka_unit_test(partitions),
        cmocka_unit_test(norm_and_inner_keep_what_they_say),
        cmocka_unit_test(constant_and_given_scales),
        cmocka_unit_test(several_point_sets_are_one_signal),
        cmocka_unit_test(one_output_value_counts_by_its_size),
        cmocka_unit_test(blocks_without_spread_are_left),
        cmocka_unit_test(a_zero_block_of_one_element_is_left),
        cmocka_unit_test(no_reference_leaves_and_counts),
        cmocka_unit_test(non_finite_gradients_are_never_scaled),
        cmocka_unit_test(a_non_finite_signal_skips_too),
        cmocka_unit_test(active_window),
        cmocka_unit_test(signs),
        cmocka_unit_test(no_method_only_watches),
        cmocka_unit_test(factors_stay_in_the_range_of_the_type),
        cmocka_unit_test(spans_without_gradient_are_passed_over),
        cmocka_unit_test(calls_out_of_order),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(counters_are_restored_and_outcomes_named),
        cmocka_unit_test(layer_blocks_are_named_by_what_their_spans_share),
        cmocka_unit_test(an_empty_set_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
