/* The list of backward steps, made by walking the ops backwards.
 *
 * While it is made, each node holds its gradient as a sum not formed yet (sgi_gradient). A chain
 * takes such a sum as it is; whoever needs one array asks for it and a combining step is added. A
 * buffer that nobody else refers to is overwritten in place. */
#include "graph/internal.h"

static const sgi_gradient empty = {SG_NONE, SG_NONE, SG_NONE, SG_NONE};

static int now(const sg_net *graph)
{
    return graph->forward_count + graph->backward_count;
}

static int new_like(sg_net *graph, sgi_shape shape)
{
    return sgi_add_buffer(graph, sgi_shape_floats(shape, graph->rows->lanes));
}

static void touch_gradient(sg_net *graph, const sgi_gradient *g)
{
    sgi_touch(graph, g->a, now(graph));
    sgi_touch(graph, g->a_scale, now(graph));
    sgi_touch(graph, g->b, now(graph));
    sgi_touch(graph, g->offset, now(graph));
}

/* Takes the gradient of a node from it. */
static sgi_gradient collect(sg_net *graph, sg_net_node node)
{
    sgi_gradient g = graph->nodes[node].gradient;
    graph->nodes[node].gradient = empty;
    if (g.a != SG_NONE)
        graph->buffers[g.a].holders--;
    if (g.b != SG_NONE)
        graph->buffers[g.b].holders--;
    return g;
}

static bool is_plain(const sgi_gradient *g)
{
    return g->a != SG_NONE && g->a_scale == SG_NONE && g->b == SG_NONE && g->offset == SG_NONE;
}

/* Whether the next step may write over buffer `b`. */
static bool is_free(const sg_net *graph, int b)
{
    return b != SG_NONE && graph->buffers[b].holders == 0 && !graph->buffers[b].pinned;
}

/* Where a step that reads `g` writes a tensor of `shape`: over one of its sources, if it can. */
static int place_result(sg_net *graph, const sgi_gradient *g, sgi_shape shape)
{
    if (is_free(graph, g->a))
        return g->a;
    if (is_free(graph, g->b))
        return g->b;
    return new_like(graph, shape);
}

/* The gradient `g` of a tensor of `shape` as one array; SG_NONE when memory is out. */
static int form(sg_net *graph, int op, const sgi_gradient *g, sgi_shape shape)
{
    if (is_plain(g))
        return g->a;
    int result = place_result(graph, g, shape);
    if (result == SG_NONE)
        return SG_NONE;
    touch_gradient(graph, g);
    sgi_touch(graph, result, now(graph));
    sgi_step step = {.run = sgi_combine_step, .op = op, .g = *g, .dt = SG_NONE, .dx = result};
    step.shape = shape;
    return sgi_add_step(graph, true, &step) == SG_OK ? result : SG_NONE;
}

/* Adds buffer * scale to the gradient of `node`. */
static sg_status give(sg_net *graph, int op, sg_net_node node, int buffer, int scale)
{
    sgi_node_entry *e = &graph->nodes[node];
    if (buffer == SG_NONE)
        return graph->failure;
    if (!e->needs_gradient)
        return SG_OK;
    sgi_gradient *g = &e->gradient;
    bool full = g->a != SG_NONE && (g->b != SG_NONE || (scale != SG_NONE && g->a_scale != SG_NONE));
    if (full) {
        sgi_gradient old = collect(graph, node);
        int formed = form(graph, op, &old, e->shape);
        if (formed == SG_NONE)
            return graph->failure;
        graph->nodes[node].gradient.a = formed;
        graph->buffers[formed].holders++;
    }
    if (g->a == SG_NONE) {
        g->a = buffer;
        g->a_scale = scale;
    } else if (scale == SG_NONE) {
        g->b = buffer;
    } else {
        g->b = g->a;
        g->a = buffer;
        g->a_scale = scale;
    }
    graph->buffers[buffer].holders++;
    return SG_OK;
}

/* ---- Ops ---------------------------------------------------------------------------------- */

/* Adds the backward step of `op`. */
static sg_status emit(sg_net *graph, sgi_step_function *run, int op, const sgi_gradient *g, int dt,
                      int dx)
{
    const sgi_net_op *o = &graph->ops[op];
    const int touched[] = {o->x, o->y, o->scale, o->stats, o->memory, dt, dx};
    for (size_t i = 0; i < sizeof touched / sizeof touched[0]; i++)
        sgi_touch(graph, touched[i], now(graph));
    touch_gradient(graph, g);
    sgi_step step = {.run = run, .op = op, .g = *g, .dt = dt, .dx = dx, .sums = SG_NONE};
    return sgi_add_step(graph, true, &step);
}

