/* Levenberg-Marquardt: see levenberg.h. */
#include "second/levenberg.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "second/cholesky.h"
#include "second/conjugate.h"
#include "second/vectors.h"

enum { MOST_TRIES = 17, FILL_ROWS = 64, MOST_PRODUCTS = 60 };

static const double PRODUCT_TOLERANCE = 1e-2; /* of conjugate gradients */

static const double PROBE = 0.1;      /* h: how far along d the second derivative is measured */
static const double MOST_BEND = 0.75; /* of |a| to |d| */
/* A bent step is good up to a length and useless soon after it, so lambda is sought in small steps:
 * with 4 and 4 every second factorisation was in vain. */
static const double LESS_DAMPING = 3;    /* what lambda is divided by after a good step */
static const double MORE_DAMPING = 2;    /* and multiplied with after one that failed */
static const double MOST_DAMPING = 1e15; /* more is not tried */
static const double KEPT_DAMPING = 1e6;  /* the most that a step which failed leaves behind */

struct sgi_levenberg {
    sg_allocator allocator;
    sgi_objective objective;
    sgi_levenberg_config config;
    sgi_cholesky *cholesky;
    size_t side;     /* rows that the matrices have room for */
    double *matrix;  /* (side, side): J^T J, or J D^2 J^T */
    double *factor;  /* (side, side) */
    double *columns; /* (parameters): D, as the rest down to `origin` */
    double *right;   /* J^T r */
    double *step;    /* d, in the variables x / D */
    double *bend;    /* a */
    double *moved;   /* D times a step */
    double *origin;  /* x before the step */
    double *r;       /* (most_residuals), as the rest */
    double *probed;  /* r(x + h D d), then q */
    double *pushed;  /* J D d */
    double *solved;  /* (J D^2 J^T + lambda)^-1 r */
    double *carried; /* r + mu J phi; then the bend's `rest` */
    double *rest;    /* what conjugate gradients left of r, which is 0 otherwise */
    double *work[2]; /* memory of theirs */
    double *spread;  /* (parameters), likewise: D^2 J^T w */
    double *weights; /* (tensors): D^2 of each, where the metric has such */
    size_t count;    /* residuals now */
    bool dual;       /* the matrix is J D^2 J^T */
    double damping;  /* of the factor, or of the products */
    int products;
};

/* ---- Making -----------------------------------------------------------------------------------
 */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static double side_of(double parameters, double residuals, sgi_solver solver)
{
    return solver == SGI_SOLVER_FREE     ? 0
           : solver == SGI_SOLVER_KERNEL ? residuals
                                         : fmin(parameters, residuals);
}

double sgi_levenberg_memory(double parameters, double most_residuals, sgi_solver solver)
{
    double side = side_of(parameters, most_residuals, solver);
    return sizeof(double) * (2 * side * side + 7 * parameters + 8 * most_residuals);
}

static sg_status take_memory(sgi_levenberg *lm)
{
    size_t n = lm->objective.parameters, m = lm->config.most_residuals;
    double **const of_parameters[] = {&lm->columns, &lm->right,  &lm->step,  &lm->bend,
                                      &lm->moved,   &lm->origin, &lm->spread};
    double **const of_residuals[] = {&lm->r,       &lm->probed, &lm->pushed,  &lm->solved,
                                     &lm->carried, &lm->rest,   &lm->work[0], &lm->work[1]};
    bool all = true;
    lm->side = (size_t)side_of((double)n, (double)m, lm->config.solver);
    lm->weights = sgi_allocate(&lm->allocator, lm->objective.tensor_count, sizeof(double));
    /* One of them at a time: a square of a size that overflows is refused by sgi_allocate. */
    lm->matrix = sgi_allocate(&lm->allocator, lm->side, lm->side * sizeof(double));
    lm->factor = sgi_allocate(&lm->allocator, lm->side, lm->side * sizeof(double));
    for (size_t i = 0; i < sizeof of_parameters / sizeof *of_parameters; i++)
        all = (*of_parameters[i] = sgi_allocate(&lm->allocator, n, sizeof(double))) && all;
    for (size_t i = 0; i < sizeof of_residuals / sizeof *of_residuals; i++)
        all = (*of_residuals[i] = sgi_allocate(&lm->allocator, m, sizeof(double))) && all;
    return all && lm->matrix && lm->factor && lm->weights ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_levenberg_create(sgi_levenberg **out, const sgi_objective *objective,
                               const sgi_levenberg_config *config, const sg_allocator *given)
{
    *out = NULL;
    if (objective->parameters < 1 || config->most_residuals < 1 ||
        (config->momentum > 0 && (!config->last || config->solver == SGI_SOLVER_SMALLER)) ||
        (config->metric != SGI_METRIC_COLUMNS && !objective->tensors))
        return SG_ERROR_ARGUMENT;
    sgi_levenberg *lm = SGI_NEW(sgi_levenberg, given);
    if (!lm)
        return SG_ERROR_MEMORY;
    lm->objective = *objective;
    lm->config = *config;
    sg_status status = take_memory(lm);
    if (status == SG_OK)
        status = sgi_cholesky_create(&lm->cholesky, config->pool, config->isa, &lm->allocator);
    if (status == SG_OK)
        *out = lm;
    else
        sgi_levenberg_destroy(lm);
    return status;
}

void sgi_levenberg_destroy(sgi_levenberg *lm)
{
    if (!lm)
        return;
    void *parts[] = {lm->matrix,  lm->factor, lm->columns, lm->right,   lm->step,   lm->bend,
                     lm->moved,   lm->origin, lm->r,       lm->probed,  lm->pushed, lm->solved,
                     lm->carried, lm->rest,   lm->work[0], lm->work[1], lm->spread, lm->weights};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&lm->allocator, parts[i]);
    sgi_cholesky_destroy(lm->cholesky);
    sgi_release(&lm->allocator, lm);
}

