/* The engine's calls: what is done with the tiles, and what comes back. */
#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "base/ranks.h"
#include "jet/engine.h"

void sg_jet_forward(sg_jet *jet)
{
    if (!jet)
        return;
    sgi_jet_run(jet, &(sgi_jet_call){.mode = SG_JET_FORWARD, .set_end = jet->set_count});
}

void sg_jet_gradient(sg_jet *jet, void *gradient)
{
    if (!jet)
        return;
    sgi_jet_run(jet, &(sgi_jet_call){.mode = SG_JET_GRADIENT, .set_end = jet->set_count});
    sgi_jet_collect(jet, gradient ? gradient : jet->network->gradients);
}

void sg_jet_gradients(sg_jet *jet, void *const *gradients)
{
    if (!jet || !gradients)
        return;
    for (size_t s = 0; s < jet->set_count; s++) {
        sgi_jet_run(jet,
                    &(sgi_jet_call){
                        .mode = SG_JET_GRADIENT, .set_begin = s, .set_end = s + 1, .adds = s > 0});
        sgi_jet_collect(jet, gradients[s]);
    }
}

sg_moments sg_jet_moments(const sg_jet *jet)
{
    if (!jet)
        return (sg_moments){0};
    return jet->result_moments;
}

const double *sg_jet_sums(const sg_jet *jet, size_t set)
{
    if (!jet || set >= jet->set_count || jet->states[set].set.sums == 0)
        return NULL;
    return jet->result_sums + jet->states[set].first_sum;
}

/* Whether the set exists and has residual components. */
static bool has_jacobian(const sg_jet *jet, size_t set)
{
    return jet && set < jet->set_count && jet->states[set].set.components > 0;
}

sg_status sg_jet_rows(sg_jet *jet, size_t set, size_t first, size_t count, void *rows)
{
    if (!has_jacobian(jet, set) || !rows || first > jet->states[set].set.items ||
        count > jet->states[set].set.items - first)
        return SG_ERROR_ARGUMENT;
    sgi_jet_run(jet, &(sgi_jet_call){.mode = SG_JET_ROWS,
                                     .set_begin = set,
                                     .set_end = set + 1,
                                     .first = first,
                                     .count = count,
                                     .store = {.layers = jet->whole,
                                               .scalars = jet->network->scalar_begin,
                                               .row_size = jet->network->parameters,
                                               .rows = rows}});
    return SG_OK;
}

sg_status sg_jet_push(sg_jet *jet, size_t set, const void *direction, double *products)
{
    if (!has_jacobian(jet, set) || !direction || !products)
        return SG_ERROR_ARGUMENT;
    if (!jet->tangents)
        return SG_ERROR_ORDER;
    sgi_jet_pack(jet, direction, jet->packed_direction);
    sgi_jet_run(jet, &(sgi_jet_call){.mode = SG_JET_PUSH,
                                     .set_begin = set,
                                     .set_end = set + 1,
                                     .products = products,
                                     .direction = direction});
    return SG_OK;
}

sg_status sg_jet_pull(sg_jet *jet, size_t set, const double *weights, void *gradient)
{
    if (!has_jacobian(jet, set) || !weights || !gradient)
        return SG_ERROR_ARGUMENT;
    sgi_jet_run(jet,
                &(sgi_jet_call){
                    .mode = SG_JET_PULL, .set_begin = set, .set_end = set + 1, .weights = weights});
    sgi_jet_collect(jet, gradient);
    return SG_OK;
}

/* ---- Evaluation at given points ------------------------------------------------------------- */

typedef struct evaluation {
    const sg_jet_network *network;
    const double *points;  /* (count, coordinates) */
    const double *varying; /* (count, numbers) */
    size_t numbers;
    double *values; /* (count, requests * outputs) */
    size_t arrays;  /* requests * outputs */
} evaluation;

/* Columns of `from` (rows, width), from row `first` on, to arrays of the network's type. */
static void copy_columns(const evaluation *e, const double *from, size_t width, size_t first,
                         size_t count, void *const *to)
{
    for (size_t c = 0; c < width; c++)
        for (size_t i = 0; i < count; i++) {
            double x = from[(first + i) * width + c];
            if (e->network->type == SG_FLOAT32)
                ((float *)to[c])[i] = (float)x;
            else
                ((double *)to[c])[i] = x;
        }
}

static void given_points(void *context, size_t set, size_t first, size_t count, int worker,
                         void *const *coordinates)
{
    (void)set;
    (void)worker;
    const evaluation *e = context;
    copy_columns(e, e->points, (size_t)e->network->coordinates, first, count, coordinates);
}

static void given_varying(void *context, size_t set, size_t first, size_t count, int worker,
                          void *const *coordinates, void *const *varying)
{
    (void)set;
    (void)worker;
    (void)coordinates;
    const evaluation *e = context;
    copy_columns(e, e->varying, e->numbers, first, count, varying);
}

