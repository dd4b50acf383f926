/* Quasi-Newton methods: see quasi.h. */
#include "second/quasi.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "second/vectors.h"

enum { BLOCK_ROWS = 64, MOST_EVALUATIONS = 25 };

/* Of the line search: sufficient decrease, and how much of the slope may be left. */
static const double DECREASE = 1e-4, SLOPE = 0.9;

/* The state: `head`, the gradient (n), then H (n, n), or steps and differences (PAIRS, n) each. */
typedef struct head {
    double updates; /* so far: of H, or pairs */
    double fresh;   /* 1: f and the gradient are those at x */
    double f;
} head;
enum { HEAD = sizeof(head) / sizeof(double) };

struct sgi_quasi {
    sg_allocator allocator;
    sgi_second_kind kind;
    sgi_objective objective;
    sg_pool *pool;
    head *head;
    double *gradient, *memory; /* of the state */
    double *origin;            /* (n) as the rest: x before the step */
    double *direction, *trial; /* -H g; the gradient at x */
    double *s, *y, *hy;
};

double sgi_quasi_state(sgi_second_kind kind, double parameters)
{
    double rows = kind == SGI_SECOND_LBFGS ? 2 * SGI_QUASI_PAIRS : parameters;
    return HEAD + parameters + rows * parameters;
}

sg_status sgi_quasi_create(sgi_quasi **out, sgi_second_kind kind, const sgi_objective *objective,
                           double *state, sg_pool *pool, const sg_allocator *given)
{
    *out = NULL;
    sgi_quasi *q = SGI_NEW(sgi_quasi, given);
    if (!q)
        return SG_ERROR_MEMORY;
    size_t n = objective->parameters;
    double **const vectors[] = {&q->origin, &q->direction, &q->trial, &q->s, &q->y, &q->hy};
    bool all = true;
    q->kind = kind;
    q->objective = *objective;
    q->pool = pool;
    q->head = (head *)(void *)state;
    q->gradient = state + HEAD;
    q->memory = q->gradient + n;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        all = (*vectors[i] = sgi_allocate(&q->allocator, n, sizeof(double))) && all;
    if (!all) {
        sgi_quasi_destroy(q);
        return SG_ERROR_MEMORY;
    }
    *out = q;
    return SG_OK;
}

void sgi_quasi_destroy(sgi_quasi *q)
{
    if (!q)
        return;
    void *parts[] = {q->origin, q->direction, q->trial, q->s, q->y, q->hy};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&q->allocator, parts[i]);
    sgi_release(&q->allocator, q);
}

void sgi_quasi_changed(sgi_quasi *q)
{
    q->head->fresh = 0;
}

const double *sgi_quasi_matrix(const sgi_quasi *q)
{
    return q->kind == SGI_SECOND_LBFGS ? NULL : q->memory;
}

/* ---- The dense matrix -------------------------------------------------------------------------
 */

typedef struct rows_job {
    sgi_quasi *q;
    const double *vector;
    double *product;
    double hy, phi, tau, rho; /* of an update */
} rows_job;

static size_t end_of(const rows_job *job, size_t unit)
{
    size_t n = job->q->objective.parameters, end = (unit + 1) * BLOCK_ROWS;
    return end < n ? end : n;
}

static void multiply_rows(void *context, size_t unit, int worker)
{
    (void)worker;
    const rows_job *job = context;
    size_t n = job->q->objective.parameters;
    for (size_t i = unit * BLOCK_ROWS; i < end_of(job, unit); i++)
        job->product[i] = sgi_dot(job->q->memory + i * n, job->vector, n);
}

/* product = H vector */
static void multiply(sgi_quasi *q, const double *vector, double *product)
{
    rows_job job = {.q = q, .vector = vector, .product = product};
    sg_pool_run(q->pool, sgi_parts(q->objective.parameters, BLOCK_ROWS), multiply_rows, &job);
}

/* H+ = (H - Hy y'H / y'Hy + phi y'Hy v v') / tau + rho s s',  v = rho s - Hy / y'Hy */
static void update_rows(void *context, size_t unit, int worker)
{
    (void)worker;
    const rows_job *job = context;
    const sgi_quasi *q = job->q;
    size_t n = q->objective.parameters;
    for (size_t i = unit * BLOCK_ROWS; i < end_of(job, unit); i++) {
        double *row = q->memory + i * n;
        double v = job->rho * q->s[i] - q->hy[i] / job->hy;
        double of_hy = -q->hy[i] / job->hy - job->phi * v;
        double of_s = job->phi * job->hy * v * job->rho + job->tau * job->rho * q->s[i];
        for (size_t j = 0; j < n; j++)
            row[j] = (row[j] + of_hy * q->hy[j] + of_s * q->s[j]) / job->tau;
    }
}

