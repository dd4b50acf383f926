/* From nodes and chains to ops and the list of forward steps.
 *
 * Nodes are what the user built; an op is what runs as one call: a convolution with all that is
 * fused into it, a chain in one pass, a pooling. Everything that costs time is decided here, once:
 * which kernel, which fusion, which buffers. A step then only walks the list. The number of a step
 * in the list is its time, from which plan.c learns how long each buffer lives. */
#include <string.h>

#include "graph/internal.h"

int sgi_add_buffer(sg_net *graph, size_t floats)
{
    if (sgi_grow_array(&graph->allocator, &graph->buffers, (size_t)graph->buffer_count,
                       &graph->buffer_capacity, 32, sizeof *graph->buffers) != SG_OK) {
        sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
        return SG_NONE;
    }
    size_t bytes = sgi_align_up(floats * sizeof(float), SG_ALIGNMENT);
    graph->buffers[graph->buffer_count] = (sgi_buffer){.bytes = bytes, .first = 1, .last = 0};
    return graph->buffer_count++;
}

/* A buffer that was never touched has last < first: it needs no memory. */
void sgi_touch(sg_net *graph, int buffer, int time)
{
    if (buffer == SG_NONE)
        return;
    sgi_buffer *b = &graph->buffers[buffer];
    if (b->last < b->first)
        b->first = b->last = time;
    if (time < b->first)
        b->first = time;
    if (time > b->last)
        b->last = time;
}

sg_status sgi_add_step(sg_net *graph, bool backward, const sgi_step *step)
{
    sgi_step **list = backward ? &graph->backward : &graph->forward;
    int *count = backward ? &graph->backward_count : &graph->forward_count;
    size_t *capacity = backward ? &graph->backward_capacity : &graph->forward_capacity;
    sg_status status =
        sgi_grow_array(&graph->allocator, list, (size_t)*count, capacity, 32, sizeof **list);
    if (status != SG_OK)
        return sgi_net_fail(graph, status, "out of memory");
    (*list)[(*count)++] = *step;
    return SG_OK;
}

/* A new op for the tensor of `node`, with a buffer for it. NULL when memory is out. */
static sgi_net_op *add_op(sg_net *graph, sg_net_node node, sg_net_node x)
{
    if (sgi_grow_array(&graph->allocator, &graph->ops, (size_t)graph->op_count, &graph->op_capacity,
                       32, sizeof *graph->ops) != SG_OK) {
        sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
        return NULL;
    }
    sgi_node_entry *e = &graph->nodes[node];
    e->value = sgi_add_buffer(graph, sgi_shape_floats(e->shape, graph->rows->lanes));
    sgi_net_op *op = &graph->ops[graph->op_count++];
    *op = (sgi_net_op){.node = node,
                       .in = graph->nodes[x].shape,
                       .out = e->shape,
                       .x = graph->nodes[x].value,
                       .y = e->value,
                       .x_node = x,
                       .residual = SG_NONE,
                       .residual_node = SG_NO_NODE,
                       .scale = SG_NONE,
                       .pooled = SG_NONE,
                       .stats = SG_NONE,
                       .memory = SG_NONE,
                       .weights = SG_NO_NODE};
    return e->value == SG_NONE ? NULL : op;
}

/* Ops run one after the other and leave nothing in the work memory, so all share the largest piece.
 */
static void more_work(sg_net *graph, size_t bytes)
{
    if (bytes > graph->work_bytes)
        graph->work_bytes = bytes;
}

/* Appends the forward step of the newest op and says what it touches. */
static sg_status emit(sg_net *graph, sgi_step_function *run)
{
    int index = graph->op_count - 1, time = graph->forward_count;
    const sgi_net_op *op = &graph->ops[index];
    const int touched[] = {op->x,      op->y,     op->residual, op->scale,
                           op->pooled, op->stats, op->memory};
    for (size_t i = 0; i < sizeof touched / sizeof touched[0]; i++)
        sgi_touch(graph, touched[i], time);
    sgi_step step = {.run = run, .op = index};
    return sgi_add_step(graph, false, &step);
}

/* ---- Convolutions ------------------------------------------------------------------------- */

