/* Cholesky's factors against the matrix, and steps of Levenberg-Marquardt on quadratic residuals
 * against a singular value decomposition, with either of the two matrices; the bend against second
 * derivatives; the rules of the damping; threads, failing memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "second/cholesky.h"
#include "second/levenberg.h"
#include "support/support.h"

void dgesvd_(const char *job_u, const char *job_v, const int *m, const int *n, double *a,
             const int *row, double *s, double *u, const int *u_row, double *v, const int *v_row,
             double *work, const int *work_size, int *info, size_t u_length, size_t v_length);

enum { MOST = 160 };

/* r_i = b_i + sum_j A_ij x_j + curve/2 sum_jk B_ijk x_j x_k, B symmetric in j and k. */
typedef struct quadratic {
    size_t n, m;
    double curve;
    uint64_t seed;
    double x[MOST];
    bool broken; /* residuals are not finite */
} quadratic;

static double coefficient(const quadratic *q, size_t i, size_t j)
{
    double scale = 1 + 3 * (double)(j % 3); /* columns of unlike sizes */
    return scale * sgi_random_normal(q->seed, 1, i * MOST + j);
}

static double curvature(const quadratic *q, size_t i, size_t j, size_t k)
{
    size_t low = j < k ? j : k, high = j < k ? k : j;
    return q->curve * sgi_random_normal(q->seed, 2 + i, low * MOST + high);
}

static double residual(const quadratic *q, size_t i)
{
    double r = sgi_random_normal(q->seed, 0, i);
    for (size_t j = 0; j < q->n; j++) {
        r += coefficient(q, i, j) * q->x[j];
        for (size_t k = 0; k < q->n && q->curve != 0; k++)
            r += 0.5 * curvature(q, i, j, k) * q->x[j] * q->x[k];
    }
    return q->broken ? NAN : r;
}

static double slope(const quadratic *q, size_t i, size_t j)
{
    double s = coefficient(q, i, j);
    for (size_t k = 0; k < q->n && q->curve != 0; k++)
        s += curvature(q, i, j, k) * q->x[k];
    return s;
}

static size_t count(void *context)
{
    return ((quadratic *)context)->m;
}

static sg_status residuals(void *context, double *to)
{
    const quadratic *q = context;
    for (size_t i = 0; i < q->m; i++)
        to[i] = residual(q, i);
    return SG_OK;
}

static sg_status push(void *context, const double *v, double *to)
{
    const quadratic *q = context;
    for (size_t i = 0; i < q->m; i++) {
        to[i] = 0;
        for (size_t j = 0; j < q->n; j++)
            to[i] += slope(q, i, j) * v[j];
    }
    return SG_OK;
}

static sg_status pull(void *context, const double *w, double *to)
{
    const quadratic *q = context;
    memset(to, 0, q->n * sizeof *to);
    for (size_t i = 0; i < q->m; i++)
        for (size_t j = 0; j < q->n; j++)
            to[j] += slope(q, i, j) * w[i];
    return SG_OK;
}

static sg_status normal(void *context, const sg_normal_equations *parts)
{
    const quadratic *q = context;
    static double j[MOST * MOST];
    for (size_t i = 0; i < q->m; i++) {
        parts->residuals[i] = residual(q, i);
        for (size_t p = 0; p < q->n; p++)
            j[i * q->n + p] = slope(q, i, p);
    }
    for (size_t p = 0; p < q->n; p++) {
        double right = 0, square = 0;
        for (size_t i = 0; i < q->m; i++) {
            right += j[i * q->n + p] * parts->residuals[i];
            square += j[i * q->n + p] * j[i * q->n + p];
        }
        if (parts->squares)
            parts->squares[p] = square;
        if (parts->right)
            parts->right[p] = right;
        for (size_t o = 0; o < q->n && parts->matrix; o++) {
            double sum = 0;
            for (size_t i = 0; i < q->m; i++)
                sum += j[i * q->n + p] * j[i * q->n + o];
            parts->matrix[p * q->n + o] = sum;
        }
    }
    return SG_OK;
}

static sg_status kernel(void *context, const double *columns, double *to)
{
    const quadratic *q = context;
    for (size_t i = 0; i < q->m; i++)
        for (size_t k = 0; k < q->m; k++) {
            to[i * q->m + k] = 0;
            for (size_t p = 0; p < q->n; p++)
                to[i * q->m + k] += slope(q, i, p) * slope(q, k, p) * columns[p] * columns[p];
        }
    return SG_OK;
}