static void set_multiple(sgi_quasi *q, double factor)
{
    size_t n = q->objective.parameters;
    memset(q->memory, 0, n * n * sizeof *q->memory);
    for (size_t i = 0; i < n; i++)
        q->memory[i * n + i] = factor;
}

/* phi and tau of self-scaled Broyden; b = s' H^-1 s / y's, h = y'Hy / y's. */
static void broyden(double b, double h, double n, double *phi, double *tau)
{
    double a = fmax(b * h - 1, DBL_MIN); /* not below 0, but for rounding */
    double low = fmin(1, h * (1 - sqrt(a / (1 + a))));
    double theta = fmax((low - 1) / a, fmin(1 / low, (1 - b) / b));
    double sigma = 1 + theta * a, root = pow(fabs(sigma), 1 / (1 - n)), scale = fmin(1, 1 / b);
    *tau = theta <= 0 ? fmin(scale * root, sigma) : scale * fmin(root, 1 / theta);
    *phi = (1 - theta) / (1 + a * theta);
}

/* From s and y; `length` is that of the step. */
static void update_dense(sgi_quasi *q, double length)
{
    size_t n = q->objective.parameters;
    double ys = sgi_dot(q->y, q->s, n);
    if (q->head->updates == 0)
        set_multiple(q, ys / sgi_dot(q->y, q->y, n));
    multiply(q, q->y, q->hy);
    rows_job job = {.q = q, .hy = sgi_dot(q->y, q->hy, n), .phi = 1, .tau = 1, .rho = 1 / ys};
    /* Of the first matrix H^-1 s is not -length g. */
    double b = -length * sgi_dot(q->s, q->gradient, n) / ys;
    if (q->head->updates == 0)
        b = sgi_dot(q->s, q->s, n) * sgi_dot(q->y, q->y, n) / (ys * ys);
    if (q->kind == SGI_SECOND_SSBFGS)
        job.tau = fmin(1, 1 / b);
    if (q->kind == SGI_SECOND_SSBROYDEN && n > 1)
        broyden(b, job.hy / ys, (double)n, &job.phi, &job.tau);
    if (job.hy > 0 && job.tau > 0 && isfinite(job.tau) && isfinite(job.phi))
        sg_pool_run(q->pool, sgi_parts(n, BLOCK_ROWS), update_rows, &job);
}

/* ---- Directions -------------------------------------------------------------------------------
 */

static double *pair(const sgi_quasi *q, uint64_t number, bool difference)
{
    size_t n = q->objective.parameters, slot = (size_t)(number % SGI_QUASI_PAIRS);
    return q->memory + (slot + (difference ? SGI_QUASI_PAIRS : 0)) * n;
}

/* The two loops of L-BFGS. */
static void limited_direction(sgi_quasi *q)
{
    size_t n = q->objective.parameters;
    uint64_t all = (uint64_t)q->head->updates;
    uint64_t first = all > SGI_QUASI_PAIRS ? all - SGI_QUASI_PAIRS : 0;
    double along[SGI_QUASI_PAIRS];
    for (size_t i = 0; i < n; i++)
        q->direction[i] = -q->gradient[i];
    for (uint64_t k = all; k > first; k--) {
        const double *s = pair(q, k - 1, false), *y = pair(q, k - 1, true);
        along[(k - 1) % SGI_QUASI_PAIRS] = sgi_dot(s, q->direction, n) / sgi_dot(s, y, n);
        sgi_add(q->direction, -along[(k - 1) % SGI_QUASI_PAIRS], y, n);
    }
    if (all > 0) {
        const double *s = pair(q, all - 1, false), *y = pair(q, all - 1, true);
        double factor = sgi_dot(s, y, n) / sgi_dot(y, y, n);
        for (size_t i = 0; i < n; i++)
            q->direction[i] *= factor;
    }
    for (uint64_t k = first; k < all; k++) {
        const double *s = pair(q, k, false), *y = pair(q, k, true);
        double beta = sgi_dot(y, q->direction, n) / sgi_dot(s, y, n);
        sgi_add(q->direction, along[k % SGI_QUASI_PAIRS] - beta, s, n);
    }
}

/* -H g, and its slope; downhill in any case. */
static double find_direction(sgi_quasi *q)
{
    size_t n = q->objective.parameters;
    for (;;) {
        if (q->head->updates > 0 && q->kind != SGI_SECOND_LBFGS) {
            multiply(q, q->gradient, q->direction);
            for (size_t i = 0; i < n; i++)
                q->direction[i] = -q->direction[i];
        } else {
            limited_direction(q); /* -g when there is nothing yet */
        }
        double slope = sgi_dot(q->direction, q->gradient, n);
        if (slope < 0 || q->head->updates == 0)
            return slope;
        q->head->updates = 0; /* rounding has spoilt H */
    }
}

/* ---- The line search --------------------------------------------------------------------------
 */

/* A place on the line: how far, f, and the slope. */
typedef struct spot {
    double at, f, slope;
} spot;

