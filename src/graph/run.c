/* Running the lists: forward, backward, and the steps that are not chains. */
#include <string.h>

#include "base/random.h"
#include "graph/internal.h"

static const sg_op *op_of(const sg_net *graph, const sg_step *step)
{
    return &graph->ops[step->op];
}

/* ---- Convolution and pooling -------------------------------------------------------------- */

sg_status sg_conv_forward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    const sg_node_entry *e = &graph->nodes[op->weights];
    sg_status status = sg_dnn_conv_forward(
        op->conv, sg_at(graph, op->x), sg_value_of(graph, e->weight), sg_value_of(graph, e->bias),
        sg_at(graph, op->residual), sg_at(graph, op->y), graph->work, false);
    if (status == SG_OK && op->finish)
        sg_finish_conv(graph, op);
    return status;
}

sg_status sg_conv_backward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    const sg_node_entry *e = &graph->nodes[op->weights];
    const float *dz = sg_at(graph, step->g.a);
    sg_status status = SG_OK;
    if (op->own_weights)
        op->own_weights(graph, op, dz);
    else
        status = sg_dnn_conv_backward_weights(op->conv, sg_at(graph, op->x), dz,
                                              sg_gradient_of(graph, e->weight),
                                              sg_gradient_of(graph, e->bias), graph->work);
    if (status == SG_OK && step->dx != SG_NONE)
        status = sg_dnn_conv_backward_data(op->conv, dz, sg_value_of(graph, e->weight),
                                           sg_at(graph, step->dx), graph->work);
    return status;
}

sg_status sg_pool_forward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    return sg_dnn_pool_forward(op->pool, sg_at(graph, op->x), sg_at(graph, op->y),
                               sg_at(graph, op->memory), graph->work);
}

sg_status sg_pool_backward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    return sg_dnn_pool_backward(op->pool, sg_at(graph, step->g.a), sg_at(graph, op->memory),
                                sg_at(graph, step->dx), graph->work);
}

/* ---- Linear ------------------------------------------------------------------------------- */

sg_status sg_linear_forward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    const sg_node_entry *e = &graph->nodes[op->weights];
    const float *bias = sg_value_of(graph, e->bias);
    float *y = sg_at(graph, op->y);
    sg_status status = sg_dnn_product(graph->dnn, false, true, op->out.n, op->out.c, op->in.c,
                                      sg_at(graph, op->x), sg_value_of(graph, e->weight), y);
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

sg_status sg_linear_backward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    const sg_node_entry *e = &graph->nodes[op->weights];
    const float *dy = sg_at(graph, step->g.a);
    int batch = op->out.n, in = op->in.c, out = op->out.c;
    sg_status status = sg_dnn_product(graph->dnn, true, false, out, in, batch, dy,
                                      sg_at(graph, op->x), sg_gradient_of(graph, e->weight));
    if (e->bias != SG_NONE)
        sum_columns(dy, batch, out, sg_gradient_of(graph, e->bias));
    if (status == SG_OK && step->dx != SG_NONE)
        status = sg_dnn_product(graph->dnn, false, false, batch, in, out, dy,
                                sg_value_of(graph, e->weight), sg_at(graph, step->dx));
    return status;
}

/* ---- Small steps -------------------------------------------------------------------------- */

sg_status sg_global_backward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    const float *g = sg_at(graph, step->g.a);
    float *offset = sg_at(graph, step->dx), factor = 1 / (float)sg_pixels(op->in);
    for (size_t i = 0; i < sg_shape_floats(op->out, 1); i++)
        offset[i] = factor * g[i];
    return SG_OK;
}

/* Where element (n, c, pixel) of a tensor lies. */
static size_t place_of(sg_shape s, int lanes, int n, int c, size_t pixel)
{
    if (s.layout != SG_LAYOUT_BLOCKED)
        return ((size_t)n * (size_t)s.c + (size_t)c) * sg_pixels(s) + pixel;
    size_t row = (size_t)n * sg_blocks_of(s, lanes) + (size_t)(c / lanes);
    return (row * sg_pixels(s) + pixel) * (size_t)lanes + (size_t)(c % lanes);
}

/* Copies between a tensor of shape `s` and its flat form (N, C * H * W). */
static void copy_flat(const sg_net *graph, sg_shape s, float *tensor, float *flat, bool to_flat)
{
    for (int n = 0; n < s.n; n++)
        for (int c = 0; c < s.c; c++)
            for (size_t pixel = 0; pixel < sg_pixels(s); pixel++, flat++) {
                float *element = tensor + place_of(s, graph->rows->lanes, n, c, pixel);
                if (to_flat)
                    *flat = *element;
                else
                    *element = *flat;
            }
}

