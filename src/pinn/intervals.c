/* Confidence intervals of unknown constants: see intervals.h. */
#include "pinn/intervals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/params.h"
#include "pinn/objective.h"
#include "pinn/student.h"
#include "pinn/uncertainty.h"
#include "problem/data.h"

enum {
    MOST_PARAMETERS = 6000, /* their square is made, and factored once */
    ROWS_PER_PARAMETER = 3, /* of residuals of equations and conditions, at least */
    MOST_LEVERAGES = 1000,  /* of a data set: the others have their mean */
    CHUNK_BYTES = 64 << 20, /* of rows of the Jacobian */
};

static const double CONFIDENCE = 0.975; /* one-sided: 95 % lie between */

/* Of what holds a combination of constants, the share that is only there to make the matrix
 * regular: above this nothing determines it. */
static const double FREE = 0.05;

static const double CORRELATED = 0.95; /* constants that are told to belong together */
static const double UNFINISHED = 0.5;  /* standard deviations that a step would still move one by */
static const double MISFIT = 1.5;      /* standard deviations that data are away from the fit */

/* What is computed with. */
typedef struct work {
    sgi_intervals *result;
    sg_pinn *pinn, *twin; /* the problem as it is, and in double */
    sg_pinn_batch *batch;
    sg_pool *pool;
    size_t parameters, unknowns, residuals;
    double *matrix, *gradient; /* (parameters, parameters), (parameters) */
    double *r;                 /* (residuals) */
    double *scratch;           /* (parameters) */
    double *rows;              /* (CHUNK_BYTES) */
    double *covariance;        /* (unknowns, unknowns), of the parameters */
    double *share;             /* the same of one data set */
    double *part;              /* (unknowns): the sum over sets of share^2 / degrees, for Welch */
    sgi_uncertainty *uncertainty;
    double misfit; /* the largest of data sets with standard deviations */
} work;

static __attribute__((format(printf, 2, 3))) void note(sgi_intervals *to, const char *format, ...)
{
    va_list list;
    if (to->note_count == SG_MOST_INTERVAL_NOTES)
        return;
    va_start(list, format);
    (void)vsnprintf(to->notes[to->note_count++], SG_INTERVAL_NOTE, format, list);
    va_end(list);
}

/* ---- The problem in double --------------------------------------------------------------------
 */

static sg_status refuse(sg_diagnostic *diagnostic, const char *reason)
{
    return sgi_fail(diagnostic, SG_ERROR_UNSUPPORTED, "there are no confidence intervals: %s",
                    reason);
}

/* Why there are none, or SG_OK. */
static sg_status check(const sg_pinn *pinn, sg_diagnostic *diagnostic)
{
    const sgi_problem *problem = pinn->problem;
    char text[120];
    if (problem->unknown_count == 0)
        return refuse(diagnostic, "the problem has no unknown constants");
    if (problem->data_count == 0)
        return refuse(diagnostic, "the problem has no data, whose noise they would come from");
    if (sg_jet_network_parameters(pinn->network) > MOST_PARAMETERS) {
        snprintf(text, sizeof text,
                 "they need the square of all parameters, of which there may be "
                 "%d",
                 MOST_PARAMETERS);
        return refuse(diagnostic, text);
    }
    return SG_OK;
}

static sg_status open_twin(work *w)
{
    static const char *const in_double[] = {"network.precision=double"};
    const char *text;
    sg_status status = sg_pinn_text(w->pinn, &text);
    if (status == SG_OK)
        status = sg_pinn_read(&w->twin, w->pinn->information.name, text, strlen(text), in_double, 1,
                              &w->result->allocator, NULL);
    if (status != SG_OK)
        return status;
    const void *from = sg_jet_network_values(w->pinn->network);
    double *to = sg_jet_network_values(w->twin->network);
    bool single = sg_jet_network_type(w->pinn->network) == SG_FLOAT32;
    for (size_t i = 0; i < w->parameters; i++)
        to[i] = single ? (double)((const float *)from)[i] : ((const double *)from)[i];
    return SG_OK;
}