/* Does a chain's step read z, or y? Otherwise the buffer may go earlier. */
static bool reads_z(const sgi_net_op *op)
{
    return op->norm || op->act == SG_ACT_SILU;
}

static bool reads_y(const sgi_net_op *op)
{
    return op->act != SG_ACT_NONE && op->act != SG_ACT_SILU;
}

/* A step of sgi_epilogue_backward: from `g` at y to dz at z and dt at the residual. */
static sg_status emit_chain(sg_net *graph, int op, const sgi_gradient *g, int dt, int dz)
{
    const sgi_net_op *o = &graph->ops[op];
    sgi_step step = {.run = sgi_epilogue_backward, .op = op, .g = *g, .dt = dt, .dx = dz};
    step.sums = SG_NONE;
    if (o->norm && o->norm->norm.kind != SG_NORM_BATCH) {
        size_t lanes = (size_t)graph->rows->lanes;
        step.sums =
            sgi_add_buffer(graph, (size_t)o->out.n * 4 * lanes * sgi_blocks_of(o->out, (int)lanes));
        if (step.sums == SG_NONE)
            return graph->failure;
    }
    if (reads_z(o))
        sgi_touch(graph, o->x, now(graph));
    if (reads_y(o))
        sgi_touch(graph, o->y, now(graph));
    sgi_touch(graph, o->stats, now(graph));
    sgi_touch(graph, step.sums, now(graph));
    sgi_touch(graph, dt, now(graph));
    sgi_touch(graph, dz, now(graph));
    touch_gradient(graph, g);
    return sgi_add_step(graph, true, &step);
}

/* y = z + residual: the gradient goes to both as it is. */
static sg_status reverse_sum(sg_net *graph, int op, const sgi_gradient *g)
{
    const sgi_net_op *o = &graph->ops[op];
    int formed = form(graph, op, g, o->out);
    sg_status status = give(graph, op, o->x_node, formed, SG_NONE);
    if (status == SG_OK && o->residual_node != SG_NO_NODE)
        status = give(graph, op, o->residual_node, formed, SG_NONE);
    return status;
}

static sg_status reverse_chain(sg_net *graph, int op)
{
    const sgi_net_op *o = &graph->ops[op];
    sgi_gradient g = collect(graph, o->node);
    bool wants_residual =
        o->residual_node != SG_NO_NODE && graph->nodes[o->residual_node].needs_gradient;
    if (!o->norm && o->act == SG_ACT_NONE && o->drop == 0)
        return reverse_sum(graph, op, &g);
    int dt = SG_NONE;
    if (wants_residual && o->act == SG_ACT_NONE && is_plain(&g)) {
        /* The residual takes the array that arrived, so z's gradient needs one of its own. */
        sg_status status = give(graph, op, o->residual_node, g.a, SG_NONE);
        if (status != SG_OK)
            return status;
    } else if (wants_residual) {
        dt = place_result(graph, &g, o->out);
        if (dt == SG_NONE)
            return graph->failure;
        sg_status status = give(graph, op, o->residual_node, dt, SG_NONE);
        if (status != SG_OK)
            return status;
    }
    /* Without norm and stochastic depth both gradients are one array. */
    bool same = dt != SG_NONE && !o->norm && o->drop == 0;
    int dz = same ? dt : place_result(graph, &g, o->in);
    if (dz == SG_NONE)
        return graph->failure;
    sg_status status = emit_chain(graph, op, &g, same ? SG_NONE : dt, dz);
    return status == SG_OK ? give(graph, op, o->x_node, dz, SG_NONE) : status;
}

static sg_status reverse_conv(sg_net *graph, int op)
{
    const sgi_net_op *o = &graph->ops[op];
    sgi_gradient g = collect(graph, o->node);
    int dz;
    if (o->act != SG_ACT_NONE) {
        dz = place_result(graph, &g, o->out);
        if (dz == SG_NONE || emit_chain(graph, op, &g, SG_NONE, dz) != SG_OK)
            return graph->failure;
    } else {
        dz = form(graph, op, &g, o->out);
    }
    if (dz == SG_NONE)
        return graph->failure;
    int dx = graph->nodes[o->x_node].needs_gradient ? new_like(graph, o->in) : SG_NONE;
    sgi_gradient plain = empty;
    plain.a = dz;
    if (graph->failure != SG_OK)
        return graph->failure;
    sgi_touch(graph, o->x, now(graph));
    sgi_touch(graph, dz, now(graph));
    sgi_touch(graph, dx, now(graph));
    sgi_step step = {.run = sgi_conv_backward, .op = op, .g = plain, .dt = SG_NONE, .dx = dx};
    sg_status status = sgi_add_step(graph, true, &step);
    if (status == SG_OK && o->residual_node != SG_NO_NODE)
        status = give(graph, op, o->residual_node, dz, SG_NONE);
    return status == SG_OK && dx != SG_NONE ? give(graph, op, o->x_node, dx, SG_NONE) : status;
}

