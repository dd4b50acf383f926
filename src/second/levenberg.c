/* Levenberg-Marquardt: see levenberg.h. */
#include "second/levenberg.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "second/cholesky.h"
#include "second/vectors.h"

enum { MOST_TRIES = 17, FILL_ROWS = 64 };

static const double PROBE = 0.1;         /* h: how far along d the second derivative is measured */
static const double MOST_BEND = 0.75;    /* of |a| to |d| */
static const double COLUMN_FLOOR = 1e-4; /* of c / mean c */
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
    size_t count;    /* residuals now */
    bool dual;       /* the smaller matrix is J D^2 J^T */
};

/* ---- Making -----------------------------------------------------------------------------------
 */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

double sgi_levenberg_memory(double parameters, double most_residuals)
{
    double side = fmin(parameters, most_residuals);
    return sizeof(double) * (2 * side * side + 6 * parameters + 4 * most_residuals);
}

static sg_status take_memory(sgi_levenberg *lm)
{
    size_t n = lm->objective.parameters, m = lm->config.most_residuals;
    double **const of_parameters[] = {&lm->columns, &lm->right, &lm->step,
                                      &lm->bend,    &lm->moved, &lm->origin};
    double **const of_residuals[] = {&lm->r, &lm->probed, &lm->pushed, &lm->solved};
    bool all = true;
    lm->side = smaller(n, m);
    /* One of them at a time: a square of a size that overflows is refused by sgi_allocate. */
    lm->matrix = sgi_allocate(&lm->allocator, lm->side, lm->side * sizeof(double));
    lm->factor = sgi_allocate(&lm->allocator, lm->side, lm->side * sizeof(double));
    for (size_t i = 0; i < sizeof of_parameters / sizeof *of_parameters; i++)
        all = (*of_parameters[i] = sgi_allocate(&lm->allocator, n, sizeof(double))) && all;
    for (size_t i = 0; i < sizeof of_residuals / sizeof *of_residuals; i++)
        all = (*of_residuals[i] = sgi_allocate(&lm->allocator, m, sizeof(double))) && all;
    return all && lm->matrix && lm->factor ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_levenberg_create(sgi_levenberg **out, const sgi_objective *objective,
                               const sgi_levenberg_config *config, const sg_allocator *given)
{
    *out = NULL;
    if (objective->parameters < 1 || config->most_residuals < 1)
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
    void *parts[] = {lm->matrix, lm->factor, lm->columns, lm->right,  lm->step,   lm->bend,
                     lm->moved,  lm->origin, lm->r,       lm->probed, lm->pushed, lm->solved};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&lm->allocator, parts[i]);
    sgi_cholesky_destroy(lm->cholesky);
    sgi_release(&lm->allocator, lm);
}

/* ---- Equations --------------------------------------------------------------------------------
 */

/* D from the squared norms of the columns, in place. */
static void set_columns(sgi_levenberg *lm)
{
    size_t n = lm->objective.parameters;
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += lm->columns[i];
    mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        lm->columns[i] = mean > 0 ? 1 / sqrt(lm->columns[i] / mean + COLUMN_FLOOR) : 1;
}

