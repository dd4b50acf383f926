/* SOAP: its rule written out in long double, its bases, factors of a scaler, threads, instruction
 * sets, gradients of no rank and of tiny size, saving and restoring, and what is refused. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "optim/soap.h"
#include "support/support.h"

enum { SPANS = 4, MOST = 1100, STEPS = 12 };

/* A matrix, its bias, a single row, and a matrix with a side that is too long to be turned. */
static const size_t counts[SPANS] = {7 * 5, 7, 9, 1100};
static const size_t all_rows[SPANS] = {7, 0, 1, 1100};

typedef struct run {
    union {
        double d[SPANS][MOST];
        float f[SPANS][MOST];
    } value, gradient;
    sg_type type;
    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
} run;

static run one, two;

static void set(run *r, bool gradient, size_t span, size_t i, double x)
{
    if (r->type == SG_FLOAT64)
        (gradient ? &r->gradient : &r->value)->d[span][i] = x;
    else
        (gradient ? &r->gradient : &r->value)->f[span][i] = (float)x;
}

static double gradient_at(uint64_t step, size_t span, size_t i)
{
    return 0.3 + sgi_random_normal(10 + step, span, i) * (1 + (double)(i % 5));
}

static sg_optim_config config_of(void)
{
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SOAP);
    config.decay = 0.1;
    config.rate = 0.01;
    return config;
}

static void open_run(run *r, const sg_optim_config *config, sg_method method, sg_type type,
                     sg_pool *pool)
{
    static const char *const names[SPANS] = {"a.weight", "a.bias", "b.weight", "c.weight"};
    memset(r, 0, sizeof *r);
    r->type = type;
    assert_ok(sg_params_create(&r->params, NULL));
    for (size_t s = 0; s < SPANS; s++) {
        void *value = type == SG_FLOAT64 ? (void *)r->value.d[s] : r->value.f[s];
        void *gradient = type == SG_FLOAT64 ? (void *)r->gradient.d[s] : r->gradient.f[s];
        for (size_t i = 0; i < counts[s]; i++)
            set(r, false, s, i, sgi_random_normal(3, s, i));
        sg_span span = {names[s], value,  gradient,          counts[s],
                        type,     (int)s, (sg_role)(s == 1), all_rows[s]};
        assert_ok(sg_params_add(r->params, &span));
    }
    sg_scale_config scale = sg_scale_defaults();
    scale.method = method;
    assert_ok(sg_scaler_create(&r->scaler, r->params, &scale, pool, NULL));
    assert_ok(sg_optim_create(&r->optim, r->params, config, pool, NULL));
}

static void close_run(run *r)
{
    sg_optim_destroy(r->optim);
    sg_scaler_destroy(r->scaler);
    sg_params_destroy(r->params);
}

static void take_step(run *r, uint64_t step, double size)
{
    for (size_t s = 0; s < SPANS; s++)
        for (size_t i = 0; i < counts[s]; i++)
            set(r, true, s, i, size * gradient_at(step, s, i));
    assert_ok(sg_scaler_observe_scale(r->scaler, 0.05));
    assert_ok(sg_scaler_measure(r->scaler, step));
    assert_ok(sg_optim_step(r->optim, r->scaler, NULL));
}

/* ---- The rule in long double ------------------------------------------------------------------
 */

enum { M = 7, N = 5 };

typedef struct plain {
    long double p[M * N], first[M * N], second[M * N];
    long double l[M * M], r[N * N], u[M * M], w[N * N]; /* columns of u and w: the bases */
} plain;

static void multiply(size_t m, size_t k, size_t n, const long double *a, bool at,
                     const long double *b, bool bt, long double *c)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            long double sum = 0;
            for (size_t x = 0; x < k; x++)
                sum += (at ? a[x * m + i] : a[i * k + x]) * (bt ? b[j * k + x] : b[x * n + j]);
            c[i * n + j] = sum;
        }
}

