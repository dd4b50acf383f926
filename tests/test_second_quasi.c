/* Quasi-Newton methods: every update against its formula in long double, the line search against
 * the strong Wolfe conditions, and minima of Rosenbrock's function; a changed objective, threads,
 * failing memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "second/quasi.h"
#include "support/support.h"

enum { MOST = 70 };

/* Rosenbrock's chain: sum of 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2, plus tilt . x. */
typedef struct chain {
    size_t n;
    double x[MOST], tilt, floor;
    int calls;
} chain;

static sg_status gradient(void *context, double *g, double *f)
{
    chain *c = context;
    double sum = 0, unread[MOST];
    g = g ? g : unread;
    memset(g, 0, c->n * sizeof *g);
    for (size_t i = 0; i + 1 < c->n; i++) {
        double a = c->x[i + 1] - c->x[i] * c->x[i], b = 1 - c->x[i];
        sum += 100 * a * a + b * b;
        g[i + 1] += 200 * a;
        g[i] += -400 * a * c->x[i] - 2 * b;
    }
    for (size_t i = 0; i < c->n; i++) {
        sum += c->tilt * c->x[i];
        g[i] += c->tilt;
    }
    *f = sum + c->floor;
    c->calls++;
    return SG_OK;
}

static chain make(size_t n)
{
    chain c = {.n = n};
    for (size_t i = 0; i < n; i++)
        c.x[i] = -0.5 + 0.2 * sgi_random_normal(1, 0, i);
    return c;
}

typedef struct run {
    chain c;
    double *state;
    sgi_quasi *q;
} run;

static void open(run *r, sgi_second_kind kind, size_t n, sg_pool *pool)
{
    r->c = make(n);
    sgi_objective objective = {
        .context = &r->c, .parameters = n, .values = r->c.x, .gradient = gradient};
    r->state = calloc((size_t)sgi_quasi_state(kind, (double)n), sizeof(double));
    assert_non_null(r->state);
    assert_ok(sgi_quasi_create(&r->q, kind, &objective, r->state, pool, NULL));
}

static void close_run(run *r)
{
    sgi_quasi_destroy(r->q);
    free(r->state);
}

/* ---- Updates ----------------------------------------------------------------------------------
 */

typedef long double wide;

static wide dot(const wide *a, const wide *b, size_t n)
{
    wide sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* H (n, n) by s and y, as the papers write it; b = s' H^-1 s / y's is given. */
static void update(sgi_second_kind kind, wide *h, size_t n, const wide *s, const wide *y, wide b)
{
    wide hy[MOST], v[MOST], rho = 1 / dot(y, s, n), phi = 1, tau = 1;
    for (size_t i = 0; i < n; i++)
        hy[i] = dot(h + i * n, y, n);
    wide yhy = dot(y, hy, n), ratio = yhy * rho, a = b * ratio - 1;
    if (kind == SGI_SECOND_SSBFGS)
        tau = fminl(1, 1 / b);
    if (kind == SGI_SECOND_SSBROYDEN) {
        wide low = fminl(1, ratio * (1 - sqrtl(fabsl(a) / (1 + fabsl(a)))));
        wide theta = fmaxl((low - 1) / a, fminl(1 / low, (1 - b) / b));
        wide sigma = 1 + theta * a, root = powl(fabsl(sigma), 1 / (1 - (wide)n));
        wide scale = fminl(1, 1 / b);
        tau = theta <= 0 ? fminl(scale * root, sigma) : scale * fminl(root, 1 / theta);
        phi = (1 - theta) / (1 + a * theta);
    }
    for (size_t i = 0; i < n; i++)
        v[i] = rho * s[i] - hy[i] / yhy;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            h[i * n + j] = (h[i * n + j] - hy[i] * hy[j] / yhy + phi * yhy * v[i] * v[j]) / tau +
                           rho * s[i] * s[j];
}

/* The library's own H before a step goes into the formula, so that errors do not add up. What is
 * left is rounding, enlarged by cancellation in b h - 1. */
static void check_updates(sgi_second_kind kind)
{
    enum { N = 7 };
    run r;
    open(&r, kind, N, NULL);
    for (int step = 0; step < 12; step++) {
        double x[N], g0[N], g1[N], f, before[N * N];
        wide h[N * N], s[N], y[N];
        sgi_quasi_step taken;
        memcpy(x, r.c.x, sizeof x);
        assert_ok(gradient(&r.c, g0, &f));
        memcpy(before, sgi_quasi_matrix(r.q), sizeof before);
        assert_ok(sgi_quasi_step_take(r.q, &taken));
        assert_true(taken.length > 0);
        assert_ok(gradient(&r.c, g1, &f));
        for (int i = 0; i < N; i++) {
            s[i] = (wide)r.c.x[i] - (wide)x[i];
            y[i] = (wide)g1[i] - (wide)g0[i];
        }
        wide b = 0, ys = dot(y, s, N);
        for (int i = 0; i < N * N; i++)
            h[i] = step > 0 ? (wide)before[i] : i % (N + 1) ? 0 : ys / dot(y, y, N);
        for (int i = 0; i < N; i++)
            b -= (wide)taken.length * s[i] * (wide)g0[i] / ys;
        if (step == 0)
            b = dot(s, s, N) * dot(y, y, N) / (ys * ys);
        update(kind, h, N, s, y, b);
        double size = 0;
        for (int i = 0; i < N * N; i++)
            size = fmax(size, fabs((double)h[i]));
        for (int i = 0; i < N * N; i++)
            assert_true(fabs(sgi_quasi_matrix(r.q)[i] - (double)h[i]) <= 1e-7 * size);
    }
    close_run(&r);
}

static void updates_follow_their_formulas(void **state)
{
    (void)state;
    check_updates(SGI_SECOND_BFGS);
    check_updates(SGI_SECOND_SSBFGS);
    check_updates(SGI_SECOND_SSBROYDEN);
}

/* ---- Steps ------------------------------------------------------------------------------------
 */

static const sgi_second_kind kinds[] = {SGI_SECOND_LBFGS, SGI_SECOND_BFGS, SGI_SECOND_SSBFGS,
                                        SGI_SECOND_SSBROYDEN};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Every step that is taken meets the strong Wolfe conditions, along its own direction. */
static void the_minimum_is_found_by_steps_that_meet_wolfe(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        run r;
        open(&r, kinds[k], 10, NULL);
        sgi_quasi_step step = {.after = INFINITY};
        for (int i = 0; i < 400 && step.after > 1e-18; i++) {
            double x[MOST], g0[MOST], g1[MOST], f0, f1, slope0 = 0, slope1 = 0;
            memcpy(x, r.c.x, sizeof x);
            assert_ok(gradient(&r.c, g0, &f0));
            assert_ok(sgi_quasi_step_take(r.q, &step));
            assert_ok(gradient(&r.c, g1, &f1));
            assert_true(step.before == f0 && step.after == f1);
            if (step.length == 0 || step.evaluations >= 20)
                continue;
            for (size_t j = 0; j < 10; j++) {
                slope0 += g0[j] * (r.c.x[j] - x[j]);
                slope1 += g1[j] * (r.c.x[j] - x[j]);
            }
            assert_true(slope0 < 0);
            assert_true(f1 <= f0 + 0.9e-4 * slope0 + 1e-15);
            assert_true(fabs(slope1) <= -0.91 * slope0 + 1e-15);
        }
        assert_true(step.after < 1e-12);
        close_run(&r);
    }
}

