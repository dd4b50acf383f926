/* One tile: forward, residual and reverse, whole depth, in one worker's memory. */
#include <math.h>
#include <string.h>

#include "base/params.h"
#include "jet/engine.h"

/* The address of element `index` of an array of the network's type. */
static void *at(const sg_jet *jet, void *base, size_t index)
{
    return sgi_element(base, jet->network->type, index);
}

static void copy(const sg_jet *jet, void *to, const void *from, int count)
{
    memcpy(to, from, (size_t)count * sgi_type_size(jet->network->type));
}

/* ---- Forward ------------------------------------------------------------------------------ */

/* Items past the tile's end repeat its last one: finite wherever that is. */
static void repeat_last(const sg_jet *jet, void *array, size_t count, size_t capacity)
{
    size_t size = sgi_type_size(jet->network->type);
    for (size_t i = count; i < capacity; i++)
        memcpy((char *)array + i * size, (char *)array + (count - 1) * size, size);
}

static void make_points(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                        size_t count)
{
    sgi_jet_worker *w = &jet->workers[worker];
    size_t set = (size_t)(state - jet->states);
    int coordinates = jet->network->coordinates, sides = state->set.points_per_item;
    for (int i = 0; i < sides * coordinates; i++)
        w->coordinate_at[i] = at(jet, w->item_coordinates, (size_t)i * (size_t)state->item_stride);
    state->set.points(state->set.context, set, first, count, worker, w->coordinate_at);
    for (int i = 0; i < sides * coordinates; i++) {
        size_t side = (size_t)(i / coordinates), c = (size_t)(i % coordinates);
        repeat_last(jet, w->coordinate_at[i], count, (size_t)state->items);
        copy(jet,
             at(jet, w->coordinates, c * (size_t)state->point_stride + side * (size_t)state->items),
             w->coordinate_at[i], state->items);
    }
}

/* What the points of the tile bring beside their coordinates. */
static void make_varying(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                         size_t count)
{
    sgi_jet_worker *w = &jet->workers[worker];
    int numbers = state->set.plan->varying, sides = state->set.points_per_item;
    if (numbers == 0)
        return;
    for (int i = 0; i < sides * numbers; i++)
        w->varying_at[i] = at(jet, w->item_varying, (size_t)i * (size_t)state->item_stride);
    state->set.varying(state->set.context, (size_t)(state - jet->states), first, count, worker,
                       w->coordinate_at, w->varying_at);
    for (int i = 0; i < sides * numbers; i++) {
        size_t side = (size_t)(i / numbers), k = (size_t)(i % numbers);
        repeat_last(jet, w->varying_at[i], count, (size_t)state->items);
        copy(jet,
             at(jet, w->varying, k * (size_t)state->point_stride + side * (size_t)state->items),
             w->varying_at[i], state->items);
    }
}

static sgi_activate activate_args(const sg_jet *jet, const sgi_jet_state *state, int worker,
                                  int layer)
{
    return (sgi_activate){.varying = jet->workers[worker].varying,
                          .point_stride = state->point_stride,
                          .chain = &state->set.plan->chain,
                          .activation = jet->network->activation,
                          .frequency = jet->network->frequency,
                          .general = jet->general,
                          .points = state->points,
                          .width = jet->shapes[layer].outputs,
                          .stride = jet->shapes[layer].output_stride};
}

static const void *packed_layer(const sg_jet *jet, void *packed, int layer)
{
    return at(jet, packed, jet->packed_begin[layer]);
}

/* What layer `layer` takes in. */
static void *layer_input(const sgi_jet_worker *w, int layer)
{
    return layer == 0 ? w->features : w->a[layer - 1];
}

/* Address of (side, request, output)'s array over items. */
static void *request_array(const sg_jet *jet, const sgi_jet_state *state, void *arrays, int side,
                           size_t request, int output)
{
    size_t index =
        ((size_t)side * state->set.plan->requests + request) * (size_t)jet->network->outputs +
        (size_t)output;
    return at(jet, arrays, index * (size_t)state->item_stride);
}

/* Address of (channel, output)'s array over the points of a side. */
static void *channel_array(const sg_jet *jet, const sgi_jet_state *state, void *y, int channel,
                           int output, int side)
{
    size_t line = (size_t)(channel * jet->network->outputs + output);
    return at(jet, y, line * (size_t)state->point_stride + (size_t)side * (size_t)state->items);
}

