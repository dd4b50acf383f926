/* Making a graph: nodes, their shapes, their parameters. See stablegrad/graph.h. Mistakes in
 * a node are found here, where they can be named after it. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/internal.h"

enum { MAX_EXTENT = 1 << 20 };

sg_status sgi_net_fail(sg_net *graph, sg_status status, const char *format, ...)
{
    if (graph->failure == SG_OK || graph->compiled) {
        va_list arguments;
        va_start(arguments, format);
        memset(&graph->diagnostic, 0, sizeof graph->diagnostic);
        vsnprintf(graph->diagnostic.message, sizeof graph->diagnostic.message, format, arguments);
        va_end(arguments);
        graph->failure = status;
    }
    return status;
}

sg_status sgi_net_fail_with(sg_net *graph, sg_status status, const sg_diagnostic *diagnostic)
{
    if (graph->failure == SG_OK || graph->compiled) {
        graph->diagnostic = *diagnostic;
        graph->failure = status;
    }
    return status;
}

sg_net_config sg_net_defaults(void)
{
    return (sg_net_config){.batch = 1,
                           .channels = 3,
                           .height = 224,
                           .width = 224,
                           .training = true,
                           .fuse = true,
                           .isa = SG_ISA_AUTO};
}

/* The images of all ranks are counted in an int. */
static bool sensible_ranks(const sg_ranks *r, int batch)
{
    return !r || (r->rank >= 0 && r->rank < r->count && r->count <= INT_MAX / batch &&
                  (r->count == 1 || r->sum));
}

static bool sensible(const sg_net_config *c)
{
    return c->batch > 0 && c->batch <= MAX_EXTENT && c->channels > 0 && c->channels <= MAX_EXTENT &&
           c->height > 0 && c->height <= MAX_EXTENT && c->width > 0 && c->width <= MAX_EXTENT &&
           c->threads >= 0 && c->threads <= 4096 && c->precision < SG_PRECISION_COUNT &&
           sensible_ranks(c->ranks, c->batch);
}

const sgi_rows *sgi_rows_for(sg_isa isa)
{
    return SGI_ISA_TABLE(isa, sgi_rows, );
}

sg_status sg_net_create(sg_net **out, const sg_net_config *config, const sg_allocator *given)
{
    sg_net_config c = config ? *config : sg_net_defaults();
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (!sensible(&c))
        return SG_ERROR_ARGUMENT;
    if (c.precision == SG_PRECISION_BF16 && !sgi_dnn_has_bf16())
        return SG_ERROR_UNSUPPORTED;
    sg_net *graph = SGI_NEW(sg_net, given);
    if (!graph)
        return SG_ERROR_MEMORY;
    graph->config = c;
    graph->logits = SG_NO_NODE;
    graph->model = SG_NONE;
    graph->rows = sgi_rows_for(sg_isa_resolve(c.isa));
    sg_status status = sgi_dnn_create(&graph->dnn, c.threads, &graph->allocator);
    if (status == SG_OK)
        *out = graph;
    else
        sg_net_destroy(graph);
    return status;
}

static void release_ops(sg_net *graph)
{
    for (int i = 0; i < graph->op_count; i++) {
        sgi_dnn_conv_destroy(graph->ops[i].conv);
        sgi_dnn_pool_destroy(graph->ops[i].pool);
        sgi_release(&graph->allocator, graph->ops[i].keep);
    }
    sgi_release(&graph->allocator, graph->ops);
}

void sg_net_destroy(sg_net *graph)
{
    if (!graph)
        return;
    for (int i = 0; i < graph->node_count; i++)
        sgi_release(&graph->allocator, graph->nodes[i].name);
    for (int i = 0; i < graph->param_count; i++)
        sgi_release(&graph->allocator, graph->params[i].name);
    for (int i = 0; i < graph->running_count; i++)
        sgi_release(&graph->allocator, graph->running[i].name);
    release_ops(graph);
    sg_params_destroy(graph->set);
    void *const owned[] = {
        graph->nodes,     graph->params,         graph->running,  graph->chains, graph->forward,
        graph->backward,  graph->buffers,        graph->arena,    graph->work,   graph->values,
        graph->gradients, graph->running_values, graph->rank_sums};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        sgi_release(&graph->allocator, owned[i]);
    sgi_dnn_destroy(graph->dnn);
    sgi_release(&graph->allocator, graph);
}

