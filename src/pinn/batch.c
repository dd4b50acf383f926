/* The loss at points, its gradient and the Jacobian of its residuals: see stablegrad/pinn.h. */
#include <string.h>

#include "base/params.h"
#include "base/ranks.h"
#include "pinn/pinn.h"

struct sg_pinn_batch {
    sg_allocator allocator;
    const sg_pinn *pinn;
    sg_pool *pool;
    sgi_residual *residual;
    sg_jet *engine;
    sg_jet *integrals;     /* of the sets that are integrals alone; NULL: there are none */
    sg_pinn_value *terms;  /* (terms) */
    double *means;         /* (terms) */
    void *pulled;          /* (parameters): one set's share of J^T w */
    double *point_weights; /* (point_weight_count): of an integral's points; NULL: there are none */
    size_t point_weight_count;
    bool fixed; /* its owner alone decides on its points */
};

/* ---- Making -----------------------------------------------------------------------------------
 */

sg_pinn_batch_config sg_pinn_batch_defaults(void)
{
    return (sg_pinn_batch_config){.stream = SG_POINTS_TRAINING, .isa = SG_ISA_AUTO};
}

static sg_status create_residual(sg_pinn_batch *b, const sg_pinn_batch_config *config)
{
    int64_t items[SG_MOST_SETS];
    for (size_t s = 0; config->items && s < b->pinn->information.set_count; s++)
        items[s] = config->items[s] > INT64_MAX ? 0 : (int64_t)config->items[s];
    sgi_residual_options options = {.type = sg_jet_network_type(b->pinn->network),
                                    .workers = sg_pool_threads(config->pool),
                                    .isa = config->isa,
                                    .stream = config->stream,
                                    .earlier = b->pinn->earlier,
                                    .items = config->items ? items : NULL};
    return sgi_residual_create(&b->residual, b->pinn->problem, &options, &b->allocator);
}

static sg_status create_engine(sg_pinn_batch *b, const sg_pinn_batch_config *config)
{
    sg_jet_config jet = sg_jet_defaults();
    jet.network = b->pinn->network;
    jet.sets = sgi_residual_sets(b->residual);
    jet.set_count = b->pinn->information.set_count;
    jet.pool = config->pool;
    jet.isa = config->isa;
    jet.tangents = config->tangents;
    return sg_jet_create(&b->engine, &jet, &b->allocator);
}

/* A gradient needs the integrals before it begins, and those need a forward pass of their sets. */
static sg_status create_integrals(sg_pinn_batch *b, const sg_pinn_batch_config *config)
{
    sg_jet_set sets[SG_MOST_SETS];
    sg_jet_config jet = sg_jet_defaults();
    jet.network = b->pinn->network;
    jet.sets = sets;
    jet.pool = config->pool;
    jet.isa = config->isa;
    for (size_t s = 0; s < b->pinn->information.set_count; s++)
        if (sgi_residual_is_integral(b->residual, (int)s))
            sets[jet.set_count++] = sgi_residual_sets(b->residual)[s];
    return jet.set_count > 0 ? sg_jet_create(&b->integrals, &jet, &b->allocator) : SG_OK;
}

static size_t set_rows(const sg_pinn_batch *b, size_t set)
{
    return sg_pinn_items(b, set) * b->pinn->information.sets[set].components;
}

/* Makes room for the weights of every point of a set, where it is an integral. */
static sg_status reserve_weights(sg_pinn_batch *b, size_t set)
{
    size_t count = set_rows(b, set);
    if (!sgi_residual_is_integral(b->residual, (int)set) || count <= b->point_weight_count)
        return SG_OK;
    double *weights = sgi_allocate(&b->allocator, count, sizeof *weights);
    if (!weights)
        return SG_ERROR_MEMORY;
    sgi_release(&b->allocator, b->point_weights);
    b->point_weights = weights;
    b->point_weight_count = count;
    return SG_OK;
}

static sg_status create_arrays(sg_pinn_batch *b)
{
    const sg_pinn_information *information = &b->pinn->information;
    b->terms = sgi_allocate(&b->allocator, information->term_count, sizeof *b->terms);
    b->means = sgi_allocate(&b->allocator, information->term_count, sizeof *b->means);
    b->pulled = sgi_allocate(&b->allocator, sg_jet_network_parameters(b->pinn->network),
                             sgi_type_size(sg_jet_network_type(b->pinn->network)));
    if (!b->terms || !b->means || !b->pulled)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < information->term_count; k++)
        b->terms[k] = (sg_pinn_value){information->terms[k].name, information->terms[k].weight, 0};
    sg_status status = SG_OK;
    for (size_t s = 0; s < information->set_count && status == SG_OK; s++)
        status = reserve_weights(b, s);
    return status;
}

