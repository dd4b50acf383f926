/* A problem for methods of second order: see objective.h. */
#include "pinn/objective.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

struct sgi_pinn_objective {
    sg_allocator allocator;
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sg_jacobian *jacobian; /* of the residuals of single points */
    sgi_parameter_span *tensors;
    /* where there are integrals: */
    size_t integrals; /* how many residuals they are */
    sg_jet *others;   /* the engine of `jacobian`: all sets, those of integrals without residuals */
    double *all;      /* (the batch's residuals) */
    double *rows;     /* (integrals, parameters): of J */
    double *weighted; /* (parameters) */
    double *column;   /* (residuals) */
    sgi_objective seen;
};

/* ---- Integrals --------------------------------------------------------------------------------
 */

static size_t set_count(const sgi_pinn_objective *o)
{
    return o->pinn->information.set_count;
}

static bool is_integral(const sgi_pinn_objective *o, size_t set)
{
    return o->pinn->problem->sets[set].integral;
}

static size_t components(const sgi_pinn_objective *o, size_t set)
{
    return o->pinn->information.sets[set].components;
}

static size_t set_rows(const sgi_pinn_objective *o, size_t set)
{
    return sg_pinn_items(o->batch, set) * components(o, set);
}

/* Residuals of single points, now. */
static size_t single_rows(const sgi_pinn_objective *o)
{
    size_t rows = 0;
    for (size_t s = 0; s < set_count(o); s++)
        rows += is_integral(o, s) ? 0 : set_rows(o, s);
    return rows;
}

static size_t count(void *context)
{
    const sgi_pinn_objective *o = context;
    return single_rows(o) + o->integrals;
}

/* The N equal residuals of an integral's points are one that is the root of N times as large. */
static double copies_root(const sgi_pinn_objective *o, size_t set)
{
    return sqrt((double)sg_pinn_items(o->batch, set));
}

/* From the batch's residuals, or products with its J, to the objective's. */
static void gather(const sgi_pinn_objective *o, const double *all, double *to)
{
    double *last = to + single_rows(o);
    for (size_t s = 0; s < set_count(o); s++) {
        size_t rows = set_rows(o, s);
        if (is_integral(o, s)) {
            for (size_t j = 0; j < components(o, s); j++)
                *last++ = copies_root(o, s) * all[j];
        } else {
            memcpy(to, all, rows * sizeof *to);
            to += rows;
        }
        all += rows;
    }
}

/* Weights of the objective's residuals, for those of the batch. */
static void scatter(const sgi_pinn_objective *o, const double *from, double *all)
{
    const double *last = from + single_rows(o);
    for (size_t s = 0; s < set_count(o); s++) {
        size_t rows = set_rows(o, s), width = components(o, s);
        if (is_integral(o, s)) {
            for (size_t i = 0; i < rows; i++)
                all[i] = last[i % width] / copies_root(o, s);
            last += width;
        } else {
            memcpy(all, from, rows * sizeof *all);
            from += rows;
        }
        all += rows;
    }
}

/* The integrals' rows of J, and the number of points that the other engine has. */
static sg_status prepare(sgi_pinn_objective *o)
{
    size_t n = o->seen.parameters;
    double *row = o->rows;
    sg_status status = SG_OK;
    for (size_t s = 0; s < set_count(o) && status == SG_OK; s++) {
        status = sg_jet_resize(o->others, s, sg_pinn_items(o->batch, s), NULL);
        if (status != SG_OK || !is_integral(o, s))
            continue;
        status = sg_pinn_rows(o->batch, s, 0, 1, row);
        for (size_t i = 0; i < components(o, s) * n; i++)
            row[i] *= copies_root(o, s);
        row += components(o, s) * n;
    }
    return status;
}

/* ---- What the methods call --------------------------------------------------------------------
 */

static sg_status gradient(void *context, double *to, double *f)
{
    const sgi_pinn_objective *o = context;
    sg_pinn_loss loss;
    if (to)
        sg_pinn_gradient(o->batch, to, &loss);
    else
        sg_pinn_loss_at(o->batch, &loss);
    *f = loss.total;
    return SG_OK;
}

static sg_status residuals(void *context, double *to)
{
    const sgi_pinn_objective *o = context;
    sg_pinn_residuals(o->batch, o->integrals ? o->all : to);
    if (o->integrals)
        gather(o, o->all, to);
    return SG_OK;
}