/* to = or += coefficient * from */
static void add_scaled(const sg_jet *jet, void *to, const void *from, double coefficient, bool add,
                       size_t count)
{
    if (jet->network->type == SG_FLOAT32) {
        float *t = to, c = (float)coefficient;
        for (size_t i = 0; i < count; i++)
            t[i] = (add ? t[i] : 0) + c * ((const float *)from)[i];
    } else {
        double *t = to;
        for (size_t i = 0; i < count; i++)
            t[i] = (add ? t[i] : 0) + coefficient * ((const double *)from)[i];
    }
}

/* Requests from channels, for values and for tangents. */
static void scatter(const sg_jet *jet, const sgi_jet_state *state, void *y, void *arrays)
{
    const sg_jet_plan *plan = state->set.plan;
    for (int side = 0; side < state->set.points_per_item; side++)
        for (size_t r = 0; r < plan->requests; r++)
            for (int o = 0; o < jet->network->outputs; o++)
                for (size_t i = plan->part_begin[r]; i < plan->part_begin[r + 1]; i++)
                    add_scaled(jet, request_array(jet, state, arrays, side, r, o),
                               channel_array(jet, state, y, plan->parts[i].channel, o, side),
                               plan->parts[i].coefficient, i > plan->part_begin[r],
                               (size_t)state->items);
}

void sgi_tile_forward(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                      size_t count)
{
    sgi_jet_worker *w = &jet->workers[worker];
    const sgi_kernels *kernels = jet->kernels;
    int last = jet->network->layer_count - 1;
    make_points(jet, state, worker, first, count);
    make_varying(jet, state, worker, first, count);
    kernels->features(&state->features, w->coordinates, w->varying, w->features);
    for (int l = 0; l < last; l++) {
        sgi_activate args = activate_args(jet, state, worker, l);
        kernels->forward(&jet->shapes[l], packed_layer(jet, jet->packed, l), state->rows,
                         state->points, false, layer_input(w, l), w->z[l]);
        kernels->activate(&args, w->z[l], w->a[l], w->memo[l]);
    }
    kernels->output(&jet->shapes[last], packed_layer(jet, jet->packed, last),
                    state->set.plan->channels, state->points, state->point_stride, false,
                    layer_input(w, last), w->y);
    scatter(jet, state, w->y, w->values);
}

/* ---- Residual ----------------------------------------------------------------------------- */

/* What a callback does not write must not pass for a residual. */
static void forget(const sg_jet *jet, void *residuals, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jet->network->type == SG_FLOAT32)
            ((float *)residuals)[i] = NAN;
        else
            ((double *)residuals)[i] = (double)NAN;
}

void sgi_tile_residual(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                       size_t count, int component, double *sums)
{
    sgi_jet_worker *w = &jet->workers[worker];
    bool reverse = jet->call.mode != SG_JET_FORWARD;
    size_t arrays = (size_t)state->set.points_per_item * state->set.plan->requests *
                    (size_t)jet->network->outputs;
    size_t stride = (size_t)state->item_stride, size = sgi_type_size(jet->network->type);
    if (reverse)
        memset(w->adjoints, 0, arrays * stride * size);
    for (size_t i = 0; i < arrays; i++) {
        w->value_at[i] = at(jet, w->values, i * stride);
        if (reverse)
            w->adjoint_at[i] = at(jet, w->adjoints, i * stride);
    }
    size_t scalars = jet->network->scalar_count;
    if (reverse && scalars > 0)
        memset(w->scalars, 0, scalars * stride * size);
    for (size_t i = 0; i < scalars && reverse; i++)
        w->scalar_at[i] = at(jet, w->scalars, i * stride);
    bool kept = jet->call.mode == SG_JET_ROWS && jet->call.store.residuals;
    if (kept)
        forget(jet, w->residuals, count);
    sg_jet_tile tile = {
        .set = (size_t)(state - jet->states),
        .first = first,
        .count = count,
        .worker = worker,
        .component = component,
        .coordinates = w->coordinate_at,
        .values = (const void *const *)w->value_at,
        .adjoints = reverse ? w->adjoint_at : NULL,
        .scalars = scalars > 0 ? at(jet, jet->network->values, jet->network->scalar_begin) : NULL,
        .scalar_adjoints = reverse && scalars > 0 ? w->scalar_at : NULL,
        .sums = sums,
        .residuals = kept ? w->residuals : NULL};
    state->set.residual(state->set.context, &tile);
}

void sgi_tile_clear(const sg_jet *jet, const sgi_jet_state *state, int worker)
{
    size_t count =
        (size_t)(state->set.plan->channels * jet->network->outputs) * (size_t)state->point_stride;
    memset(jet->workers[worker].y_moved, 0, count * sgi_type_size(jet->network->type));
}

