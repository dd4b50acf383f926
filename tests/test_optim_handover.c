/* The hand-over between rescaled and raw gradients: what conversion keeps, in both types and for
 * every optimizer with a state; late starts, restarts, resuming, clipping, signs. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support/support.h"

enum { SPANS = 3, COUNT = 40, STEPS = 60, SWITCH = 30 };

typedef struct run {
    union {
        float f32[SPANS][COUNT];
        double f64[SPANS][COUNT];
    } value, gradient;
    sg_type type;
    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
    sg_step_info info; /* of the last step */
} run;

static void open_run(run *r, sg_type type, const sg_optim_config *optim,
                     const sg_scale_config *scale)
{
    static const char *const names[SPANS] = {"a.weight", "a.bias", "b.weight"};
    memset(r, 0, sizeof *r);
    r->type = type;
    assert_ok(sg_params_create(&r->params, NULL));
    for (size_t i = 0; i < SPANS; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            double value = sgi_random_normal(1, i, j);
            if (type == SG_FLOAT32)
                r->value.f32[i][j] = (float)value;
            else
                r->value.f64[i][j] = value;
        }
        void *value = type == SG_FLOAT32 ? (void *)r->value.f32[i] : r->value.f64[i];
        void *gradient = type == SG_FLOAT32 ? (void *)r->gradient.f32[i] : r->gradient.f64[i];
        sg_span span = {names[i], value, gradient, COUNT, type, i == 2, (sg_role)(i == 1), 0};
        assert_ok(sg_params_add(r->params, &span));
    }
    assert_ok(sg_scaler_create(&r->scaler, r->params, scale, NULL, NULL));
    assert_ok(sg_optim_create(&r->optim, r->params, optim, NULL, NULL));
}

static void close_run(run *r)
{
    sg_optim_destroy(r->optim);
    sg_scaler_destroy(r->scaler);
    sg_params_destroy(r->params);
}

/* Gradients that depend on the step alone, of another size in each span and, when `drifting`, from
 * step to step. */
static double gradient_at(uint64_t step, size_t span, size_t j, bool drifting)
{
    static const double sizes[SPANS] = {1e-2, 1e-2, 3};
    return sizes[span] * (drifting ? exp(-0.1 * (double)step) : 1) *
           (sgi_random_normal(2, drifting ? step : 0, span * COUNT + j) + 0.3);
}

static void fill_gradients(run *r, uint64_t step, bool drifting)
{
    for (size_t i = 0; i < SPANS; i++)
        for (size_t j = 0; j < COUNT; j++) {
            double g = gradient_at(step, i, j, drifting);
            if (r->type == SG_FLOAT32)
                r->gradient.f32[i][j] = (float)g;
            else
                r->gradient.f64[i][j] = g;
        }
}

static void take_step(run *r, uint64_t step, bool drifting)
{
    fill_gradients(r, step, drifting);
    assert_ok(sg_scaler_observe_scale(r->scaler, 0.05));
    assert_ok(sg_scaler_measure(r->scaler, step));
    assert_ok(sg_optim_step(r->optim, r->scaler, &r->info));
}

static double value_at(const run *r, size_t i, size_t j)
{
    return r->type == SG_FLOAT32 ? (double)r->value.f32[i][j] : r->value.f64[i][j];
}

/* The largest difference of two runs' values; NaN, which is at most nothing, when one is not a
 * number. */
static double distance(const run *a, const run *b)
{
    double largest = 0;
    for (size_t i = 0; i < SPANS; i++)
        for (size_t j = 0; j < COUNT; j++) {
            double difference = fabs(value_at(a, i, j) - value_at(b, i, j));
            if (isnan(difference))
                return difference;
            if (difference > largest)
                largest = difference;
        }
    return largest;
}

static sg_scale_config window(uint64_t from, uint64_t until, sg_handover how)
{
    sg_scale_config scale = sg_scale_defaults();
    scale.from = from;
    scale.until = until;
    scale.handover = how;
    return scale;
}

/* Values move by about 1 (STEPS steps of at most the rate); a step rounds once or twice. */
static double rounding(sg_type type)
{
    return (type == SG_FLOAT32 ? FLT_EPSILON : DBL_EPSILON) * 8 * STEPS;
}