/* ---- Equations --------------------------------------------------------------------------------
 */

/* D of all parameters, which has one number for a tensor. */
static void spread_weights(sgi_levenberg *lm)
{
    const sgi_objective *o = &lm->objective;
    if (lm->config.metric == SGI_METRIC_STABLEGRAD)
        sgi_metric_blocks(o->tensors, o->tensor_count, lm->right, lm->weights);
    for (size_t t = 0; t < o->tensor_count; t++) {
        if (lm->config.metric == SGI_METRIC_NONE)
            lm->weights[t] = 1;
        for (size_t i = 0; i < o->tensors[t].count; i++)
            lm->columns[o->tensors[t].begin + i] = sqrt(lm->weights[t]);
    }
}

/* r, D and the matrix at x. */
static sg_status linearise(sgi_levenberg *lm)
{
    const sgi_objective *o = &lm->objective;
    bool by_columns = lm->config.metric == SGI_METRIC_COLUMNS;
    lm->count = o->count(o->context);
    if (lm->count < 1 || lm->count > lm->config.most_residuals)
        return SG_ERROR_ARGUMENT;
    lm->dual = lm->config.solver != SGI_SOLVER_SMALLER || lm->count < o->parameters;
    sg_normal_equations parts = {.matrix = lm->dual ? NULL : lm->matrix,
                                 .right = lm->dual ? NULL : lm->right,
                                 .squares = by_columns ? lm->columns : NULL,
                                 .residuals = lm->r};
    sg_status status =
        lm->dual && !by_columns ? o->residuals(o->context, lm->r) : o->normal(o->context, &parts);
    if (status == SG_OK && lm->dual && lm->config.metric == SGI_METRIC_STABLEGRAD)
        status = o->pull(o->context, lm->r, lm->right);
    if (status != SG_OK)
        return status;
    if (by_columns)
        sgi_metric_columns(lm->columns, o->parameters);
    else
        spread_weights(lm);
    if (!lm->dual || lm->config.solver == SGI_SOLVER_FREE)
        return SG_OK;
    return by_columns ? o->kernel(o->context, lm->columns, lm->matrix)
                      : o->tensor_kernel(o->context, lm->weights, lm->matrix);
}

typedef struct fill_job {
    const sgi_levenberg *lm;
    size_t size;
    double damping;
} fill_job;

/* The lower triangle of the damped matrix. */
static void fill_rows(void *context, size_t unit, int worker)
{
    (void)worker;
    const fill_job *job = context;
    const sgi_levenberg *lm = job->lm;
    size_t end = smaller(job->size, (unit + 1) * FILL_ROWS);
    for (size_t i = unit * FILL_ROWS; i < end; i++) {
        const double *from = lm->matrix + i * job->size;
        double *to = lm->factor + i * job->size;
        if (lm->dual)
            memcpy(to, from, (i + 1) * sizeof *to);
        else
            for (size_t j = 0; j <= i; j++)
                to[j] = lm->columns[i] * from[j] * lm->columns[j];
        to[i] += job->damping;
    }
}

static bool factor(sgi_levenberg *lm, double damping)
{
    size_t size = lm->dual ? lm->count : lm->objective.parameters;
    lm->damping = damping;
    if (lm->config.solver == SGI_SOLVER_FREE)
        return true;
    fill_job job = {lm, size, damping};
    sg_pool_run(lm->config.pool, sgi_parts(size, FILL_ROWS), fill_rows, &job);
    return sgi_cholesky_factor(lm->cholesky, lm->factor, size);
}

