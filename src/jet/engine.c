/* Creation and destruction of the engine: all its memory, sized once. */
#include "jet/engine.h"

#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "jet/features.h"

enum {
    BLOCK_POINTS = 6, /* rows of a register block: tiles hold a multiple */
    MOST_UNITS = 32,
    LEAST_UNITS = 8,
};

/* Rows of a tile: the activations of a deep network, all layers, stay in the second-level cache. */
static const int TILE_ROWS[] = {[SG_FLOAT32] = 96, [SG_FLOAT64] = 48};

/* Bytes of a layer's weights from which its tiles are larger. */
static const size_t LARGE_LAYER = (size_t)1 << 20;

/* All units' gradients together; more units only help machines with many cores. */
static const size_t MOST_GRADIENT_BYTES = (size_t)64 << 20;

sg_jet_config sg_jet_defaults(void)
{
    return (sg_jet_config){.isa = SG_ISA_AUTO};
}

/* Allocates and counts. */
static void *take(sg_jet *jet, size_t count, size_t size)
{
    void *memory = sgi_allocate(&jet->allocator, count, size);
    jet->memory += memory ? count * size : 0;
    return memory;
}

static int round_up(int value, int multiple)
{
    return (int)sgi_align_up((size_t)value, (size_t)multiple);
}

/* The gradient of a layer that fills the second-level cache passes through it with every tile: half
 * as often with twice the rows. */
static int tile_rows(const sg_jet_network *network)
{
    size_t most = 0;
    for (int l = 0; l < network->layer_count; l++) {
        size_t size = (size_t)network->layers[l].inputs * (size_t)network->layers[l].outputs;
        most = size > most ? size : most;
    }
    return TILE_ROWS[network->type] * (most * sgi_type_size(network->type) >= LARGE_LAYER ? 2 : 1);
}

static int tile_points(int channels, int rows)
{
    int blocks = (rows + BLOCK_POINTS * channels / 2) / (BLOCK_POINTS * channels);
    int points = BLOCK_POINTS * (blocks > 0 ? blocks : 1);
    return points < SG_JET_TILE_POINTS ? points : SG_JET_TILE_POINTS;
}

/* ---- Layers ------------------------------------------------------------------------------- */

/* Elements between the rows of a tile. Rows that are a multiple of many cache lines apart share the
 * few sets of the cache that these lines may lie in, and the weight gradient reads down a column of
 * them: wide rows are an odd number of lines apart. */
static int row_stride(int count, int lanes, int line)
{
    int stride = round_up(count, lanes);
    return stride >= 8 * line && stride % (2 * line) == 0 ? stride + line : stride;
}

static sg_status make_layers(sg_jet *jet, bool reverse)
{
    const sg_jet_network *network = jet->network;
    const sgi_kernels *kernels = jet->kernels;
    size_t layers = (size_t)network->layer_count, size = sgi_type_size(network->type);
    jet->shapes = take(jet, layers, sizeof *jet->shapes);
    jet->packed_begin = take(jet, layers + 1, sizeof *jet->packed_begin);
    jet->gradient_begin = take(jet, layers + 1, sizeof *jet->gradient_begin);
    jet->whole = take(jet, layers, sizeof *jet->whole);
    if (!jet->shapes || !jet->packed_begin || !jet->gradient_begin || !jet->whole)
        return SG_ERROR_MEMORY;
    size_t line = SG_ALIGNMENT / size;
    for (size_t l = 0; l < layers; l++) {
        const sg_jet_layer *layer = &network->layers[l];
        sgi_layer_shape *shape = &jet->shapes[l];
        *shape = (sgi_layer_shape){
            layer->inputs, layer->outputs, row_stride(layer->inputs, kernels->lanes, (int)line),
            row_stride(layer->outputs, kernels->lanes, (int)line), l + 1 == layers};
        jet->whole[l].begin = layer->weight;
        size_t packed = kernels->packed_size(shape), gradient = kernels->gradient_size(shape);
        jet->packed_begin[l + 1] = jet->packed_begin[l] + sgi_align_up(packed, line);
        jet->gradient_begin[l + 1] = jet->gradient_begin[l] + sgi_align_up(gradient, line);
    }
    jet->packed = take(jet, jet->packed_begin[layers], size);
    if (!jet->packed)
        return SG_ERROR_MEMORY;
    if (jet->tangents && reverse) {
        jet->packed_direction = take(jet, jet->packed_begin[layers], size);
        return jet->packed_direction ? SG_OK : SG_ERROR_MEMORY;
    }
    return SG_OK;
}

