/* The weight gradient of depthwise convolutions on small images, for which oneDNN 2.6 has only its
 * reference kernel (390 of 800 ms of an EfficientNetV2-S step at 64 px).
 *
 * A unit is a channel block of all images: its sums are its own, so threads change nothing. Sums
 * are float over a few images and double beyond. */
#include <string.h>

#include "graph/internal.h"

typedef struct pass {
    const sg_net *graph;
    const sgi_net_op *op;
    sgi_row_window window;
    const float *x, *dz;
    float *weight, *bias;
} pass;

static void add_to(double *total, float *part, size_t count)
{
    for (size_t i = 0; i < count; i++)
        total[i] += (double)part[i];
    memset(part, 0, count * sizeof *part);
}

static const float *row_of(const pass *p, const float *base, sgi_shape s, size_t n, size_t block)
{
    size_t lanes = (size_t)p->graph->rows->lanes;
    return base + (n * sgi_blocks_of(s, (int)lanes) + block) * sgi_pixels(s) * lanes;
}

/* Sums over all images: (kernel * kernel + 1, lanes), the last those of dz. */
static void sum_images(const pass *p, size_t block, double *total)
{
    float part[(SG_MAX_DEPTHWISE * SG_MAX_DEPTHWISE + 1) * SG_MAX_LANES]
        __attribute__((aligned(64))) = {0};
    const sgi_rows *rows = p->graph->rows;
    size_t lanes = (size_t)rows->lanes, pixels = sgi_pixels(p->op->out);
    size_t taps = (size_t)(p->window.kernel * p->window.kernel), summed = 0;
    for (size_t n = 0; n < (size_t)p->op->out.n; n++) {
        const float *dz = row_of(p, p->dz, p->op->out, n, block);
        float of_bias[SG_MAX_LANES] __attribute__((aligned(64)));
        rows->depthwise(row_of(p, p->x, p->op->in, n, block), dz, &p->window, part);
        if (p->bias) {
            rows->dot(dz, NULL, pixels, of_bias);
            for (size_t i = 0; i < lanes; i++)
                part[taps * lanes + i] += of_bias[i];
        }
        summed += pixels;
        if (summed >= 256) {
            add_to(total, part, (taps + 1) * lanes);
            summed = 0;
        }
    }
    add_to(total, part, (taps + 1) * lanes);
}

static void sum_block(void *context, size_t block, int worker)
{
    const pass *p = context;
    (void)worker;
    double total[(SG_MAX_DEPTHWISE * SG_MAX_DEPTHWISE + 1) * SG_MAX_LANES] = {0};
    size_t lanes = (size_t)p->graph->rows->lanes;
    size_t taps = (size_t)(p->window.kernel * p->window.kernel);
    sum_images(p, block, total);
    for (size_t c = block * lanes, i = 0; i < lanes && c < (size_t)p->op->out.c; c++, i++) {
        for (size_t t = 0; t < taps; t++)
            p->weight[c * taps + t] = (float)total[t * lanes + i];
        if (p->bias)
            p->bias[c] = (float)total[taps * lanes + i];
    }
}

void sgi_depthwise_weights(sg_net *graph, const sgi_net_op *op, const float *dz)
{
    const sgi_node_entry *e = &graph->nodes[op->weights];
    pass p = {.graph = graph,
              .op = op,
              .window = {op->in.h, op->in.w, op->out.h, op->out.w, e->conv.kernel, e->conv.stride,
                         e->conv.pad},
              .x = sgi_at(graph, op->x),
              .dz = dz,
              .weight = sgi_gradient_of(graph, e->weight),
              .bias = sgi_gradient_of(graph, e->bias)};
    sgi_dnn_run(graph->dnn, sgi_blocks_of(op->out, graph->rows->lanes), sum_block, &p);
}