static sg_status push(void *context, const double *direction, double *products)
{
    const sgi_pinn_objective *o = context;
    sg_status status = sg_pinn_push(o->batch, direction, o->integrals ? o->all : products);
    if (o->integrals && status == SG_OK)
        gather(o, o->all, products);
    return status;
}

static sg_status pull(void *context, const double *weights, double *products)
{
    const sgi_pinn_objective *o = context;
    if (!o->integrals)
        return sg_pinn_pull(o->batch, weights, products);
    scatter(o, weights, o->all);
    return sg_pinn_pull(o->batch, o->all, products);
}

/* Adds what one more row of J, with the residual r, has in the normal equations. */
static void add_row(const sgi_pinn_objective *o, const double *row, double r,
                    const sg_normal_equations *parts)
{
    size_t n = o->seen.parameters;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; parts->matrix && j < n; j++)
            parts->matrix[i * n + j] += row[i] * row[j];
        if (parts->right)
            parts->right[i] += row[i] * r;
        if (parts->squares)
            parts->squares[i] += row[i] * row[i];
    }
}

static sg_status normal(void *context, const sg_normal_equations *parts)
{
    sgi_pinn_objective *o = context;
    sg_status status = o->integrals ? prepare(o) : SG_OK;
    if (status == SG_OK)
        status = sg_jacobian_normal(o->jacobian, parts);
    if (status != SG_OK || !o->integrals)
        return status;
    status = residuals(o, o->column);
    const double *r = o->column + single_rows(o);
    for (size_t i = 0; i < o->integrals; i++)
        add_row(o, o->rows + i * o->seen.parameters, r[i], parts);
    if (parts->residuals)
        memcpy(parts->residuals, o->column, count(o) * sizeof *o->column);
    return status;
}

/* Adds the integrals to a kernel (m, m) of the other residuals, and makes it one of m + integrals.
 * weigh() leaves D^2 times a row in `weighted`. */
typedef void weigh(const sgi_pinn_objective *o, const double *numbers, const double *row);

static sg_status border(sgi_pinn_objective *o, const double *numbers, weigh *by, double *kernel)
{
    size_t m = single_rows(o), size = m + o->integrals;
    sg_status status = SG_OK;
    for (size_t i = m; i-- > 0;) /* the last first: they move on */
        memmove(kernel + i * size, kernel + i * m, m * sizeof *kernel);
    for (size_t k = 0; k < o->integrals && status == SG_OK; k++) {
        by(o, numbers, o->rows + k * o->seen.parameters);
        status = push(o, o->weighted, o->column);
        for (size_t i = 0; i <= m + k && status == SG_OK; i++)
            kernel[i * size + m + k] = kernel[(m + k) * size + i] = o->column[i];
    }
    return status;
}

static void weigh_columns(const sgi_pinn_objective *o, const double *columns, const double *row)
{
    for (size_t i = 0; i < o->seen.parameters; i++)
        o->weighted[i] = columns[i] * columns[i] * row[i];
}

static void weigh_tensors(const sgi_pinn_objective *o, const double *weights, const double *row)
{
    for (size_t t = 0; t < o->seen.tensor_count; t++)
        for (size_t i = 0; i < o->tensors[t].count; i++)
            o->weighted[o->tensors[t].begin + i] = weights[t] * row[o->tensors[t].begin + i];
}

static sg_status kernel(void *context, const double *columns, double *to)
{
    sgi_pinn_objective *o = context;
    sg_status status = o->integrals ? prepare(o) : SG_OK;
    if (status == SG_OK)
        status = sg_jacobian_column_kernel(o->jacobian, columns, to);
    return status == SG_OK && o->integrals ? border(o, columns, weigh_columns, to) : status;
}

static sg_status tensor_kernel(void *context, const double *weights, double *to)
{
    sgi_pinn_objective *o = context;
    sg_status status = o->integrals ? prepare(o) : SG_OK;
    if (status == SG_OK)
        status = sg_jacobian_kernel(o->jacobian, weights, to);
    return status == SG_OK && o->integrals ? border(o, weights, weigh_tensors, to) : status;
}

/* ---- Making -----------------------------------------------------------------------------------
 */