sg_status sg_flatten_forward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    copy_flat(graph, op->in, sg_at(graph, op->x), sg_at(graph, op->y), true);
    return SG_OK;
}

sg_status sg_flatten_backward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    if (step->dx == SG_NONE)
        return SG_OK;
    float *dx = sg_at(graph, step->dx);
    memset(dx, 0, sg_shape_floats(op->in, graph->rows->lanes) * sizeof *dx);
    copy_flat(graph, op->in, dx, sg_at(graph, step->g.a), false);
    return SG_OK;
}

/* The mask: element i of the tensor in memory order is kept by random number i of the step. */
static void draw_mask(const sg_net *graph, const sg_op *op, int index, float *mask, size_t count)
{
    float keep = sg_is_dropping(graph) ? (float)(1 / (1 - op->drop)) : 1;
    uint32_t limit = sg_is_dropping(graph) ? (uint32_t)(op->drop * 4294967296.0) : 0;
    uint64_t calls = (count + 3) / 4;
    for (uint64_t call = 0; call < calls; call++) {
        uint32_t bits[4];
        sg_random_bits(graph->config.seed, sg_stream_of(index), graph->step * calls + call, bits);
        for (size_t i = 0; i < 4 && 4 * call + i < count; i++)
            mask[4 * call + i] = bits[i] < limit ? 0 : keep;
    }
}

static void multiply(const float *x, const float *mask, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] * mask[i];
}

sg_status sg_dropout_forward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    size_t count = sg_shape_floats(op->out, graph->rows->lanes);
    float *mask = sg_at(graph, op->memory);
    draw_mask(graph, op, step->op, mask, count);
    multiply(sg_at(graph, op->x), mask, sg_at(graph, op->y), count);
    return SG_OK;
}

sg_status sg_dropout_backward(sg_net *graph, const sg_step *step)
{
    const sg_op *op = op_of(graph, step);
    if (step->dx != SG_NONE)
        multiply(sg_at(graph, step->g.a), sg_at(graph, op->memory), sg_at(graph, step->dx),
                 sg_shape_floats(op->out, graph->rows->lanes));
    return SG_OK;
}

/* ---- The lists ---------------------------------------------------------------------------- */

static sg_status run_list(sg_net *graph, const sg_step *steps, int count)
{
    sg_status status = SG_OK;
    sg_dnn_before before = sg_dnn_enter(graph->dnn);
    for (int i = 0; i < count && status == SG_OK; i++)
        status = steps[i].run(graph, &steps[i]);
    sg_dnn_leave(before);
    return status == SG_OK ? SG_OK : sg_net_fail(graph, status, "a kernel refused to run");
}

sg_status sg_net_forward(sg_net *graph, const float *images, sg_mode mode, uint64_t step)
{
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    if (!images || (mode != SG_MODE_TRAIN && mode != SG_MODE_EVAL) ||
        (mode == SG_MODE_TRAIN && !graph->config.training))
        return sg_net_fail(graph, SG_ERROR_ARGUMENT, "no images, or no training graph");
    memcpy(sg_at(graph, graph->images_buffer), images,
           sg_shape_floats(graph->nodes[0].shape, 1) * sizeof *images);
    graph->mode = mode;
    graph->step = step;
    sg_status status = run_list(graph, graph->forward, graph->forward_count);
    graph->ran = status == SG_OK;
    graph->batches += graph->ran && mode == SG_MODE_TRAIN;
    return status;
}

sg_status sg_net_backward(sg_net *graph)
{
    if (!graph->ran || graph->mode != SG_MODE_TRAIN)
        return SG_ERROR_ORDER;
    graph->ran = false; /* the backward pass writes over what the forward pass left */
    return run_list(graph, graph->backward, graph->backward_count);
}

const float *sg_net_logits(const sg_net *graph)
{
    return graph->compiled ? sg_at(graph, graph->nodes[graph->logits].value) : NULL;
}

float *sg_net_signal(sg_net *graph)
{
    return graph->compiled ? sg_at(graph, graph->signal_buffer) : NULL;
}

int sg_net_classes(const sg_net *graph)
{
    return graph->compiled ? graph->nodes[graph->logits].shape.c : 0;
}