const sg_net_config *sg_net_configuration(const sg_net *graph)
{
    if (!graph)
        return NULL;
    return &graph->config;
}

const sg_diagnostic *sg_net_diagnostic(const sg_net *graph)
{
    if (!graph)
        return NULL;
    return &graph->diagnostic;
}

/* ---- Parameters --------------------------------------------------------------------------- */

/* "NAME.SUFFIX"; NULL when memory is out. */
static char *joined(const sg_net *graph, const char *name, const char *suffix)
{
    size_t size = strlen(name) + strlen(suffix) + 2;
    char *text = sgi_allocate(&graph->allocator, size, 1);
    if (text)
        snprintf(text, size, "%s.%s", name, suffix);
    return text;
}

/* Adds a parameter of node `node`; its number, or SG_NONE when memory is out. */
static int add_param(sg_net *graph, sg_net_node node, bool is_weight, int rank, const int shape[4])
{
    char *name = joined(graph, graph->nodes[node].name, is_weight ? "weight" : "bias");
    if (!name || sgi_grow_array(&graph->allocator, &graph->params, (size_t)graph->param_count,
                                &graph->param_capacity, 32, sizeof *graph->params) != SG_OK) {
        sgi_release(&graph->allocator, name);
        sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
        return SG_NONE;
    }
    sgi_param *p = &graph->params[graph->param_count];
    *p = (sgi_param){.name = name,
                     .node = node,
                     .rank = rank,
                     .count = 1,
                     .offset = graph->value_count,
                     .layer = graph->layer_count,
                     .role = is_weight ? SG_ROLE_WEIGHT : SG_ROLE_BIAS};
    for (int i = 0; i < rank; i++) {
        p->shape[i] = shape[i];
        p->count *= (size_t)shape[i];
    }
    /* Each parameter starts on a vector of its own. */
    graph->value_count += (p->count + 15) / 16 * 16;
    return graph->param_count++;
}

static int add_running(sg_net *graph, sg_net_node node, const char *suffix, size_t count)
{
    char *name = joined(graph, graph->nodes[node].name, suffix);
    if (!name || sgi_grow_array(&graph->allocator, &graph->running, (size_t)graph->running_count,
                                &graph->running_capacity, 32, sizeof *graph->running) != SG_OK) {
        sgi_release(&graph->allocator, name);
        sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
        return SG_NONE;
    }
    graph->running[graph->running_count] = (sgi_running){name, count, graph->running_values_count};
    graph->running_values_count += sgi_align_up(count, 16);
    return graph->running_count++;
}

/* ---- Nodes -------------------------------------------------------------------------------- */

static bool usable(const sg_net *graph, sg_net_node x)
{
    return graph && x >= 0 && x < graph->node_count && graph->failure == SG_OK && !graph->compiled;
}

/* Appends a node; SG_NO_NODE on failure. `made` is copied. */
static sg_net_node add_node(sg_net *graph, const char *name, const sgi_node_entry *made)
{
    if (!name || !name[0]) {
        sgi_net_fail(graph, SG_ERROR_ARGUMENT, "a node without a name");
        return SG_NO_NODE;
    }
    char *copy = sgi_copy_text(&graph->allocator, name);
    if (!copy || sgi_grow_array(&graph->allocator, &graph->nodes, (size_t)graph->node_count,
                                &graph->node_capacity, 32, sizeof *graph->nodes) != SG_OK) {
        sgi_release(&graph->allocator, copy);
        sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
        return SG_NO_NODE;
    }
    sg_net_node node = graph->node_count++;
    sgi_node_entry *e = &graph->nodes[node];
    *e = *made;
    e->name = copy;
    e->weight = e->bias = e->running = e->chain = e->value = SG_NONE;
    e->gradient = (sgi_gradient){SG_NONE, SG_NONE, SG_NONE, SG_NONE};
    for (int i = 0; i < 2; i++)
        if (e->in[i] != SG_NO_NODE) {
            graph->nodes[e->in[i]].uses++;
            graph->nodes[e->in[i]].user = node;
        }
    return node;
}

