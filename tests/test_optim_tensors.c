/* The optimizers that look at whole tensors, LAMB, NovoGrad and Adam-mini: their rules as the
 * papers write them, in long double; threads and shards; and what StableGrad's factors do to them.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/random.h"
#include "support/ranks.h"
#include "support/support.h"

enum { SPANS = 3, MOST = 3000, STEPS = 12, RANKS = 2 };

static const size_t counts[SPANS] = {MOST, 1, 37};
static const sg_optim_kind kinds[] = {SG_OPTIM_LAMB, SG_OPTIM_NOVOGRAD, SG_OPTIM_ADAM_MINI};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct run {
    double value[SPANS][MOST], gradient[SPANS][MOST];
    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
} run;

/* The second span's value is 0 at the start: LAMB has nothing to measure its step by there. */
static double start_at(size_t span, size_t i)
{
    return span == 1 ? 0 : sgi_random_normal(1, span, i);
}

static double gradient_at(uint64_t step, size_t span, size_t i)
{
    static const double sizes[SPANS] = {1e-3, 2, 0.1};
    return sizes[span] * (sgi_random_normal(2, step, span * MOST + i) + 0.2);
}

/* Elements [begin[s], end[s]) of each span, as one rank holds them. */
static void open_part(run *r, const sg_optim_config *config, const sg_scale_config *scale,
                      sg_pool *pool, const size_t begin[SPANS], const size_t end[SPANS])
{
    static const char *const names[SPANS] = {"a.weight", "a.bias", "b.weight"};
    memset(r, 0, sizeof *r);
    assert_ok(sg_params_create(&r->params, NULL));
    for (size_t s = 0; s < SPANS; s++) {
        for (size_t i = begin[s]; i < end[s]; i++)
            r->value[s][i] = start_at(s, i);
        sg_span span = {names[s],
                        r->value[s] + begin[s],
                        r->gradient[s] + begin[s],
                        end[s] - begin[s],
                        SG_FLOAT64,
                        s == 2,
                        (sg_role)(s == 1),
                        0};
        assert_ok(sg_params_add(r->params, &span));
    }
    assert_ok(sg_scaler_create(&r->scaler, r->params, scale, pool, NULL));
    assert_ok(sg_optim_create(&r->optim, r->params, config, pool, NULL));
}

static void open_whole(run *r, const sg_optim_config *config, const sg_scale_config *scale,
                       sg_pool *pool)
{
    const size_t begin[SPANS] = {0};
    open_part(r, config, scale, pool, begin, counts);
}

static void close_run(run *r)
{
    sg_optim_destroy(r->optim);
    sg_scaler_destroy(r->scaler);
    sg_params_destroy(r->params);
}

static sg_status take_step(run *r, uint64_t step)
{
    for (size_t s = 0; s < SPANS; s++)
        for (size_t i = 0; i < counts[s]; i++)
            r->gradient[s][i] = gradient_at(step, s, i);
    sg_status status = sg_scaler_observe_scale(r->scaler, 0.05);
    if (status == SG_OK)
        status = sg_scaler_measure(r->scaler, step);
    return status == SG_OK ? sg_optim_step(r->optim, r->scaler, NULL) : status;
}

/* ---- The rules, written out ------------------------------------------------------------------ */

typedef struct reference {
    long double p[SPANS][MOST], m[SPANS][MOST], v[SPANS][MOST];
} reference;

static void reference_lamb(reference *r, const sg_optim_config *c, size_t s, uint64_t t)
{
    static long double step[MOST];
    long double value2 = 0, step2 = 0;
    for (size_t i = 0; i < counts[s]; i++) {
        long double g = gradient_at(t, s, i);
        r->m[s][i] = c->beta1 * r->m[s][i] + (1 - c->beta1) * g;
        r->v[s][i] = c->beta2 * r->v[s][i] + (1 - c->beta2) * g * g;
        long double m = r->m[s][i] / (1 - powl(c->beta1, (long double)t + 1));
        long double v = r->v[s][i] / (1 - powl(c->beta2, (long double)t + 1));
        step[i] = m / (sqrtl(v) + c->eps) + c->decay * r->p[s][i];
        value2 += r->p[s][i] * r->p[s][i];
        step2 += step[i] * step[i];
    }
    long double trust = value2 > 0 && step2 > 0 ? sqrtl(value2) / sqrtl(step2) : 1;
    for (size_t i = 0; i < counts[s]; i++)
        r->p[s][i] -= c->rate * trust * step[i];
}