static sgi_dnn_conv_shape conv_shape(const sg_net *graph, sg_net_node conv,
                                     const sgi_net_chain *chain)
{
    const sgi_node_entry *e = &graph->nodes[conv];
    sgi_shape in = graph->nodes[e->in[0]].shape;
    return (sgi_dnn_conv_shape){
        .batch = in.n,
        .in = in.c,
        .out = e->shape.c,
        .groups = e->conv.groups,
        .height = in.h,
        .width = in.w,
        .kernel = e->conv.kernel,
        .stride = e->conv.stride,
        .pad = e->conv.pad,
        .rows = graph->rows,
        .plain_input = in.layout == SG_LAYOUT_PLAIN,
        .bias = e->bias != SG_NONE,
        .add = chain && chain->add != SG_NO_NODE,
        .act = chain && chain->act != SG_NO_NODE ? graph->nodes[chain->act].act : SG_ACT_NONE,
        .training = graph->config.training,
        /* Depthwise products are too thin to gain from bf16. */
        .bf16 = graph->config.precision != SG_PRECISION_FLOAT && e->conv.groups == 1,
        .winograd = true};
}

/* Whether oneDNN has no fast kernel for that pass. Its reference kernels are plain loops, tens of
 * times slower; their names say so, and there is no other way to ask. */
static bool is_reference(const sgi_dnn_conv *conv, int pass)
{
    return strstr(sgi_dnn_conv_kernel(conv, pass), "ref") != NULL;
}

/* Sums of few products, on whose edges and reductions oneDNN loses most of its time. */
static bool is_small(const sgi_dnn_conv_shape *s, sgi_shape out)
{
    int lanes = s->rows->lanes;
    return s->groups == 1 && !s->plain_input && !s->bias && !s->bf16 && s->kernel <= 3 &&
           s->in % lanes == 0 && s->out % lanes == 0 && s->batch * out.h * out.w <= SG_SMALL_SUM;
}

static bool is_depthwise(const sgi_dnn_conv_shape *s)
{
    return s->groups > 1 && s->groups == s->in && s->in == s->out && !s->plain_input &&
           s->kernel <= SG_MAX_DEPTHWISE;
}

/* Emits a convolution; with `chain`, as the chain's last node: the values between are never
 * written. What the kernel cannot fuse after all (Winograd's cannot) is finished by a pass over its
 * output. */
static sg_status lower_conv(sg_net *graph, sg_net_node conv, const sgi_net_chain *chain)
{
    sg_net_node out = chain ? chain->tail : conv;
    sgi_net_op *op = add_op(graph, out, graph->nodes[conv].in[0]);
    if (!op)
        return graph->failure;
    sgi_dnn_conv_shape shape = conv_shape(graph, conv, chain);
    sg_status status = sgi_dnn_conv_create(&op->conv, graph->dnn, &shape);
    if (status != SG_OK)
        return sgi_net_fail(graph, status, "%s: oneDNN has no such convolution",
                            graph->nodes[conv].name);
    op->weights = conv;
    op->act = shape.act;
    op->finish = (shape.add || shape.act != SG_ACT_NONE) && !sgi_dnn_conv_fuses(op->conv);
    if (is_depthwise(&shape) && shape.training && is_reference(op->conv, 2))
        op->own_weights = sgi_depthwise_weights;
    else if (is_small(&shape, op->out))
        op->own_weights = sgi_small_weights;
    if (shape.add) {
        op->residual_node = chain->residual;
        op->residual = graph->nodes[chain->residual].value;
    }
    more_work(graph, sgi_dnn_conv_work(op->conv));
    return emit(graph, sgi_conv_forward);
}

/* Drops the fusion of a chain when no fast kernel takes it, before anything is emitted: a fast
 * convolution and a pass over its output beat a fused reference kernel. When neither is fast the
 * fusion stays. The kernels are made for a forward pass only, which is enough to read their names.
 */