static sg_net_node refuse(sg_net *graph, const char *name, const char *why)
{
    sgi_net_fail(graph, SG_ERROR_ARGUMENT, "%s: %s", name ? name : "(no name)", why);
    return SG_NO_NODE;
}

sg_net_node sg_net_input(sg_net *graph)
{
    if (!graph)
        return SG_NO_NODE;
    const sg_net_config *c = &graph->config;
    if (graph->node_count > 0)
        return refuse(graph, "input", "called twice");
    sgi_node_entry e = {.kind = SG_NODE_INPUT,
                        .in = {SG_NO_NODE, SG_NO_NODE},
                        .shape = {c->batch, c->channels, c->height, c->width, SG_LAYOUT_PLAIN}};
    return add_node(graph, "input", &e);
}

static bool window_fits(const sg_conv_options *o, sgi_shape s)
{
    return o->kernel > 0 && o->kernel <= MAX_EXTENT && o->stride > 0 && o->pad >= 0 &&
           o->pad < o->kernel && s.h + 2 * o->pad >= o->kernel && s.w + 2 * o->pad >= o->kernel;
}

static sg_net_node add_linear(sg_net *graph, sg_net_node x, const char *name, int out, bool bias,
                              int rank);

sg_net_node sg_net_conv(sg_net *graph, sg_net_node x, const char *name,
                        const sg_conv_options *options)
{
    if (!usable(graph, x) || !options)
        return SG_NO_NODE;
    sg_conv_options o = *options;
    sgi_shape s = graph->nodes[x].shape;
    if (o.groups == 0)
        o.groups = 1;
    if (s.layout == SG_LAYOUT_VECTOR && o.kernel == 1 && o.stride == 1 && o.pad == 0 &&
        o.groups == 1)
        return add_linear(graph, x, name, o.out, o.bias, 4);
    if (s.layout == SG_LAYOUT_VECTOR || o.out <= 0 || o.out > MAX_EXTENT || o.groups < 0 ||
        s.c % o.groups || o.out % o.groups || !window_fits(&o, s))
        return refuse(graph, name, "these options do not fit the input's shape");
    sgi_node_entry e = {.kind = SG_NODE_CONV, .in = {x, SG_NO_NODE}, .conv = o};
    e.shape = (sgi_shape){s.n, o.out, sgi_window_output(s.h, o.kernel, o.stride, o.pad),
                          sgi_window_output(s.w, o.kernel, o.stride, o.pad), SG_LAYOUT_BLOCKED};
    sg_net_node node = add_node(graph, name, &e);
    if (node == SG_NO_NODE)
        return node;
    const int weight[4] = {o.out, s.c / o.groups, o.kernel, o.kernel}, bias[4] = {o.out};
    graph->nodes[node].weight = add_param(graph, node, true, 4, weight);
    graph->nodes[node].bias = o.bias ? add_param(graph, node, false, 1, bias) : SG_NONE;
    graph->layer_count++;
    return graph->failure == SG_OK ? node : SG_NO_NODE;
}

/* A linear layer. Its weight has rank 2, or rank 4 where it was built as a 1 x 1 convolution, so
 * that the parameter has the shape that PyTorch's state dict gives it. */
static sg_net_node add_linear(sg_net *graph, sg_net_node x, const char *name, int out, bool bias,
                              int rank)
{
    sgi_shape s = graph->nodes[x].shape;
    if (s.layout != SG_LAYOUT_VECTOR || out <= 0 || out > MAX_EXTENT)
        return refuse(graph, name, "a linear layer takes (batch, channels)");
    sgi_node_entry e = {
        .kind = SG_NODE_LINEAR, .in = {x, SG_NO_NODE}, .shape = {s.n, out, 1, 1, SG_LAYOUT_VECTOR}};
    sg_net_node node = add_node(graph, name, &e);
    if (node == SG_NO_NODE)
        return node;
    const int shape[4] = {out, s.c, 1, 1};
    graph->nodes[node].weight = add_param(graph, node, true, rank, shape);
    graph->nodes[node].bias = bias ? add_param(graph, node, false, 1, shape) : SG_NONE;
    graph->layer_count++;
    return graph->failure == SG_OK ? node : SG_NO_NODE;
}