/* The tensors of the network, and unknown constants, as they lie among the parameters. */
static sg_status list_tensors(sgi_pinn_objective *o)
{
    const sg_params *params = sg_pinn_params(o->pinn);
    size_t tensors = sg_params_count(params);
    o->tensors = sgi_allocate(&o->allocator, tensors, sizeof *o->tensors);
    if (!o->tensors)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < tensors; i++) {
        const sg_span *span = sg_params_at(params, i);
        o->tensors[i] =
            (sgi_parameter_span){.begin = (size_t)((double *)span->value - o->seen.values),
                                 .count = span->count,
                                 .layer = span->layer};
    }
    o->seen.tensors = o->tensors;
    o->seen.tensor_count = tensors;
    return SG_OK;
}

/* The engine whose Jacobian has no integrals, and memory for what they add. */
static sg_status create_others(sgi_pinn_objective *o, sg_pool *pool, sg_isa isa)
{
    sg_jet_set sets[SG_MOST_SETS];
    sg_jet_config jet = sg_jet_defaults();
    size_t n = o->seen.parameters;
    for (size_t s = 0; s < set_count(o); s++) {
        sets[s] = sgi_residual_sets(sgi_pinn_residual(o->batch))[s];
        if (is_integral(o, s))
            sets[s].components = 0;
    }
    jet.network = o->pinn->network;
    jet.sets = sets;
    jet.set_count = set_count(o);
    jet.pool = pool;
    jet.isa = isa;
    o->all = sgi_allocate(&o->allocator, sg_pinn_residual_count(o->batch), sizeof *o->all);
    o->column = sgi_allocate(&o->allocator, count(o), sizeof *o->column);
    o->rows = sgi_allocate(&o->allocator, o->integrals, n * sizeof *o->rows);
    o->weighted = sgi_allocate(&o->allocator, n, sizeof *o->weighted);
    if (!o->all || !o->column || !o->rows || !o->weighted)
        return SG_ERROR_MEMORY;
    return sg_jet_create(&o->others, &jet, &o->allocator);
}

static sg_status create_jacobian(sgi_pinn_objective *o, sg_pool *pool, sg_isa isa)
{
    for (size_t s = 0; s < set_count(o); s++)
        o->integrals += is_integral(o, s) ? components(o, s) : 0;
    sg_status status = list_tensors(o);
    if (status == SG_OK && o->integrals)
        status = create_others(o, pool, isa);
    if (status != SG_OK)
        return status;
    sg_jacobian_config config = {.jet = o->others ? o->others : sg_pinn_engine(o->batch)};
    return sg_jacobian_create(&o->jacobian, &config, &o->allocator);
}

sg_status sgi_pinn_objective_create(sgi_pinn_objective **out, sg_pinn *pinn, sg_pinn_batch *batch,
                                    bool jacobian, sg_pool *pool, sg_isa isa,
                                    const sg_allocator *given)
{
    *out = NULL;
    sgi_pinn_objective *o = SGI_NEW(sgi_pinn_objective, given);
    if (!o)
        return SG_ERROR_MEMORY;
    o->pinn = pinn;
    o->batch = batch;
    o->seen = (sgi_objective){.context = o,
                              .parameters = sg_jet_network_parameters(pinn->network),
                              .values = sg_jet_network_values(pinn->network),
                              .gradient = gradient,
                              .count = count,
                              .residuals = residuals,
                              .push = push,
                              .pull = pull,
                              .normal = normal,
                              .kernel = kernel,
                              .tensor_kernel = tensor_kernel};
    sg_status status = jacobian ? create_jacobian(o, pool, isa) : SG_OK;
    if (status == SG_OK)
        *out = o;
    else
        sgi_pinn_objective_destroy(o);
    return status;
}

void sgi_pinn_objective_destroy(sgi_pinn_objective *o)
{
    if (!o)
        return;
    sg_jacobian_destroy(o->jacobian);
    sg_jet_destroy(o->others);
    void *parts[] = {o->tensors, o->all, o->rows, o->weighted, o->column};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&o->allocator, parts[i]);
    sgi_release(&o->allocator, o);
}

const sgi_objective *sgi_pinn_objective_of(const sgi_pinn_objective *o)
{
    return &o->seen;
}
