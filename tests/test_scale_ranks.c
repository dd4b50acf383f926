/* Several ranks: threads that sum through one barrier stand in for them. The statistics must be
 * those of the global batch. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/random.h"
#include "support/ranks.h"
#include "support/support.h"

#include "stablegrad/optim.h"

enum { RANKS = 3, ELEMENTS = 600, SIGNALS = 90 };

typedef struct rank {
    world *world;
    int index;
    int calls, fail_at; /* the call that fails; -1: none */
    sg_sharding sharding;
    sg_method method;
    double *gradient;
    size_t count;
    const double *signal;
    size_t signals;
    sg_status status;
    sg_outcome outcome;
    double reference, std, factor;
    double norm; /* that a step with clipping found */
} rank;

static double gradients[ELEMENTS], signals[SIGNALS];

static int reduce(void *context, double *values, size_t count)
{
    rank *r = context;
    add_up(r->world, r->index, values, count);
    return r->calls++ == r->fail_at ? 1 : 0;
}

/* A step with clipping. */
static sg_status clip(rank *r, sg_params *params, sg_scaler *scaler)
{
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
    sg_optim *optim;
    sg_step_info info = {0};
    config.clip_norm = 1;
    sg_status status = sg_optim_create(&optim, params, &config, NULL, NULL);
    if (status == SG_OK)
        status = sg_optim_step(optim, scaler, &info);
    r->norm = info.gradient_norm;
    sg_optim_destroy(optim);
    return status;
}

static sg_status run_rank(rank *r)
{
    sg_params *params;
    sg_scaler *scaler;
    sg_status status = sg_params_create(&params, NULL);
    double values[ELEMENTS] = {0};
    sg_span span = {"w", values, r->gradient, r->count, SG_FLOAT64, 0, SG_ROLE_WEIGHT, 0};
    sg_scale_config config = sg_scale_defaults();
    config.reduce = reduce;
    config.reduce_context = r;
    config.sharding = r->sharding;
    config.method = r->method;
    if (status == SG_OK)
        status = sg_params_add(params, &span);
    if (status == SG_OK)
        status = sg_scaler_create(&scaler, params, &config, NULL, NULL);
    if (status == SG_OK)
        status = sg_scaler_observe(scaler, r->signal, SG_FLOAT64, r->signals, 1);
    if (status == SG_OK)
        status = sg_scaler_measure(scaler, 0);
    const sg_scale_report *report = sg_scaler_report(scaler);
    r->outcome = report->outcome;
    r->reference = report->reference;
    r->std = report->blocks[0].std;
    r->factor = report->blocks[0].factor;
    if (status == SG_OK)
        status = clip(r, params, scaler);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
    return status;
}

static void *rank_main(void *argument)
{
    rank *r = argument;
    r->status = run_rank(r);
    return NULL;
}

static void run(rank ranks[RANKS], sg_sharding sharding)
{
    static world w;
    pthread_t threads[RANKS];
    w.ranks = RANKS;
    pthread_barrier_init(&w.barrier, NULL, RANKS);
    /* Uneven shares: 1/6, 2/6, 3/6. */
    size_t begin = 0, signal_begin = 0;
    for (int k = 0; k < RANKS; k++) {
        rank *r = &ranks[k];
        size_t share = ELEMENTS * (size_t)(k + 1) / 6, signal_share = SIGNALS * (size_t)(k + 1) / 6;
        r->world = &w;
        r->index = k;
        r->sharding = sharding;
        bool sharded = sharding == SG_GRADIENTS_SHARDED;
        r->gradient = sharded ? gradients + begin : gradients;
        r->count = sharded ? share : ELEMENTS;
        r->signal = signals + signal_begin;
        r->signals = signal_share;
        begin += share;
        signal_begin += signal_share;
        assert_int_equal(pthread_create(&threads[k], NULL, rank_main, r), 0);
    }
    for (int k = 0; k < RANKS; k++)
        pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&w.barrier);
}

static void fill(void)
{
    for (uint64_t i = 0; i < ELEMENTS; i++)
        gradients[i] = 5 + (double)i / ELEMENTS + sgi_random_normal(1, 1, i);
    for (uint64_t i = 0; i < SIGNALS; i++)
        signals[i] = (double)i / SIGNALS - 2 + 0.1 * sgi_random_normal(1, 2, i);
}