/* to += coefficient * weights[i * step] * from */
static void add_weighted(const sg_jet *jet, void *to, const void *from, double coefficient,
                         size_t count, const double *weights, size_t step)
{
    for (size_t i = 0; i < count; i++) {
        double factor = coefficient * weights[i * step];
        if (jet->network->type == SG_FLOAT32)
            ((float *)to)[i] += (float)(factor * (double)((const float *)from)[i]);
        else
            ((double *)to)[i] += factor * ((const double *)from)[i];
    }
}

void sgi_tile_gather(sg_jet *jet, const sgi_jet_state *state, int worker, size_t count,
                     const double *weights, size_t step)
{
    sgi_jet_worker *w = &jet->workers[worker];
    const sg_jet_plan *plan = state->set.plan;
    for (int side = 0; side < state->set.points_per_item; side++)
        for (size_t r = 0; r < plan->requests; r++)
            for (int o = 0; o < jet->network->outputs; o++)
                for (size_t i = plan->part_begin[r]; i < plan->part_begin[r + 1]; i++) {
                    void *to =
                        channel_array(jet, state, w->y_moved, plan->parts[i].channel, o, side);
                    void *from = request_array(jet, state, w->adjoints, side, r, o);
                    double coefficient = plan->parts[i].coefficient;
                    if (weights)
                        add_weighted(jet, to, from, coefficient, count, weights, step);
                    else
                        add_scaled(jet, to, from, coefficient, true, count);
                }
}

/* ---- Reverse ------------------------------------------------------------------------------ */

/* Where a layer's weight gradient goes: added to a unit's, or one row for each item. */
typedef struct sink {
    void *gradient; /* NULL: the call's store */
    size_t first, count;
    int component;
} sink;

/* The layer's part of one row for each item. */
static void keep_rows(sg_jet *jet, const sgi_jet_state *state, void *z, void *a, int layer,
                      const sink *to)
{
    const sgi_layer_shape *shape = &jet->shapes[layer];
    const sgi_jet_store *store = &jet->call.store;
    size_t points = (size_t)state->points, items = (size_t)state->items;
    size_t in = (size_t)shape->input_stride, out = (size_t)shape->output_stride;
    size_t line = (size_t)state->point_stride, components = (size_t)state->set.components;
    sgi_item_rows rows = {state->set.points_per_item,
                          state->set.plan->channels,
                          shape->last ? items : items * out,
                          shape->last ? (size_t)shape->outputs * line : points * out,
                          shape->last ? line : 1,
                          items * in,
                          points * in,
                          store->stream};
    for (size_t i = 0; i < to->count; i++) {
        size_t row = (to->first + i) * components + (size_t)to->component;
        void *weight = at(jet, store->rows, row * store->row_size + store->layers[layer].begin);
        jet->kernels->item_row(shape, &rows, at(jet, z, i * (shape->last ? 1 : out)),
                               at(jet, a, i * in), weight,
                               at(jet, weight, (size_t)shape->outputs * (size_t)shape->inputs));
    }
}

/* One item's inputs of the layer, (sides * channels, inputs). */
static void keep_inputs(sg_jet *jet, const sgi_jet_state *state, void *a, int layer, size_t item,
                        void *to)
{
    const sgi_layer_shape *shape = &jet->shapes[layer];
    int rows = state->set.points_per_item * state->set.plan->channels;
    for (int r = 0; r < rows; r++) {
        int side = r / state->set.plan->channels, channel = r % state->set.plan->channels;
        size_t row = (size_t)(channel * state->points + side * state->items) + item;
        copy(jet, at(jet, to, (size_t)r * (size_t)shape->inputs),
             at(jet, a, row * (size_t)shape->input_stride), shape->inputs);
    }
}

/* Its adjoints of the layer, (sides * channels, outputs). */
static void keep_adjoints(sg_jet *jet, const sgi_jet_state *state, void *z, int layer, size_t item,
                          void *to)
{
    const sgi_layer_shape *shape = &jet->shapes[layer];
    int rows = state->set.points_per_item * state->set.plan->channels;
    for (int r = 0; r < rows; r++) {
        int side = r / state->set.plan->channels, channel = r % state->set.plan->channels;
        size_t point = (size_t)(side * state->items) + item;
        void *row = at(jet, to, (size_t)r * (size_t)shape->outputs);
        if (!shape->last)
            copy(jet, row,
                 at(jet, z,
                    ((size_t)(channel * state->points) + point) * (size_t)shape->output_stride),
                 shape->outputs);
        else
            for (int o = 0; o < shape->outputs; o++)
                copy(jet, at(jet, row, (size_t)o),
                     at(jet, z,
                        (size_t)(channel * shape->outputs + o) * (size_t)state->point_stride +
                            point),
                     1);
    }
}