/* Points of equations, so that these and the conditions determine the network. */
static sg_status open_batch(work *w)
{
    const sgi_problem *problem = w->twin->problem;
    size_t items[SG_MOST_SETS], components = 1;
    for (int k = 0; k < problem->set_count; k++)
        if (problem->sets[k].kind == SG_SET_DOMAIN)
            components += (size_t)problem->sets[k].component_count;
    double wanted = ROWS_PER_PARAMETER * (double)w->parameters / (double)components;
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        items[k] = (size_t)set->items;
        if (set->kind == SG_SET_DOMAIN)
            items[k] = (size_t)fmax(fmin((double)set->items, 4 * wanted), wanted);
        else if (set->kind == SG_SET_DATA)
            items[k] = set->data->trained;
    }
    sg_pinn_batch_config config = {
        .stream = SG_POINTS_DIAGNOSIS, .items = items, .pool = w->pool, .isa = SG_ISA_AUTO};
    return sg_pinn_batch_create(&w->batch, w->twin, &config, &w->result->allocator);
}

static double *take(work *w, size_t count)
{
    return sgi_allocate(&w->result->allocator, count, sizeof(double));
}

static sg_status find_matrix(work *w)
{
    sgi_pinn_objective *handle;
    sg_status status = sgi_pinn_objective_create(&handle, w->twin, w->batch, true, w->pool,
                                                 SG_ISA_AUTO, &w->result->allocator);
    if (status != SG_OK)
        return status;
    const sgi_objective *objective = sgi_pinn_objective_of(handle);
    status = objective->normal(objective->context, &(sg_normal_equations){.matrix = w->matrix});
    sgi_pinn_objective_destroy(handle);
    return status;
}

static sg_status prepare(work *w)
{
    sg_pinn_loss loss;
    size_t n = w->parameters, m = w->unknowns;
    w->residuals = sg_pinn_residual_count(w->batch);
    w->matrix = take(w, n * n);
    w->gradient = take(w, n);
    w->scratch = take(w, n);
    w->r = take(w, w->residuals);
    w->rows = take(w, CHUNK_BYTES / sizeof(double));
    w->covariance = take(w, m * m);
    w->share = take(w, m * m);
    w->part = take(w, m);
    if (!w->matrix || !w->gradient || !w->scratch || !w->r || !w->rows || !w->covariance ||
        !w->share || !w->part)
        return SG_ERROR_MEMORY;
    sg_status status = find_matrix(w);
    if (status != SG_OK)
        return status;
    sg_pinn_gradient(w->batch, w->gradient, &loss);
    sg_pinn_residuals(w->batch, w->r);
    return sgi_uncertainty_create(&w->uncertainty, w->matrix, n, m, w->pool, SG_ISA_AUTO,
                                  &w->result->allocator);
}

/* ---- The data ---------------------------------------------------------------------------------
 */

/* What the fit follows of a data set's noise: the sum of the leverages of its residuals. */
static sg_status follow(work *w, size_t set, double *sum)
{
    size_t components = w->twin->information.sets[set].components;
    size_t items = sg_pinn_items(w->batch, set), step = items / MOST_LEVERAGES + 1, seen = 0;
    sg_status status = SG_OK;
    *sum = 0;
    for (size_t i = 0; i < items && status == SG_OK; i += step, seen++) {
        status = sg_pinn_rows(w->batch, set, i, 1, w->rows);
        for (size_t j = 0; j < components && status == SG_OK; j++)
            *sum +=
                sgi_uncertainty_leverage(w->uncertainty, w->rows + j * w->parameters, w->scratch);
    }
    *sum *= (double)items / (double)seen;
    return status;
}

/* What residual `component` of a set was divided by. */
static double scale_of(const work *w, size_t set, size_t component)
{
    const double *scales = w->twin->problem->sets[set].scales;
    return scales ? scales[component] : 1;
}