/* Two tensors of one layer, and a third of another, which is a single number. */
static const sgi_parameter_span *spans_of(const quadratic *q)
{
    static sgi_parameter_span spans[3];
    size_t first = q->n / 3;
    spans[0] = (sgi_parameter_span){0, first, 0};
    spans[1] = (sgi_parameter_span){first, q->n - 1 - first, 0};
    spans[2] = (sgi_parameter_span){q->n - 1, 1, 1};
    return spans;
}

static sg_status tensor_kernel(void *context, const double *weights, double *to)
{
    const quadratic *q = context;
    const sgi_parameter_span *spans = spans_of(q);
    double columns[MOST];
    for (size_t s = 0; s < 3; s++)
        for (size_t i = 0; i < spans[s].count; i++)
            columns[spans[s].begin + i] = sqrt(weights[s]);
    return kernel(context, columns, to);
}

static sgi_objective objective_of(quadratic *q)
{
    return (sgi_objective){.context = q,
                           .parameters = q->n,
                           .values = q->x,
                           .tensors = spans_of(q),
                           .tensor_count = 3,
                           .tensor_kernel = tensor_kernel,
                           .count = count,
                           .residuals = residuals,
                           .push = push,
                           .pull = pull,
                           .normal = normal,
                           .kernel = kernel};
}

static quadratic make(size_t n, size_t m, double curve, uint64_t seed)
{
    quadratic q = {.n = n, .m = m, .curve = curve, .seed = seed};
    for (size_t j = 0; j < n; j++)
        q.x[j] = 0.3 * sgi_random_normal(seed, 1000, j);
    return q;
}

static sgi_levenberg *open(quadratic *q, bool bend, sg_pool *pool, sg_isa isa)
{
    sgi_levenberg *lm;
    sgi_objective objective = objective_of(q);
    sgi_levenberg_config config = {.metric = SGI_METRIC_COLUMNS,
                                   .most_residuals = q->m,
                                   .bend = bend,
                                   .pool = pool,
                                   .isa = isa};
    assert_ok(sgi_levenberg_create(&lm, &objective, &config, NULL));
    return lm;
}

/* ---- What a step should be --------------------------------------------------------------------
 */

/* The matrix J D with its singular values and vectors. */
typedef struct decomposition {
    int n, m;
    double columns[MOST], s[MOST], u[MOST * MOST], v[MOST * MOST];
} decomposition;

static void decompose(const quadratic *q, decomposition *d)
{
    static double a[MOST * MOST], work[10 * MOST];
    double squares[MOST] = {0}, mean = 0;
    int work_size = 10 * MOST, info;
    d->n = (int)q->n;
    d->m = (int)q->m;
    for (size_t j = 0; j < q->n; j++) {
        for (size_t i = 0; i < q->m; i++)
            squares[j] += slope(q, i, j) * slope(q, i, j);
        mean += squares[j] / (double)q->n;
    }
    for (size_t j = 0; j < q->n; j++)
        d->columns[j] = 1 / sqrt(squares[j] / mean + 1e-4);
    for (size_t j = 0; j < q->n; j++) /* by columns */
        for (size_t i = 0; i < q->m; i++)
            a[j * q->m + i] = slope(q, i, j) * d->columns[j];
    dgesvd_("S", "S", &d->m, &d->n, a, &d->m, d->s, d->u, &d->m, d->v, &d->n, work, &work_size,
            &info, 1, 1);
    assert_int_equal(info, 0);
}

/* -V s / (s^2 + damping) U^T w; v is V^T by columns with rows `least` long. */
static void damped(const decomposition *d, double damping, const double *w, double *step)
{
    int least = d->n < d->m ? d->n : d->m;
    memset(step, 0, (size_t)d->n * sizeof *step);
    for (int k = 0; k < least; k++) {
        double along = 0;
        for (int i = 0; i < d->m; i++)
            along += d->u[k * d->m + i] * w[i];
        for (int j = 0; j < d->n; j++)
            step[j] -= d->v[j * d->n + k] * d->s[k] / (d->s[k] * d->s[k] + damping) * along;
    }
}