/* Adam divides by the root of the second moment, so a constant factor drops out but for eps; here
 * eps is 0. Switching off by conversion, on late, and both must not show. */
static void constant_factors_leave_adam_where_it_was(void **state)
{
    (void)state;
    const uint64_t windows[][2] = {{0, SWITCH}, {SWITCH, STEPS}, {20, 40}};
    for (int kind = SG_OPTIM_ADAMW; kind <= SG_OPTIM_ADAM; kind++)
        for (int type = 0; type < SG_TYPE_COUNT; type++)
            for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
                sg_optim_config config = sg_optim_defaults((sg_optim_kind)kind);
                config.rate = 0.02;
                config.eps = 0;
                sg_scale_config never = window(0, 0, SG_HANDOVER_CONVERT);
                sg_scale_config some = window(windows[w][0], windows[w][1], SG_HANDOVER_CONVERT);
                sg_scale_config kept = window(windows[w][0], windows[w][1], SG_HANDOVER_KEEP);
                run plain, converted, literal;
                open_run(&plain, (sg_type)type, &config, &never);
                open_run(&converted, (sg_type)type, &config, &some);
                open_run(&literal, (sg_type)type, &config, &kept);
                int handed_over = 0;
                for (uint64_t step = 0; step < STEPS; step++) {
                    take_step(&plain, step, false);
                    take_step(&converted, step, false);
                    take_step(&literal, step, false);
                    assert_false(plain.info.handed_over);
                    assert_true(converted.info.rescaled ==
                                (step >= windows[w][0] && step < windows[w][1]));
                    handed_over += converted.info.handed_over;
                }
                assert_int_equal(handed_over, w == 2 ? 2 : 1);
                assert_true(distance(&converted, &plain) <= rounding((sg_type)type));
                assert_true(distance(&literal, &plain) > 0.1); /* what conversion is for */
                close_run(&plain);
                close_run(&converted);
                close_run(&literal);
            }
}

/* With eps the first steps after the switch differ by what eps is worth against the root of the
 * second moment: here 1e-8 / 1e-2 of each step at most. */
static void adam_with_eps(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_scale_config never = window(0, 0, SG_HANDOVER_CONVERT);
    sg_scale_config half = window(0, SWITCH, SG_HANDOVER_CONVERT);
    run plain, converted;
    open_run(&plain, SG_FLOAT64, &config, &never);
    open_run(&converted, SG_FLOAT64, &config, &half);
    for (uint64_t step = 0; step < STEPS; step++) {
        take_step(&plain, step, false);
        take_step(&converted, step, false);
    }
    assert_true(distance(&converted, &plain) <= STEPS * config.rate * 1e-4);
    assert_true(distance(&converted, &plain) > 0);
    close_run(&plain);
    close_run(&converted);
}

/* For SGD a constant factor is a factor of the rate: rescaled steps are raw ones at another rate in
 * each span, and the momentum must be the raw one after the switch. */
static void constant_factors_are_rates_to_sgd(void **state)
{
    (void)state;
    for (int type = 0; type < SG_TYPE_COUNT; type++)
        for (int nesterov = 0; nesterov < 2; nesterov++) {
            sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
            config.rate = 0.01;
            config.momentum = 0.9;
            config.nesterov = nesterov;
            sg_scale_config never = window(0, 0, SG_HANDOVER_CONVERT);
            sg_scale_config some = window(15, SWITCH, SG_HANDOVER_CONVERT);
            run plain, converted;
            open_run(&plain, (sg_type)type, &config, &never);
            open_run(&converted, (sg_type)type, &config, &some);
            for (uint64_t step = 0; step < STEPS; step++) {
                take_step(&converted, step, false);
                const sg_block_report *blocks = sg_scaler_report(converted.scaler)->blocks;
                for (size_t i = 0; i < SPANS; i++)
                    assert_ok(
                        sg_optim_set_rate_factor(plain.optim, i, blocks[i == 2 ? 1 : 0].factor));
                take_step(&plain, step, false);
            }
            /* Values of the third span move by hundreds. */
            assert_true(distance(&converted, &plain) <= 500 * rounding((sg_type)type));
            close_run(&plain);
            close_run(&converted);
        }
}

/* Buffer `index` of element j of span i of an optimizer with two: its state ends with the buffers.
 */