/* Noise of one variance in all residuals of a set, before they are divided by their scales: its
 * part in the covariance becomes `share`. */
static sg_status add_noise(work *w, size_t set, double variance)
{
    size_t components = w->twin->information.sets[set].components;
    size_t items = sg_pinn_items(w->batch, set);
    size_t most = CHUNK_BYTES / sizeof(double) / w->parameters / components;
    sg_status status = SG_OK;
    memset(w->share, 0, w->unknowns * w->unknowns * sizeof *w->share);
    for (size_t i = 0; i < items && status == SG_OK; i += most) {
        size_t count = items - i < most ? items - i : most;
        status = sg_pinn_rows(w->batch, set, i, count, w->rows);
        for (size_t row = 0; row < count * components && status == SG_OK; row++)
            for (size_t p = 0; p < w->parameters; p++)
                w->rows[row * w->parameters + p] /= scale_of(w, set, row % components);
        if (status == SG_OK)
            sgi_uncertainty_add(w->uncertainty, w->rows, count * components, variance, w->share);
    }
    return status;
}

/* The variance of a data set's weighted residuals before scales, and its degrees of freedom. */
static sg_status find_noise(work *w, size_t set, const double *r, double *variance, double *degrees)
{
    const sgi_data *data = w->twin->problem->sets[set].data;
    size_t components = w->twin->information.sets[set].components;
    size_t rows = sg_pinn_items(w->batch, set) * components;
    double squares = 0, followed;
    sg_status status = follow(w, set, &followed);
    for (size_t i = 0; i < rows; i++)
        squares += pow(r[i] * scale_of(w, set, i % components), 2);
    double left = fmax((double)data->measured - followed, 1);
    double known = data->spread * sqrt(2 * w->twin->problem->sets[set].terms[0].weight /
                                       (double)sg_pinn_items(w->batch, set));
    *variance = data->stds ? known * known : squares / left;
    *degrees = data->stds ? INFINITY : left;
    if (data->stds && known > 0)
        w->misfit = fmax(w->misfit, sqrt(squares / left) / known);
    return status;
}

static sg_status add_data(work *w)
{
    size_t first = 0, m = w->unknowns;
    sg_status status = SG_OK;
    for (size_t k = 0; k < w->twin->information.set_count && status == SG_OK; k++) {
        double variance, degrees;
        if (w->twin->problem->sets[k].kind == SG_SET_DATA) {
            status = find_noise(w, k, w->r + first, &variance, &degrees);
            if (status == SG_OK)
                status = add_noise(w, k, variance);
            for (size_t i = 0; i < m * m && status == SG_OK; i++)
                w->covariance[i] += w->share[i];
            for (size_t i = 0; i < m && status == SG_OK; i++)
                w->part[i] += w->share[i * m + i] * w->share[i * m + i] / degrees;
        }
        first += sg_pinn_items(w->batch, k) * w->twin->information.sets[k].components;
    }
    return status;
}

/* ---- What follows -----------------------------------------------------------------------------
 */

/* The names of the constants that a direction contains, "k and q". */
static const char *list_names(const work *w, const double *direction, char *text, size_t size)
{
    size_t count = 0, used = 0, seen = 0;
    double largest = 0;
    for (size_t i = 0; i < w->unknowns; i++)
        largest = fmax(largest, fabs(direction[i]));
    for (size_t i = 0; i < w->unknowns; i++)
        count += fabs(direction[i]) > 0.1 * largest;
    text[0] = '\0';
    for (size_t i = 0; i < w->unknowns && used < size; i++)
        if (fabs(direction[i]) > 0.1 * largest) {
            const char *before = seen == 0 ? "" : seen + 1 == count ? " and " : ", ";
            used += (size_t)snprintf(text + used, size - used, "%s%s", before,
                                     w->pinn->problem->unknowns[i].name);
            seen++;
        }
    return text;
}

/* Constants that nothing determines, alone or together: directions of the inverse matrix' block
 * that only the number on its diagonal holds. */