static void keep_factors(sg_jet *jet, const sgi_jet_state *state, void *z, void *a, int layer,
                         const sink *to)
{
    const sgi_jet_store *store = &jet->call.store;
    const sgi_jet_kept *kept = &store->layers[layer];
    size_t rows = (size_t)(state->set.points_per_item * state->set.plan->channels);
    size_t adjoint =
        kept->adjoints + (size_t)to->component * rows * (size_t)jet->shapes[layer].outputs;
    for (size_t i = 0; i < to->count; i++) {
        size_t item = to->first + i;
        if (to->component == 0)
            keep_inputs(jet, state, a, layer, i,
                        at(jet, store->inputs, item * store->input_size + kept->begin));
        keep_adjoints(jet, state, z, layer, i,
                      at(jet, store->adjoints, item * store->adjoint_size + adjoint));
    }
}

static void layer_gradient(sg_jet *jet, const sgi_jet_state *state, int worker, int layer,
                           void *adjoint, const sink *to)
{
    const sgi_layer_shape *shape = &jet->shapes[layer];
    void *in = layer_input(&jet->workers[worker], layer);
    if (!to->gradient) {
        if (jet->call.store.layers[layer].factored)
            keep_factors(jet, state, adjoint, in, layer, to);
        else
            keep_rows(jet, state, adjoint, in, layer, to);
        return;
    }
    void *gradient = at(jet, to->gradient, jet->gradient_begin[layer]);
    if (shape->last)
        jet->kernels->output_weights(shape, state->set.plan->channels, state->points,
                                     state->point_stride, 0, state->points, adjoint, in, gradient);
    else
        jet->kernels->weights(shape, state->rows, 1, state->points, adjoint, in, gradient);
}

static void reverse_into(sg_jet *jet, const sgi_jet_state *state, int worker, const sink *to)
{
    sgi_jet_worker *w = &jet->workers[worker];
    const sgi_kernels *kernels = jet->kernels;
    int last = jet->network->layer_count - 1;
    void *adjoint = w->moved[0], *next = w->moved[1];
    layer_gradient(jet, state, worker, last, w->y_moved, to);
    if (last == 0)
        return;
    kernels->output_reverse(&jet->shapes[last], packed_layer(jet, jet->packed, last),
                            state->set.plan->channels, state->points, state->point_stride,
                            w->y_moved, adjoint);
    for (int l = last - 1; l >= 0; l--) {
        sgi_activate args = activate_args(jet, state, worker, l);
        kernels->activate_reverse(&args, w->z[l], w->a[l], w->memo[l], adjoint);
        layer_gradient(jet, state, worker, l, adjoint, to);
        if (l == 0)
            break;
        kernels->reverse(&jet->shapes[l], packed_layer(jet, jet->packed, l), state->rows, adjoint,
                         next);
        void *swap = adjoint;
        adjoint = next;
        next = swap;
    }
}

void sgi_tile_reverse(sg_jet *jet, const sgi_jet_state *state, int worker, void *gradient)
{
    reverse_into(jet, state, worker, &(sink){.gradient = gradient});
}

void sgi_tile_reverse_rows(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                           size_t count, int component)
{
    reverse_into(jet, state, worker, &(sink){NULL, first, count, component});
}

/* ---- Tangent ------------------------------------------------------------------------------ */

void sgi_tile_tangent(sg_jet *jet, const sgi_jet_state *state, int worker)
{
    sgi_jet_worker *w = &jet->workers[worker];
    const sgi_kernels *kernels = jet->kernels;
    int last = jet->network->layer_count - 1, channels = state->set.plan->channels;
    void *in = w->moved[0], *out = w->moved[1];
    for (int l = 0; l < last; l++) {
        sgi_activate args = activate_args(jet, state, worker, l);
        kernels->forward(&jet->shapes[l], packed_layer(jet, jet->packed_direction, l), state->rows,
                         state->points, false, layer_input(w, l), out);
        if (l > 0)
            kernels->forward(&jet->shapes[l], packed_layer(jet, jet->packed, l), state->rows, 0,
                             true, in, out);
        kernels->activate_tangent(&args, w->z[l], w->a[l], w->memo[l], out);
        void *swap = in;
        in = out;
        out = swap;
    }
    kernels->output(&jet->shapes[last], packed_layer(jet, jet->packed_direction, last), channels,
                    state->points, state->point_stride, false, layer_input(w, last), w->y_moved);
    if (last > 0)
        kernels->output(&jet->shapes[last], packed_layer(jet, jet->packed, last), channels,
                        state->points, state->point_stride, true, in, w->y_moved);
    scatter(jet, state, w->y_moved, w->tangents);
}
