/* A call over all tiles: units handed to threads, and what they made combined in unit order.
 *
 * A sum of floating-point numbers depends on its order. So that results do not depend on the number
 * of threads, tiles are cut into units by their number alone; a unit is summed by one thread in the
 * order of its tiles, into memory of its own, and units are added up in their order afterwards,
 * whoever computed them.
 *
 * With ranks each of them has a stretch of the tiles, which it cuts into units in the same way.
 * What is a sum over items is then added up over ranks; what is an array over items has zeros for
 * those of others, so that adding up brings it together. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "base/ranks.h"
#include "jet/engine.h"
#include "scale/combine.h"

/* Tiles of a unit, at least: a unit has a gradient of its own, which must be cleared and added up,
 * and fewer tiles are not worth that. Elements that a thread adds up at a time: small enough that
 * small networks keep all threads busy. */
enum { LEAST_TILES = 4, COMBINE_ELEMENTS = 4096 };

/* Rows of the Jacobian beyond this size leave the caches before anybody reads them. */
static const size_t STREAM_BYTES = (size_t)16 << 20;

static void *at(const sg_jet *jet, void *base, size_t index)
{
    return sgi_element(base, jet->network->type, index);
}

/* Element `index` of an array of the network's type. */
static double number_at(const sg_jet *jet, const void *base, size_t index)
{
    return jet->network->type == SG_FLOAT32 ? (double)((const float *)base)[index]
                                            : ((const double *)base)[index];
}

/* ---- One tile ----------------------------------------------------------------------------- */

/* The items' shares in the derivatives by the scalars, added up in double: weights[i * step] of
 * each, or 1 for NULL. */
static void add_scalars(sg_jet *jet, const sgi_jet_state *state, size_t unit, int worker,
                        size_t count, const double *weights, size_t step)
{
    size_t scalars = jet->network->scalar_count, stride = (size_t)state->item_stride;
    for (size_t k = 0; k < scalars; k++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += (weights ? weights[i * step] : 1) *
                   number_at(jet, jet->workers[worker].scalars, k * stride + i);
        jet->unit_scalars[unit * scalars + k] += sum;
    }
}

/* The moments of dL/du, and dL/du itself where it is wanted. */
static void observe_outputs(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                            size_t count, sg_moments *moments)
{
    size_t outputs = (size_t)jet->network->outputs, size = sgi_type_size(jet->network->type);
    for (size_t side = 0; side < (size_t)state->set.points_per_item; side++)
        for (size_t o = 0; o < outputs; o++) {
            size_t from = o * (size_t)state->point_stride + side * (size_t)state->items;
            void *adjoint = at(jet, jet->workers[worker].y_moved, from);
            sg_moments_add(moments, adjoint, jet->network->type, count, 1);
            if (state->set.value_adjoints)
                memcpy(at(jet, state->set.value_adjoints,
                          (side * outputs + o) * state->set.items + first),
                       adjoint, count * size);
        }
}

/* The loss and, unless only values are wanted, its gradient. The callback leaves the adjoints of
 * all residuals together (component -1): one reverse pass serves them all. */
static void gradient_tile(sg_jet *jet, const sgi_jet_state *state, size_t unit, int worker,
                          size_t first, size_t count)
{
    double *sums = jet->unit_sums + unit * jet->sums + state->first_sum;
    sgi_tile_residual(jet, state, worker, first, count, -1, sums);
    if (jet->call.mode == SG_JET_FORWARD)
        return;
    sgi_tile_clear(jet, state, worker);
    sgi_tile_gather(jet, state, worker, count, NULL, 0);
    add_scalars(jet, state, unit, worker, count, NULL, 0);
    observe_outputs(jet, state, worker, first, count, &jet->unit_moments[unit]);
    sgi_tile_reverse(jet, state, worker, jet->unit_gradient[unit]);
}

/* J^T w: as the gradient, but the adjoint of each residual is the caller's weight, so the callback
 * is asked for one component at a time and what it gives is gathered before one reverse pass. */
static void pull_tile(sg_jet *jet, const sgi_jet_state *state, size_t unit, int worker,
                      size_t first, size_t count)
{
    size_t components = (size_t)state->set.components;
    sgi_tile_clear(jet, state, worker);
    for (size_t j = 0; j < components; j++) {
        sgi_tile_residual(jet, state, worker, first, count, (int)j, NULL);
        const double *weights = jet->call.weights + first * components + j;
        sgi_tile_gather(jet, state, worker, count, weights, components);
        add_scalars(jet, state, unit, worker, count, weights, components);
    }
    sgi_tile_reverse(jet, state, worker, jet->unit_gradient[unit]);
}