sg_status sg_pinn_batch_create(sg_pinn_batch **out, sg_pinn *pinn,
                               const sg_pinn_batch_config *config, const sg_allocator *given)
{
    if (!out || !pinn)
        return SG_ERROR_ARGUMENT;
    sg_pinn_batch_config defaults = sg_pinn_batch_defaults();
    *out = NULL;
    if (pinn->pieces.count > 0) /* each window has a loss of its own */
        return SG_ERROR_UNSUPPORTED;
    config = config ? config : &defaults;
    sg_pinn_batch *b = SGI_NEW(sg_pinn_batch, given);
    if (!b)
        return SG_ERROR_MEMORY;
    b->pinn = pinn;
    b->pool = config->pool;
    sg_status status = create_residual(b, config);
    if (status == SG_OK)
        status = create_engine(b, config);
    if (status == SG_OK)
        status = create_integrals(b, config);
    if (status == SG_OK)
        status = create_arrays(b);
    if (status != SG_OK) {
        sg_pinn_batch_destroy(b);
        return status;
    }
    sg_pinn_draw(b, 0);
    *out = b;
    return SG_OK;
}

void sg_pinn_batch_destroy(sg_pinn_batch *b)
{
    if (!b)
        return;
    sg_jet_destroy(b->engine);
    sg_jet_destroy(b->integrals);
    sgi_residual_destroy(b->residual);
    sgi_release(&b->allocator, b->terms);
    sgi_release(&b->allocator, b->means);
    sgi_release(&b->allocator, b->pulled);
    sgi_release(&b->allocator, b->point_weights);
    sgi_release(&b->allocator, b);
}

/* ---- Points -----------------------------------------------------------------------------------
 */

void sg_pinn_draw(sg_pinn_batch *b, uint64_t step)
{
    if (!b)
        return;
    sgi_residual_begin(b->residual, b->pinn->information.seed, step);
}

static bool has_set(const sg_pinn_batch *b, size_t set)
{
    return set < b->pinn->information.set_count;
}

/* The integrals among the sets before `set`. */
static size_t count_integrals(const sg_pinn_batch *b, size_t set)
{
    size_t count = 0;
    for (size_t s = 0; s < set; s++)
        count += sgi_residual_is_integral(b->residual, (int)s);
    return count;
}

sg_status sg_pinn_give(sg_pinn_batch *b, size_t set, const double *points, size_t count,
                       sg_diagnostic *diagnostic)
{
    if (!b)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    if (diagnostic)
        memset(diagnostic, 0, sizeof *diagnostic);
    if (b->fixed)
        return sgi_fail(diagnostic, SG_ERROR_UNSUPPORTED,
                        "a method of second order chooses its points itself and takes no others");
    sg_status status = has_set(b, set) && !points == (count == 0) && count <= INT64_MAX
                           ? sgi_residual_give(b->residual, (int)set, points, count, diagnostic)
                           : SG_ERROR_ARGUMENT;
    if (status == SG_OK)
        status = sg_jet_resize(b->engine, set, sg_pinn_items(b, set), NULL);
    if (status == SG_OK)
        status = reserve_weights(b, set);
    if (status == SG_OK && sgi_residual_is_integral(b->residual, (int)set))
        status = sg_jet_resize(b->integrals, count_integrals(b, set), sg_pinn_items(b, set), NULL);
    return sgi_pinn_status(status, diagnostic);
}

void sgi_pinn_fix(sg_pinn_batch *b)
{
    b->fixed = true;
}

void sgi_pinn_lend(sg_pinn_batch *b, size_t set, const double *points, size_t count)
{
    sgi_residual_lend(b->residual, (int)set, points, count);
    (void)!sg_jet_resize(b->engine, set, count, NULL); /* the set is there */
}

void sgi_pinn_resize(sg_pinn_batch *b, size_t set, size_t items)
{
    sgi_residual_resize(b->residual, (int)set, (int64_t)items);
    (void)!sg_jet_resize(b->engine, set, items, NULL);
}

size_t sg_pinn_items(const sg_pinn_batch *b, size_t set)
{
    if (!b || !has_set(b, set))
        return 0;
    return (size_t)sgi_residual_items(b->residual, (int)set);
}

void sg_pinn_points(const sg_pinn_batch *b, size_t set, double *points)
{
    if (!b || !has_set(b, set) || !points)
        return;
    sgi_residual_points(b->residual, (int)set, points);
}