static void reference_novograd(reference *r, const sg_optim_config *c, size_t s, uint64_t t)
{
    long double norm2 = 0;
    for (size_t i = 0; i < counts[s]; i++)
        norm2 += (long double)gradient_at(t, s, i) * gradient_at(t, s, i);
    r->v[s][0] = t == 0 ? norm2 : c->beta2 * r->v[s][0] + (1 - c->beta2) * norm2;
    for (size_t i = 0; i < counts[s]; i++) {
        long double g = gradient_at(t, s, i) / (sqrtl(r->v[s][0]) + c->eps);
        r->m[s][i] = c->beta1 * r->m[s][i] + g + c->decay * r->p[s][i];
        r->p[s][i] -= c->rate * r->m[s][i];
    }
}

static void reference_adam_mini(reference *r, const sg_optim_config *c, size_t s, uint64_t t)
{
    long double mean = 0;
    for (size_t i = 0; i < counts[s]; i++)
        mean += (long double)gradient_at(t, s, i) * gradient_at(t, s, i) / counts[s];
    r->v[s][0] = c->beta2 * r->v[s][0] + (1 - c->beta2) * mean;
    long double v = r->v[s][0] / (1 - powl(c->beta2, (long double)t + 1));
    for (size_t i = 0; i < counts[s]; i++) {
        r->m[s][i] = c->beta1 * r->m[s][i] + (1 - c->beta1) * gradient_at(t, s, i);
        long double m = r->m[s][i] / (1 - powl(c->beta1, (long double)t + 1));
        r->p[s][i] *= 1 - (long double)c->rate * c->decay;
        r->p[s][i] -= c->rate * m / (sqrtl(v) + c->eps);
    }
}

static sg_optim_config config_of(sg_optim_kind kind)
{
    sg_optim_config config = sg_optim_defaults(kind);
    config.rate = 0.01;
    config.decay = 0.02;
    return config;
}

static sg_scale_config unscaled(void)
{
    sg_scale_config scale = sg_scale_defaults();
    scale.method = SG_METHOD_NONE;
    return scale;
}

static void the_rules_are_those_of_the_papers(void **state)
{
    (void)state;
    static run r;
    static reference ref;
    for (int k = 0; k < KINDS; k++) {
        sg_optim_config config = config_of(kinds[k]);
        sg_scale_config scale = unscaled();
        open_whole(&r, &config, &scale, NULL);
        memset(&ref, 0, sizeof ref);
        for (size_t s = 0; s < SPANS; s++)
            for (size_t i = 0; i < counts[s]; i++)
                ref.p[s][i] = start_at(s, i);
        for (uint64_t t = 0; t < STEPS; t++) {
            assert_ok(take_step(&r, t));
            for (size_t s = 0; s < SPANS; s++) {
                if (kinds[k] == SG_OPTIM_LAMB)
                    reference_lamb(&ref, &config, s, t);
                else if (kinds[k] == SG_OPTIM_NOVOGRAD)
                    reference_novograd(&ref, &config, s, t);
                else
                    reference_adam_mini(&ref, &config, s, t);
            }
        }
        for (size_t s = 0; s < SPANS; s++)
            for (size_t i = 0; i < counts[s]; i++)
                assert_close(r.value[s][i], (double)ref.p[s][i], 1e-12);
        close_run(&r);
    }
}

/* ---- Threads, shards, factors ------------------------------------------------------------------
 */

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    static run one, two;
    sg_pool *pool;
    assert_ok(sg_pool_create(&pool, 3, NULL));
    for (int k = 0; k < KINDS; k++) {
        sg_optim_config config = config_of(kinds[k]);
        sg_scale_config scale = sg_scale_defaults();
        open_whole(&one, &config, &scale, NULL);
        open_whole(&two, &config, &scale, pool);
        for (uint64_t t = 0; t < STEPS; t++) {
            assert_ok(take_step(&one, t));
            assert_ok(take_step(&two, t));
        }
        assert_memory_equal(one.value, two.value, sizeof one.value);
        close_run(&one);
        close_run(&two);
    }
    sg_pool_destroy(pool);
}

/* Each of the three divides by the gradient's own size, so a constant factor shows nowhere but in
 * eps, which is 0 here, and leaving it by conversion does not either. */
static void constant_factors_drop_out(void **state)
{
    (void)state;
    static run raw, scaled, left;
    for (int k = 0; k < KINDS; k++) {
        sg_optim_config config = config_of(kinds[k]);
        config.eps = 0;
        sg_scale_config never = unscaled(), always = sg_scale_defaults(), half = always;
        half.until = STEPS / 2;
        open_whole(&raw, &config, &never, NULL);
        open_whole(&scaled, &config, &always, NULL);
        open_whole(&left, &config, &half, NULL);
        for (uint64_t t = 0; t < STEPS; t++) { /* one gradient for all steps: one factor */
            run *const all[] = {&raw, &scaled, &left};
            for (int a = 0; a < 3; a++) {
                for (size_t s = 0; s < SPANS; s++)
                    for (size_t i = 0; i < counts[s]; i++)
                        all[a]->gradient[s][i] = gradient_at(0, s, i);
                assert_ok(sg_scaler_observe_scale(all[a]->scaler, 0.05));
                assert_ok(sg_scaler_measure(all[a]->scaler, t));
                assert_ok(sg_optim_step(all[a]->optim, all[a]->scaler, NULL));
            }
        }
        for (size_t s = 0; s < SPANS; s++)
            for (size_t i = 0; i < counts[s]; i++) {
                assert_close(scaled.value[s][i], raw.value[s][i], 1e-13);
                assert_close(left.value[s][i], raw.value[s][i], 1e-13);
            }
        close_run(&raw);
        close_run(&scaled);
        close_run(&left);
    }
}

