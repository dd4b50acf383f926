/* ZNorm and AGC against their formulas, written out once more in long double, on tensors whose rows
 * lie across the units that threads share. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/random.h"
#include "support/ranks.h"
#include "support/support.h"

#include "stablegrad/optim.h"

enum { SPANS = 4, MOST = 90000, RANKS = 2 };
static const size_t counts[SPANS] = {MOST, 300, 1200, 1};
static const size_t row_counts[SPANS] = {300, 0, 3, 0}; /* 300 elements and 400 in a row */
static const char *const names[SPANS] = {"a.weight", "a.bias", "b.weight", "b.bias"};

typedef struct run {
    float value[SPANS][MOST], gradient[SPANS][MOST];
    sg_params *params;
    sg_scaler *scaler;
} run;

static run one, two;

/* Rows of very different sizes, and a mean that is not 0. */
static void fill(run *r)
{
    for (size_t s = 0; s < SPANS; s++)
        for (size_t i = 0; i < counts[s]; i++) {
            size_t row = row_counts[s] ? i / (counts[s] / row_counts[s]) : 0;
            double size = pow(10, (double)(row % 5) - 4);
            r->value[s][i] = (float)sgi_random_normal(1, s, i);
            r->gradient[s][i] = (float)(size * (0.5 + sgi_random_normal(2, s, i)));
        }
    memset(r->value[1], 0, sizeof r->value[1]); /* a bias at its start: the floor counts */
}

static void open_run(run *r, const sg_scale_config *config, sg_pool *pool)
{
    fill(r);
    assert_ok(sg_params_create(&r->params, NULL));
    for (size_t s = 0; s < SPANS; s++) {
        sg_span span = {names[s],   r->value[s], r->gradient[s],   counts[s],
                        SG_FLOAT32, (int)s / 2,  (sg_role)(s % 2), row_counts[s]};
        assert_ok(sg_params_add(r->params, &span));
    }
    assert_ok(sg_scaler_create(&r->scaler, r->params, config, pool, NULL));
}

static void close_run(run *r)
{
    sg_scaler_destroy(r->scaler);
    sg_params_destroy(r->params);
}

static sg_scale_config method(sg_method which, sg_blocks blocks)
{
    sg_scale_config config = sg_scale_defaults();
    config.method = which;
    config.blocks = blocks;
    return config;
}

static void apply(run *r)
{
    assert_ok(sg_scaler_measure(r->scaler, 0)); /* neither needs a signal */
    assert_int_equal(sg_scaler_report(r->scaler)->outcome, SG_STEP_SCALED);
    assert_ok(sg_scaler_apply(r->scaler));
}

static long double norm_of(const float *values, size_t count)
{
    long double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (long double)values[i] * values[i];
    return sqrtl(sum);
}

/* ---- ZNorm -------------------------------------------------------------------------------- */

static void znorm_centres_each_block(void **state)
{
    (void)state;
    sg_scale_config config = method(SG_METHOD_ZNORM, SG_BLOCKS_TENSOR);
    open_run(&one, &config, NULL);
    fill(&two);
    apply(&one);
    for (size_t s = 0; s < 3; s++) {
        long double mean = 0, square = 0;
        for (size_t i = 0; i < counts[s]; i++)
            mean += (long double)two.gradient[s][i] / counts[s];
        for (size_t i = 0; i < counts[s]; i++)
            square += powl(two.gradient[s][i] - mean, 2) / counts[s];
        for (size_t i = 0; i < counts[s]; i++) {
            long double expected = (two.gradient[s][i] - mean) / (sqrtl(square) + 1e-8L);
            assert_relative(one.gradient[s][i], (double)expected, 2e-7); /* float's rounding */
        }
        assert_relative(sg_scaler_report(one.scaler)->blocks[s].scaled_std, 1, 1e-3);
    }
    /* One element has no deviation: |g| takes its place, and it becomes its sign. */
    assert_relative(one.gradient[3][0], two.gradient[3][0] > 0 ? 1 : -1, 1e-3);
    close_run(&one);
}

static void znorm_leaves_blocks_without_spread(void **state)
{
    (void)state;
    sg_scale_config config = method(SG_METHOD_ZNORM, SG_BLOCKS_WEIGHT);
    open_run(&one, &config, NULL);
    for (size_t i = 0; i < counts[2]; i++)
        one.gradient[2][i] = 0.25f;
    memcpy(&two.gradient, &one.gradient, sizeof one.gradient);
    apply(&one);
    assert_memory_equal(one.gradient[2], two.gradient[2], sizeof two.gradient[2]);
    assert_memory_equal(one.gradient[1], two.gradient[1], sizeof two.gradient[1]); /* a bias */
    assert_true(one.gradient[0][0] != two.gradient[0][0]);
    close_run(&one);
}

/* ---- AGC ---------------------------------------------------------------------------------- */

static void agc_holds_each_row_to_its_weights(void **state)
{
    (void)state;
    sg_scale_config config = method(SG_METHOD_AGC, SG_BLOCKS_TENSOR);
    open_run(&one, &config, NULL);
    fill(&two);
    apply(&one);
    size_t clipped = 0, left = 0;
    for (size_t s = 0; s < SPANS; s++) {
        size_t rows = row_counts[s] ? row_counts[s] : 1, length = counts[s] / rows;
        long double before = 0, after = 0;
        for (size_t r = 0; r < rows; r++) {
            const float *w = two.value[s] + r * length, *g = two.gradient[s] + r * length;
            long double norm = norm_of(g, length), most = 0.01L * fmaxl(norm_of(w, length), 1e-3L);
            long double factor = norm > most ? most / norm : 1;
            before += norm * norm;
            after += factor * factor * norm * norm;
            clipped += factor < 1;
            left += factor == 1;
            for (size_t i = 0; i < length; i++)
                assert_relative(one.gradient[s][r * length + i], (double)(factor * g[i]), 2e-7);
        }
        /* The report has what became of the whole block's norm. */
        assert_relative(sg_scaler_report(one.scaler)->blocks[s].factor,
                        (double)sqrtl(after / before), 1e-6);
    }
    assert_true(clipped > 100 && left > 100);
    close_run(&one);
}