/* to = -D J^T w */
static sg_status pull(sgi_levenberg *lm, const double *w, double *to)
{
    const sgi_objective *o = &lm->objective;
    sg_status status = o->pull(o->context, w, to);
    for (size_t i = 0; i < o->parameters && status == SG_OK; i++)
        to[i] *= -lm->columns[i];
    return status;
}

/* (J D^2 J^T + lambda) w */
static sg_status apply(void *context, const double *w, double *to)
{
    sgi_levenberg *lm = context;
    const sgi_objective *o = &lm->objective;
    sg_status status = o->pull(o->context, w, lm->spread);
    for (size_t i = 0; i < o->parameters; i++)
        lm->spread[i] *= lm->columns[i] * lm->columns[i];
    if (status == SG_OK)
        status = o->push(o->context, lm->spread, to);
    for (size_t i = 0; i < lm->count; i++)
        to[i] += lm->damping * w[i];
    return status;
}

/* solved = (J D^2 J^T + lambda)^-1 w, and in `rest` what is left of w. */
static sg_status solve_dual(sgi_levenberg *lm, const double *w, double *solved, double *rest)
{
    if (lm->config.solver != SGI_SOLVER_FREE) {
        memmove(solved, w, lm->count * sizeof *solved);
        memset(rest, 0, lm->count * sizeof *rest);
        sgi_cholesky_solve(lm->factor, lm->count, solved);
        return SG_OK;
    }
    int products = 0;
    sgi_conjugate c = {.apply = apply,
                       .context = lm,
                       .size = lm->count,
                       .most = MOST_PRODUCTS,
                       .tolerance = PRODUCT_TOLERANCE,
                       .rest = rest,
                       .along = lm->work[0],
                       .product = lm->work[1]};
    sg_status status = sgi_conjugate_solve(&c, w, solved, &products);
    lm->products += products;
    return status;
}

/* The damped step for residuals w; `solved` and `rest` are memory that the matrix of the residuals
 * needs. For r itself J^T r is known already. */
static sg_status solve(sgi_levenberg *lm, const double *w, double *solved, double *rest,
                       double *step)
{
    size_t n = lm->objective.parameters;
    sg_status status = SG_OK;
    if (lm->dual) {
        status = solve_dual(lm, w, solved, rest);
        return status == SG_OK ? pull(lm, solved, step) : status;
    }
    if (w == lm->r)
        for (size_t i = 0; i < n; i++)
            step[i] = -lm->columns[i] * lm->right[i];
    else
        status = pull(lm, w, step);
    if (status == SG_OK)
        sgi_cholesky_solve(lm->factor, n, step);
    return status;
}

/* d for r; and if `carry`, the step that is nearest to mu phi. */
static sg_status solve_step(sgi_levenberg *lm, bool carry)
{
    const sgi_objective *o = &lm->objective;
    double mu = lm->config.momentum;
    if (!carry)
        return solve(lm, lm->r, lm->solved, lm->rest, lm->step);
    sg_status status = o->push(o->context, lm->config.last, lm->carried);
    if (status != SG_OK)
        return status;
    for (size_t i = 0; i < lm->count; i++)
        lm->carried[i] = lm->r[i] + mu * lm->carried[i];
    status = solve(lm, lm->carried, lm->solved, lm->rest, lm->step);
    for (size_t i = 0; i < o->parameters && status == SG_OK; i++)
        lm->step[i] += mu * lm->config.last[i] / lm->columns[i];
    return status;
}

/* Element i of r + J D d, which is lambda (J D^2 J^T + lambda)^-1 r but for the rest. */
static double linear(const sgi_levenberg *lm, double damping, size_t i)
{
    return damping * lm->solved[i] + lm->rest[i];
}

/* How much lower f is with the linear model's residuals r + J D d. */
static double promised(const sgi_levenberg *lm, double damping)
{
    size_t n = lm->objective.parameters, m = lm->count;
    double along = 0;
    if (lm->dual) {
        for (size_t i = 0; i < m; i++)
            along += linear(lm, damping, i) * linear(lm, damping, i);
        return 0.5 * (sgi_dot(lm->r, lm->r, m) - along);
    }
    for (size_t i = 0; i < n; i++)
        along += lm->step[i] * lm->columns[i] * lm->right[i];
    return 0.5 * (damping * sgi_dot(lm->step, lm->step, n) - along);
}

/* ---- Steps ------------------------------------------------------------------------------------
 */