static sg_status look(sgi_quasi *q, double at, spot *to, sgi_quasi_step *step)
{
    const sgi_objective *o = &q->objective;
    for (size_t i = 0; i < o->parameters; i++)
        o->values[i] = q->origin[i] + at * q->direction[i];
    to->at = at;
    step->evaluations++;
    sg_status status = o->gradient(o->context, q->trial, &to->f);
    to->slope = sgi_dot(q->trial, q->direction, o->parameters);
    return status;
}

/* The minimum of the cubic through both, kept away from the ends. */
static double between(const spot *a, const spot *b)
{
    double low = fmin(a->at, b->at), high = fmax(a->at, b->at), margin = 0.1 * (high - low);
    double d1 = a->slope + b->slope - 3 * (a->f - b->f) / (a->at - b->at);
    double root = sqrt(d1 * d1 - a->slope * b->slope), d2 = b->at > a->at ? root : -root;
    double at = b->at - (b->at - a->at) * (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2);
    if (!isfinite(at))
        return 0.5 * (low + high);
    return fmin(fmax(at, low + margin), high - margin);
}

/* A place that meets the strong Wolfe conditions, or the lowest that was found; at 0: none is lower
 * than the start. x and the gradient are those of the last place that was looked at. */
static sg_status search(sgi_quasi *q, const spot *start, double first, spot *found,
                        sgi_quasi_step *step)
{
    spot low = *start, high = {0}, now = {0};
    bool bracketed = false;
    double at = first;
    while (step->evaluations < MOST_EVALUATIONS) {
        sg_status status = look(q, at, &now, step);
        if (status != SG_OK)
            return status;
        bool worse = !(now.f <= start->f + DECREASE * now.at * start->slope) ||
                     (low.at > 0 && now.f >= low.f);
        if (!worse && fabs(now.slope) <= -SLOPE * start->slope) {
            *found = now;
            return SG_OK;
        }
        if (worse) {
            high = now;
            bracketed = true;
        } else {
            if (bracketed ? now.slope * (high.at - low.at) >= 0 : now.slope >= 0) {
                high = low;
                bracketed = true;
            }
            low = now;
        }
        if (bracketed && fabs(high.at - low.at) <= 1e-14 * fmax(high.at, low.at))
            break;
        at = bracketed ? between(&low, &high) : 2 * now.at;
    }
    *found = low;
    if (low.at == now.at || low.at == 0)
        return SG_OK;
    return look(q, low.at, found, step);
}

/* ---- Steps ------------------------------------------------------------------------------------
 */

static void remember(sgi_quasi *q, double length)
{
    size_t n = q->objective.parameters;
    for (size_t i = 0; i < n; i++) {
        q->s[i] = q->objective.values[i] - q->origin[i];
        q->y[i] = q->trial[i] - q->gradient[i];
    }
    double ys = sgi_dot(q->y, q->s, n), yy = sgi_dot(q->y, q->y, n), ss = sgi_dot(q->s, q->s, n);
    if (!(ys > 1e-14 * sqrt(yy * ss)))
        return; /* no positive curvature that could be told from rounding */
    if (q->kind == SGI_SECOND_LBFGS) {
        memcpy(pair(q, (uint64_t)q->head->updates, false), q->s, n * sizeof *q->s);
        memcpy(pair(q, (uint64_t)q->head->updates, true), q->y, n * sizeof *q->y);
    } else {
        update_dense(q, length);
    }
    q->head->updates++;
}

sg_status sgi_quasi_step_take(sgi_quasi *q, sgi_quasi_step *step)
{
    const sgi_objective *o = &q->objective;
    size_t n = o->parameters;
    sg_status status = SG_OK;
    *step = (sgi_quasi_step){0};
    if (q->head->fresh == 0)
        status = o->gradient(o->context, q->gradient, &q->head->f);
    step->before = step->after = q->head->f;
    step->finite = isfinite(q->head->f) && isfinite(sgi_dot(q->gradient, q->gradient, n));
    if (status != SG_OK || !step->finite) {
        q->head->fresh = 0;
        return status;
    }
    memcpy(q->origin, o->values, n * sizeof *q->origin);
    spot start = {0, q->head->f, find_direction(q)}, found = start;
    double first = q->head->updates > 0 ? 1 : fmin(1, 1 / sqrt(-start.slope));
    if (start.slope < 0)
        status = search(q, &start, first, &found, step);
    if (status != SG_OK || !(found.at > 0) || !(found.f < start.f)) {
        memcpy(o->values, q->origin, n * sizeof *q->origin);
        q->head->updates = 0;
        q->head->fresh = 0;
        return status;
    }
    remember(q, found.at);
    memcpy(q->gradient, q->trial, n * sizeof *q->gradient);
    q->head->f = step->after = found.f;
    q->head->fresh = 1;
    step->length = found.at;
    return SG_OK;
}