/* Residual `component` of the tile's items, from the worker to the store. */
static void keep_residuals(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                           size_t count, size_t component)
{
    size_t components = (size_t)state->set.components, size = sgi_type_size(jet->network->type);
    char *to = at(jet, jet->call.store.residuals, first * components + component);
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * components * size, at(jet, jet->workers[worker].residuals, i), size);
}

/* The scalars' elements of the rows of residual `component`. */
static void keep_scalars(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                         size_t count, size_t component)
{
    const sgi_jet_store *store = &jet->call.store;
    size_t components = (size_t)state->set.components, size = sgi_type_size(jet->network->type);
    for (size_t k = 0; k < jet->network->scalar_count; k++)
        for (size_t i = 0; i < count; i++) {
            size_t row = (first + i) * components + component;
            memcpy(at(jet, store->rows, row * store->row_size + store->scalars + k),
                   at(jet, jet->workers[worker].scalars, k * (size_t)state->item_stride + i), size);
        }
}

/* Rows of J: here nothing may be added up, so each component takes a reverse pass of its own. */
static void rows_tile(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                      size_t count)
{
    size_t place = first - jet->call.first;
    for (int j = 0; j < state->set.components; j++) {
        sgi_tile_residual(jet, state, worker, first, count, j, NULL);
        if (jet->call.store.residuals)
            keep_residuals(jet, state, worker, place, count, (size_t)j);
        keep_scalars(jet, state, worker, place, count, (size_t)j);
        sgi_tile_clear(jet, state, worker);
        sgi_tile_gather(jet, state, worker, count, NULL, 0);
        sgi_tile_reverse_rows(jet, state, worker, place, count, j);
    }
}

/* products[i] = sum over the item's request values and the scalars of adjoint * tangent. */
static void dot_requests(sg_jet *jet, const sgi_jet_state *state, int worker, size_t count,
                         double *products, size_t step)
{
    const sgi_jet_worker *w = &jet->workers[worker];
    size_t arrays = (size_t)state->set.points_per_item * state->set.plan->requests *
                    (size_t)jet->network->outputs;
    size_t stride = (size_t)state->item_stride;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t a = i; a < arrays * stride; a += stride)
            sum += jet->network->type == SG_FLOAT32
                       ? (double)((const float *)w->adjoints)[a] *
                             (double)((const float *)w->tangents)[a]
                       : ((const double *)w->adjoints)[a] * ((const double *)w->tangents)[a];
        for (size_t k = 0; k < jet->network->scalar_count; k++)
            sum += number_at(jet, w->scalars, k * stride + i) *
                   number_at(jet, jet->call.direction, jet->network->scalar_begin + k);
        products[i * step] = sum;
    }
}

/* J v: tangents of the requested values go forward once, and each residual's product is the inner
 * product of its adjoints with them. No reverse pass is needed. */
static void push_tile(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                      size_t count)
{
    size_t components = (size_t)state->set.components;
    sgi_tile_tangent(jet, state, worker);
    for (size_t j = 0; j < components; j++) {
        sgi_tile_residual(jet, state, worker, first, count, (int)j, NULL);
        dot_requests(jet, state, worker, count, jet->call.products + first * components + j,
                     components);
    }
}

/* Items of the call in a set: rows may be asked for a part of them, so that a caller can go through
 * a large Jacobian in panels. */
static size_t begin_item(const sg_jet *jet)
{
    return jet->call.mode == SG_JET_ROWS ? jet->call.first : 0;
}

static size_t end_item(const sg_jet *jet, const sgi_jet_state *state)
{
    return jet->call.mode == SG_JET_ROWS ? jet->call.first + jet->call.count : state->set.items;
}

/* Tiles are numbered through all sets of the call; this one's set is found first. The last tile of
 * a set may have fewer items than fit. */
static void run_tile(sg_jet *jet, size_t unit, int worker, size_t tile)
{
    const sgi_jet_state *state = &jet->states[jet->call.set_begin];
    while (tile >= state->first_tile + state->tiles)
        state++;
    size_t capacity = (size_t)state->items, end = end_item(jet, state);
    size_t first = begin_item(jet) + (tile - state->first_tile) * capacity;
    size_t count = end - first < capacity ? end - first : capacity;
    sgi_tile_forward(jet, state, worker, first, count);
    switch (jet->call.mode) {
    case SG_JET_FORWARD:
    case SG_JET_GRADIENT:
        gradient_tile(jet, state, unit, worker, first, count);
        break;
    case SG_JET_ROWS:
        rows_tile(jet, state, worker, first, count);
        break;
    case SG_JET_PUSH:
        push_tile(jet, state, worker, first, count);
        break;
    case SG_JET_PULL:
        pull_tile(jet, state, unit, worker, first, count);
        break;
    }
}

/* ---- Units -------------------------------------------------------------------------------- */

static bool accumulates(sgi_jet_mode mode)
{
    return mode == SG_JET_GRADIENT || mode == SG_JET_PULL;
}