/* Gram and Schmidt's columns of `a`, which have full rank here; signs are free, and cancel. */
static void orthonormalise(size_t n, long double *a)
{
    for (size_t j = 0; j < n; j++) {
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                long double along = 0;
                for (size_t i = 0; i < n; i++)
                    along += a[i * n + k] * a[i * n + j];
                for (size_t i = 0; i < n; i++)
                    a[i * n + j] -= along * a[i * n + k];
            }
        long double square = 0;
        for (size_t i = 0; i < n; i++)
            square += a[i * n + j] * a[i * n + j];
        for (size_t i = 0; i < n; i++)
            a[i * n + j] /= sqrtl(square);
    }
}

/* The basis after one iteration, and in order[] where each of its columns was. */
static void iterate(size_t n, const long double *mean, long double *basis, size_t *order)
{
    long double moved[M * M], sorted[M * M], size[M];
    multiply(n, n, n, mean, false, basis, false, moved);
    for (size_t j = 0; j < n; j++) {
        size[j] = 0;
        for (size_t i = 0; i < n; i++)
            size[j] += basis[i * n + j] * moved[i * n + j];
        order[j] = j;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (size[order[j]] > size[order[i]]) {
                size_t swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sorted[i * n + j] = moved[i * n + order[j]];
    orthonormalise(n, sorted);
    memcpy(basis, sorted, n * n * sizeof *basis);
}

static void turn(const plain *s, const long double *from, bool back, long double *to)
{
    long double half[M * N];
    multiply(M, M, N, s->u, !back, from, false, half);
    multiply(M, N, N, half, false, s->w, back, to);
}

static void refresh(plain *s)
{
    size_t rows[M], columns[N];
    long double old[M * N];
    iterate(N, s->r, s->w, columns);
    iterate(M, s->l, s->u, rows);
    memcpy(old, s->second, sizeof old);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++)
            s->second[i * N + j] = old[rows[i] * N + columns[j]];
}

static void plain_step(plain *s, const sg_optim_config *c, uint64_t step, double factor)
{
    long double g[M * N], turned[M * N], first[M * N], move[M * N], gg[M * M];
    long double b1 = c->beta1, b2 = c->beta2, t = (long double)step + 1;
    for (size_t i = 0; i < M * N; i++) {
        g[i] = gradient_at(step, 0, i) * (long double)factor;
        s->first[i] = b1 * s->first[i] + (1 - b1) * g[i];
    }
    turn(s, g, false, turned);
    turn(s, s->first, false, first);
    for (size_t i = 0; i < M * N; i++) {
        s->second[i] = b2 * s->second[i] + (1 - b2) * turned[i] * turned[i];
        first[i] /= sqrtl(s->second[i]) / sqrtl(1 - powl(b2, t)) + c->eps;
    }
    turn(s, first, true, move);
    for (size_t i = 0; i < M * N; i++)
        s->p[i] =
            s->p[i] * (1 - (long double)c->rate * c->decay) - c->rate / (1 - powl(b1, t)) * move[i];
    multiply(M, N, M, g, false, g, true, gg);
    for (size_t i = 0; i < M * M; i++)
        s->l[i] = b2 * s->l[i] + (1 - b2) * gg[i];
    multiply(N, M, N, g, true, g, false, gg);
    for (size_t i = 0; i < N * N; i++)
        s->r[i] = b2 * s->r[i] + (1 - b2) * gg[i];
    if ((step + 1) % c->refresh == 0)
        refresh(s);
}

static plain plain_start(void)
{
    plain s = {0};
    for (size_t i = 0; i < M * N; i++)
        s.p[i] = sgi_random_normal(3, 0, i);
    for (size_t i = 0; i < M; i++)
        s.u[i * M + i] = 1;
    for (size_t i = 0; i < N; i++)
        s.w[i * N + i] = 1;
    return s;
}

static void the_rule(void **state)
{
    (void)state;
    for (int scaled = 0; scaled < 2; scaled++)
        for (size_t every = 2; every < 5; every++) { /* before that the rank of L is 5 */
            sg_optim_config config = config_of();
            config.refresh = every;
            plain expected = plain_start();
            open_run(&one, &config, scaled ? SG_METHOD_STABLEGRAD : SG_METHOD_NONE, SG_FLOAT64,
                     NULL);
            for (uint64_t step = 0; step < STEPS; step++) {
                take_step(&one, step, 1);
                plain_step(&expected, &config, step,
                           sg_scaler_report(one.scaler)->blocks[0].factor);
            }
            for (size_t i = 0; i < M * N; i++)
                assert_close(one.value.d[0][i], (double)expected.p[i], 1e-11);
            close_run(&one);
        }
}

/* What is not turned is AdamW to the bit. */
static void biases_and_long_sides(void **state)
{
    (void)state;
    sg_optim_config config = config_of(), adamw = config;
    adamw.kind = SG_OPTIM_ADAMW;
    open_run(&one, &config, SG_METHOD_NONE, SG_FLOAT64, NULL);
    open_run(&two, &adamw, SG_METHOD_NONE, SG_FLOAT64, NULL);
    for (uint64_t step = 0; step < STEPS; step++) {
        take_step(&one, step, 1);
        take_step(&two, step, 1);
    }
    assert_memory_equal(one.value.d[1], two.value.d[1], counts[1] * sizeof(double));
    assert_memory_equal(one.value.d[3], two.value.d[3], counts[3] * sizeof(double));
    assert_memory_not_equal(one.value.d[0], two.value.d[0], counts[0] * sizeof(double));
    assert_memory_not_equal(one.value.d[2], two.value.d[2], counts[2] * sizeof(double));
    close_run(&one);
    close_run(&two);
}

static void threads_and_instruction_sets(void **state)
{
    (void)state;
    sg_pool *pool;
    assert_ok(sg_pool_create(&pool, 3, NULL));
    for (int type = 0; type < SG_TYPE_COUNT; type++)
        for (int isa = 0; isa < SG_ISA_COUNT; isa++) {
            sg_optim_config config = config_of(), other = config;
            config.isa = SG_ISA_GENERIC;
            other.isa = (sg_isa)isa;
            if (sg_isa_resolve(other.isa) == SG_ISA_AUTO) /* this machine has none such */
                continue;
            open_run(&one, &config, SG_METHOD_STABLEGRAD, (sg_type)type, NULL);
            open_run(&two, &other, SG_METHOD_STABLEGRAD, (sg_type)type, pool);
            for (uint64_t step = 0; step < STEPS; step++) {
                take_step(&one, step, 1);
                take_step(&two, step, 1);
            }
            assert_memory_equal(&one.value, &two.value, sizeof one.value);
            close_run(&one);
            close_run(&two);
        }
    sg_pool_destroy(pool);
}

static void save_and_go_on(void **state)
{
    (void)state;
    sg_optim_config config = config_of();
    open_run(&one, &config, SG_METHOD_NONE, SG_FLOAT32, NULL);
    open_run(&two, &config, SG_METHOD_NONE, SG_FLOAT32, NULL);
    for (uint64_t step = 0; step < STEPS; step++) {
        take_step(&one, step, 1);
        if (step == 4) {
            size_t size;
            const void *saved = sg_optim_state(one.optim, &size);
            assert_ok(sg_optim_restore(two.optim, saved, size));
            memcpy(&two.value, &one.value, sizeof one.value);
        } else if (step > 4) {
            take_step(&two, step, 1);
        }
    }
    assert_memory_equal(&one.value, &two.value, sizeof one.value);
    close_run(&one);
    close_run(&two);
}

/* Rows that repeat, gradients that are 0, and some whose fourth power is below what float holds:
 * the bases stay orthonormal, and values finite. */
static void hard_gradients(void **state)
{
    (void)state;
    static const double sizes[] = {1, 0, 1e-12, 1e8, 0, 1e-25};
    sg_optim_config config = config_of();
    config.refresh = 1;
    for (int type = 0; type < SG_TYPE_COUNT; type++) {
        open_run(&one, &config, SG_METHOD_NONE, (sg_type)type, NULL);
        for (uint64_t step = 0; step < STEPS; step++)
            take_step(&one, step / 3, sizes[step % 6]);
        for (size_t s = 0; s < SPANS; s++)
            for (size_t i = 0; i < counts[s]; i++)
                assert_true(
                    isfinite(type == SG_FLOAT64 ? one.value.d[s][i] : (double)one.value.f[s][i]));
        const void *basis = sgi_state_buffer(one.optim, 0, SGI_SOAP_LEFT_BASIS);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < M; j++) {
                double dot = 0;
                for (size_t k = 0; k < M; k++)
                    dot += type == SG_FLOAT64 ? ((const double *)basis)[i * M + k] *
                                                    ((const double *)basis)[j * M + k]
                                              : (double)((const float *)basis)[i * M + k] *
                                                    (double)((const float *)basis)[j * M + k];
                assert_true(fabs(dot - (i == j)) < (type == SG_FLOAT64 ? 1e-14 : 1e-5));
            }
        close_run(&one);
    }
}