static double norm(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* x after one step of the given damping, and whether the step is bent. */
static bool expected(const quadratic *q, double damping, bool bend, double *x)
{
    static decomposition d;
    double r[MOST], step[MOST], curved[MOST], a[MOST];
    decompose(q, &d);
    for (size_t i = 0; i < q->m; i++)
        r[i] = residual(q, i);
    damped(&d, damping, r, step);
    for (size_t i = 0; i < q->m; i++) {
        curved[i] = 0;
        for (size_t j = 0; j < q->n; j++)
            for (size_t k = 0; k < q->n; k++)
                curved[i] +=
                    0.5 * curvature(q, i, j, k) * d.columns[j] * step[j] * d.columns[k] * step[k];
    }
    damped(&d, damping, curved, a);
    bool bent = bend && norm(a, q->n) < 0.75 * norm(step, q->n);
    for (size_t j = 0; j < q->n; j++)
        x[j] = q->x[j] + d.columns[j] * (step[j] + (bent ? a[j] : 0));
    return bent;
}

/* The equations have a condition number of 1e4 or so at this damping, and the bend divides rounding
 * by h^2. */
static void check_step(size_t n, size_t m, double curve, bool bend, bool should_bend, sg_isa isa)
{
    quadratic q = make(n, m, curve, 5), before = q;
    sgi_levenberg *lm = open(&q, bend, NULL, isa);
    sgi_levenberg_step step;
    double damping = 1e-2, x[MOST];
    assert_ok(sgi_levenberg_step_take(lm, &damping, &step));
    assert_true(step.taken && step.after < step.before);
    assert_true(step.bent == should_bend);
    assert_true(expected(&before, step.damping, bend, x) == should_bend);
    for (size_t j = 0; j < n; j++)
        assert_close(q.x[j], x[j], 1e-9);
    double f = 0;
    for (size_t i = 0; i < m; i++)
        f += 0.5 * residual(&q, i) * residual(&q, i);
    assert_relative(step.after, f, 1e-12);
    sgi_levenberg_destroy(lm);
}

static void steps_are_those_of_the_decomposition(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t known = runnable_isas(isas);
    for (size_t k = 0; k < known; k++) {
        check_step(7, 20, 0.05, false, false, isas[k]);
        check_step(20, 7, 0.05, false, false, isas[k]);
        check_step(7, 7, 0, false, false, isas[k]);
    }
}

static void the_bend_is_half_the_second_derivative(void **state)
{
    (void)state;
    check_step(7, 20, 0.05, true, true, SG_ISA_AUTO);
    check_step(20, 7, 0.05, true, true, SG_ISA_AUTO);
    check_step(1, 3, 0.1, true, true, SG_ISA_AUTO);
}

static void a_bend_that_is_long_is_left_out(void **state)
{
    (void)state;
    bool left_out = false;
    for (uint64_t seed = 1; seed < 40; seed++) {
        quadratic q = make(6, 8, 20, seed);
        sgi_levenberg *lm = open(&q, true, NULL, SG_ISA_AUTO);
        sgi_levenberg_step step;
        double damping = 1e-2;
        assert_ok(sgi_levenberg_step_take(lm, &damping, &step));
        left_out = left_out || (step.taken && !step.bent);
        sgi_levenberg_destroy(lm);
    }
    assert_true(left_out);
}

/* ---- Metrics and the kernel form --------------------------------------------------------------
 */

static void blocks_have_one_number(void **state)
{
    (void)state;
    const sgi_parameter_span spans[] = {{0, 3, 0}, {3, 2, 0}, {5, 4, 1}, {9, 1, 2}, {10, 2, 3}};
    double gradient[12] = {1, 2, 3, 4, 5, 10, -10, 10, -10, -4, 0, 0}, weights[5];
    sgi_metric_blocks(spans, 5, gradient, weights);
    /* sigma: sqrt 2, 10 and, of a single number, 4; the last block has no gradient */
    double a = 1 / sqrt(2), b = 0.1, c = 0.25, mean = (5 * a + 4 * b + c) / 10;
    const double expected[] = {a / mean, a / mean, b / mean, c / mean, 1};
    for (size_t i = 0; i < 5; i++)
        assert_relative(weights[i], expected[i], 1e-14);
    memset(gradient, 0, sizeof gradient);
    sgi_metric_blocks(spans, 5, gradient, weights);
    for (size_t i = 0; i < 5; i++)
        assert_true(weights[i] == 1);
}

static void take_kernel_step(quadratic *q, sgi_metric metric, sgi_solver solver, double mu,
                             double *last, sgi_levenberg_step *step)
{
    sgi_levenberg *lm;
    sgi_objective objective = objective_of(q);
    sgi_levenberg_config config = {.most_residuals = q->m,
                                   .bend = mu == 0,
                                   .metric = metric,
                                   .solver = solver,
                                   .momentum = mu,
                                   .last = last};
    double damping = 1e-2;
    assert_ok(sgi_levenberg_create(&lm, &objective, &config, NULL));
    assert_ok(sgi_levenberg_step_take(lm, &damping, step));
    assert_true(step->taken);
    sgi_levenberg_destroy(lm);
}

static void every_solver_gives_the_same_step(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{7, 20}, {20, 7}};
    for (size_t s = 0; s < 2; s++)
        for (int metric = SGI_METRIC_COLUMNS; metric <= SGI_METRIC_NONE; metric++) {
            quadratic q = make(sizes[s][0], sizes[s][1], 0.05, 5), k = q, f = q;
            sgi_levenberg_step step;
            take_kernel_step(&q, (sgi_metric)metric, SGI_SOLVER_SMALLER, 0, NULL, &step);
            assert_true(step.bent && step.products == 0);
            take_kernel_step(&k, (sgi_metric)metric, SGI_SOLVER_KERNEL, 0, NULL, &step);
            take_kernel_step(&f, (sgi_metric)metric, SGI_SOLVER_FREE, 0, NULL, &step);
            assert_true(step.products > 2);
            for (size_t j = 0; j < q.n; j++) {
                assert_close(k.x[j], q.x[j], 1e-9);
                assert_close(f.x[j], q.x[j], 0.05); /* which ends before it is exact */
            }
        }
}