static double buffer_at(const run *r, size_t i, size_t j, size_t index)
{
    size_t size, bytes = (COUNT * sizeof(double) + 63) / 64 * 64;
    const unsigned char *state = sg_optim_state(r->optim, &size);
    double value;
    memcpy(&value, state + size - (2 * (SPANS - i) - index) * bytes + j * sizeof value,
           sizeof value);
    return value;
}

static double sum_of_squares(const run *r, size_t i)
{
    double sum = 0;
    for (size_t j = 0; j < COUNT; j++)
        sum += buffer_at(r, i, j, 1);
    return sum;
}

/* Whatever the factors were, all moments of a span are converted by one: the step that they make
 * stays what it was, here to be seen in m^2 / v. */
static void changing_factors_keep_the_step(void **state)
{
    (void)state;
    for (int clipped = 0; clipped < 2; clipped++) {
        sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
        config.clip_norm = clipped ? 2 : 0;
        sg_scale_config half = window(0, SWITCH, SG_HANDOVER_CONVERT);
        run r;
        double before[SPANS][COUNT], second[SPANS];
        open_run(&r, SG_FLOAT64, &config, &half);
        for (uint64_t step = 0; step < SWITCH; step++)
            take_step(&r, step, true);
        for (size_t i = 0; i < SPANS; i++) {
            second[i] = sum_of_squares(&r, i);
            for (size_t j = 0; j < COUNT; j++)
                before[i][j] = pow(buffer_at(&r, i, j, 0), 2) / buffer_at(&r, i, j, 1);
        }
        assert_ok(sg_optim_handover(r.optim, NULL, NULL));
        for (size_t i = 0; i < SPANS; i++) {
            assert_true(fabs(sum_of_squares(&r, i) / second[i] - 1) > 0.1);
            for (size_t j = 0; j < COUNT; j++)
                assert_relative(pow(buffer_at(&r, i, j, 0), 2) / buffer_at(&r, i, j, 1),
                                before[i][j], 1e-13);
        }
        close_run(&r);
    }
}

/* With gradients of one size the second moment comes out as raw gradients would have made it: signs
 * by their size, clipped gradients as much as raw ones would have been clipped. */
static void signs_and_clipping_count_by_their_size(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
        config.clip_norm = kind > 0 ? 0.5 : 0;
        sg_scale_config never = window(0, 0, SG_HANDOVER_CONVERT);
        sg_scale_config half = window(0, SWITCH, SG_HANDOVER_CONVERT);
        half.method = kind < 2 ? SG_METHOD_SIGN : SG_METHOD_STABLEGRAD;
        run plain, converted;
        open_run(&plain, SG_FLOAT64, &config, &never);
        open_run(&converted, SG_FLOAT64, &config, &half);
        for (uint64_t step = 0; step < SWITCH; step++) {
            take_step(&plain, step, false);
            take_step(&converted, step, false);
        }
        assert_ok(sg_optim_handover(converted.optim, NULL, NULL));
        double both[2] = {sum_of_squares(&converted, 0) + sum_of_squares(&converted, 1),
                          sum_of_squares(&plain, 0) + sum_of_squares(&plain, 1)};
        assert_relative(both[0], both[1], 1e-12);
        assert_relative(sum_of_squares(&converted, 2), sum_of_squares(&plain, 2), 1e-12);
        close_run(&plain);
        close_run(&converted);
    }
}

/* After a restart the run goes on as a new optimizer would, but for the schedule's step. */
static void a_restart_forgets_moments_and_bias_correction(void **state)
{
    (void)state;
    for (int kind = 0; kind < SG_OPTIM_COUNT; kind++) {
        sg_optim_config config = sg_optim_defaults((sg_optim_kind)kind);
        config.momentum = 0.9;
        sg_scale_config half = window(0, SWITCH, SG_HANDOVER_RESTART);
        run old, fresh;
        open_run(&old, SG_FLOAT64, &config, &half);
        open_run(&fresh, SG_FLOAT64, &config, &half);
        for (uint64_t step = 0; step < SWITCH; step++)
            take_step(&old, step, true);
        memcpy(&fresh.value, &old.value, sizeof old.value);
        for (uint64_t step = SWITCH; step < STEPS; step++) {
            take_step(&old, step, true);
            take_step(&fresh, step, true);
            assert_true(old.info.handed_over == (step == SWITCH));
            assert_int_equal(old.info.step, step);
        }
        assert_memory_equal(&old.value, &fresh.value, sizeof old.value);
        close_run(&old);
        close_run(&fresh);
    }
}