/* Ops that take one array and write one for x. */
static sg_status reverse_simple(sg_net *graph, int op, sgi_step_function *run)
{
    const sgi_net_op *o = &graph->ops[op];
    sgi_gradient g = collect(graph, o->node), plain = empty;
    plain.a = form(graph, op, &g, o->out);
    if (plain.a == SG_NONE)
        return graph->failure;
    bool wanted = graph->nodes[o->x_node].needs_gradient;
    int dx = wanted ? new_like(graph, o->in) : SG_NONE;
    sg_status status = emit(graph, run, op, &plain, SG_NONE, dx);
    return status == SG_OK && wanted ? give(graph, op, o->x_node, dx, SG_NONE) : status;
}

static sg_status reverse_scale(sg_net *graph, int op)
{
    const sgi_net_op *o = &graph->ops[op];
    sgi_gradient g = collect(graph, o->node), plain = empty;
    sg_net_node s = graph->nodes[o->node].in[1];
    plain.a = form(graph, op, &g, o->out);
    int ds = new_like(graph, graph->nodes[s].shape);
    if (plain.a == SG_NONE || ds == SG_NONE)
        return graph->failure;
    sg_status status = emit(graph, sgi_scale_backward, op, &plain, SG_NONE, ds);
    if (status == SG_OK)
        status = give(graph, op, s, ds, SG_NONE);
    return status == SG_OK ? give(graph, op, o->x_node, plain.a, o->scale) : status;
}

/* The gradient of a mean is the same for every pixel: an offset. */
static sg_status reverse_global(sg_net *graph, int op)
{
    const sgi_net_op *o = &graph->ops[op];
    sgi_gradient g = collect(graph, o->node), plain = empty;
    sgi_node_entry *x = &graph->nodes[o->x_node];
    plain.a = form(graph, op, &g, o->out);
    int offset = new_like(graph, o->out);
    if (plain.a == SG_NONE || offset == SG_NONE)
        return graph->failure;
    sgi_touch(graph, plain.a, now(graph));
    sgi_touch(graph, offset, now(graph));
    sgi_step step = {.run = sgi_global_backward, .op = op, .g = plain, .dt = SG_NONE, .dx = offset};
    sg_status status = sgi_add_step(graph, true, &step);
    if (status != SG_OK || !x->needs_gradient)
        return status;
    if (x->gradient.offset != SG_NONE)
        return sgi_net_fail(graph, SG_ERROR_UNSUPPORTED, "%s: two averages of one tensor",
                            graph->nodes[o->node].name);
    x->gradient.offset = offset;
    return SG_OK;
}

static sg_status reverse_op(sg_net *graph, int op)
{
    const sgi_net_op *o = &graph->ops[op];
    const sgi_gradient *g = &graph->nodes[o->node].gradient;
    if (g->a == SG_NONE && g->offset == SG_NONE)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "%s: the logits do not depend on it",
                            graph->nodes[o->node].name);
    if (o->conv)
        return reverse_conv(graph, op);
    if (o->keep)
        return reverse_chain(graph, op);
    switch (graph->nodes[o->node].kind) {
    case SG_NODE_LINEAR:
        return reverse_simple(graph, op, sgi_linear_backward);
    case SG_NODE_SCALE:
        return reverse_scale(graph, op);
    case SG_NODE_GLOBAL:
        return reverse_global(graph, op);
    case SG_NODE_DROPOUT:
        return reverse_simple(graph, op, sgi_dropout_backward);
    case SG_NODE_FLATTEN:
        return reverse_simple(graph, op, sgi_flatten_backward);
    default:
        return reverse_simple(graph, op, sgi_pool_backward);
    }
}

sg_status sgi_reverse(sg_net *graph)
{
    graph->nodes[graph->logits].gradient.a = graph->signal_buffer;
    graph->buffers[graph->signal_buffer].holders++;
    for (int op = graph->op_count - 1; op >= 0; op--) {
        if (!graph->nodes[graph->ops[op].node].needs_gradient)
            continue;
        sg_status status = reverse_op(graph, op);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}