/* ---- The loss ---------------------------------------------------------------------------------
 */

static void collect(sg_pinn_batch *b, sg_pinn_loss *loss)
{
    size_t count = b->pinn->information.term_count;
    sgi_loss sums = {.means = b->means};
    sgi_residual_collect(b->residual, b->engine, &sums);
    for (size_t k = 0; k < count; k++)
        b->terms[k].value = b->means[k];
    *loss = (sg_pinn_loss){
        .total = sums.total, .terms = b->terms, .term_count = count, .residual = sums.residual};
}

static void find_integrals(sg_pinn_batch *b)
{
    if (!b->integrals)
        return;
    sg_jet_forward(b->integrals);
    for (size_t s = 0, k = 0; s < b->pinn->information.set_count; s++)
        if (sgi_residual_is_integral(b->residual, (int)s))
            sgi_residual_total(b->residual, (int)s, sg_jet_sums(b->integrals, k++));
}

void sg_pinn_loss_at(sg_pinn_batch *b, sg_pinn_loss *loss)
{
    if (!b || !loss)
        return;
    sg_jet_forward(b->engine);
    collect(b, loss);
}

void sg_pinn_gradient(sg_pinn_batch *b, void *gradient, sg_pinn_loss *loss)
{
    if (!b || !loss)
        return;
    find_integrals(b);
    sg_jet_gradient(b->engine, gradient);
    collect(b, loss);
    loss->output = sg_jet_moments(b->engine);
}

static void add(void *sum, const void *values, sg_type type, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (type == SG_FLOAT32)
            ((float *)sum)[i] += ((const float *)values)[i];
        else
            ((double *)sum)[i] += ((const double *)values)[i];
}

void sg_pinn_gradients(sg_pinn_batch *b, void *const *gradients, sg_pinn_loss *loss)
{
    if (!b || !gradients || !loss)
        return;
    const sg_jet_network *network = b->pinn->network;
    sg_type type = sg_jet_network_type(network);
    size_t count = sg_jet_network_parameters(network);
    find_integrals(b);
    sg_jet_gradients(b->engine, gradients);
    memcpy(sg_jet_network_gradients(network), gradients[0], count * sgi_type_size(type));
    for (size_t s = 1; s < b->pinn->information.set_count; s++)
        add(sg_jet_network_gradients(network), gradients[s], type, count);
    collect(b, loss);
    loss->output = sg_jet_moments(b->engine);
}

/* ---- Residuals --------------------------------------------------------------------------------
 */

size_t sg_pinn_residual_count(const sg_pinn_batch *b)
{
    if (!b)
        return 0;
    size_t count = 0;
    for (size_t s = 0; s < b->pinn->information.set_count; s++)
        count += set_rows(b, s);
    return count;
}

void sgi_pinn_point_residuals(sg_pinn_batch *b, double *residuals)
{
    size_t count = sg_pinn_residual_count(b);
    if (sgi_rank_count(b->pool) > 1) /* each fills in its own share */
        memset(residuals, 0, count * sizeof *residuals);
    sgi_residual_store(b->residual, residuals);
    sg_jet_forward(b->engine);
    sgi_residual_store(b->residual, NULL);
    sg_pool_sum(b->pool, residuals, SG_FLOAT64, count);
}

/* `vector` (residual_count) of single points becomes that of the residual vector, or back. */
static void average(const sg_pinn_batch *b, double *vector, size_t stride, bool adjoint)
{
    for (size_t s = 0; b->integrals && s < b->pinn->information.set_count; s++) {
        if (sgi_residual_is_integral(b->residual, (int)s))
            sgi_residual_average(b->residual, (int)s, vector, stride, adjoint);
        vector += set_rows(b, s) * stride;
    }
}

void sg_pinn_residuals(sg_pinn_batch *b, double *residuals)
{
    if (!b || !residuals)
        return;
    sgi_pinn_point_residuals(b, residuals);
    average(b, residuals, 1, false);
}

void sgi_pinn_average_kernel(const sg_pinn_batch *b, double *kernel)
{
    size_t n = sg_pinn_residual_count(b);
    for (size_t i = 0; b->integrals && i < n; i++)
        average(b, kernel + i * n, 1, false);
    for (size_t i = 0; b->integrals && i < n; i++)
        average(b, kernel + i, n, false);
}

