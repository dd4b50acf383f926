/* The data structures of the graph engine.
 *
 * node     what the caller builds: one operation, one output tensor
 * chain    nodes that one pass over memory does: norm, stochastic depth, add, activation
 * buffer   a stretch of the arena, alive from its first to its last step
 * op       what runs forward: a convolution with what is fused to it, a chain, a pooling, ...
 * step     one entry of the forward or backward list: a function, its op, its buffers
 * gradient what is known of dL/d(node) while the backward list is made: a sum nobody has formed yet
 *
 * compile: chains.c finds the chains, lower.c makes ops and the forward list, reverse.c the
 * backward list, plan.c places the buffers. run.c and epilogue.c are what steps call. ranks.c adds
 * up over the ranks that share a batch. */
#ifndef SG_GRAPH_INTERNAL_H
#define SG_GRAPH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "graph/onednn.h"
#include "graph/rows.h"
#include "stablegrad/graph.h"

typedef enum sgi_layout {
    SG_LAYOUT_PLAIN,   /* (N, C, H, W) */
    SG_LAYOUT_BLOCKED, /* (N, C/lanes, H, W, lanes), the last block padded with zeros */
    SG_LAYOUT_VECTOR   /* (N, C) */
} sgi_layout;

typedef struct sgi_shape {
    int n, c, h, w;
    sgi_layout layout;
} sgi_shape;

typedef enum sgi_node_kind {
    SG_NODE_INPUT,
    SG_NODE_CONV,
    SG_NODE_LINEAR,
    SG_NODE_NORM,
    SG_NODE_DROP_PATH,
    SG_NODE_ADD,
    SG_NODE_ACT,
    SG_NODE_MAX_POOL,
    SG_NODE_AVERAGE_POOL,
    SG_NODE_GLOBAL,
    SG_NODE_FLATTEN,
    SG_NODE_SCALE,
    SG_NODE_DROPOUT
} sgi_node_kind;

enum { SG_NONE = -1 };

/* dL/d(node) = a * a_scale + b + offset, in buffers; SG_NONE where a term is missing. */
typedef struct sgi_gradient {
    int a, a_scale, b, offset;
} sgi_gradient;

typedef struct sgi_node_entry {
    sgi_node_kind kind;
    char *name;
    sg_net_node in[2]; /* SG_NO_NODE where there is none */
    int uses;          /* how often other nodes read it */
    sg_net_node user;  /* the last that does */
    sgi_shape shape;
    sg_conv_options conv; /* kernel, stride and pad are those of poolings too */
    sg_norm_options norm;
    sg_act act;
    double p;
    int weight, bias, running; /* parameters, and the first of two buffers; or SG_NONE */
    /* Set by compile: */
    int chain;             /* or SG_NONE */
    int value;             /* buffer, or SG_NONE when no pass writes this tensor */
    bool needs_gradient;   /* something below it has parameters */
    sgi_gradient gradient; /* while the backward list is made */
} sgi_node_entry;

/* y = act(drop_path(norm(z)) + residual), any part of which may be missing. */
typedef struct sgi_net_chain {
    sg_net_node z, norm, drop, add, act, tail, residual;
    bool fused; /* into the convolution that makes z */
} sgi_net_chain;

typedef struct sgi_param {
    char *name;
    sg_net_node node;
    int shape[4], rank;
    size_t count, offset; /* in the flat arrays */
    int layer;
    sg_role role;
} sgi_param;

typedef struct sgi_running {
    char *name;
    size_t count, offset;
} sgi_running;

typedef struct sgi_buffer {
    size_t bytes, offset;
    int first, last; /* steps; last < first: never used */
    int holders;     /* gradients that refer to it, while the backward list is made */
    bool pinned;     /* alive for ever: images, logits, dL/dlogits */
} sgi_buffer;

typedef struct sgi_net_op sgi_net_op;
typedef void sgi_weights_function(sg_net *graph, const sgi_net_op *op, const float *dz);

