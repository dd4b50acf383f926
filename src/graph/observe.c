/* Looking inside: the scale of every layer's output, and where the finite range was left. */
#include <math.h>

#include "graph/internal.h"

/* Moments of a tensor without the zeros of its padding: from count, mean and m2 with p zeros
 * follow those without, since zeros change neither sum nor sum of squares. */
static sg_moments without_padding(sg_moments m, double padding)
{
    if (padding == 0)
        return m;
    double sum = m.mean * m.count, squares = m.m2 + m.mean * sum;
    sg_moments r = {.count = m.count - padding};
    r.mean = sum / r.count;
    r.m2 = squares - r.mean * sum;
    r.m2 = r.m2 < 0 ? 0 : r.m2;
    return r;
}

/* Also writes the deviation of the images' means to *between, unless it is NULL. */
static sg_moments look_at(const sg_net *graph, const sgi_net_op *op, double *between)
{
    size_t floats = sgi_shape_floats(op->out, graph->rows->lanes), images = (size_t)op->out.n;
    const float *y = sgi_at(graph, op->y);
    size_t each = floats / images;
    sg_moments moments = {0}, means = {0};
    for (size_t n = 0; n < images; n++) {
        sg_moments one = {0};
        sg_moments_add(&one, y + n * each, SG_FLOAT32, each, 1.0);
        sg_moments_merge(&moments, &one);
        sg_moments_merge(&means, &(sg_moments){1, one.mean, 0});
    }
    /* The padding lowers all means in the same proportion. */
    double real = (double)op->out.c * (double)sgi_pixels(op->out);
    if (between)
        *between = images > 1 ? sg_moments_std(&means) * (double)each / real : 0;
    return without_padding(moments, (double)floats - (double)images * real);
}

sg_moments sgi_op_moments(const sg_net *graph, const sgi_net_op *op)
{
    return look_at(graph, op, NULL);
}

sg_status sg_net_observe(sg_net *graph)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    sg_status status = SG_OK;
    sgi_dnn_before before = sgi_dnn_enter(graph->dnn);
    graph->no_update = true;
    for (int i = 0; i < graph->forward_count && status == SG_OK; i++) {
        const sgi_step *step = &graph->forward[i];
        status = step->run(graph, step);
        sgi_net_op *op = &graph->ops[step->op];
        op->moments = look_at(graph, op, &op->between);
    }
    graph->no_update = false;
    graph->ran = status == SG_OK;
    sgi_dnn_leave(before);
    return status;
}

size_t sg_net_layer_count(const sg_net *graph)
{
    if (!graph)
        return 0;
    return (size_t)graph->forward_count;
}

sg_layer_report sg_net_layer_at(const sg_net *graph, size_t index)
{
    if (!graph || index >= (size_t)graph->forward_count)
        return (sg_layer_report){0};
    const sgi_net_op *op = &graph->ops[graph->forward[index].op];
    double std = sg_moments_std(&op->moments);
    return (sg_layer_report){.name = graph->nodes[op->node].name,
                             .mean = op->moments.mean,
                             .std = std,
                             .between = op->between,
                             .finite = isfinite(std) && isfinite(op->moments.mean)};
}

size_t sg_net_first_not_finite(const sg_net *graph)
{
    for (size_t i = 0; i < sg_net_layer_count(graph); i++)
        if (!sg_net_layer_at(graph, i).finite)
            return i;
    return SG_NOT_FOUND;
}