/* Every item of an integral has the same rows, those of the integral. */
static sg_status integral_rows(sg_pinn_batch *b, size_t set, size_t first, size_t count, char *rows)
{
    const sg_jet_network *network = b->pinn->network;
    size_t components = b->pinn->information.sets[set].components, items = sg_pinn_items(b, set);
    size_t bytes = sg_jet_network_parameters(network) * sgi_type_size(sg_jet_network_type(network));
    if (first > items || count > items - first)
        return SG_ERROR_ARGUMENT;
    sg_status status = SG_OK;
    for (size_t j = 0; j < components && status == SG_OK && count > 0; j++) {
        memset(b->point_weights, 0, items * components * sizeof *b->point_weights);
        b->point_weights[j] = 1;
        sgi_residual_average(b->residual, (int)set, b->point_weights, 1, true);
        status = sg_jet_pull(b->engine, set, b->point_weights, rows + j * bytes);
    }
    for (size_t i = 1; i < count && status == SG_OK; i++)
        memcpy(rows + i * components * bytes, rows, components * bytes);
    return status;
}

sg_status sg_pinn_rows(sg_pinn_batch *b, size_t set, size_t first, size_t count, void *rows)
{
    if (!b || !rows)
        return SG_ERROR_ARGUMENT;
    if (has_set(b, set) && sgi_residual_is_integral(b->residual, (int)set))
        return integral_rows(b, set, first, count, rows);
    return sg_jet_rows(b->engine, set, first, count, rows);
}

sg_status sg_pinn_push(sg_pinn_batch *b, const void *direction, double *products)
{
    if (!b || !direction || !products)
        return SG_ERROR_ARGUMENT;
    sg_status status = SG_OK;
    for (size_t s = 0; s < b->pinn->information.set_count && status == SG_OK; s++) {
        status = sg_jet_push(b->engine, s, direction, products);
        if (status == SG_OK && sgi_residual_is_integral(b->residual, (int)s))
            sgi_residual_average(b->residual, (int)s, products, 1, false);
        products += set_rows(b, s);
    }
    return status;
}

/* The weights of a set as its points get them. */
static const double *point_weights(const sg_pinn_batch *b, size_t set, const double *weights)
{
    if (!sgi_residual_is_integral(b->residual, (int)set))
        return weights;
    memcpy(b->point_weights, weights, set_rows(b, set) * sizeof *b->point_weights);
    sgi_residual_average(b->residual, (int)set, b->point_weights, 1, true);
    return b->point_weights;
}

sg_status sg_pinn_pull(sg_pinn_batch *b, const double *weights, void *gradient)
{
    if (!b || !weights || !gradient)
        return SG_ERROR_ARGUMENT;
    const sg_jet_network *network = b->pinn->network;
    sg_status status = SG_OK;
    for (size_t s = 0; s < b->pinn->information.set_count && status == SG_OK; s++) {
        status = sg_jet_pull(b->engine, s, point_weights(b, s, weights), s ? b->pulled : gradient);
        if (s && status == SG_OK)
            add(gradient, b->pulled, sg_jet_network_type(network),
                sg_jet_network_parameters(network));
        weights += set_rows(b, s);
    }
    return status;
}

/* ---- Looking ----------------------------------------------------------------------------------
 */

const sg_pinn *sgi_pinn_of(const sg_pinn_batch *b)
{
    return b->pinn;
}

sg_jet *sg_pinn_engine(const sg_pinn_batch *b)
{
    if (!b)
        return NULL;
    return b->engine;
}

double sgi_pinn_flops(const sg_pinn_batch *b)
{
    const sg_jet_set *sets = sgi_residual_sets(b->residual);
    double flops = 0;
    for (size_t s = 0; s < b->pinn->information.set_count; s++)
        flops += (double)sg_pinn_items(b, s) * sets[s].points_per_item *
                 sg_jet_plan_flops(sets[s].plan, b->pinn->network, true);
    return flops;
}

size_t sgi_pinn_channels(const sg_pinn_batch *b, size_t set, char *text, size_t size)
{
    const sgi_names *names = &b->pinn->problem->names;
    return sg_jet_plan_describe(sgi_residual_sets(b->residual)[set].plan, names->fields[0],
                                (const char *const *)names->coordinates, text, size);
}

sgi_residual *sgi_pinn_residual(const sg_pinn_batch *b)
{
    return b->residual;
}

void sgi_pinn_keep(sg_pinn_batch *b, size_t set, size_t count)
{
    sgi_residual_keep_count(b->residual, (int)set, count);
    (void)!sg_jet_resize(b->engine, set, sg_pinn_items(b, set), NULL); /* the set is there */
}