/* ---- Sets --------------------------------------------------------------------------------- */

static bool valid_set(const sg_jet_set *set, const sg_jet_network *network)
{
    return set->plan && set->plan->coordinates == network->coordinates && set->points &&
           set->residual && (set->plan->varying == 0 || set->varying) &&
           (set->points_per_item == 1 || set->points_per_item == 2) && set->components >= 0 &&
           set->sums <= 1 << 20;
}

static sg_status make_states(sg_jet *jet, const sg_jet_config *config)
{
    sg_type type = jet->network->type;
    int line = (int)(SG_ALIGNMENT / sgi_type_size(type));
    jet->states = take(jet, config->set_count, sizeof *jet->states);
    if (!jet->states)
        return SG_ERROR_MEMORY;
    for (size_t s = 0; s < config->set_count; s++) {
        sgi_jet_state *state = &jet->states[s];
        jet->set_count++;
        state->set = config->sets[s];
        const sg_jet_plan *plan = state->set.plan;
        state->points = tile_points(plan->channels, tile_rows(jet->network));
        state->items = state->points / state->set.points_per_item;
        state->point_stride = round_up(state->points, line);
        state->item_stride = round_up(state->items, line);
        state->rows = state->points * plan->channels;
        state->first_sum = jet->sums;
        jet->sums += state->set.sums;
        state->tables = sgi_features_create(&state->features, jet->network, plan,
                                            jet->kernels->lanes, &jet->allocator);
        if (!state->tables)
            return SG_ERROR_MEMORY;
        state->features.points = state->points;
        state->features.point_stride = state->point_stride;
        state->features.stride = jet->shapes[0].input_stride;
    }
    return SG_OK;
}

/* ---- Workers ------------------------------------------------------------------------------ */

/* The largest of everything over the sets, in elements. */
typedef struct extent {
    size_t rows, points, width;
    size_t y, coordinates, item_coordinates, requests, request_values, items;
    size_t varying, varying_values, item_varying;
} extent;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static extent extent_of(const sg_jet *jet)
{
    extent e = {0};
    size_t coordinates = (size_t)jet->network->coordinates, outputs = (size_t)jet->network->outputs;
    for (size_t s = 0; s < jet->set_count; s++) {
        const sgi_jet_state *state = &jet->states[s];
        size_t sides = (size_t)state->set.points_per_item;
        size_t items = (size_t)state->item_stride, points = (size_t)state->point_stride;
        size_t requests = sides * state->set.plan->requests * outputs;
        e.rows = larger(e.rows, (size_t)state->rows);
        e.points = larger(e.points, (size_t)state->points);
        e.y = larger(e.y, (size_t)state->set.plan->channels * outputs * points);
        e.coordinates = larger(e.coordinates, coordinates * points);
        e.item_coordinates = larger(e.item_coordinates, sides * coordinates * items);
        size_t varying = (size_t)state->set.plan->varying;
        e.varying = larger(e.varying, sides * varying);
        e.varying_values = larger(e.varying_values, varying * points);
        e.item_varying = larger(e.item_varying, sides * varying * items);
        e.requests = larger(e.requests, requests);
        e.request_values = larger(e.request_values, requests * items);
        e.items = larger(e.items, items);
    }
    for (int l = 0; l < jet->network->layer_count; l++)
        e.width = larger(e.width, (size_t)jet->shapes[l].input_stride);
    return e;
}

/* Hands out parts of one block of memory; measures only when `base` is NULL. */
typedef struct carver {
    char *base;
    size_t used;
} carver;