/* x = origin + factor * D (d + a), a only if it is given. */
static void move(sgi_levenberg *lm, double factor, const double *bend)
{
    for (size_t i = 0; i < lm->objective.parameters; i++) {
        lm->moved[i] = lm->columns[i] * (lm->step[i] + (bend ? bend[i] : 0));
        lm->objective.values[i] = lm->origin[i] + factor * lm->moved[i];
    }
}

/* a; *bent says whether it is to be used. */
static sg_status find_bend(sgi_levenberg *lm, double damping, bool *bent)
{
    const sgi_objective *o = &lm->objective;
    size_t n = o->parameters;
    move(lm, PROBE, NULL);
    sg_status status = o->residuals(o->context, lm->probed);
    memcpy(o->values, lm->origin, n * sizeof *o->values);
    if (status == SG_OK && !lm->dual)
        status = o->push(o->context, lm->moved, lm->pushed);
    if (status != SG_OK)
        return status;
    for (size_t i = 0; i < lm->count; i++) {
        double along = lm->dual ? linear(lm, damping, i) - lm->r[i] : lm->pushed[i];
        lm->probed[i] = ((lm->probed[i] - lm->r[i]) / PROBE - along) / PROBE;
    }
    status = solve(lm, lm->probed, lm->pushed, lm->carried, lm->bend);
    *bent = sgi_dot(lm->bend, lm->bend, n) <
            MOST_BEND * MOST_BEND * sgi_dot(lm->step, lm->step, n); /* not when one is NaN */
    return status;
}

/* One step with this damping; *after is f there. */
static sg_status try_step(sgi_levenberg *lm, double damping, sgi_levenberg_step *step)
{
    const sgi_objective *o = &lm->objective;
    step->bent = false;
    sg_status status = solve_step(lm, step->carried);
    step->finite = step->finite || isfinite(sgi_dot(lm->step, lm->step, o->parameters));
    if (status == SG_OK && lm->config.bend)
        status = find_bend(lm, damping, &step->bent);
    if (status != SG_OK)
        return status;
    move(lm, 1, step->bent ? lm->bend : NULL);
    status = o->residuals(o->context, lm->probed);
    step->after = 0.5 * sgi_dot(lm->probed, lm->probed, lm->count);
    double less = promised(lm, damping);
    step->gain = less > 0 ? (step->before - step->after) / less : 0.5; /* carried uphill */
    return status;
}

/* phi becomes the step that was taken, without its bend: D d is what the linear model asked for. */
static void remember(sgi_levenberg *lm)
{
    for (size_t i = 0; i < lm->objective.parameters && lm->config.momentum > 0; i++)
        lm->config.last[i] = lm->columns[i] * lm->step[i];
}

static double next_damping(double damping, double gain)
{
    double next = gain > 0.75 ? damping / LESS_DAMPING : gain < 0.25 ? 2 * damping : damping;
    return next > SGI_LEVENBERG_LEAST ? next : SGI_LEVENBERG_LEAST;
}

sg_status sgi_levenberg_step_take(sgi_levenberg *lm, double *damping, sgi_levenberg_step *step)
{
    const sgi_objective *o = &lm->objective;
    const double given = *damping;
    *step = (sgi_levenberg_step){.damping = given, .gain = NAN};
    sg_status status = linearise(lm);
    step->before = step->after = 0.5 * sgi_dot(lm->r, lm->r, lm->count);
    if (status != SG_OK || !isfinite(step->before))
        return status;
    memcpy(lm->origin, o->values, o->parameters * sizeof *o->values);
    step->carried = lm->config.momentum > 0;
    lm->products = 0;
    bool factored = false;
    while (step->tries < MOST_TRIES && *damping < MOST_DAMPING) {
        step->damping = *damping;
        if (!factored && !factor(lm, *damping)) {
            *damping *= 10;
            continue;
        }
        step->tries++;
        status = try_step(lm, *damping, step);
        if (status != SG_OK)
            break;
        if (step->after < step->before) {
            step->taken = true;
            remember(lm);
            step->products = lm->products;
            *damping = next_damping(*damping, step->gain);
            return SG_OK;
        }
        factored = step->carried; /* the same damping once more, without the step before */
        *damping *= factored ? 1 : MORE_DAMPING;
        step->carried = false;
    }
    memcpy(o->values, lm->origin, o->parameters * sizeof *o->values);
    step->after = step->before;
    step->gain = NAN;
    step->products = lm->products;
    if (!step->finite) {
        *damping = given;
        return status;
    }
    if (lm->config.momentum > 0)
        memset(lm->config.last, 0, o->parameters * sizeof *lm->config.last);
    if (*damping > KEPT_DAMPING)
        *damping = KEPT_DAMPING;
    return status;
}