/* r, D and the matrix at x. */
static sg_status linearise(sgi_levenberg *lm)
{
    const sgi_objective *o = &lm->objective;
    lm->count = o->count(o->context);
    if (lm->count < 1 || lm->count > lm->config.most_residuals)
        return SG_ERROR_ARGUMENT;
    lm->dual = lm->count < o->parameters;
    sg_normal_equations parts = {.matrix = lm->dual ? NULL : lm->matrix,
                                 .right = lm->dual ? NULL : lm->right,
                                 .squares = lm->columns,
                                 .residuals = lm->r};
    sg_status status = o->normal(o->context, &parts);
    if (status != SG_OK)
        return status;
    set_columns(lm);
    return lm->dual ? o->kernel(o->context, lm->columns, lm->matrix) : SG_OK;
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

/* The damped step for residuals w; `solved` is memory that the smaller matrix needs. For r itself
 * J^T r is known already. */
static sg_status solve(sgi_levenberg *lm, const double *w, double *solved, double *step)
{
    size_t n = lm->objective.parameters;
    if (lm->dual) {
        memmove(solved, w, lm->count * sizeof *solved);
        sgi_cholesky_solve(lm->factor, lm->count, solved);
        return pull(lm, solved, step);
    }
    sg_status status = SG_OK;
    if (w == lm->r)
        for (size_t i = 0; i < n; i++)
            step[i] = -lm->columns[i] * lm->right[i];
    else
        status = pull(lm, w, step);
    if (status == SG_OK)
        sgi_cholesky_solve(lm->factor, n, step);
    return status;
}

/* How much lower f is with the linear model's residuals r + J D d. */
static double promised(const sgi_levenberg *lm, double damping)
{
    size_t n = lm->objective.parameters, m = lm->count;
    if (lm->dual) /* r + J D d = lambda (J D^2 J^T + lambda)^-1 r */
        return 0.5 *
               (sgi_dot(lm->r, lm->r, m) - damping * damping * sgi_dot(lm->solved, lm->solved, m));
    double along = 0;
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
        double along = lm->dual ? damping * lm->solved[i] - lm->r[i] : lm->pushed[i];
        lm->probed[i] = ((lm->probed[i] - lm->r[i]) / PROBE - along) / PROBE;
    }
    status = solve(lm, lm->probed, lm->pushed, lm->bend);
    *bent = sgi_dot(lm->bend, lm->bend, n) <
            MOST_BEND * MOST_BEND * sgi_dot(lm->step, lm->step, n); /* not when one is NaN */
    return status;
}

/* One step with this damping; *after is f there. */
static sg_status try_step(sgi_levenberg *lm, double damping, sgi_levenberg_step *step)
{
    const sgi_objective *o = &lm->objective;
    step->bent = false;
    sg_status status = solve(lm, lm->r, lm->solved, lm->step);
    if (status == SG_OK && lm->config.bend)
        status = find_bend(lm, damping, &step->bent);
    if (status != SG_OK)
        return status;
    move(lm, 1, step->bent ? lm->bend : NULL);
    status = o->residuals(o->context, lm->probed);
    step->after = 0.5 * sgi_dot(lm->probed, lm->probed, lm->count);
    step->gain = (step->before - step->after) / promised(lm, damping);
    return status;
}

static double next_damping(double damping, double gain)
{
    double next = gain > 0.75 ? damping / LESS_DAMPING : gain < 0.25 ? 2 * damping : damping;
    return next > SGI_LEVENBERG_LEAST ? next : SGI_LEVENBERG_LEAST;
}

sg_status sgi_levenberg_step_take(sgi_levenberg *lm, double *damping, sgi_levenberg_step *step)
{
    const sgi_objective *o = &lm->objective;
    *step = (sgi_levenberg_step){.damping = *damping, .gain = NAN};
    sg_status status = linearise(lm);
    step->before = step->after = 0.5 * sgi_dot(lm->r, lm->r, lm->count);
    if (status != SG_OK || !isfinite(step->before))
        return status;
    memcpy(lm->origin, o->values, o->parameters * sizeof *o->values);
    while (step->tries < MOST_TRIES && *damping < MOST_DAMPING) {
        step->damping = *damping;
        if (!factor(lm, *damping)) {
            *damping *= 10;
            continue;
        }
        step->tries++;
        status = try_step(lm, *damping, step);
        if (status != SG_OK)
            break;
        if (step->after < step->before) {
            step->taken = true;
            *damping = next_damping(*damping, step->gain);
            return SG_OK;
        }
        *damping *= MORE_DAMPING;
    }
    memcpy(o->values, lm->origin, o->parameters * sizeof *o->values);
    step->after = step->before;
    step->gain = NAN;
    if (*damping > KEPT_DAMPING)
        *damping = KEPT_DAMPING;
    return status;
}