static void agc_wants_values_and_sensible_numbers(void **state)
{
    (void)state;
    sg_params *params;
    sg_scaler *scaler;
    sg_scale_config config = method(SG_METHOD_AGC, SG_BLOCKS_TENSOR);
    assert_ok(sg_params_create(&params, NULL));
    sg_span span = {"w", NULL, one.gradient[0], 6, SG_FLOAT32, 0, SG_ROLE_WEIGHT, 4};
    assert_status(sg_params_add(params, &span), SG_ERROR_ARGUMENT); /* 4 does not divide 6 */
    span.rows = 3;
    assert_ok(sg_params_add(params, &span));
    assert_status(sg_scaler_create(&scaler, params, &config, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_ok(sg_params_bind(params, 0, one.value[0], one.gradient[0]));
    config.threshold = 0;
    assert_status(sg_scaler_create(&scaler, params, &config, NULL, NULL), SG_ERROR_ARGUMENT);
    config.threshold = 0.01;
    config.floor = NAN;
    assert_status(sg_scaler_create(&scaler, params, &config, NULL, NULL), SG_ERROR_ARGUMENT);
    sg_params_destroy(params);
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        sg_scale_config config = method(m ? SG_METHOD_AGC : SG_METHOD_ZNORM, SG_BLOCKS_LAYER);
        sg_pool *pool;
        assert_ok(sg_pool_create(&pool, 3, NULL));
        open_run(&one, &config, NULL);
        open_run(&two, &config, pool);
        apply(&one);
        apply(&two);
        assert_memory_equal(one.gradient, two.gradient, sizeof one.gradient);
        close_run(&two);
        close_run(&one);
        sg_pool_destroy(pool);
    }
}

/* ---- Ranks -------------------------------------------------------------------------------- */

typedef struct rank {
    world *world;
    int index;
    sg_method method;
    size_t begin[2], count[2]; /* of the weight, whole rows, and of the bias */
    double factor[2];
    sg_status status;
} rank;

static int reduce(void *context, double *values, size_t count)
{
    rank *r = context;
    add_up(r->world, r->index, values, count);
    return 0;
}

static void *rank_main(void *argument)
{
    rank *r = argument;
    sg_params *params;
    sg_scaler *scaler = NULL;
    sg_scale_config config = method(r->method, SG_BLOCKS_TENSOR);
    config.reduce = reduce;
    config.reduce_context = r;
    config.sharding = SG_GRADIENTS_SHARDED;
    sg_status status = sg_params_create(&params, NULL);
    for (size_t s = 0; s < 2 && status == SG_OK; s++) {
        sg_span span = {names[s],
                        one.value[s] + r->begin[s],
                        one.gradient[s] + r->begin[s],
                        r->count[s],
                        SG_FLOAT32,
                        0,
                        (sg_role)s,
                        s ? 0 : r->count[0] / 300};
        status = sg_params_add(params, &span);
    }
    if (status == SG_OK)
        status = sg_scaler_create(&scaler, params, &config, NULL, NULL);
    if (status == SG_OK)
        status = sg_scaler_measure(scaler, 0);
    for (size_t s = 0; s < 2 && status == SG_OK; s++)
        r->factor[s] = sg_scaler_report(scaler)->blocks[s].factor;
    if (status == SG_OK)
        status = sg_scaler_apply(scaler);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
    r->status = status;
    return NULL;
}

/* Parts of the gradients on two ranks come out as the whole does on one. */
static void ranks_share_a_step(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        static world w;
        pthread_t threads[RANKS];
        sg_scale_config config = method(m ? SG_METHOD_AGC : SG_METHOD_ZNORM, SG_BLOCKS_TENSOR);
        open_run(&two, &config, NULL);
        apply(&two);
        fill(&one);
        w.ranks = RANKS;
        pthread_barrier_init(&w.barrier, NULL, RANKS);
        rank ranks[RANKS] = {{&w, 0, config.method, {0, 0}, {30000, 100}, {0, 0}, SG_OK},
                             {&w, 1, config.method, {30000, 100}, {60000, 200}, {0, 0}, SG_OK}};
        for (int k = 0; k < RANKS; k++)
            assert_int_equal(pthread_create(&threads[k], NULL, rank_main, &ranks[k]), 0);
        for (int k = 0; k < RANKS; k++)
            pthread_join(threads[k], NULL);
        pthread_barrier_destroy(&w.barrier);
        for (size_t s = 0; s < 2; s++) {
            for (int k = 0; k < RANKS; k++) {
                assert_ok(ranks[k].status);
                assert_relative(ranks[k].factor[s], sg_scaler_report(two.scaler)->blocks[s].factor,
                                1e-12);
            }
            for (size_t i = 0; i < counts[s]; i++)
                assert_relative(one.gradient[s][i], two.gradient[s][i], 2e-7);
        }
        close_run(&two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(znorm_centres_each_block),
        cmocka_unit_test(znorm_leaves_blocks_without_spread),
        cmocka_unit_test(agc_holds_each_row_to_its_weights),
        cmocka_unit_test(agc_wants_values_and_sensible_numbers),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(ranks_share_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