struct sgi_net_op {
    sg_net_node node; /* whose tensor it writes */
    sgi_shape in, out;
    int x, y; /* buffers */
    sg_net_node x_node;
    int residual; /* buffer, or SG_NONE */
    sg_net_node residual_node;
    int scale;  /* SG_NODE_SCALE: s (N, C) */
    int pooled; /* also the mean of y over the pixels, (N, C); or SG_NONE */
    int stats;  /* norms: scale, shift, mean, 1/std for each channel (and image) */
    int memory; /* max pooling: which; dropout: the mask */
    sg_act act;
    const sgi_node_entry *norm; /* or NULL */
    sg_net_node weights;        /* the node that owns weight and bias; or SG_NO_NODE */
    double drop;                /* probability of stochastic depth or dropout */
    float *keep;                /* (N), 1 without stochastic depth; owned */
    sgi_dnn_conv *conv;
    sgi_weights_function *own_weights; /* its weight gradient where oneDNN is slow; or NULL */
    bool finish; /* residual and activation by a pass of ours over y, the kernel taking neither */
    sgi_dnn_pool *pool;
    sg_moments moments; /* of y, by sg_net_observe */
    double between;     /* the deviation of the images' means, likewise */
};

typedef struct sgi_step sgi_step;
typedef sg_status sgi_step_function(sg_net *graph, const sgi_step *step);

struct sgi_step {
    sgi_step_function *run;
    int op;
    sgi_gradient g;  /* that arrives */
    int dt, dx;      /* buffers that are written: for the residual, for x */
    int sums;        /* group norms: sums for each image */
    sgi_shape shape; /* sgi_combine_step: of the tensor */
};

struct sg_net {
    sg_allocator allocator;
    sg_net_config config;
    sgi_dnn *dnn;
    const sgi_rows *rows;
    sg_diagnostic diagnostic; /* of the failure */
    sg_status failure;

    sgi_node_entry *nodes;
    size_t node_capacity;
    sgi_net_chain *chains;
    sgi_param *params;
    size_t param_capacity;
    sgi_running *running;
    size_t running_capacity;

    sgi_net_op *ops;
    size_t op_capacity;
    sgi_step *forward, *backward;
    size_t forward_capacity, backward_capacity;
    sgi_buffer *buffers;
    size_t buffer_capacity;

    int node_count, chain_count, param_count, running_count, layer_count, op_count;
    int forward_count, backward_count, buffer_count;
    sg_net_node logits;
    int images_buffer, signal_buffer;
    bool compiled;
    char *arena;
    void *work;
    size_t arena_bytes, unplanned_bytes, work_bytes;
    float *values, *gradients, *running_values;
    size_t value_count, running_values_count;
    double *rank_sums; /* of BatchNorm, (2, most channels, padded); NULL without ranks */
    sg_params *set;
    int model;      /* index in the table of models, or SG_NONE */
    char line[256]; /* of sg_net_kernel */

    /* Of the last forward: */
    sg_mode mode;
    uint64_t step;
    bool ran;
    bool no_drop, no_update; /* of dropout; of running statistics */
    uint64_t batches;        /* that have updated the running statistics */
    bool broken;             /* a sum over ranks failed */
};

