/* From a built graph to one that runs: see internal.h for the stages. */
#include <stdio.h>

#include "graph/internal.h"

static sg_status check_logits(sg_net *graph, sg_net_node logits)
{
    if (graph->failure != SG_OK)
        return graph->failure;
    if (graph->compiled)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "compiled already");
    if (logits < 0 || logits >= graph->node_count ||
        graph->nodes[logits].shape.layout != SG_LAYOUT_VECTOR || graph->param_count == 0)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "the logits are not (batch, classes)");
    graph->logits = logits;
    return SG_OK;
}

/* The parameters as spans over the flat arrays. */
static sg_status register_params(sg_net *graph)
{
    sg_status status = sg_params_create(&graph->set, &graph->allocator);
    for (int i = 0; i < graph->param_count && status == SG_OK; i++) {
        const sgi_param *p = &graph->params[i];
        sg_span span = {.name = p->name,
                        .value = graph->values + p->offset,
                        .gradient = graph->gradients ? graph->gradients + p->offset : NULL,
                        .count = p->count,
                        .type = SG_FLOAT32,
                        .layer = p->layer,
                        .role = p->role,
                        .rows = p->rank > 1 ? (size_t)p->shape[0] : 0};
        status = sg_params_add(graph->set, &span);
        if (status == SG_ERROR_DUPLICATE)
            return sgi_net_fail(graph, status, "two parameters of the name %s", p->name);
    }
    return status == SG_OK ? SG_OK : sgi_net_fail(graph, status, "out of memory");
}

/* Mean and mean square of the channels of a BatchNorm, and its sums on the way back. */
static sg_status allocate_sums(sg_net *graph)
{
    size_t most = 0, lanes = (size_t)graph->rows->lanes;
    if (sgi_net_ranks(graph) == 1)
        return SG_OK;
    for (int i = 0; i < graph->op_count; i++) {
        const sgi_net_op *op = &graph->ops[i];
        size_t padded = sgi_blocks_of(op->out, (int)lanes) * lanes;
        if (op->norm && op->norm->norm.kind == SG_NORM_BATCH && padded > most)
            most = padded;
    }
    graph->rank_sums = sgi_allocate(&graph->allocator, 2 * most, sizeof *graph->rank_sums);
    return graph->rank_sums ? SG_OK : sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
}

static sg_status allocate_all(sg_net *graph)
{
    const sg_allocator *a = &graph->allocator;
    char what[64];
    sg_diagnostic diagnostic = {0};
    double values = (double)graph->value_count * (graph->config.training ? 2 : 1);
    (void)snprintf(what, sizeof what, "the network for batches of %d", graph->config.batch);
    sg_status fits = sgi_memory_fits((double)graph->arena_bytes + (double)graph->work_bytes +
                                         sizeof(float) * values,
                                     what, &diagnostic);
    if (fits != SG_OK)
        return sgi_net_fail_with(graph, fits, &diagnostic);
    graph->arena = sgi_allocate(a, graph->arena_bytes, 1);
    graph->work = sgi_allocate(a, graph->work_bytes, 1);
    graph->values = sgi_allocate(a, graph->value_count, sizeof(float));
    graph->running_values = sgi_allocate(a, graph->running_values_count, sizeof(float));
    bool done = graph->arena && graph->work && graph->values && graph->running_values;
    if (graph->config.training) {
        graph->gradients = sgi_allocate(a, graph->value_count, sizeof(float));
        done = done && graph->gradients;
    }
    return done ? SG_OK : sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
}

sg_status sg_net_compile(sg_net *graph, sg_net_node logits)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    sg_status status = check_logits(graph, logits);
    if (status == SG_OK)
        status = sgi_find_chains(graph);
    if (status == SG_OK)
        status = sgi_lower(graph);
    if (status == SG_OK && graph->config.training)
        status = sgi_reverse(graph);
    if (status == SG_OK)
        status = sgi_plan(graph);
    if (status == SG_OK)
        status = allocate_all(graph);
    if (status == SG_OK)
        status = allocate_sums(graph);
    if (status == SG_OK)
        status = register_params(graph);
    if (status != SG_OK)
        return status;
    graph->compiled = true;
    return SG_OK;
}

sg_params *sg_net_params(sg_net *graph)
{
    if (!graph)
        return NULL;
    return graph->set;
}

int sg_net_param_shape(const sg_net *graph, size_t index, int shape[4])
{
    if (!graph || !shape || index >= (size_t)graph->param_count)
        return 0;
    const sgi_param *p = &graph->params[index];
    for (int i = 0; i < p->rank; i++)
        shape[i] = p->shape[i];
    return p->rank;
}

size_t sg_net_buffer_count(const sg_net *graph)
{
    if (!graph)
        return 0;
    return (size_t)graph->running_count;
}

sg_net_buffer sg_net_buffer_at(const sg_net *graph, size_t index)
{
    if (!graph || index >= (size_t)graph->running_count || !graph->running_values)
        return (sg_net_buffer){0};
    const sgi_running *r = &graph->running[index];
    return (sg_net_buffer){r->name, graph->running_values + r->offset, r->count};
}

sg_net_info sg_net_information(const sg_net *graph)
{
    if (!graph)
        return (sg_net_info){0};
    size_t parameters = 0;
    for (int i = 0; i < graph->param_count; i++)
        parameters += graph->params[i].count;
    return (sg_net_info){.parameters = parameters,
                         .activation_bytes = graph->arena_bytes,
                         .unplanned_bytes = graph->unplanned_bytes,
                         .work_bytes = graph->work_bytes,
                         .ops = (size_t)graph->op_count,
                         .block = graph->rows->lanes};
}

const char *sg_net_kernel(sg_net *graph, size_t index)
{
    if (!graph)
        return NULL;
    for (int i = 0; i < graph->op_count; i++) {
        const sgi_net_op *op = &graph->ops[i];
        if (!op->conv || index-- > 0)
            continue;
        snprintf(graph->line, sizeof graph->line, "%s: %s, %s, %s", graph->nodes[op->weights].name,
                 sgi_dnn_conv_kernel(op->conv, 0), sgi_dnn_conv_kernel(op->conv, 1),
                 op->own_weights ? "own" : sgi_dnn_conv_kernel(op->conv, 2));
        return graph->line;
    }
    return NULL;
}