static void take_values(void *context, const sg_jet_tile *tile)
{
    const evaluation *e = context;
    for (size_t a = 0; a < e->arrays; a++)
        for (size_t i = 0; i < tile->count; i++)
            e->values[(tile->first + i) * e->arrays + a] =
                e->network->type == SG_FLOAT32 ? (double)((const float *)tile->values[a])[i]
                                               : ((const double *)tile->values[a])[i];
}

static sg_status evaluate_one(sg_jet_network *network, const sg_jet_plan *plan, sg_pool *pool,
                              const double *points, const double *varying, size_t count,
                              double *values, const sg_allocator *allocator)
{
    evaluation e = {.network = network,
                    .points = points,
                    .varying = varying,
                    .numbers = (size_t)plan->varying,
                    .values = values,
                    .arrays = plan->requests * (size_t)network->outputs};
    sg_jet_set set = {.plan = plan,
                      .items = count,
                      .points_per_item = 1,
                      .points = given_points,
                      .varying = given_varying,
                      .residual = take_values,
                      .context = &e};
    sg_jet_config config = sg_jet_defaults();
    config.network = network;
    config.sets = &set;
    config.set_count = 1;
    config.pool = pool;
    sg_jet *jet;
    sg_status status = sgi_jet_create_for(&jet, &config, false, allocator);
    if (status != SG_OK)
        return status;
    if (sgi_rank_count(pool) > 1) /* each fills in its own share */
        memset(values, 0, count * e.arrays * sizeof *values);
    sg_jet_forward(jet);
    sg_pool_sum(pool, values, SG_FLOAT64, count * e.arrays);
    sg_jet_destroy(jet);
    return SG_OK;
}

size_t sgi_jet_piece_at(const sgi_jet_pieces *pieces, const double *point)
{
    size_t k = 0;
    while (k + 1 < pieces->ready && point[pieces->along] > pieces->ends[k])
        k++;
    return k;
}

/* Points of one piece, brought together, and where they come from. */
typedef struct gathered {
    double *points, *varying, *values;
    size_t *from, count;
} gathered;

static void gather(gathered *g, const sgi_jet_pieces *pieces, size_t piece, const double *points,
                   const double *varying, size_t count, size_t coordinates, size_t numbers)
{
    g->count = 0;
    for (size_t i = 0; i < count; i++) {
        const double *point = points + i * coordinates;
        if (sgi_jet_piece_at(pieces, point) != piece)
            continue;
        for (size_t c = 0; c < coordinates; c++)
            g->points[g->count * coordinates + c] = point[c];
        for (size_t k = 0; k < numbers; k++)
            g->varying[g->count * numbers + k] = varying[i * numbers + k];
        g->from[g->count++] = i;
    }
}

static sg_status evaluate_pieces(const sgi_jet_pieces *pieces, const sg_jet_plan *plan,
                                 sg_pool *pool, const double *points, const double *varying,
                                 size_t count, double *values, const sg_allocator *allocator)
{
    size_t coordinates = (size_t)plan->coordinates, numbers = (size_t)plan->varying;
    size_t width = plan->requests * (size_t)pieces->networks[0]->outputs;
    gathered g = {.points = sgi_allocate(allocator, count * coordinates, sizeof(double)),
                  .varying = sgi_allocate(allocator, count * numbers, sizeof(double)),
                  .values = sgi_allocate(allocator, count * width, sizeof(double)),
                  .from = sgi_allocate(allocator, count, sizeof(size_t))};
    sg_status status = g.points && g.varying && g.values && g.from ? SG_OK : SG_ERROR_MEMORY;
    for (size_t k = 0; k < pieces->ready && status == SG_OK; k++) {
        gather(&g, pieces, k, points, varying, count, coordinates, numbers);
        if (g.count > 0)
            status = evaluate_one(pieces->networks[k], plan, pool, g.points, g.varying, g.count,
                                  g.values, allocator);
        for (size_t i = 0; i < g.count && status == SG_OK; i++)
            for (size_t a = 0; a < width; a++)
                values[g.from[i] * width + a] = g.values[i * width + a];
    }
    sgi_release(allocator, g.points);
    sgi_release(allocator, g.varying);
    sgi_release(allocator, g.values);
    sgi_release(allocator, g.from);
    return status;
}

sg_status sg_jet_evaluate(sg_jet_network *network, const sg_jet_plan *plan, sg_pool *pool,
                          const double *points, const double *varying, size_t count, double *values,
                          const sg_allocator *given)
{
    if (!network || !plan || (plan->varying > 0 && !varying) || (count > 0 && (!points || !values)))
        return SG_ERROR_ARGUMENT;
    sg_allocator allocator = sgi_allocator_or_heap(given);
    return network->pieces
               ? evaluate_pieces(network->pieces, plan, pool, points, varying, count, values,
                                 &allocator)
               : evaluate_one(network, plan, pool, points, varying, count, values, &allocator);
}