static sg_status settle_fusion(sg_net *graph, sgi_net_chain *chain)
{
    sgi_dnn_conv *with = NULL, *without = NULL;
    sgi_dnn_conv_shape shape = conv_shape(graph, chain->z, chain);
    shape.training = false;
    sg_status status = sgi_dnn_conv_create(&with, graph->dnn, &shape);
    shape.add = false;
    shape.act = SG_ACT_NONE;
    if (status != SG_OK)
        chain->fused = status == SG_ERROR_MEMORY;
    else if (is_reference(with, 0) &&
             (status = sgi_dnn_conv_create(&without, graph->dnn, &shape)) == SG_OK)
        chain->fused = is_reference(without, 0);
    sgi_dnn_conv_destroy(with);
    sgi_dnn_conv_destroy(without);
    return status == SG_ERROR_MEMORY ? sgi_net_fail(graph, status, "out of memory") : SG_OK;
}

/* ---- Chains ------------------------------------------------------------------------------- */

/* Four numbers for each channel, of the batch or of each image, which the backward pass needs
 * again. */
static sg_status give_stats(sg_net *graph, sgi_net_op *op)
{
    size_t lanes = (size_t)graph->rows->lanes;
    size_t rows = op->norm->norm.kind == SG_NORM_BATCH ? 1 : (size_t)op->out.n;
    op->stats = sgi_add_buffer(graph, rows * 4 * sgi_blocks_of(op->out, (int)lanes) * lanes);
    return graph->failure;
}

static sg_status lower_chain(sg_net *graph, const sgi_net_chain *chain)
{
    sgi_net_op *op = add_op(graph, chain->tail, chain->z);
    if (!op)
        return graph->failure;
    if (chain->norm != SG_NO_NODE) {
        op->norm = &graph->nodes[chain->norm];
        op->weights = chain->norm;
        if (give_stats(graph, op) != SG_OK)
            return graph->failure;
    }
    if (chain->act != SG_NO_NODE)
        op->act = graph->nodes[chain->act].act;
    if (chain->residual != SG_NO_NODE) {
        op->residual_node = chain->residual;
        op->residual = graph->nodes[chain->residual].value;
    }
    op->drop = chain->drop == SG_NO_NODE ? 0 : graph->nodes[chain->drop].p;
    /* Stochastic depth: what each image of the batch is multiplied by, drawn anew in every step. */
    op->keep = sgi_allocate(&graph->allocator, (size_t)op->out.n, sizeof(float));
    if (!op->keep)
        return sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
    return emit(graph, sgi_epilogue_forward);
}

/* ---- The rest ----------------------------------------------------------------------------- */

static sg_status lower_pool(sg_net *graph, sg_net_node node)
{
    const sgi_node_entry *e = &graph->nodes[node];
    sgi_net_op *op = add_op(graph, node, e->in[0]);
    if (!op)
        return graph->failure;
    sgi_dnn_pool_shape shape = {.kind = e->kind == SG_NODE_MAX_POOL ? SG_DNN_POOL_MAX
                                                                    : SG_DNN_POOL_AVERAGE,
                                .batch = op->in.n,
                                .channels = op->in.c,
                                .height = op->in.h,
                                .width = op->in.w,
                                .kernel = e->conv.kernel,
                                .stride = e->conv.stride,
                                .pad = e->conv.pad,
                                .block = graph->rows->lanes,
                                .training = graph->config.training};
    sg_status status = sgi_dnn_pool_create(&op->pool, graph->dnn, &shape);
    if (status != SG_OK)
        return sgi_net_fail(graph, status, "%s: oneDNN has no such pooling", e->name);
    /* Max pooling remembers which pixel won: its gradient goes there. */
    size_t bytes = sgi_dnn_pool_memory(op->pool);
    if (bytes && (op->memory = sgi_add_buffer(graph, bytes / sizeof(float) + 1)) == SG_NONE)
        return graph->failure;
    more_work(graph, sgi_dnn_pool_work(op->pool));
    return emit(graph, sgi_pool_forward);
}

/* The chain that writes `node`, if it can take the mean on the way. */
static sgi_net_op *chain_writing(sg_net *graph, sg_net_node node)
{
    for (int i = graph->op_count - 1; i >= 0; i--)
        if (graph->ops[i].node == node)
            return graph->ops[i].keep && graph->ops[i].pooled == SG_NONE ? &graph->ops[i] : NULL;
    return NULL;
}