/* Biases under SG_BLOCKS_WEIGHT are never rescaled: their state is not touched. */
static void a_block_that_was_never_rescaled_is_untouched(void **state)
{
    (void)state;
    for (int w = 0; w < SG_HANDOVER_COUNT; w++) {
        sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
        sg_scale_config never = window(0, 0, (sg_handover)w),
                        half = window(5, SWITCH, (sg_handover)w);
        half.blocks = SG_BLOCKS_WEIGHT;
        run plain, rescaled;
        open_run(&plain, SG_FLOAT32, &config, &never);
        open_run(&rescaled, SG_FLOAT32, &config, &half);
        for (uint64_t step = 0; step < STEPS; step++) {
            take_step(&plain, step, true);
            take_step(&rescaled, step, true);
        }
        assert_memory_equal(plain.value.f32[1], rescaled.value.f32[1], sizeof plain.value.f32[1]);
        assert_true(distance(&plain, &rescaled) > 0);
        close_run(&plain);
        close_run(&rescaled);
    }
}

/* Saved and restored before, at and after the hand-over, a run goes on bit for bit. */
static void resuming_on_either_side_gives_the_same_bits(void **state)
{
    (void)state;
    const uint64_t stops[] = {10, SWITCH - 1, SWITCH, SWITCH + 1, 50};
    for (int kind = 0; kind < SG_OPTIM_COUNT; kind++)
        for (size_t s = 0; s < sizeof stops / sizeof *stops; s++) {
            sg_optim_config config = sg_optim_defaults((sg_optim_kind)kind);
            config.momentum = 0.9;
            sg_scale_config some = window(5, SWITCH, SG_HANDOVER_CONVERT);
            run whole, part;
            open_run(&whole, SG_FLOAT32, &config, &some);
            open_run(&part, SG_FLOAT32, &config, &some);
            for (uint64_t step = 0; step < stops[s]; step++)
                take_step(&whole, step, true);
            size_t size;
            const void *live = sg_optim_state(whole.optim, &size);
            void *saved = malloc(size);
            memcpy(saved, live, size);
            memcpy(&part.value, &whole.value, sizeof whole.value);
            assert_ok(sg_optim_restore(part.optim, saved, size));
            for (uint64_t step = stops[s]; step < STEPS; step++) {
                take_step(&whole, step, true);
                take_step(&part, step, true);
                assert_true(part.info.handed_over == whole.info.handed_over);
            }
            assert_memory_equal(&whole.value, &part.value, sizeof whole.value);
            free(saved);
            close_run(&whole);
            close_run(&part);
        }
}

/* A step that is skipped hands nothing over; the next one does. A step without a reference is no
 * end of rescaling. */
static void steps_that_are_not_rescaled_for_another_reason(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_scale_config some = window(0, 3, SG_HANDOVER_CONVERT);
    run r;
    open_run(&r, SG_FLOAT64, &config, &some);
    take_step(&r, 0, false);
    assert_true(r.info.rescaled && !r.info.handed_over); /* nothing to hand over yet */
    fill_gradients(&r, 1, false);
    assert_ok(sg_scaler_observe_scale(r.scaler, 0));
    assert_ok(sg_scaler_measure(r.scaler, 1));
    assert_ok(sg_optim_step(r.optim, r.scaler, &r.info));
    assert_true(r.info.rescaled && !r.info.handed_over);
    take_step(&r, 2, false);
    assert_true(r.info.rescaled && !r.info.handed_over);
    fill_gradients(&r, 3, false);
    r.gradient.f64[0][0] = NAN;
    assert_ok(sg_scaler_measure(r.scaler, 3));
    assert_ok(sg_optim_step(r.optim, r.scaler, &r.info));
    assert_true(r.info.skipped && r.info.rescaled && !r.info.handed_over);
    take_step(&r, 4, false);
    assert_true(!r.info.skipped && !r.info.rescaled && r.info.handed_over);
    close_run(&r);
}

