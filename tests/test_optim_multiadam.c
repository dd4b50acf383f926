/* MultiAdam: its rule over several groups written out in long double, factors of a scaler, threads,
 * the hand-over, saving and restoring, and what is refused. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "support/support.h"

#include "stablegrad/optim.h"

enum { SPANS = 2, MOST = 66000, GROUPS = 3, STEPS = 6 };
static const size_t counts[SPANS] = {MOST, 40};

typedef struct run {
    double value[SPANS][MOST], gradient[SPANS][MOST], group[GROUPS][SPANS][MOST];
    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
} run;

static run one, two;

/* Groups of very different sizes, which is what MultiAdam is for. */
static double gradient_at(uint64_t step, size_t group, size_t span, size_t i)
{
    return pow(100, (double)group) * (0.2 + sgi_random_normal(10 + step, 4 * group + span, i));
}

static sg_optim_config config_of(void)
{
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_MULTIADAM);
    config.groups = GROUPS;
    config.decay = 0.1;
    config.rate = 0.01;
    return config;
}

static void open_run(run *r, const sg_optim_config *config, const sg_scale_config *scale,
                     sg_pool *pool)
{
    static const char *const names[SPANS] = {"a.weight", "a.bias"};
    assert_ok(sg_params_create(&r->params, NULL));
    for (size_t s = 0; s < SPANS; s++) {
        for (size_t i = 0; i < counts[s]; i++)
            r->value[s][i] = sgi_random_normal(3, s, i);
        sg_span span = {names[s],   r->value[s], r->gradient[s], counts[s],
                        SG_FLOAT64, (int)s,      (sg_role)s,     0};
        assert_ok(sg_params_add(r->params, &span));
    }
    assert_ok(sg_scaler_create(&r->scaler, r->params, scale, pool, NULL));
    assert_ok(sg_optim_create(&r->optim, r->params, config, pool, NULL));
    for (size_t k = 0; k < config->groups && config->groups > 1; k++)
        for (size_t s = 0; s < SPANS; s++)
            assert_ok(sg_optim_set_group(r->optim, k, s, r->group[k][s]));
}

static void close_run(run *r)
{
    sg_optim_destroy(r->optim);
    sg_scaler_destroy(r->scaler);
    sg_params_destroy(r->params);
}

static void take_step(run *r, uint64_t step, sg_step_info *info)
{
    for (size_t s = 0; s < SPANS; s++)
        for (size_t i = 0; i < counts[s]; i++) {
            r->gradient[s][i] = 0;
            for (size_t k = 0; k < GROUPS; k++)
                r->gradient[s][i] += r->group[k][s][i] = gradient_at(step, k, s, i);
        }
    assert_ok(sg_scaler_observe_scale(r->scaler, 0.05));
    assert_ok(sg_scaler_measure(r->scaler, step));
    assert_ok(sg_optim_step(r->optim, r->scaler, info));
}

/* The paper's algorithm 1 for one parameter, with weight decay decoupled as in AdamW; `factor` is
 * what the gradients of step `step` are multiplied by. */
static double expected(const sg_optim_config *c, size_t span, size_t i, const double *factor)
{
    long double p = sgi_random_normal(3, span, i), m[GROUPS] = {0}, v[GROUPS] = {0};
    for (uint64_t step = 0; step < STEPS; step++) {
        long double t = (long double)step + 1, sum = 0;
        for (size_t k = 0; k < GROUPS; k++) {
            long double g = gradient_at(step, k, span, i) * factor[step];
            m[k] = c->beta1 * m[k] + (1 - (long double)c->beta1) * g;
            v[k] = c->beta2 * v[k] + (1 - (long double)c->beta2) * g * g;
            sum +=
                m[k] / (1 - powl(c->beta1, t)) / (sqrtl(v[k] / (1 - powl(c->beta2, t))) + c->eps);
        }
        p = p * (1 - (long double)c->rate * c->decay) - c->rate * sum / GROUPS;
    }
    return (double)p;
}

static void the_rule(void **state)
{
    (void)state;
    for (int scaled = 0; scaled < 2; scaled++) {
        sg_optim_config config = config_of();
        sg_scale_config scale = sg_scale_defaults();
        scale.method = scaled ? SG_METHOD_STABLEGRAD : SG_METHOD_NONE;
        open_run(&one, &config, &scale, NULL);
        double factors[SPANS][STEPS];
        for (uint64_t step = 0; step < STEPS; step++) {
            take_step(&one, step, NULL);
            for (size_t s = 0; s < SPANS; s++)
                factors[s][step] = sg_scaler_report(one.scaler)->blocks[s].factor;
        }
        assert_true(scaled == (factors[0][3] != 1));
        for (size_t s = 0; s < SPANS; s++)
            for (size_t i = 0; i < counts[s]; i += 101)
                assert_close(one.value[s][i], expected(&config, s, i, factors[s]), 1e-13);
        close_run(&one);
    }
}