/* A global average of what a chain writes costs nothing: the chain sums as it writes. */
static sg_status lower_global(sg_net *graph, sg_net_node node)
{
    sg_net_node x = graph->nodes[node].in[0];
    sgi_net_op *op = add_op(graph, node, x);
    if (!op)
        return graph->failure;
    sgi_net_op *writer = chain_writing(graph, x);
    if (writer) {
        /* The average is written at the time of that chain, which is earlier than its own place. */
        writer->pooled = op->y;
        for (int t = 0; t < graph->forward_count; t++)
            if (&graph->ops[graph->forward[t].op] == writer)
                sgi_touch(graph, op->y, t);
        return SG_OK;
    }
    return emit(graph, sgi_global_forward);
}

static sg_status lower_plain(sg_net *graph, sg_net_node node)
{
    const sgi_node_entry *e = &graph->nodes[node];
    sgi_net_op *op = add_op(graph, node, e->in[0]);
    if (!op)
        return graph->failure;
    switch (e->kind) {
    case SG_NODE_LINEAR:
        op->weights = node;
        return emit(graph, sgi_linear_forward);
    case SG_NODE_SCALE:
        op->scale = graph->nodes[e->in[1]].value;
        return emit(graph, sgi_scale_forward);
    case SG_NODE_DROPOUT:
        op->drop = e->p;
        /* The mask, for the backward pass. */
        op->memory = sgi_add_buffer(graph, sgi_shape_floats(op->out, graph->rows->lanes));
        if (op->memory == SG_NONE)
            return graph->failure;
        return emit(graph, sgi_dropout_forward);
    default:
        return emit(graph, sgi_flatten_forward);
    }
}

static sg_status lower_node(sg_net *graph, sg_net_node node)
{
    const sgi_node_entry *e = &graph->nodes[node];
    if (e->chain != SG_NONE) {
        sgi_net_chain *chain = &graph->chains[e->chain];
        if (node !=
            chain->tail) /* the whole chain is emitted where it ends: all inputs are there */
            return SG_OK;
        return chain->fused ? lower_conv(graph, chain->z, chain) : lower_chain(graph, chain);
    }
    switch (e->kind) {
    case SG_NODE_INPUT:
        return SG_OK;
    case SG_NODE_CONV: {
        const sgi_node_entry *user = e->uses == 1 ? &graph->nodes[e->user] : NULL;
        bool fused = user && user->chain != SG_NONE && graph->chains[user->chain].fused &&
                     graph->chains[user->chain].z == node;
        return fused ? SG_OK : lower_conv(graph, node, NULL);
    }
    case SG_NODE_MAX_POOL:
    case SG_NODE_AVERAGE_POOL:
        return lower_pool(graph, node);
    case SG_NODE_GLOBAL:
        return lower_global(graph, node);
    default:
        return lower_plain(graph, node);
    }
}

/* What the caller reads or writes between steps keeps its place for the whole step. */
static void pin(sg_net *graph, int buffer)
{
    graph->buffers[buffer].pinned = true;
    sgi_touch(graph, buffer, 0);
}

sg_status sgi_lower(sg_net *graph)
{
    sgi_shape input = graph->nodes[0].shape;
    graph->images_buffer = sgi_add_buffer(graph, sgi_shape_floats(input, 1));
    if (graph->failure != SG_OK)
        return graph->failure;
    graph->nodes[0].value = graph->images_buffer;
    pin(graph, graph->images_buffer);
    for (int i = 0; i < graph->chain_count; i++)
        if (graph->chains[i].fused && settle_fusion(graph, &graph->chains[i]) != SG_OK)
            return graph->failure;
    for (sg_net_node node = 0; node < graph->node_count; node++) {
        sg_status status = lower_node(graph, node);
        if (status != SG_OK)
            return status;
        sgi_node_entry *e = &graph->nodes[node];
        /* Before the first weight nobody wants a gradient: that of the images is never computed. */
        e->needs_gradient = e->weight != SG_NONE;
        for (int i = 0; i < 2; i++)
            if (e->in[i] != SG_NO_NODE && graph->nodes[e->in[i]].needs_gradient)
                e->needs_gradient = true;
    }
    pin(graph, graph->nodes[graph->logits].value);
    graph->signal_buffer =
        sgi_add_buffer(graph, sgi_shape_floats(graph->nodes[graph->logits].shape, 1));
    if (graph->failure == SG_OK)
        pin(graph, graph->signal_buffer);
    return graph->failure;
}