/* With one gradient the bases become the eigenvectors of the means. */
static void bases_become_eigenvectors(void **state)
{
    (void)state;
    sg_optim_config config = config_of();
    config.refresh = 1;
    config.rate = 0;
    config.beta2 = 0.999;
    open_run(&one, &config, SG_METHOD_NONE, SG_FLOAT64, NULL);
    for (uint64_t step = 0; step < 600; step++)
        take_step(&one, 0, 1);
    const double *mean = sgi_state_buffer(one.optim, 0, SGI_SOAP_RIGHT);
    const double *basis = sgi_state_buffer(one.optim, 0, SGI_SOAP_RIGHT_BASIS);
    double last = INFINITY;
    for (size_t i = 0; i < N; i++) {
        double moved[N], size = 0, off = 0;
        for (size_t j = 0; j < N; j++) {
            moved[j] = 0;
            for (size_t k = 0; k < N; k++)
                moved[j] += mean[j * N + k] * basis[i * N + k];
            size += moved[j] * basis[i * N + j];
        }
        for (size_t j = 0; j < N; j++)
            off += pow(moved[j] - size * basis[i * N + j], 2);
        assert_true(size <= last * (1 + 1e-12));
        assert_true(sqrt(off) < 1e-6 * mean[0]);
        last = size;
    }
    close_run(&one);
}

static void what_is_refused(void **state)
{
    (void)state;
    sg_optim_config config = config_of();
    sg_optim *optim;
    open_run(&one, &config, SG_METHOD_NONE, SG_FLOAT64, NULL);
    config.refresh = 0;
    assert_status(sg_optim_create(&optim, one.params, &config, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_null(optim);
    close_run(&one);
}

static sg_status make(const sg_allocator *allocator, void *context)
{
    sg_optim *optim;
    sg_status status = sg_optim_create(&optim, one.params, context, NULL, allocator);
    sg_optim_destroy(optim);
    return status;
}

static void every_allocation_in_turn(void **state)
{
    (void)state;
    sg_optim_config config = config_of();
    open_run(&one, &config, SG_METHOD_NONE, SG_FLOAT64, NULL);
    each_allocation_fails(make, &config, 6);
    close_run(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule),
        cmocka_unit_test(biases_and_long_sides),
        cmocka_unit_test(threads_and_instruction_sets),
        cmocka_unit_test(save_and_go_on),
        cmocka_unit_test(hard_gradients),
        cmocka_unit_test(bases_become_eigenvectors),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(every_allocation_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