static void *carve(carver *from, size_t count, size_t size)
{
    void *part = from->base ? from->base + from->used : NULL;
    from->used += sgi_align_up(count * size, SG_ALIGNMENT);
    return part;
}

static void carve_worker(const sg_jet *jet, const extent *e, bool reverse, carver *from,
                         sgi_jet_worker *worker)
{
    size_t size = sgi_type_size(jet->network->type), hidden = (size_t)jet->network->layer_count - 1;
    void **z = carve(from, hidden, sizeof(void *)), **a = carve(from, hidden, sizeof(void *));
    void **memo = carve(from, hidden, sizeof(void *));
    for (size_t l = 0; l < hidden; l++) {
        size_t stride = (size_t)jet->shapes[l].output_stride;
        void *rows[] = {carve(from, e->rows * stride, size), carve(from, e->rows * stride, size),
                        carve(from, e->points * stride, size)};
        if (from->base) {
            z[l] = rows[0];
            a[l] = rows[1];
            memo[l] = rows[2];
        }
    }
    worker->z = z;
    worker->a = a;
    worker->memo = memo;
    worker->features = carve(from, e->rows * (size_t)jet->shapes[0].input_stride, size);
    worker->y = carve(from, e->y, size);
    worker->coordinates = carve(from, e->coordinates, size);
    worker->item_coordinates = carve(from, e->item_coordinates, size);
    worker->varying = carve(from, e->varying_values, size);
    worker->item_varying = carve(from, e->item_varying, size);
    worker->varying_at = carve(from, e->varying, sizeof(void *));
    worker->values = carve(from, e->request_values, size);
    worker->coordinate_at = carve(from, 2 * (size_t)jet->network->coordinates, sizeof(void *));
    worker->value_at = carve(from, e->requests, sizeof(void *));
    if (!reverse)
        return;
    worker->moved[0] = carve(from, e->rows * e->width, size);
    worker->moved[1] = carve(from, e->rows * e->width, size);
    worker->y_moved = carve(from, e->y, size);
    worker->adjoints = carve(from, e->request_values, size);
    worker->adjoint_at = carve(from, e->requests, sizeof(void *));
    worker->residuals = carve(from, e->items, size);
    worker->scalars = carve(from, jet->network->scalar_count * e->items, size);
    worker->scalar_at = carve(from, jet->network->scalar_count, sizeof(void *));
    if (jet->tangents)
        worker->tangents = carve(from, e->request_values, size);
}

static sg_status make_workers(sg_jet *jet, bool reverse)
{
    extent e = extent_of(jet);
    jet->threads = sg_pool_threads(jet->pool);
    jet->workers = take(jet, (size_t)jet->threads, sizeof *jet->workers);
    if (!jet->workers)
        return SG_ERROR_MEMORY;
    for (int t = 0; t < jet->threads; t++) {
        sgi_jet_worker *worker = &jet->workers[t];
        carver measure = {0};
        carve_worker(jet, &e, reverse, &measure, worker);
        worker->memory = take(jet, measure.used, 1);
        if (!worker->memory)
            return SG_ERROR_MEMORY;
        carver from = {worker->memory, 0};
        carve_worker(jet, &e, reverse, &from, worker);
    }
    return SG_OK;
}

/* ---- Units -------------------------------------------------------------------------------- */

static sg_status make_units(sg_jet *jet, bool reverse)
{
    size_t elements = jet->gradient_begin[jet->network->layer_count];
    size_t size = sgi_type_size(jet->network->type);
    jet->most_units = MOST_UNITS;
    while (jet->most_units > LEAST_UNITS && jet->most_units * elements * size > MOST_GRADIENT_BYTES)
        jet->most_units /= 2;
    jet->unit_sums = take(jet, jet->most_units * jet->sums, sizeof(double));
    jet->result_sums = take(jet, jet->sums, sizeof(double));
    jet->call_sums = take(jet, jet->sums + 2, sizeof(double));
    jet->unit_moments = take(jet, jet->most_units, sizeof *jet->unit_moments);
    jet->unit_gradient = take(jet, jet->most_units, sizeof(void *));
    jet->unit_scalars =
        take(jet, jet->most_units * jet->network->scalar_count, sizeof *jet->unit_scalars);
    if (!jet->unit_scalars)
        return SG_ERROR_MEMORY;
    if (!jet->unit_sums || !jet->result_sums || !jet->call_sums || !jet->unit_moments ||
        !jet->unit_gradient)
        return SG_ERROR_MEMORY;
    for (size_t u = 0; u < jet->most_units && reverse; u++) {
        jet->unit_gradient[u] = take(jet, elements, size);
        if (!jet->unit_gradient[u])
            return SG_ERROR_MEMORY;
    }
    return SG_OK;
}