static void one_group_is_adamw(void **state)
{
    (void)state;
    sg_optim_config multi = config_of(), adamw = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_scale_config scale = sg_scale_defaults();
    multi.groups = 1;
    adamw.beta1 = adamw.beta2 = 0.99;
    adamw.decay = multi.decay;
    adamw.rate = multi.rate;
    open_run(&one, &multi, &scale, NULL);
    open_run(&two, &adamw, &scale, NULL);
    for (uint64_t step = 0; step < 4; step++) {
        take_step(&one, step, NULL);
        take_step(&two, step, NULL);
    }
    assert_memory_equal(one.value, two.value, sizeof one.value);
    close_run(&one);
    close_run(&two);
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    sg_optim_config config = config_of();
    sg_scale_config scale = sg_scale_defaults();
    sg_pool *pool;
    config.clip_norm = 1;
    assert_ok(sg_pool_create(&pool, 3, NULL));
    open_run(&one, &config, &scale, NULL);
    open_run(&two, &config, &scale, pool);
    for (uint64_t step = 0; step < 3; step++) {
        take_step(&one, step, NULL);
        take_step(&two, step, NULL);
    }
    assert_memory_equal(one.value, two.value, sizeof one.value);
    close_run(&one);
    close_run(&two);
    sg_pool_destroy(pool);
}

/* With the same gradients in every step the factors are constant, and without eps a step does not
 * see them: the run with a hand-over in the middle is the one without StableGrad. */
static void the_handover_converts_every_group(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        sg_optim_config config = config_of();
        sg_scale_config never = sg_scale_defaults(), half = never;
        config.eps = 0;
        never.method = SG_METHOD_NONE;
        half.handover = how ? SG_HANDOVER_KEEP : SG_HANDOVER_CONVERT;
        open_run(&one, &config, &never, NULL);
        open_run(&two, &config, &half, NULL);
        for (uint64_t step = 0; step < STEPS; step++) {
            sg_step_info info;
            if (step == STEPS / 2)
                assert_ok(sg_scaler_set_window(two.scaler, 0, 0));
            take_step(&one, 0, NULL);
            take_step(&two, 0, &info);
            assert_true(info.handed_over == (step == STEPS / 2));
        }
        double largest = 0;
        for (size_t i = 0; i < MOST; i++)
            largest = fmax(largest, fabs(one.value[0][i] - two.value[0][i]));
        if (how == 0)
            assert_true(largest < 1e-12);
        else
            assert_true(largest > 1e-3); /* moments in the wrong units do matter */
        close_run(&one);
        close_run(&two);
    }
}

static void saved_and_restored(void **state)
{
    (void)state;
    sg_optim_config config = config_of();
    sg_scale_config scale = sg_scale_defaults();
    static unsigned char saved[(2 * GROUPS + 1) * sizeof one.value];
    size_t size;
    open_run(&one, &config, &scale, NULL);
    for (uint64_t step = 0; step < 3; step++)
        take_step(&one, step, NULL);
    const void *now = sg_optim_state(one.optim, &size);
    assert_true(size <= sizeof saved);
    memcpy(saved, now, size);
    open_run(&two, &config, &scale, NULL);
    memcpy(two.value, one.value, sizeof one.value);
    assert_ok(sg_optim_restore(two.optim, saved, size));
    for (uint64_t step = 3; step < 6; step++) {
        take_step(&one, step, NULL);
        take_step(&two, step, NULL);
    }
    assert_memory_equal(one.value, two.value, sizeof one.value);
    close_run(&two);
    config.groups = 2; /* another layout */
    open_run(&two, &config, &scale, NULL);
    assert_status(sg_optim_restore(two.optim, saved, size), SG_ERROR_STATE);
    close_run(&two);
    close_run(&one);
}

static void what_is_refused(void **state)
{
    (void)state;
    sg_optim_config config = config_of();
    sg_scale_config scale = sg_scale_defaults();
    sg_optim *optim;
    open_run(&one, &config, &scale, NULL);
    config.groups = 0;
    assert_status(sg_optim_create(&optim, one.params, &config, NULL, NULL), SG_ERROR_ARGUMENT);
    config.groups = SG_OPTIM_MOST_GROUPS + 1;
    assert_status(sg_optim_create(&optim, one.params, &config, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_optim_set_group(one.optim, GROUPS, 0, one.value), SG_ERROR_ARGUMENT);
    assert_status(sg_optim_set_group(one.optim, 0, SPANS, one.value), SG_ERROR_ARGUMENT);
    assert_status(sg_optim_set_group(one.optim, 0, 0, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_optim_set_group(NULL, 0, 0, one.value), SG_ERROR_ARGUMENT);
    config.groups = GROUPS;
    assert_ok(sg_optim_create(&optim, one.params, &config, NULL, NULL));
    assert_status(sg_optim_step(optim, NULL, NULL), SG_ERROR_ORDER); /* no group was given */
    sg_optim_destroy(optim);
    /* Factors that are in memory already are not in the groups. */
    take_step(&one, 0, NULL);
    memcpy(two.value, one.value, sizeof one.value);
    assert_ok(sg_scaler_observe_scale(one.scaler, 0.05));
    assert_ok(sg_scaler_measure(one.scaler, 1));
    assert_ok(sg_scaler_apply(one.scaler));
    assert_status(sg_optim_step(one.optim, one.scaler, NULL), SG_ERROR_UNSUPPORTED);
    close_run(&one);
    assert_memory_equal(one.value, two.value, sizeof one.value);
    scale.method = SG_METHOD_SIGN;
    open_run(&one, &config, &scale, NULL);
    one.gradient[0][0] = 1;
    assert_ok(sg_scaler_measure(one.scaler, 0));
    assert_status(sg_optim_step(one.optim, one.scaler, NULL), SG_ERROR_UNSUPPORTED);
    close_run(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule),
        cmocka_unit_test(one_group_is_adamw),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(the_handover_converts_every_group),
        cmocka_unit_test(saved_and_restored),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