static sg_status find_free(work *w)
{
    size_t m = w->unknowns;
    double *block = take(w, 2 * m * m + m), *vectors = block + m * m, *values = vectors + m * m;
    char names[200];
    if (!block)
        return SG_ERROR_MEMORY;
    sgi_uncertainty_block(w->uncertainty, block);
    double sizes[SG_MOST_UNKNOWNS];
    for (size_t i = 0; i < m; i++)
        sizes[i] = sqrt(block[i * m + i]);
    for (size_t i = 0; i < m * m; i++)
        block[i] /= sizes[i / m] * sizes[i % m];
    sgi_small_eigen(block, m, values, vectors);
    for (size_t v = 0; v < m; v++) {
        double *direction = vectors + v * m;
        for (size_t i = 0; i < m; i++)
            direction[i] /= sizes[i];
        if (sgi_uncertainty_freedom(w->uncertainty, direction, w->scratch) < FREE)
            continue;
        for (size_t i = 0; i < m; i++)
            direction[i] *= sizes[i] * sizes[i]; /* how far each moves along it */
        for (size_t i = 0; i < m; i++)
            direction[i] /= sizes[i];
        list_names(w, direction, names, sizeof names);
        bool several = strstr(names, " and ") != NULL;
        note(w->result,
             several ? "the data do not determine %s: they can change together without a difference"
                     : "the data do not determine %s",
             names);
        for (size_t i = 0; i < m; i++)
            if (fabs(direction[i]) > 0.1)
                w->result->rows[i].determined = false;
    }
    sgi_release(&w->result->allocator, block);
    return SG_OK;
}

static void tell_correlations(const work *w)
{
    size_t m = w->unknowns;
    for (size_t i = 0; i < m; i++)
        for (size_t j = i + 1; j < m; j++) {
            double correlation = w->result->correlations[i * m + j];
            if (w->result->rows[i].determined && w->result->rows[j].determined &&
                fabs(correlation) > CORRELATED)
                note(w->result,
                     "%s and %s are correlated (%.3f): the data tell a combination of them better "
                     "than either",
                     w->pinn->problem->unknowns[i].name, w->pinn->problem->unknowns[j].name,
                     correlation);
        }
}

static void tell_unfinished(const work *w)
{
    for (size_t i = 0; i < w->unknowns; i++) {
        const sg_pinn_interval *row = &w->result->rows[i];
        if (row->determined && fabs(row->move) > UNFINISHED * row->std)
            note(w->result,
                 "training is not at its end for %s: a Gauss-Newton step would move it by %.2g, "
                 "and its standard deviation is %.2g",
                 w->pinn->problem->unknowns[i].name, row->move, row->std);
    }
    if (w->misfit > MISFIT)
        note(w->result,
             "the data are %.2g standard deviations from the fit: the intervals count on the "
             "deviations that were given",
             w->misfit);
}

/* One constant: what holds for its parameter, times the slope of its value. */
static void fill(work *w, size_t i, double move)
{
    size_t m = w->unknowns;
    const sgi_unknown *u = &w->pinn->problem->unknowns[i];
    sg_pinn_interval *row = &w->result->rows[i];
    double value = sg_pinn_unknown_value(w->pinn, i);
    double slope = sgi_unknown_slope(u, sgi_unknown_parameter(u, value));
    double variance = w->covariance[i * m + i];
    double degrees = w->part[i] > 0 ? variance * variance / w->part[i] : INFINITY;
    double std = slope * sqrt(variance), t = sgi_student(CONFIDENCE, degrees);
    *row = (sg_pinn_interval){.value = value,
                              .std = std,
                              .lower = fmax(value - t * std, u->lower),
                              .upper = fmin(value + t * std, u->upper),
                              .degrees = degrees,
                              .move = slope * move,
                              .determined = isfinite(std)};
}