typedef struct rank {
    world *world;
    int index, calls, fail_at;
    const sg_optim_config *config;
    run run;
    sg_status status;
} rank;

static int reduce(void *context, double *values, size_t count)
{
    rank *r = context;
    add_up(r->world, r->index, values, count);
    return r->calls++ == r->fail_at;
}

static void *rank_main(void *argument)
{
    rank *r = argument;
    /* The first rank has a third of the first span, the whole second and half of the third. */
    const size_t cuts[SPANS] = {MOST / 3, 1, 18}, none[SPANS] = {0};
    size_t begin[SPANS], end[SPANS];
    for (size_t s = 0; s < SPANS; s++) {
        begin[s] = r->index == 0 ? none[s] : cuts[s];
        end[s] = r->index == 0 ? cuts[s] : counts[s];
    }
    if (r->index == 1) /* a span has at least one element: both hold the single one, as 0 here */
        begin[1] = 0, end[1] = 1;
    sg_scale_config scale = unscaled();
    scale.reduce = reduce;
    scale.reduce_context = r;
    scale.sharding = SG_GRADIENTS_SHARDED;
    open_part(&r->run, r->config, &scale, NULL, begin, end);
    for (uint64_t t = 0; t < STEPS && r->status == SG_OK; t++)
        r->status = take_step(&r->run, t);
    close_run(&r->run);
    return NULL;
}

static void run_ranks(rank ranks[RANKS], const sg_optim_config *config)
{
    static world w;
    pthread_t threads[RANKS];
    w.ranks = RANKS;
    pthread_barrier_init(&w.barrier, NULL, RANKS);
    for (int k = 0; k < RANKS; k++) {
        ranks[k].world = &w;
        ranks[k].index = k;
        ranks[k].config = config;
        assert_int_equal(pthread_create(&threads[k], NULL, rank_main, &ranks[k]), 0);
    }
    for (int k = 0; k < RANKS; k++)
        pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&w.barrier);
}

/* A tensor that lies on two ranks has one norm. */
static void shards_are_one_tensor(void **state)
{
    (void)state;
    static rank ranks[RANKS];
    static run whole;
    for (int k = 0; k < KINDS; k++) {
        sg_optim_config config = config_of(kinds[k]);
        sg_scale_config scale = unscaled();
        open_whole(&whole, &config, &scale, NULL);
        for (uint64_t t = 0; t < STEPS; t++)
            assert_ok(take_step(&whole, t));
        memset(ranks, 0, sizeof ranks);
        ranks[0].fail_at = ranks[1].fail_at = -1;
        run_ranks(ranks, &config);
        for (int r = 0; r < RANKS; r++)
            assert_ok(ranks[r].status);
        for (size_t i = 0; i < MOST; i++)
            assert_close(ranks[i < MOST / 3 ? 0 : 1].run.value[0][i], whole.value[0][i], 1e-12);
        for (size_t i = 0; i < counts[2]; i++)
            assert_close(ranks[i < 18 ? 0 : 1].run.value[2][i], whole.value[2][i], 1e-12);
        close_run(&whole);
    }
}

static void a_sum_that_fails_moves_nothing(void **state)
{
    (void)state;
    static rank ranks[RANKS];
    for (int k = 0; k < KINDS; k++) {
        sg_optim_config config = config_of(kinds[k]);
        memset(ranks, 0, sizeof ranks);
        ranks[0].fail_at = ranks[1].fail_at = -1;
        run_ranks(ranks, &config);
        int per_step = ranks[0].calls / STEPS;
        memset(ranks, 0, sizeof ranks);
        ranks[0].fail_at = ranks[1].fail_at = per_step - 1; /* the last sum of the first step */
        run_ranks(ranks, &config);
        for (int r = 0; r < RANKS; r++)
            assert_status(ranks[r].status, SG_ERROR_REDUCE);
        for (size_t i = 0; i < MOST; i++)
            assert_true(ranks[i < MOST / 3 ? 0 : 1].run.value[0][i] == start_at(0, i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_are_those_of_the_papers),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(constant_factors_drop_out),
        cmocka_unit_test(shards_are_one_tensor),
        cmocka_unit_test(a_sum_that_fails_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