sg_net_node sg_net_linear(sg_net *graph, sg_net_node x, const char *name, int out, bool bias)
{
    return usable(graph, x) ? add_linear(graph, x, name, out, bias, 2) : SG_NO_NODE;
}

sg_net_node sg_net_norm(sg_net *graph, sg_net_node x, const char *name,
                        const sg_norm_options *options)
{
    if (!options)
        return SG_NO_NODE;
    if (!usable(graph, x) || options->kind == SG_NORM_NONE)
        return usable(graph, x) ? x : SG_NO_NODE;
    sgi_shape s = graph->nodes[x].shape;
    sg_norm_options o = *options;
    if (o.kind == SG_NORM_LAYER)
        o.groups = 1;
    if (o.kind >= SG_NORM_COUNT || !(o.eps >= 0) || s.layout == SG_LAYOUT_PLAIN ||
        (o.kind == SG_NORM_BATCH && !(o.momentum >= 0 && o.momentum <= 1)) ||
        (o.kind != SG_NORM_BATCH && (o.groups <= 0 || s.c % o.groups)))
        return refuse(graph, name, "these options do not fit the input's shape");
    sgi_node_entry e = {.kind = SG_NODE_NORM, .in = {x, SG_NO_NODE}, .shape = s, .norm = o};
    sg_net_node node = add_node(graph, name, &e);
    if (node == SG_NO_NODE)
        return node;
    const int shape[4] = {s.c};
    graph->nodes[node].weight = add_param(graph, node, true, 1, shape);
    graph->nodes[node].bias = add_param(graph, node, false, 1, shape);
    graph->layer_count++;
    if (o.kind == SG_NORM_BATCH) {
        graph->nodes[node].running = add_running(graph, node, "running_mean", (size_t)s.c);
        (void)add_running(graph, node, "running_var", (size_t)s.c);
    }
    return graph->failure == SG_OK ? node : SG_NO_NODE;
}

sg_net_node sg_net_act(sg_net *graph, sg_net_node x, const char *name, sg_act act)
{
    if (!usable(graph, x) || act == SG_ACT_NONE)
        return usable(graph, x) ? x : SG_NO_NODE;
    if (act >= SG_ACT_COUNT || graph->nodes[x].shape.layout == SG_LAYOUT_PLAIN)
        return refuse(graph, name, "no such activation, or one of the bare images");
    sgi_node_entry e = {
        .kind = SG_NODE_ACT, .in = {x, SG_NO_NODE}, .shape = graph->nodes[x].shape, .act = act};
    return add_node(graph, name, &e);
}

static sg_net_node add_pool(sg_net *graph, sg_net_node x, const char *name, sgi_node_kind kind,
                            const sg_conv_options *window)
{
    if (!usable(graph, x))
        return SG_NO_NODE;
    sgi_shape s = graph->nodes[x].shape;
    if (s.layout != SG_LAYOUT_BLOCKED || !window_fits(window, s) ||
        window->pad > window->kernel / 2)
        return refuse(graph, name, "the window does not fit the input's shape");
    sgi_node_entry e = {.kind = kind, .in = {x, SG_NO_NODE}, .conv = *window};
    e.shape = (sgi_shape){
        s.n, s.c, sgi_window_output(s.h, window->kernel, window->stride, window->pad),
        sgi_window_output(s.w, window->kernel, window->stride, window->pad), SG_LAYOUT_BLOCKED};
    return add_node(graph, name, &e);
}

sg_net_node sg_net_max_pool(sg_net *graph, sg_net_node x, const char *name, int kernel, int stride,
                            int pad)
{
    sg_conv_options window = {.kernel = kernel, .stride = stride, .pad = pad};
    return add_pool(graph, x, name, SG_NODE_MAX_POOL, &window);
}