/* Rows of the Jacobian are made by the rank that asks for them, everything else is shared. */
static sg_pool *shared_pool(const sg_jet *jet)
{
    return jet->call.mode == SG_JET_ROWS ? NULL : jet->pool;
}

/* The first tile of unit `unit`: units have equal shares of the rows, which stand for the work.
 * Those of all ranks are numbered through. */
static size_t unit_begin(const sg_jet *jet, size_t unit)
{
    size_t ranks = (size_t)sgi_rank_count(shared_pool(jet));
    double total = 0, before = 0;
    unit += (size_t)sgi_rank_index(shared_pool(jet)) * jet->call.units;
    for (size_t s = jet->call.set_begin; s < jet->call.set_end; s++)
        total += (double)jet->states[s].tiles * jet->states[s].rows;
    double share = total * (double)unit / (double)(ranks * jet->call.units);
    for (size_t s = jet->call.set_begin; s < jet->call.set_end; s++) {
        const sgi_jet_state *state = &jet->states[s];
        double work = (double)state->tiles * state->rows;
        if (share < before + work)
            return state->first_tile + (size_t)ceil((share - before) / state->rows);
        before += work;
    }
    return jet->call.tiles;
}

static void run_unit(void *context, size_t unit, int worker)
{
    sg_jet *jet = context;
    if (jet->sums > 0)
        memset(jet->unit_sums + unit * jet->sums, 0, jet->sums * sizeof(double));
    jet->unit_moments[unit] = (sg_moments){0, 0, 0};
    for (size_t k = 0; k < jet->network->scalar_count; k++)
        jet->unit_scalars[unit * jet->network->scalar_count + k] = 0;
    if (accumulates(jet->call.mode))
        memset(jet->unit_gradient[unit], 0,
               jet->gradient_begin[jet->network->layer_count] * sgi_type_size(jet->network->type));
    size_t end = unit_begin(jet, unit + 1);
    for (size_t tile = unit_begin(jet, unit); tile < end; tile++)
        run_tile(jet, unit, worker, tile);
}

static void cut_tiles(sg_jet *jet)
{
    jet->call.tiles = 0;
    for (size_t s = jet->call.set_begin; s < jet->call.set_end; s++) {
        sgi_jet_state *state = &jet->states[s];
        size_t items = end_item(jet, state) - begin_item(jet), capacity = (size_t)state->items;
        state->first_tile = jet->call.tiles;
        state->tiles = sgi_parts(items, capacity);
        jet->call.tiles += state->tiles;
    }
    /* A unit with a gradient of its own has that to clear and to add up, which takes a few tiles to
     * pay for. Without one every tile can be a unit, for an even load. */
    size_t share = sgi_parts(jet->call.tiles, (size_t)sgi_rank_count(shared_pool(jet)));
    size_t units = accumulates(jet->call.mode) ? share / LEAST_TILES : share;
    jet->call.units = units < 1 ? 1 : units < jet->most_units ? units : jet->most_units;
}

/* Adds up over ranks, the moments by way of their sums: `sums` has room for two numbers more. */
static void combine_ranks(sg_jet *jet, double *sums, sg_moments *moments)
{
    double *count = &sums[jet->sums], *total = &sums[jet->sums + 1], own = moments->mean;
    if (sgi_rank_count(jet->pool) == 1)
        return;
    *count = moments->count;
    *total = moments->count * own;
    sg_pool_sum(jet->pool, sums, SG_FLOAT64, jet->sums + 2);
    double mean = *count > 0 ? *total / *count : *total; /* keeps NaN */
    double m2 = moments->m2 + moments->count * (own - mean) * (own - mean);
    sg_pool_sum(jet->pool, &m2, SG_FLOAT64, 1);
    *moments = (sg_moments){*count, mean, m2};
}

static void combine_results(sg_jet *jet)
{
    sg_moments moments = {0, 0, 0};
    double *sums = jet->call_sums;
    memset(sums, 0, (jet->sums + 2) * sizeof *sums);
    for (size_t unit = 0; unit < jet->call.units; unit++) {
        sgi_moments_combine(&moments, &jet->unit_moments[unit]);
        for (size_t i = 0; i < jet->sums; i++)
            sums[i] += jet->unit_sums[unit * jet->sums + i];
    }
    combine_ranks(jet, sums, &moments);
    if (!jet->call.adds) {
        jet->result_moments = (sg_moments){0, 0, 0};
        memset(jet->result_sums, 0, jet->sums * sizeof *jet->result_sums);
    }
    sgi_moments_combine(&jet->result_moments, &moments);
    for (size_t i = 0; i < jet->sums; i++)
        jet->result_sums[i] += sums[i];
}

