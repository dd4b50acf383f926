/* Running the lists: the forward and the backward pass, and the steps that are not chains (those
 * are in epilogue.c). Everything was decided when the lists were made; a step only looks up
 * addresses. */
#include <string.h>

#include "base/random.h"
#include "graph/internal.h"

static const sgi_net_op *op_of(const sg_net *graph, const sgi_step *step)
{
    return &graph->ops[step->op];
}

/* ---- Convolution and pooling -------------------------------------------------------------- */

sg_status sgi_conv_forward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    const sgi_node_entry *e = &graph->nodes[op->weights];
    sg_status status =
        sgi_dnn_conv_forward(op->conv, sgi_at(graph, op->x), sgi_value_of(graph, e->weight),
                             sgi_value_of(graph, e->bias), sgi_at(graph, op->residual),
                             sgi_at(graph, op->y), graph->work, false);
    if (status == SG_OK && op->finish)
        sgi_finish_conv(graph, op);
    return status;
}

sg_status sgi_conv_backward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    const sgi_node_entry *e = &graph->nodes[op->weights];
    const float *dz = sgi_at(graph, step->g.a);
    sg_status status = SG_OK;
    if (op->own_weights)
        op->own_weights(graph, op, dz);
    else
        status = sgi_dnn_conv_backward_weights(op->conv, sgi_at(graph, op->x), dz,
                                               sgi_gradient_of(graph, e->weight),
                                               sgi_gradient_of(graph, e->bias), graph->work);
    if (status == SG_OK && step->dx != SG_NONE)
        status = sgi_dnn_conv_backward_data(op->conv, dz, sgi_value_of(graph, e->weight),
                                            sgi_at(graph, step->dx), graph->work);
    return status;
}

sg_status sgi_pool_forward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    return sgi_dnn_pool_forward(op->pool, sgi_at(graph, op->x), sgi_at(graph, op->y),
                                sgi_at(graph, op->memory), graph->work);
}

sg_status sgi_pool_backward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    return sgi_dnn_pool_backward(op->pool, sgi_at(graph, step->g.a), sgi_at(graph, op->memory),
                                 sgi_at(graph, step->dx), graph->work);
}

/* ---- Linear ------------------------------------------------------------------------------- */

sg_status sgi_linear_forward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    const sgi_node_entry *e = &graph->nodes[op->weights];
    const float *bias = sgi_value_of(graph, e->bias);
    float *y = sgi_at(graph, op->y);
    sg_status status = sgi_dnn_product(graph->dnn, false, true, op->out.n, op->out.c, op->in.c,
                                       sgi_at(graph, op->x), sgi_value_of(graph, e->weight), y);
    if (bias && status == SG_OK)
        for (int n = 0; n < op->out.n; n++, y += op->out.c)
            for (int c = 0; c < op->out.c; c++)
                y[c] += bias[c];
    return status;
}

static void sum_columns(const float *dy, int rows, int columns, float *sum)
{
    memset(sum, 0, (size_t)columns * sizeof *sum);
    for (int n = 0; n < rows; n++, dy += columns)
        for (int c = 0; c < columns; c++)
            sum[c] += dy[c];
}

sg_status sgi_linear_backward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    const sgi_node_entry *e = &graph->nodes[op->weights];
    const float *dy = sgi_at(graph, step->g.a);
    int batch = op->out.n, in = op->in.c, out = op->out.c;
    sg_status status = sgi_dnn_product(graph->dnn, true, false, out, in, batch, dy,
                                       sgi_at(graph, op->x), sgi_gradient_of(graph, e->weight));
    if (e->bias != SG_NONE)
        sum_columns(dy, batch, out, sgi_gradient_of(graph, e->bias));
    if (status == SG_OK && step->dx != SG_NONE)
        status = sgi_dnn_product(graph->dnn, false, false, batch, in, out, dy,
                                 sgi_value_of(graph, e->weight), sgi_at(graph, step->dx));
    return status;
}

/* ---- Small steps -------------------------------------------------------------------------- */

sg_status sgi_global_backward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    const float *g = sgi_at(graph, step->g.a);
    float *offset = sgi_at(graph, step->dx), factor = 1 / (float)sgi_pixels(op->in);
    for (size_t i = 0; i < sgi_shape_floats(op->out, 1); i++)
        offset[i] = factor * g[i];
    return SG_OK;
}

/* Where element (n, c, pixel) of a tensor lies. */
static size_t place_of(sgi_shape s, int lanes, int n, int c, size_t pixel)
{
    if (s.layout != SG_LAYOUT_BLOCKED)
        return ((size_t)n * (size_t)s.c + (size_t)c) * sgi_pixels(s) + pixel;
    size_t row = (size_t)n * sgi_blocks_of(s, lanes) + (size_t)(c / lanes);
    return (row * sgi_pixels(s) + pixel) * (size_t)lanes + (size_t)(c % lanes);
}

