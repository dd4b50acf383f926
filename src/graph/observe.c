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

sg_status sgi_op_moments(sg_net *graph, const sgi_net_op *op, sg_moments *moments, double *between)
{
    size_t floats = sgi_shape_floats(op->out, graph->rows->lanes), images = (size_t)op->out.n;
    const float *y = sgi_at(graph, op->y);
    size_t each = floats / images;
    sg_moments all[SG_MOST_SUMMED] = {{0}}; /* of the elements, and of the images' means */
    for (size_t n = 0; n < images; n++) {
        sg_moments one = {0};
        sg_moments_add(&one, y + n * each, SG_FLOAT32, each, 1.0);
        sg_moments_merge(&all[0], &one);
        sg_moments_merge(&all[1], &(sg_moments){1, one.mean, 0});
    }
    sg_status status = sgi_net_sum_moments(graph, all, SG_MOST_SUMMED);
    if (status != SG_OK)
        return status;
    /* The padding lowers all means in the same proportion. */
    double real = (double)op->out.c * (double)sgi_pixels(op->out);
    *between = all[1].count > 1 ? sg_moments_std(&all[1]) * (double)each / real : 0;
    *moments = without_padding(all[0], all[0].count - all[1].count * real);
    return SG_OK;
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
        if (status == SG_OK)
            status = sgi_op_moments(graph, op, &op->moments, &op->between);
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