/* What a call leaves in arrays over items: zeros before it, and the sum over ranks after it. */
static void share_arrays(sg_jet *jet, bool before)
{
    const sgi_jet_call *call = &jet->call;
    for (size_t s = call->set_begin; s < call->set_end && sgi_rank_count(jet->pool) > 1; s++) {
        const sg_jet_set *set = &jet->states[s].set;
        bool push = call->mode == SG_JET_PUSH;
        void *array = push                            ? (void *)call->products
                      : call->mode == SG_JET_GRADIENT ? set->value_adjoints
                                                      : NULL;
        sg_type type = push ? SG_FLOAT64 : jet->network->type;
        size_t each = push ? (size_t)set->components
                           : (size_t)set->points_per_item * (size_t)jet->network->outputs;
        if (array && before)
            memset(array, 0, set->items * each * sgi_type_size(type));
        else if (array)
            sg_pool_sum(jet->pool, array, type, set->items * each);
    }
}

/* The size of the rows that a call asks for. */
static size_t row_bytes(const sg_jet *jet)
{
    const sgi_jet_call *call = &jet->call;
    size_t components = (size_t)jet->states[call->set_begin].set.components;
    return call->count * components * call->store.row_size * sgi_type_size(jet->network->type);
}

void sgi_jet_run(sg_jet *jet, const sgi_jet_call *call)
{
    jet->call = *call;
    jet->call.store.stream = call->mode == SG_JET_ROWS && row_bytes(jet) > STREAM_BYTES;
    cut_tiles(jet);
    sgi_jet_pack(jet, jet->network->values, jet->packed);
    share_arrays(jet, true);
    sg_pool_run(jet->pool, jet->call.units, run_unit, jet);
    share_arrays(jet, false);
    if (call->mode == SG_JET_FORWARD || call->mode == SG_JET_GRADIENT)
        combine_results(jet);
}

/* ---- Weights in and gradients out ----------------------------------------------------------- */

typedef struct pack_job {
    sg_jet *jet;
    void *values, *packed;
} pack_job;

/* Once a call, not once a tile: kernels read weights in an order of their own, and every tile reads
 * all of them. */
static void pack_layer(void *context, size_t layer, int worker)
{
    (void)worker;
    const pack_job *job = context;
    sg_jet *jet = job->jet;
    const sg_jet_layer *place = &jet->network->layers[layer];
    jet->kernels->pack(&jet->shapes[layer], at(jet, job->values, place->weight),
                       at(jet, job->values, place->bias),
                       at(jet, job->packed, jet->packed_begin[layer]));
}

void sgi_jet_pack(sg_jet *jet, const void *values, void *packed)
{
    pack_job job = {jet, (void *)(uintptr_t)values, packed};
    sg_pool_run(jet->pool, (size_t)jet->network->layer_count, pack_layer, &job);
}

/* Threads take stretches of elements, not units: each element is added up over the units in order.
 */
static void combine_part(void *context, size_t part, int worker)
{
    (void)worker;
    sg_jet *jet = context;
    size_t all = jet->gradient_begin[jet->network->layer_count], begin = part * COMBINE_ELEMENTS;
    size_t end = all - begin < COMBINE_ELEMENTS ? all : begin + COMBINE_ELEMENTS;
    jet->kernels->combine(jet->unit_gradient, jet->call.units, begin, end);
}

static void unpack_layer(void *context, size_t layer, int worker)
{
    (void)worker;
    const pack_job *job = context;
    sg_jet *jet = job->jet;
    const sg_jet_layer *place = &jet->network->layers[layer];
    jet->kernels->unpack(&jet->shapes[layer],
                         at(jet, jet->unit_gradient[0], jet->gradient_begin[layer]),
                         at(jet, job->values, place->weight), at(jet, job->values, place->bias));
}

static void collect_scalars(sg_jet *jet, void *gradient)
{
    const sg_jet_network *network = jet->network;
    for (size_t k = 0; k < network->scalar_count; k++) {
        double sum = 0;
        for (size_t unit = 0; unit < jet->call.units; unit++)
            sum += jet->unit_scalars[unit * network->scalar_count + k];
        if (network->type == SG_FLOAT32)
            ((float *)gradient)[network->scalar_begin + k] = (float)sum;
        else
            ((double *)gradient)[network->scalar_begin + k] = sum;
    }
}

void sgi_jet_collect(sg_jet *jet, void *gradient)
{
    collect_scalars(jet, gradient);
    size_t all = jet->gradient_begin[jet->network->layer_count];
    sg_pool_run(jet->pool, sgi_parts(all, COMBINE_ELEMENTS), combine_part, jet);
    pack_job job = {jet, gradient, NULL};
    sg_pool_run(jet->pool, (size_t)jet->network->layer_count, unpack_layer, &job);
    sg_pool_sum(jet->pool, gradient, jet->network->type, jet->network->parameters);
}