/* ---- The handle --------------------------------------------------------------------------- */

static sg_status choose_kernels(sg_jet *jet, const sg_jet_config *config)
{
    sg_type type = config->network->type;
    sg_isa isa = sg_isa_resolve(config->isa);
    if (config->plain)
        jet->kernels = sgi_kernels_plain(type);
    else if (isa != SG_ISA_AUTO)
        jet->kernels = sgi_kernels_for(isa, type);
    return jet->kernels ? SG_OK : SG_ERROR_UNSUPPORTED;
}

static sg_status fill(sg_jet *jet, const sg_jet_config *config, bool reverse)
{
    jet->network = config->network;
    jet->pool = config->pool;
    jet->general = config->general;
    jet->tangents = config->tangents;
    sg_status status = choose_kernels(jet, config);
    if (status == SG_OK)
        status = make_layers(jet, reverse);
    if (status == SG_OK)
        status = make_states(jet, config);
    if (status == SG_OK)
        status = make_workers(jet, reverse);
    return status == SG_OK ? make_units(jet, reverse) : status;
}

sg_status sgi_jet_create_for(sg_jet **out, const sg_jet_config *config, bool reverse,
                             const sg_allocator *given)
{
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (!config || !config->network || !config->sets || config->set_count == 0)
        return SG_ERROR_ARGUMENT;
    for (size_t s = 0; s < config->set_count; s++)
        if (!valid_set(&config->sets[s], config->network))
            return SG_ERROR_ARGUMENT;
    sg_jet *jet = SGI_NEW(sg_jet, given);
    if (!jet)
        return SG_ERROR_MEMORY;
    jet->memory = sizeof *jet;
    sg_status status = fill(jet, config, reverse);
    if (status == SG_OK)
        *out = jet;
    else
        sg_jet_destroy(jet);
    return status;
}

sg_status sg_jet_create(sg_jet **jet, const sg_jet_config *config, const sg_allocator *allocator)
{
    return sgi_jet_create_for(jet, config, true, allocator);
}

void sg_jet_destroy(sg_jet *jet)
{
    if (!jet)
        return;
    for (size_t s = 0; s < jet->set_count; s++)
        sgi_release(&jet->allocator, jet->states[s].tables);
    for (int t = 0; t < jet->threads && jet->workers; t++)
        sgi_release(&jet->allocator, jet->workers[t].memory);
    for (size_t u = 0; u < jet->most_units && jet->unit_gradient; u++)
        sgi_release(&jet->allocator, jet->unit_gradient[u]);
    void *parts[] = {jet->states,    jet->shapes,           jet->packed_begin, jet->gradient_begin,
                     jet->packed,    jet->packed_direction, jet->workers,      jet->unit_gradient,
                     jet->unit_sums, jet->unit_moments,     jet->result_sums,  jet->call_sums,
                     jet->whole,     jet->unit_scalars};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&jet->allocator, parts[i]);
    sgi_release(&jet->allocator, jet);
}

sg_status sg_jet_resize(sg_jet *jet, size_t set, size_t items, void *value_adjoints)
{
    if (!jet || set >= jet->set_count)
        return SG_ERROR_ARGUMENT;
    jet->states[set].set.items = items;
    jet->states[set].set.value_adjoints = value_adjoints;
    return SG_OK;
}

size_t sg_jet_memory(const sg_jet *jet)
{
    return jet ? jet->memory : 0;
}

const char *sg_jet_kernels(const sg_jet *jet)
{
    return jet ? jet->kernels->name : NULL;
}