sg_net_node sg_net_average_pool(sg_net *graph, sg_net_node x, const char *name, int kernel,
                                int stride, int pad)
{
    sg_conv_options window = {.kernel = kernel, .stride = stride, .pad = pad};
    return add_pool(graph, x, name, SG_NODE_AVERAGE_POOL, &window);
}

sg_net_node sg_net_global_average(sg_net *graph, sg_net_node x, const char *name)
{
    if (!usable(graph, x))
        return SG_NO_NODE;
    sgi_shape s = graph->nodes[x].shape;
    if (s.layout != SG_LAYOUT_BLOCKED)
        return refuse(graph, name, "a global average takes (batch, channels, height, width)");
    sgi_node_entry e = {
        .kind = SG_NODE_GLOBAL, .in = {x, SG_NO_NODE}, .shape = {s.n, s.c, 1, 1, SG_LAYOUT_VECTOR}};
    return add_node(graph, name, &e);
}

sg_net_node sg_net_flatten(sg_net *graph, sg_net_node x, const char *name)
{
    if (!usable(graph, x))
        return SG_NO_NODE;
    sgi_shape s = graph->nodes[x].shape;
    int64_t flat = (int64_t)s.c * s.h * s.w;
    if (s.layout == SG_LAYOUT_VECTOR)
        return x;
    if (flat > 1 << 28)
        return refuse(graph, name, "too many elements");
    sgi_node_entry e = {.kind = SG_NODE_FLATTEN,
                        .in = {x, SG_NO_NODE},
                        .shape = {s.n, (int)flat, 1, 1, SG_LAYOUT_VECTOR}};
    return add_node(graph, name, &e);
}

sg_net_node sg_net_scale(sg_net *graph, sg_net_node x, sg_net_node s, const char *name)
{
    if (!usable(graph, x) || !usable(graph, s))
        return SG_NO_NODE;
    sgi_shape a = graph->nodes[x].shape, b = graph->nodes[s].shape;
    if (a.layout != SG_LAYOUT_BLOCKED || b.layout != SG_LAYOUT_VECTOR || a.c != b.c)
        return refuse(graph, name, "takes (batch, channels, height, width) and (batch, channels)");
    sgi_node_entry e = {.kind = SG_NODE_SCALE, .in = {x, s}, .shape = a};
    return add_node(graph, name, &e);
}

sg_net_node sg_net_add(sg_net *graph, sg_net_node branch, sg_net_node residual, const char *name)
{
    if (!usable(graph, branch) || !usable(graph, residual))
        return SG_NO_NODE;
    sgi_shape a = graph->nodes[branch].shape, b = graph->nodes[residual].shape;
    if (a.layout != b.layout || a.layout == SG_LAYOUT_PLAIN || a.c != b.c || a.h != b.h ||
        a.w != b.w || branch == residual)
        return refuse(graph, name, "adds two different tensors of one shape");
    sgi_node_entry e = {.kind = SG_NODE_ADD, .in = {branch, residual}, .shape = a};
    return add_node(graph, name, &e);
}

static sg_net_node add_drop(sg_net *graph, sg_net_node x, const char *name, sgi_node_kind kind,
                            double p)
{
    if (!usable(graph, x))
        return SG_NO_NODE;
    if (!(p >= 0 && p < 1) || graph->nodes[x].shape.layout == SG_LAYOUT_PLAIN)
        return refuse(graph, name, "a probability in [0, 1), and not on the bare images");
    if (p == 0)
        return x;
    sgi_node_entry e = {
        .kind = kind, .in = {x, SG_NO_NODE}, .shape = graph->nodes[x].shape, .p = p};
    return add_node(graph, name, &e);
}

sg_net_node sg_net_dropout(sg_net *graph, sg_net_node x, const char *name, double p)
{
    return add_drop(graph, x, name, SG_NODE_DROPOUT, p);
}

sg_net_node sg_net_drop_path(sg_net *graph, sg_net_node x, const char *name, double p)
{
    return add_drop(graph, x, name, SG_NODE_DROP_PATH, p);
}