/* Records the first failure and what it is; returns `status`. */
sg_status sgi_net_fail(sg_net *graph, sg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
sg_status sgi_net_fail_with(sg_net *graph, sg_status status, const sg_diagnostic *diagnostic);

/* ---- Shapes ------------------------------------------------------------------------------- */

static inline size_t sgi_pixels(sgi_shape s)
{
    return (size_t)s.h * (size_t)s.w;
}

/* Channel blocks of a tensor, in rows of `lanes`. */
static inline size_t sgi_blocks_of(sgi_shape s, int lanes)
{
    return sgi_parts((size_t)s.c, (size_t)lanes);
}

/* Floats that a tensor takes. */
static inline size_t sgi_shape_floats(sgi_shape s, int lanes)
{
    size_t channels =
        s.layout == SG_LAYOUT_BLOCKED ? sgi_blocks_of(s, lanes) * (size_t)lanes : (size_t)s.c;
    return (size_t)s.n * channels * sgi_pixels(s);
}

/* ---- Ranks -------------------------------------------------------------------------------- */

static inline size_t sgi_net_ranks(const sg_net *graph)
{
    return graph->config.ranks ? (size_t)graph->config.ranks->count : 1;
}

/* Where the first of `count` things of this rank stands among those of all. */
static inline uint64_t sgi_net_first(const sg_net *graph, size_t count)
{
    return graph->config.ranks ? (uint64_t)graph->config.ranks->rank * count : 0;
}

/* Adds up over all ranks, in place. A failure is SG_ERROR_REDUCE with a diagnostic; the values are
 * NaN then, and every later sum fails without a call. */
SG_CHECKED sg_status sgi_net_sum(sg_net *graph, void *values, sg_type type, size_t count);

/* Replaces moments by those of all ranks. */
enum { SG_MOST_SUMMED = 2 };
SG_CHECKED sg_status sgi_net_sum_moments(sg_net *graph, sg_moments *moments, size_t count);

/* ---- Compile ------------------------------------------------------------------------------ */

SG_CHECKED sg_status sgi_find_chains(sg_net *graph);
SG_CHECKED sg_status sgi_lower(sg_net *graph);
SG_CHECKED sg_status sgi_reverse(sg_net *graph);
/* Gives every buffer its offset and sets arena_bytes. */
SG_CHECKED sg_status sgi_plan(sg_net *graph);

/* A new buffer, or SG_NONE when memory is out. */
int sgi_add_buffer(sg_net *graph, size_t floats);
/* Step `time` touches the buffer; SG_NONE is allowed. */
void sgi_touch(sg_net *graph, int buffer, int time);
SG_CHECKED sg_status sgi_add_step(sg_net *graph, bool backward, const sgi_step *step);

/* ---- Steps -------------------------------------------------------------------------------- */

sgi_step_function sgi_conv_forward, sgi_conv_backward, sgi_linear_forward, sgi_linear_backward,
    sgi_pool_forward, sgi_pool_backward, sgi_global_forward, sgi_global_backward,
    sgi_flatten_forward, sgi_flatten_backward, sgi_scale_forward, sgi_scale_backward,
    sgi_dropout_forward, sgi_dropout_backward, sgi_epilogue_forward, sgi_epilogue_backward,
    sgi_combine_step;

/* The gradient of a depthwise convolution's weight, and of its bias when it has one; and of the
 * weight of a convolution without bias and padded channels. */
sgi_weights_function sgi_depthwise_weights, sgi_small_weights;
enum { SG_SMALL_SUM = 128 }; /* products in an element of the second; more are oneDNN's */

/* y = act(y + residual) for a convolution whose kernel leaves that to us. */
void sgi_finish_conv(sg_net *graph, const sgi_net_op *op);

/* The address of a buffer; NULL for SG_NONE. */
static inline float *sgi_at(const sg_net *graph, int buffer)
{
    return buffer == SG_NONE ? NULL : (float *)(graph->arena + graph->buffers[buffer].offset);
}

/* Value and gradient of parameter `param`; NULL for SG_NONE. */
static inline float *sgi_value_of(const sg_net *graph, int param)
{
    return param == SG_NONE ? NULL : graph->values + graph->params[param].offset;
}

static inline float *sgi_gradient_of(const sg_net *graph, int param)
{
    return param == SG_NONE ? NULL : graph->gradients + graph->params[param].offset;
}

/* Whether dropout and stochastic depth are on in this pass. */
static inline bool sgi_is_dropping(const sg_net *graph)
{
    return graph->mode == SG_MODE_TRAIN && !graph->no_drop;
}

/* Moments of what an op has written on all ranks, its padding left out, and the deviation of the
 * images' means. */
SG_CHECKED sg_status sgi_op_moments(sg_net *graph, const sgi_net_op *op, sg_moments *moments,
                                    double *between);

/* How the layers of a model start under SG_INIT_DEFAULT. */
typedef enum sgi_start {
    SG_START_PYTORCH,     /* PyTorch's own: uniform, 1 / sqrt(fan in), biases too */
    SG_START_RESNET,      /* convolutions: fan out, gain sqrt 2 */
    SG_START_EFFICIENTNET /* and linear layers uniform, 1 / sqrt(fan out), no biases */
} sgi_start;

sgi_start sgi_model_start(int model);

/* The random stream of an op's choices. */
static inline uint64_t sgi_stream_of(int op)
{
    return (uint64_t)1 << 40 | (uint64_t)op;
}

#endif