static sg_status conclude(work *w)
{
    size_t m = w->unknowns;
    double moves[SG_MOST_UNKNOWNS];
    sgi_uncertainty_moves(w->uncertainty, w->gradient, moves);
    for (size_t i = 0; i < m; i++)
        fill(w, i, moves[i]);
    for (size_t i = 0; i < m * m; i++)
        w->result->correlations[i] = w->covariance[i] / sqrt(w->covariance[i / m * (m + 1)] *
                                                             w->covariance[i % m * (m + 1)]);
    sg_status status = find_free(w);
    for (size_t i = 0; i < m && status == SG_OK; i++)
        if (!w->result->rows[i].determined) {
            w->result->rows[i].std = INFINITY;
            w->result->rows[i].lower = w->pinn->problem->unknowns[i].lower;
            w->result->rows[i].upper = w->pinn->problem->unknowns[i].upper;
        }
    tell_correlations(w);
    tell_unfinished(w);
    return status;
}

/* ---- The handle -------------------------------------------------------------------------------
 */

static sg_status compute(work *w)
{
    sg_status status = open_twin(w);
    if (status == SG_OK)
        status = open_batch(w);
    if (status == SG_OK)
        status = prepare(w);
    if (status == SG_OK)
        status = add_data(w);
    if (status == SG_OK)
        status = conclude(w);
    sgi_uncertainty_destroy(w->uncertainty);
    sg_pinn_batch_destroy(w->batch);
    sg_pinn_close(w->twin);
    double *parts[] = {w->matrix, w->gradient,   w->r,     w->scratch,
                       w->rows,   w->covariance, w->share, w->part};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&w->result->allocator, parts[i]);
    return status;
}

sg_status sgi_intervals_create(sgi_intervals **out, sg_pinn *pinn, sg_pool *pool,
                               const sg_allocator *given, sg_diagnostic *diagnostic)
{
    *out = NULL;
    sg_status status = check(pinn, diagnostic);
    if (status != SG_OK)
        return status;
    sgi_intervals *result = SGI_NEW(sgi_intervals, given);
    if (!result)
        return sgi_pinn_status(SG_ERROR_MEMORY, diagnostic);
    size_t m = pinn->problem->unknown_count;
    result->count = m;
    result->rows = sgi_allocate(&result->allocator, m, sizeof *result->rows);
    result->correlations = sgi_allocate(&result->allocator, m * m, sizeof(double));
    work w = {.result = result,
              .pinn = pinn,
              .pool = pool,
              .parameters = sg_jet_network_parameters(pinn->network),
              .unknowns = m};
    status = result->rows && result->correlations ? compute(&w) : SG_ERROR_MEMORY;
    if (status == SG_OK)
        *out = result;
    else
        sgi_intervals_destroy(result);
    if (status == SG_ERROR_UNSUPPORTED)
        return refuse(diagnostic, "a residual or a derivative of one is not finite");
    return sgi_pinn_status(status, diagnostic);
}

void sgi_intervals_destroy(sgi_intervals *intervals)
{
    if (!intervals)
        return;
    sgi_release(&intervals->allocator, intervals->rows);
    sgi_release(&intervals->allocator, intervals->correlations);
    sgi_release(&intervals->allocator, intervals);
}

sg_status sg_pinn_intervals(sg_pinn *pinn, sg_pinn_interval *rows, double *correlations,
                            sg_pool *pool, sg_diagnostic *diagnostic)
{
    if (!pinn || !rows)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    if (diagnostic)
        memset(diagnostic, 0, sizeof *diagnostic);
    sgi_intervals *intervals;
    sg_status status = sgi_intervals_create(&intervals, pinn, pool, &pinn->allocator, diagnostic);
    if (status != SG_OK || !intervals)
        return status;
    memcpy(rows, intervals->rows, intervals->count * sizeof *rows);
    if (correlations)
        memcpy(correlations, intervals->correlations,
               intervals->count * intervals->count * sizeof *correlations);
    sgi_intervals_destroy(intervals);
    return SG_OK;
}