/* dx minimises |r + J dx|^2 + lambda |D^-1 (dx - mu phi)|^2, D = 1. */
static void the_step_before_is_carried_on(void **state)
{
    (void)state;
    const double mu = 0.7;
    quadratic q = make(12, 9, 0, 3), before = q;
    double phi[MOST], last[MOST], moved[MOST];
    sgi_levenberg_step step;
    for (size_t j = 0; j < q.n; j++)
        phi[j] = last[j] = 0.01 * sgi_random_normal(8, 0, j);
    take_kernel_step(&q, SGI_METRIC_NONE, SGI_SOLVER_KERNEL, mu, last, &step);
    assert_true(step.carried);
    for (size_t j = 0; j < q.n; j++)
        moved[j] = q.x[j] - before.x[j];
    for (size_t j = 0; j < q.n; j++) {
        double sum = step.damping * (moved[j] - mu * phi[j]);
        for (size_t i = 0; i < q.m; i++) {
            double linear = residual(&before, i);
            for (size_t k = 0; k < q.n; k++)
                linear += slope(&before, i, k) * moved[k];
            sum += slope(&before, i, j) * linear;
        }
        assert_close(sum, 0, 1e-12);
        assert_close(last[j], moved[j], 1e-15);
    }
    /* One that leads far uphill is left out, and the step is that without it. */
    quadratic p = before, plain = before;
    for (size_t j = 0; j < q.n; j++)
        last[j] = 1e6;
    take_kernel_step(&p, SGI_METRIC_NONE, SGI_SOLVER_KERNEL, 0.999, last, &step);
    assert_true(!step.carried && step.tries == 2);
    for (size_t j = 0; j < q.n; j++)
        last[j] = 0;
    take_kernel_step(&plain, SGI_METRIC_NONE, SGI_SOLVER_KERNEL, 0.999, last, &step);
    for (size_t j = 0; j < q.n; j++)
        assert_close(p.x[j], plain.x[j], 1e-9);
}

/* ---- Rules ------------------------------------------------------------------------------------
 */