/* The call by hand: before the step with the scaler, or without one at the end of rescaling. */
static void the_call_by_hand_does_what_the_step_does(void **state)
{
    (void)state;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_scale_config half = window(0, SWITCH, SG_HANDOVER_CONVERT);
    run by_itself, early, without;
    bool done;
    open_run(&by_itself, SG_FLOAT32, &config, &half);
    open_run(&early, SG_FLOAT32, &config, &half);
    open_run(&without, SG_FLOAT32, &config, &half);
    assert_status(sg_optim_handover(NULL, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_optim_handover(early.optim, early.scaler, NULL), SG_ERROR_ORDER);
    assert_status(sg_optim_handover(early.optim, without.scaler, NULL), SG_ERROR_MISMATCH);
    for (uint64_t step = 0; step < SWITCH; step++) {
        take_step(&by_itself, step, true);
        take_step(&early, step, true);
        take_step(&without, step, true);
    }
    assert_ok(sg_optim_handover(without.optim, NULL, &done));
    assert_true(done);
    assert_ok(sg_optim_handover(without.optim, NULL, &done));
    assert_false(done);
    for (uint64_t step = SWITCH; step < STEPS; step++) {
        take_step(&by_itself, step, true);
        fill_gradients(&early, step, true);
        assert_ok(sg_scaler_measure(early.scaler, step));
        assert_ok(sg_optim_handover(early.optim, early.scaler, &done));
        assert_true(done == (step == SWITCH));
        assert_ok(sg_optim_step(early.optim, early.scaler, &early.info));
        assert_false(early.info.handed_over);
        fill_gradients(&without, step, true);
        assert_ok(sg_optim_step(without.optim, NULL, NULL));
    }
    assert_memory_equal(&by_itself.value, &early.value, sizeof early.value);
    assert_memory_equal(&by_itself.value, &without.value, sizeof early.value);
    close_run(&by_itself);
    close_run(&early);
    close_run(&without);
}

/* In float the square of these factors, 1e-20 and 1e20 or so, does not exist. */
static void factors_whose_square_leaves_the_range_of_float(void **state)
{
    (void)state;
    const double constants[] = {1e-20, 1e18};
    for (size_t c = 0; c < 2; c++) {
        sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
        config.momentum = 0.9;
        config.rate = 1e-25;
        sg_scale_config half = window(0, SWITCH, SG_HANDOVER_CONVERT);
        half.reference = SG_REFERENCE_CONSTANT;
        half.constant = constants[c];
        for (int kind = 0; kind < SG_OPTIM_COUNT; kind++) {
            config.kind = (sg_optim_kind)kind;
            run r;
            open_run(&r, SG_FLOAT32, &config, &half);
            for (uint64_t step = 0; step < STEPS; step++) {
                fill_gradients(&r, step, false);
                assert_ok(sg_scaler_measure(r.scaler, step));
                assert_ok(sg_optim_step(r.optim, r.scaler, NULL));
            }
            for (size_t i = 0; i < SPANS; i++)
                for (size_t j = 0; j < COUNT; j++)
                    assert_true(isfinite(r.value.f32[i][j]));
            close_run(&r);
        }
    }
}

static void names_and_defaults(void **state)
{
    (void)state;
    assert_int_equal(sg_scale_defaults().handover, SG_HANDOVER_CONVERT);
    assert_string_equal(sg_handover_name(SG_HANDOVER_CONVERT), "convert");
    assert_string_equal(sg_handover_name(SG_HANDOVER_KEEP), "keep");
    assert_string_equal(sg_handover_name(SG_HANDOVER_RESTART), "restart");
    assert_string_equal(sg_handover_name((sg_handover)9), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_factors_leave_adam_where_it_was),
        cmocka_unit_test(adam_with_eps),
        cmocka_unit_test(constant_factors_are_rates_to_sgd),
        cmocka_unit_test(changing_factors_keep_the_step),
        cmocka_unit_test(signs_and_clipping_count_by_their_size),
        cmocka_unit_test(a_restart_forgets_moments_and_bias_correction),
        cmocka_unit_test(a_block_that_was_never_rescaled_is_untouched),
        cmocka_unit_test(resuming_on_either_side_gives_the_same_bits),
        cmocka_unit_test(steps_that_are_not_rescaled_for_another_reason),
        cmocka_unit_test(the_call_by_hand_does_what_the_step_does),
        cmocka_unit_test(factors_whose_square_leaves_the_range_of_float),
        cmocka_unit_test(names_and_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
