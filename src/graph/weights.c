/* Weights in blocks: packing, and the weight gradient of convolutions on small images. On 2 x 2
 * pixels at batch 32 oneDNN reaches a third of its usual speed: a 3 x 3 window is mostly padding
 * there, and a sum over 128 products is short beside what it costs to begin one. On 4 x 4 pixels
 * the two could not be told apart in a whole step.
 *
 * A unit is one block of outputs by some or one of inputs; units share nothing, so threads change
 * nothing. */
#include "graph/weights.h"

#include "graph/internal.h"

/* ---- Packing ------------------------------------------------------------------------------ */

enum { TOGETHER = 16 }; /* blocks of inputs in a unit */

typedef struct copying {
    const sgi_weight_blocks *blocks;
    float *plain, *blocked;
    size_t parts; /* units for each block of outputs */
    bool pack;
} copying;

static void copy_blocks(void *context, size_t unit, int worker)
{
    const copying *c = context;
    const sgi_weight_blocks *b = c->blocks;
    (void)worker;
    size_t lanes = (size_t)b->rows->lanes, each = lanes * (size_t)b->taps, row = b->inputs * each;
    size_t output = unit / c->parts, first = unit % c->parts * TOGETHER;
    for (size_t i = first; i < first + TOGETHER && i < b->inputs; i++) {
        float *plain = c->plain + output * lanes * row + i * each;
        float *block = c->blocked + output * b->to_output + i * b->to_input;
        if (c->pack)
            b->rows->pack(plain, row, b->taps, b->by_input, block);
        else
            b->rows->unpack(block, b->taps, b->by_input, plain, row);
    }
}

void sgi_weight_blocks_run(const sgi_weight_blocks *blocks, sgi_dnn *dnn, float *plain,
                           float *blocked, bool pack)
{
    copying c = {blocks, plain, blocked, sgi_parts(blocks->inputs, TOGETHER), pack};
    sgi_dnn_run(dnn, blocks->outputs * c.parts, copy_blocks, &c);
}

/* ---- Gradients ---------------------------------------------------------------------------- */

typedef struct product {
    const sgi_rows *rows;
    sgi_row_outer outer; /* of the first blocks */
    size_t inputs;       /* in blocks */
    size_t x_block, dz_block;
    float *gradient;
} product;

static void sum_block(void *context, size_t unit, int worker)
{
    const product *p = context;
    (void)worker;
    float block[SG_MAX_SMALL_TAPS * SG_MAX_LANES * SG_MAX_LANES] __attribute__((aligned(64)));
    size_t lanes = (size_t)p->rows->lanes, output = unit / p->inputs, input = unit % p->inputs;
    int taps = p->outer.window.kernel * p->outer.window.kernel;
    size_t each = lanes * (size_t)taps, row = p->inputs * each;
    sgi_row_outer outer = p->outer;
    outer.x += input * p->x_block;
    outer.dz += output * p->dz_block;
    p->rows->outer(&outer, block);
    p->rows->unpack(block, taps, false, p->gradient + output * lanes * row + input * each, row);
}

void sgi_small_weights(sg_net *graph, const sgi_net_op *op, const float *dz)
{
    const sgi_node_entry *e = &graph->nodes[op->weights];
    size_t lanes = (size_t)graph->rows->lanes;
    product p = {.rows = graph->rows,
                 .inputs = sgi_blocks_of(op->in, (int)lanes),
                 .x_block = sgi_pixels(op->in) * lanes,
                 .dz_block = sgi_pixels(op->out) * lanes,
                 .gradient = sgi_gradient_of(graph, e->weight)};
    size_t outputs = sgi_blocks_of(op->out, (int)lanes);
    p.outer = (sgi_row_outer){.x = sgi_at(graph, op->x),
                              .dz = dz,
                              .x_image = p.inputs * p.x_block,
                              .dz_image = outputs * p.dz_block,
                              .images = op->out.n,
                              .window = {op->in.h, op->in.w, op->out.h, op->out.w, e->conv.kernel,
                                         e->conv.stride, e->conv.pad}};
    /* A 1 x 1 window without stride sees an image as one line. */
    if (e->conv.kernel == 1 && e->conv.stride == 1 && e->conv.pad == 0) {
        sgi_row_window *w = &p.outer.window;
        w->width = w->out_width = (int)sgi_pixels(op->out);
        w->height = w->out_height = 1;
    }
    sgi_dnn_run(graph->dnn, outputs * p.inputs, sum_block, &p);
}