static void damping_follows_the_gain(void **state)
{
    (void)state;
    int lower = 0, higher = 0, again = 0;
    for (uint64_t seed = 1; seed < 60; seed++) {
        quadratic q = make(6, 8, seed % 2 ? 20 : 0.01, seed);
        sgi_levenberg *lm = open(&q, true, NULL, SG_ISA_AUTO);
        double damping = 1e-2;
        for (int i = 0; i < 4; i++) {
            sgi_levenberg_step step;
            double first = damping;
            assert_ok(sgi_levenberg_step_take(lm, &damping, &step));
            assert_true(step.taken);
            assert_true(step.after < step.before);
            assert_relative(step.damping, first * pow(2, step.tries - 1), 1e-12);
            double factor = step.gain > 0.75 ? 1.0 / 3 : step.gain < 0.25 ? 2 : 1;
            assert_relative(damping, step.damping * factor, 1e-12);
            lower += factor < 1;
            higher += factor > 1;
            again += step.tries > 1;
        }
        sgi_levenberg_destroy(lm);
    }
    assert_true(lower > 0 && higher > 0 && again > 0);
}

static void linear_residuals_are_solved_and_then_left_alone(void **state)
{
    (void)state;
    quadratic q = make(5, 9, 0, 3);
    sgi_levenberg *lm = open(&q, true, NULL, SG_ISA_AUTO);
    sgi_levenberg_step step;
    double damping = 1e-2;
    for (int i = 0; i < 40; i++) {
        assert_ok(sgi_levenberg_step_take(lm, &damping, &step));
        assert_true(damping >= SGI_LEVENBERG_LEAST && damping < 1e7);
    }
    double gradient[MOST], r[MOST];
    assert_ok(residuals(&q, r));
    assert_ok(pull(&q, r, gradient));
    assert_true(norm(gradient, q.n) < 1e-6);
    double kept[MOST];
    memcpy(kept, q.x, sizeof kept);
    q.broken = true;
    assert_ok(sgi_levenberg_step_take(lm, &damping, &step));
    assert_false(step.taken);
    assert_false(isfinite(step.before));
    assert_memory_equal(kept, q.x, sizeof kept);
    sgi_levenberg_destroy(lm);
}

/* A step out of a place where every step leads to numbers that are not finite. */
static sg_status broken_elsewhere(void *context, double *to)
{
    const quadratic *q = context;
    quadratic there = *q;
    there.broken = q->x[0] != make(q->n, q->m, q->curve, q->seed).x[0];
    return residuals(&there, to);
}

static void no_step_is_no_harm(void **state)
{
    (void)state;
    quadratic q = make(5, 9, 0.1, 3), before = q;
    sgi_levenberg *lm;
    sgi_objective objective = objective_of(&q);
    objective.residuals = broken_elsewhere;
    sgi_levenberg_config config = {
        .metric = SGI_METRIC_COLUMNS, .most_residuals = q.m, .bend = true};
    assert_ok(sgi_levenberg_create(&lm, &objective, &config, NULL));
    sgi_levenberg_step step;
    double damping = 1e-2;
    assert_ok(sgi_levenberg_step_take(lm, &damping, &step));
    assert_false(step.taken);
    assert_int_equal(step.tries, 17); /* the first, and sixteen more */
    assert_true(step.after == step.before);
    assert_memory_equal(before.x, q.x, sizeof q.x);
    q.m = 10; /* more than there is room for */
    assert_status(sgi_levenberg_step_take(lm, &damping, &step), SG_ERROR_ARGUMENT);
    sgi_levenberg_destroy(lm);
}

/* ---- Cholesky, threads, memory ----------------------------------------------------------------
 */

static double entry(size_t i, size_t j, size_t n)
{
    double sum = i == j ? 0.01 : 0;
    for (size_t k = 0; k < n + 3; k++)
        sum += sgi_random_normal(8, i, k) * sgi_random_normal(8, j, k);
    return sum;
}