static double whole_std(const double *values, size_t count)
{
    sg_moments m = {0, 0, 0};
    sg_moments_add(&m, values, SG_FLOAT64, count, 1);
    return sg_moments_std(&m);
}

static void statistics_are_global(void **state)
{
    (void)state;
    fill();
    for (int s = 0; s < SG_SHARDING_COUNT; s++) {
        rank ranks[RANKS] = {{.fail_at = -1}, {.fail_at = -1}, {.fail_at = -1}};
        run(ranks, (sg_sharding)s);
        for (int k = 0; k < RANKS; k++) {
            assert_ok(ranks[k].status);
            assert_int_equal(ranks[k].outcome, SG_STEP_SCALED);
            assert_relative(ranks[k].reference, whole_std(signals, SIGNALS), 1e-13);
            assert_relative(ranks[k].std, whole_std(gradients, ELEMENTS), 1e-13);
            assert_true(ranks[k].factor == ranks[0].factor); /* the same bits everywhere */
        }
    }
}

static double expected_norm2(sg_method method, double factor)
{
    double sum = 0, mean = 0;
    for (int i = 0; i < ELEMENTS; i++)
        mean += gradients[i] / ELEMENTS;
    for (int i = 0; i < ELEMENTS; i++) {
        double g = gradients[i];
        switch (method) {
        case SG_METHOD_SIGN:
            sum += g != 0;
            break;
        case SG_METHOD_ZNORM:
            sum += pow(factor * (g - mean), 2);
            break;
        case SG_METHOD_STABLEGRAD:
        case SG_METHOD_NONE:
            sum += pow((method == SG_METHOD_NONE ? 1 : factor) * g, 2);
            break;
        case SG_METHOD_AGC: /* the values are 0: a hundredth of the floor */
            return pow(0.01 * 1e-3, 2);
        }
    }
    return sum;
}

/* Clipping sees the norm of the whole gradient, also when it is made of signs, of which the zeros
 * are counted by each rank for itself. */
static void the_clipped_norm_is_global(void **state)
{
    (void)state;
    for (int s = 0; s < SG_SHARDING_COUNT; s++)
        for (int m = 0; m < SG_METHOD_COUNT; m++) {
            fill();
            gradients[2] = gradients[ELEMENTS - 1] = 0;
            rank ranks[RANKS];
            for (int k = 0; k < RANKS; k++)
                ranks[k] = (rank){.fail_at = -1, .method = (sg_method)m};
            run(ranks, (sg_sharding)s);
            double norm2 = expected_norm2((sg_method)m, ranks[0].factor);
            for (int k = 0; k < RANKS; k++) {
                assert_ok(ranks[k].status);
                assert_relative(ranks[k].norm, sqrt(norm2), 1e-12);
            }
        }
}

static void one_bad_rank_stops_all(void **state)
{
    (void)state;
    fill();
    gradients[3] = NAN; /* in the first rank's share */
    rank ranks[RANKS] = {{.fail_at = -1}, {.fail_at = -1}, {.fail_at = -1}};
    run(ranks, SG_GRADIENTS_SHARDED);
    for (int k = 0; k < RANKS; k++) {
        assert_ok(ranks[k].status);
        assert_int_equal(ranks[k].outcome, SG_STEP_NOT_FINITE);
    }
    fill();
    signals[SIGNALS - 1] = INFINITY; /* in the last rank's */
    rank again[RANKS] = {{.fail_at = -1}, {.fail_at = -1}, {.fail_at = -1}};
    run(again, SG_GRADIENTS_REPLICATED);
    for (int k = 0; k < RANKS; k++)
        assert_int_equal(again[k].outcome, SG_STEP_NOT_FINITE);
}

static void a_failed_reduction_is_an_error(void **state)
{
    (void)state;
    fill();
    for (int call = 0; call < 3; call++) { /* the third: of clipping signs */
        rank ranks[RANKS];
        for (int k = 0; k < RANKS; k++)
            ranks[k] = (rank){.fail_at = call, .method = SG_METHOD_SIGN};
        run(ranks, SG_GRADIENTS_SHARDED);
        for (int k = 0; k < RANKS; k++)
            assert_status(ranks[k].status, SG_ERROR_REDUCE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_global),
        cmocka_unit_test(the_clipped_norm_is_global),
        cmocka_unit_test(one_bad_rank_stops_all),
        cmocka_unit_test(a_failed_reduction_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
