/* Weights between PyTorch's order (O, I, K, K) and the blocks that kernels read.
 *
 * oneDNN's own reorders of a training step's weights ran at 5 GB/s and took a seventh of its
 * primitives' time. */
#ifndef SG_GRAPH_WEIGHTS_H
#define SG_GRAPH_WEIGHTS_H

#include "graph/onednn.h"
#include "graph/rows.h"

/* A blocked layout: block (o, i) begins at o * to_output + i * to_input floats; see sgi_rows.pack
 * for what is in it. */
typedef struct sgi_weight_blocks {
    const sgi_rows *rows;
    size_t outputs, inputs; /* in blocks */
    int taps;
    bool by_input;
    size_t to_output, to_input;
} sgi_weight_blocks;

/* Copies `plain` to `blocked` when `pack`, or else back. */
void sgi_weight_blocks_run(const sgi_weight_blocks *blocks, sgi_dnn *dnn, float *plain,
                           float *blocked, bool pack);

#endif