static void factors_give_the_matrix_back(void **state)
{
    (void)state;
    static double a[MOST * MOST], l[MOST * MOST], other[MOST * MOST];
    static const size_t sizes[] = {1, 2, 63, 64, 65, MOST};
    sg_isa isas[SG_ISA_COUNT];
    size_t known = runnable_isas(isas);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                a[i * n + j] = j <= i ? entry(i, j, n) : NAN; /* nobody reads above the diagonal */
        for (size_t k = 0; k < known; k++)
            for (int threads = 1; threads <= 3; threads += 2) {
                sgi_cholesky *cholesky;
                sg_pool *pool;
                assert_ok(sg_pool_create(&pool, threads, NULL));
                assert_ok(sgi_cholesky_create(&cholesky, pool, isas[k], NULL));
                double *to = threads == 1 ? l : other;
                memcpy(to, a, n * n * sizeof *a);
                assert_true(sgi_cholesky_factor(cholesky, to, n));
                sgi_cholesky_destroy(cholesky);
                sg_pool_destroy(pool);
            }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                assert_true(l[i * n + j] == other[i * n + j]);
                for (size_t k = 0; k <= j; k++)
                    sum += l[i * n + k] * l[j * n + k];
                assert_true(fabs(sum - a[i * n + j]) < 1e-11 * (double)(n + 3));
            }
        double x[MOST] = {0}, b[MOST] = {0};
        for (size_t i = 0; i < n; i++) {
            b[i] = 0;
            for (size_t j = 0; j < n; j++)
                b[i] += (j <= i ? a[i * n + j] : a[j * n + i]) * (double)(j + 1);
        }
        memcpy(x, b, sizeof x);
        sgi_cholesky_solve(l, n, x);
        for (size_t i = 0; i < n; i++)
            assert_close(x[i], (double)(i + 1), 1e-7); /* a condition number of 1e5 */
    }
}

static void what_is_not_positive_definite_is_refused(void **state)
{
    (void)state;
    sgi_cholesky *cholesky;
    assert_ok(sgi_cholesky_create(&cholesky, NULL, SG_ISA_AUTO, NULL));
    double indefinite[] = {1, 0, 2, 1}, broken[] = {1, 0, NAN, 1}, zero[] = {0};
    assert_false(sgi_cholesky_factor(cholesky, indefinite, 2));
    assert_false(sgi_cholesky_factor(cholesky, broken, 2));
    assert_false(sgi_cholesky_factor(cholesky, zero, 1));
    sgi_cholesky_destroy(cholesky);
}

static void threads_do_not_change_bits(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{100, 150}, {150, 100}};
    for (int s = 0; s < 2; s++) {
        quadratic q[2];
        for (int k = 0; k < 2; k++) {
            sg_pool *pool;
            sgi_levenberg_step step;
            double damping = 1e-2;
            assert_ok(sg_pool_create(&pool, 1 + 3 * k, NULL));
            q[k] = make(shapes[s][0], shapes[s][1], 0, 4);
            sgi_levenberg *lm = open(&q[k], true, pool, SG_ISA_AUTO);
            for (int i = 0; i < 3; i++)
                assert_ok(sgi_levenberg_step_take(lm, &damping, &step));
            sgi_levenberg_destroy(lm);
            sg_pool_destroy(pool);
        }
        assert_memory_equal(q[0].x, q[1].x, sizeof q[0].x);
    }
}

static sg_status live(const sg_allocator *allocator, void *context)
{
    (void)context;
    quadratic q = make(4, 6, 0.1, 2);
    sgi_levenberg *lm;
    sgi_objective objective = objective_of(&q);
    sgi_levenberg_config config = {
        .metric = SGI_METRIC_COLUMNS, .most_residuals = q.m, .bend = true};
    sgi_levenberg_step step;
    double damping = 1e-2;
    sg_status status = sgi_levenberg_create(&lm, &objective, &config, allocator);
    if (status == SG_OK)
        status = sgi_levenberg_step_take(lm, &damping, &step);
    sgi_levenberg_destroy(lm);
    return status;
}

static void every_allocation_in_turn(void **state)
{
    (void)state;
    each_allocation_fails(live, NULL, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_decomposition),
        cmocka_unit_test(the_bend_is_half_the_second_derivative),
        cmocka_unit_test(a_bend_that_is_long_is_left_out),
        cmocka_unit_test(blocks_have_one_number),
        cmocka_unit_test(every_solver_gives_the_same_step),
        cmocka_unit_test(the_step_before_is_carried_on),
        cmocka_unit_test(damping_follows_the_gain),
        cmocka_unit_test(linear_residuals_are_solved_and_then_left_alone),
        cmocka_unit_test(no_step_is_no_harm),
        cmocka_unit_test(factors_give_the_matrix_back),
        cmocka_unit_test(what_is_not_positive_definite_is_refused),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(every_allocation_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