/* Copies between a tensor of shape `s` and its flat form (N, C * H * W). */
static void copy_flat(const sg_net *graph, sgi_shape s, float *tensor, float *flat, bool to_flat)
{
    for (int n = 0; n < s.n; n++)
        for (int c = 0; c < s.c; c++)
            for (size_t pixel = 0; pixel < sgi_pixels(s); pixel++, flat++) {
                float *element = tensor + place_of(s, graph->rows->lanes, n, c, pixel);
                if (to_flat)
                    *flat = *element;
                else
                    *element = *flat;
            }
}

sg_status sgi_flatten_forward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    copy_flat(graph, op->in, sgi_at(graph, op->x), sgi_at(graph, op->y), true);
    return SG_OK;
}

sg_status sgi_flatten_backward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    if (step->dx == SG_NONE)
        return SG_OK;
    float *dx = sgi_at(graph, step->dx);
    memset(dx, 0, sgi_shape_floats(op->in, graph->rows->lanes) * sizeof *dx);
    copy_flat(graph, op->in, dx, sgi_at(graph, step->g.a), false);
    return SG_OK;
}

/* The mask: element i of the tensor of all ranks, in memory order, is kept by random number i of
 * the step. */
static void draw_mask(const sg_net *graph, const sgi_net_op *op, int index, float *mask,
                      size_t count)
{
    float keep = sgi_is_dropping(graph) ? (float)(1 / (1 - op->drop)) : 1;
    uint32_t limit = sgi_is_dropping(graph) ? (uint32_t)(op->drop * 4294967296.0) : 0;
    uint64_t calls = (sgi_net_ranks(graph) * count + 3) / 4;
    uint64_t first = sgi_net_first(graph, count), end = first + count;
    for (uint64_t call = first / 4; 4 * call < end; call++) {
        uint32_t bits[4];
        sgi_random_bits(graph->config.seed, sgi_stream_of(index), graph->step * calls + call, bits);
        for (uint64_t i = 4 * call; i < 4 * call + 4; i++)
            if (i >= first && i < end)
                mask[i - first] = bits[i % 4] < limit ? 0 : keep;
    }
}

static void multiply(const float *x, const float *mask, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] * mask[i];
}

sg_status sgi_dropout_forward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    size_t count = sgi_shape_floats(op->out, graph->rows->lanes);
    float *mask = sgi_at(graph, op->memory);
    draw_mask(graph, op, step->op, mask, count);
    multiply(sgi_at(graph, op->x), mask, sgi_at(graph, op->y), count);
    return SG_OK;
}

sg_status sgi_dropout_backward(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = op_of(graph, step);
    if (step->dx != SG_NONE)
        multiply(sgi_at(graph, step->g.a), sgi_at(graph, op->memory), sgi_at(graph, step->dx),
                 sgi_shape_floats(op->out, graph->rows->lanes));
    return SG_OK;
}

/* ---- The lists ---------------------------------------------------------------------------- */

static sg_status run_list(sg_net *graph, const sgi_step *steps, int count)
{
    sg_status status = SG_OK;
    sgi_dnn_before before = sgi_dnn_enter(graph->dnn);
    for (int i = 0; i < count && status == SG_OK; i++)
        status = steps[i].run(graph, &steps[i]);
    sgi_dnn_leave(before);
    if (status == SG_OK || status == SG_ERROR_REDUCE) /* which has its diagnostic */
        return status;
    return sgi_net_fail(graph, status, "a kernel refused to run");
}

sg_status sg_net_forward(sg_net *graph, const float *images, sg_mode mode, uint64_t step)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    if (!images || (mode != SG_MODE_TRAIN && mode != SG_MODE_EVAL) ||
        (mode == SG_MODE_TRAIN && !graph->config.training))
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "no images, or no training graph");
    memcpy(sgi_at(graph, graph->images_buffer), images,
           sgi_shape_floats(graph->nodes[0].shape, 1) * sizeof *images);
    graph->mode = mode;
    graph->step = step;
    sg_status status = run_list(graph, graph->forward, graph->forward_count);
    graph->ran = status == SG_OK;
    graph->batches += graph->ran && mode == SG_MODE_TRAIN;
    return status;
}

sg_status sg_net_backward(sg_net *graph)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->ran || graph->mode != SG_MODE_TRAIN)
        return SG_ERROR_ORDER;
    graph->ran = false; /* the backward pass writes over what the forward pass left */
    sg_status status = run_list(graph, graph->backward, graph->backward_count);
    if (status != SG_OK)
        return status;
    return sgi_net_sum(graph, graph->gradients, SG_FLOAT32, graph->value_count);
}

const float *sg_net_logits(const sg_net *graph)
{
    return graph && graph->compiled ? sgi_at(graph, graph->nodes[graph->logits].value) : NULL;
}

float *sg_net_signal(sg_net *graph)
{
    return graph && graph->compiled ? sgi_at(graph, graph->signal_buffer) : NULL;
}

int sg_net_classes(const sg_net *graph)
{
    return graph && graph->compiled ? graph->nodes[graph->logits].shape.c : 0;
}