/* What was learned of the old objective serves the new one, and no pair mixes the two. */
static void an_objective_may_change(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        run r;
        open(&r, kinds[k], 6, NULL);
        sgi_quasi_step step;
        for (int i = 0; i < 60; i++) {
            if (i % 10 == 0) {
                r.c.tilt = 0.01 * (i / 10);
                sgi_quasi_changed(r.q);
            }
            assert_ok(sgi_quasi_step_take(r.q, &step));
            assert_true(step.after <= step.before);
        }
        r.c.floor = NAN;
        double x[MOST];
        memcpy(x, r.c.x, sizeof x);
        sgi_quasi_changed(r.q);
        assert_ok(sgi_quasi_step_take(r.q, &step));
        assert_false(isfinite(step.before));
        assert_memory_equal(x, r.c.x, sizeof x);
        close_run(&r);
    }
}

static void threads_do_not_change_bits(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        run r[2];
        for (int t = 0; t < 2; t++) {
            sg_pool *pool;
            sgi_quasi_step step;
            assert_ok(sg_pool_create(&pool, 1 + 2 * t, NULL));
            open(&r[t], kinds[k], MOST, pool);
            for (int i = 0; i < 20; i++)
                assert_ok(sgi_quasi_step_take(r[t].q, &step));
            sgi_quasi_destroy(r[t].q);
            r[t].q = NULL;
            sg_pool_destroy(pool);
        }
        assert_memory_equal(r[0].c.x, r[1].c.x, sizeof r[0].c.x);
        close_run(&r[0]);
        close_run(&r[1]);
    }
}

static sg_status live(const sg_allocator *allocator, void *context)
{
    double state[64] = {0};
    chain c = make(4);
    sgi_quasi *q;
    sgi_quasi_step step;
    sgi_objective objective = {.context = &c, .parameters = 4, .values = c.x, .gradient = gradient};
    (void)context;
    sg_status status = sgi_quasi_create(&q, SGI_SECOND_BFGS, &objective, state, NULL, allocator);
    if (status == SG_OK)
        status = sgi_quasi_step_take(q, &step);
    sgi_quasi_destroy(q);
    return status;
}

static void every_allocation_in_turn(void **state)
{
    (void)state;
    each_allocation_fails(live, NULL, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_follow_their_formulas),
        cmocka_unit_test(the_minimum_is_found_by_steps_that_meet_wolfe),
        cmocka_unit_test(an_objective_may_change),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(every_allocation_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
