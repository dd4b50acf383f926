/* libstablegrad-graph: convolutional networks and MLPs on oneDNN, as static graphs.
 *
 * A graph is built once, node by node or from a table of models, then compiled: nodes are fused,
 * layouts chosen, memory planned. A training step is
 *
 *     sg_net_forward(graph, images, SG_MODE_TRAIN, step);
 *     sg_net_loss(graph, labels, batch, smoothing, &result);      (loss, hits, dL/dlogits)
 *     sg_net_backward(graph);                                     (fills the gradients)
 *     sg_scaler_observe(scaler, sg_net_signal(graph), SG_FLOAT32, batch * classes, 1.0);
 *     sg_scaler_measure(scaler, step);
 *     sg_optim_step(optim, scaler, NULL);
 *
 * where scaler and optimizer were made from sg_net_params(graph). Nothing is allocated in a step.
 *
 * Results are the same from run to run for one thread count and one instruction set. oneDNN sums
 * weight gradients over threads, so another count changes the last bits. */
#ifndef STABLEGRAD_GRAPH_H
#define STABLEGRAD_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/cpu.h"
#include "stablegrad/diagnostic.h"
#include "stablegrad/list.h"
#include "stablegrad/memory.h"
#include "stablegrad/params.h"
#include "stablegrad/ranks.h"
#include "stablegrad/scale.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct sg_net sg_net;

/* A node's number; every tensor of a graph is the output of one node. */
typedef int sg_net_node;
#define SG_NO_NODE (-1)

#define SG_ACT_LIST(X)                                                                             \
    X(SG_ACT_NONE, "none")                                                                         \
    X(SG_ACT_RELU, "relu")                                                                         \
    /* x / (1 + e^-x) */                                                                           \
    X(SG_ACT_SILU, "silu")                                                                         \
    X(SG_ACT_TANH, "tanh")                                                                         \
    X(SG_ACT_SIGMOID, "sigmoid")

typedef enum sg_act { SG_ACT_LIST(SG_LIST_ENUM) } sg_act;
#define SG_ACT_COUNT (0 SG_ACT_LIST(SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. All functions sg_..._name below do the same. */
const char *sg_act_name(sg_act act);

#define SG_NORM_LIST(X)                                                                            \
    X(SG_NORM_NONE, "none", "none", "no BatchNorm")                                                \
    /* over batch, height and width, for each channel */                                           \
    X(SG_NORM_BATCH, "batch", "batch", "BatchNorm")                                                \
    /* over a group of channels, height and width, for each image */                               \
    X(SG_NORM_GROUP, "group", "group", "GroupNorm")                                                \
    /* over all channels, height and width, for each image */                                      \
    X(SG_NORM_LAYER, "layer", "layer", "LayerNorm")

typedef enum sg_norm { SG_NORM_LIST(SG_LIST_ENUM) } sg_norm;
#define SG_NORM_COUNT (0 SG_NORM_LIST(SG_LIST_COUNT))
const char *sg_norm_name(sg_norm norm);

/* X stands for those that a task file may ask for, TEST for the one that is there for tests. */
#define SG_PRECISION_LIST(X, TEST)                                                                 \
    X(SG_PRECISION_FLOAT, "float", "float=float32")                                                \
    /* convolutions multiply in bf16 where that pays; weights and sums are float.                  \
       SG_ERROR_UNSUPPORTED without instructions for it */                                         \
    X(SG_PRECISION_BF16, "bf16", "bf16=bfloat16")                                                  \
    /* the same numbers on any processor with AVX-512, slowly: to see what bf16 does to a          \
       network, and for tests */                                                                   \
    TEST(SG_PRECISION_BF16_EMULATED, "bf16_emulated")

typedef enum sg_precision { SG_PRECISION_LIST(SG_LIST_ENUM, SG_LIST_ENUM) } sg_precision;
#define SG_PRECISION_COUNT (0 SG_PRECISION_LIST(SG_LIST_COUNT, SG_LIST_COUNT))
const char *sg_precision_name(sg_precision precision);

/* ---- Ranks --------------------------------------------------------------------------------
 *
 * With `ranks` in its configuration a network is this rank's part of one network on the batch of
 * all ranks: image i of rank r is image r * batch + i of count * batch. Every rank makes
 * the same graph with the same weights and makes the same calls in the same order, each with its
 * own images. Up to rounding the ranks have what one alone would have on the whole batch, and the
 * same number of ranks has the same bits:
 *
 *   sg_net_forward     SG_MODE_TRAIN: BatchNorm uses the statistics of all images; dropout and
 *                      stochastic depth draw for the image's number among all
 *   sg_net_loss        the result is that of all ranks, the signal that of this rank's images
 *   sg_net_backward    the gradients are those of all ranks, on each of them
 *   sg_net_calibrate, sg_net_observe   the spreads are those of all ranks
 *
 * These are collective: a call returns when all ranks have made it. A sum over ranks that fails is
 * SG_ERROR_REDUCE, and so is every call that needs one from then on. After another failure of one
 * rank alone the others may wait for it: the caller has to end them. The scaler needs the signal of
 * all ranks too: see `reduce` in scale.h, with SG_GRADIENTS_REPLICATED. */

/* ---- Making a graph ----------------------------------------------------------------------- */

typedef struct sg_net_config {
    int batch;                   /* images in a step, on this rank */
    int channels, height, width; /* of an image */
    bool training;               /* plan the backward pass */
    bool fuse;     /* let convolutions take the activation and the residual in the same pass */
    int threads;   /* 0: one for each processor */
    sg_isa isa;    /* of the engine's own loops */
    uint64_t seed; /* of dropout and stochastic depth */
    sg_precision precision;
    const sg_ranks *ranks; /* NULL: alone. Not copied, must outlive the graph */
} sg_net_config;

/* Batch 1 of 3 x 224 x 224, training, fused, all processors, float. */
sg_net_config sg_net_defaults(void);

/* `config` NULL means the defaults; it is copied. */
SG_CHECKED sg_status sg_net_create(sg_net **graph, const sg_net_config *config,
                                   const sg_allocator *allocator);

/* NULL is allowed. */
void sg_net_destroy(sg_net *graph);

const sg_net_config *sg_net_configuration(const sg_net *graph);

/* The builders below return the new node, or SG_NO_NODE when an argument is wrong or memory is out;
 * given SG_NO_NODE they return it. So a chain of them needs one check: sg_net_compile returns the
 * first failure, and sg_net_diagnostic says where. Names are those of PyTorch modules and are
 * copied; a layer NAME registers its parameters as NAME.weight and NAME.bias. */

/* The images: (batch, channels, height, width). Call it once. */
sg_net_node sg_net_input(sg_net *graph);

typedef struct sg_conv_options {
    int out, kernel, stride, pad, groups; /* groups 0 means 1 */
    bool bias;
} sg_conv_options;

/* A 1 x 1 convolution takes (batch, channels) too, as the ones of squeeze-excitation do. */
sg_net_node sg_net_conv(sg_net *graph, sg_net_node x, const char *name,
                        const sg_conv_options *options);

/* x (batch, in) to (batch, out). */
sg_net_node sg_net_linear(sg_net *graph, sg_net_node x, const char *name, int out, bool bias);

typedef struct sg_norm_options {
    sg_norm kind;
    double eps;
    double momentum; /* SG_NORM_BATCH: running <- (1 - momentum) running + momentum batch */
    int groups;      /* SG_NORM_GROUP: divides the channels */
} sg_norm_options;

/* With a weight and a bias for each channel. SG_NORM_NONE returns x. */
sg_net_node sg_net_norm(sg_net *graph, sg_net_node x, const char *name,
                        const sg_norm_options *options);

/* SG_ACT_NONE returns x. */
sg_net_node sg_net_act(sg_net *graph, sg_net_node x, const char *name, sg_act act);

sg_net_node sg_net_max_pool(sg_net *graph, sg_net_node x, const char *name, int kernel, int stride,
                            int pad);
/* Counts the padding, as PyTorch's AvgPool2d does. */
sg_net_node sg_net_average_pool(sg_net *graph, sg_net_node x, const char *name, int kernel,
                                int stride, int pad);
/* (batch, C, H, W) to (batch, C). */
sg_net_node sg_net_global_average(sg_net *graph, sg_net_node x, const char *name);
/* (batch, C, H, W) to (batch, C * H * W), in PyTorch's order. */
sg_net_node sg_net_flatten(sg_net *graph, sg_net_node x, const char *name);

/* x (batch, C, H, W) times s (batch, C). */
sg_net_node sg_net_scale(sg_net *graph, sg_net_node x, sg_net_node s, const char *name);
/* Both of one shape. */
sg_net_node sg_net_add(sg_net *graph, sg_net_node branch, sg_net_node residual, const char *name);
/* Each element is kept with probability 1 - p and divided by it. */
sg_net_node sg_net_dropout(sg_net *graph, sg_net_node x, const char *name, double p);
/* Stochastic depth: each image is kept with probability 1 - p and divided by it. */
sg_net_node sg_net_drop_path(sg_net *graph, sg_net_node x, const char *name, double p);

/* Fuses, chooses kernels, plans memory, allocates. `logits` is (batch, classes). The parameters are
 * zeros until sg_net_init or sg_net_load sets them. */
SG_CHECKED sg_status sg_net_compile(sg_net *graph, sg_net_node logits);

/* What went wrong; its message is empty when nothing has. Owned by the graph. */
const sg_diagnostic *sg_net_diagnostic(const sg_net *graph);

/* ---- Models from tables ------------------------------------------------------------------- */

#define SG_MODEL_LIST(X)                                                                           \
    /* torchvision's, with its parameters and their names */                                       \
    X(SG_MODEL_RESNET18, "resnet18")                                                               \
    X(SG_MODEL_RESNET50, "resnet50")                                                               \
    X(SG_MODEL_EFFICIENTNET_V2_S, "efficientnet_v2_s")                                             \
    /* "layers.0.weight" and so on */                                                              \
    X(SG_MODEL_MLP, "mlp")

typedef enum sg_model { SG_MODEL_LIST(SG_LIST_ENUM) } sg_model;
#define SG_MODEL_COUNT (0 SG_MODEL_LIST(SG_LIST_COUNT))

typedef struct sg_model_options {
    int classes;
    sg_norm norm;      /* in place of the model's BatchNorm; group: gcd(32, channels) groups */
    bool bias;         /* with SG_NORM_NONE: give each convolution that lost its norm a bias */
    double dropout;    /* before the classifier; < 0: the model's own, 0.2 */
    double drop_path;  /* of the last block; < 0: the model's own, 0.2. Both are for
                          efficientnet_v2_s only */
    const int *hidden; /* mlp: widths of the hidden layers, and how many; NULL: 4 of 256 */
    int hidden_count;
    sg_act act; /* mlp: SG_ACT_RELU and so on */
} sg_model_options;

/* 1000 classes, BatchNorm, no biases, the model's own dropout, tanh. */
sg_model_options sg_model_defaults(void);

/* Builds the model of a name in the list on a new graph and compiles it. The parameters are still
 * zeros. */
SG_CHECKED sg_status sg_net_model(sg_net *graph, const char *name, const sg_model_options *options);

/* The name of an sg_model, NULL past the end. */
const char *sg_model_name(int index);

/* ---- Parameters --------------------------------------------------------------------------- */

/* The parameters in the order of PyTorch's state dict, one layer number for each module. Owned by
 * the graph, as are the arrays that the spans point to. */
sg_params *sg_net_params(sg_net *graph);

/* The shape of parameter `index`: up to four extents, returns how many. */
int sg_net_param_shape(const sg_net *graph, size_t index, int shape[4]);

/* A buffer is what is saved beside the parameters: running means and variances. */
typedef struct sg_net_buffer {
    const char *name;
    float *values;
    size_t count;
} sg_net_buffer;

size_t sg_net_buffer_count(const sg_net *graph);
sg_net_buffer sg_net_buffer_at(const sg_net *graph, size_t index);

#define SG_INIT_LIST(X)                                                                            \
    /* torchvision's for the model (PyTorch's for the mlp) */                                      \
    X(SG_INIT_DEFAULT, "default")                                                                  \
    /* normal, std = gain / sqrt(fan in) */                                                        \
    X(SG_INIT_FAN_IN, "fan_in", "fan_in", "fan in")                                                \
    /* normal, std = gain / sqrt(fan out) */                                                       \
    X(SG_INIT_FAN_OUT, "fan_out", "fan_out", "fan out")

typedef enum sg_init { SG_INIT_LIST(SG_LIST_ENUM) } sg_init;
#define SG_INIT_COUNT (0 SG_INIT_LIST(SG_LIST_COUNT))
const char *sg_init_name(sg_init init);

typedef struct sg_init_config {
    sg_init kind;
    double gain; /* 0: that of the activation which feeds the layer, 1 / sqrt(E[act(z)^2]) */
    uint64_t seed;
} sg_init_config;

/* 1 / sqrt(E[act(z)^2]) for standard normal z: sqrt 2 for ReLU, 1.677 for SiLU, 1.593 for tanh. */
double sg_act_gain(sg_act act);

/* Sets every parameter and buffer: weights as said, biases 0 (but see SG_INIT_DEFAULT), norms 1 and
 * 0, running means 0 and variances 1. */
SG_CHECKED sg_status sg_net_init(sg_net *graph, const sg_init_config *config);

/* Scales each weight of a convolution or linear layer, in order, so that its output on `images` has
 * unit standard deviation. Dropout and stochastic depth are off meanwhile. SG_ERROR_ARGUMENT, and a
 * message, when an output has no spread or is not finite. */
SG_CHECKED sg_status sg_net_calibrate(sg_net *graph, const float *images);

/* Writes parameters and buffers as a safetensors state dict; extra (key, value) texts go to its
 * metadata. */
SG_CHECKED sg_status sg_net_save(sg_net *graph, const char *path, const char *const (*notes)[2],
                                 size_t note_count);

/* Reads a state dict. Every parameter must be there with its shape and as F32; buffers may be
 * missing, and tensors of other names are ignored, unless `strict`. A failed call changes nothing.
 */
SG_CHECKED sg_status sg_net_load(sg_net *graph, const char *path, bool strict);

/* ---- Running ------------------------------------------------------------------------------ */

typedef enum sg_mode {
    SG_MODE_TRAIN, /* batch statistics, running ones updated, dropout on */
    SG_MODE_EVAL   /* running statistics, dropout off */
} sg_mode;

/* `images` is (batch, channels, height, width), copied. `step` numbers the random choices of
 * dropout. */
SG_CHECKED sg_status sg_net_forward(sg_net *graph, const float *images, sg_mode mode,
                                    uint64_t step);

/* (batch, classes), valid until the next forward. */
const float *sg_net_logits(const sg_net *graph);
int sg_net_classes(const sg_net *graph);

typedef struct sg_loss_result {
    double loss; /* mean over the images; not finite when the network has left the finite range */
    int top1, top5; /* images whose label is the largest logit, one of the five largest */
    int images;     /* that were counted; of all ranks, as everything here */
} sg_loss_result;

/* Softmax cross-entropy of the first `count` images, with label smoothing in [0, 1), and dL/dlogits
 * for the backward pass. Ranks may have different counts, and some of them 0. Wrong arguments on
 * one rank are SG_ERROR_ARGUMENT on all. */
SG_CHECKED sg_status sg_net_loss(sg_net *graph, const int *labels, int count, double smoothing,
                                 sg_loss_result *result);

/* dL/dlogits, (batch, classes): the signal whose standard deviation is sigma_out. May be written by
 * the caller instead of sg_net_loss; L is the loss of all ranks' images then, too. */
float *sg_net_signal(sg_net *graph);

/* The backward pass, which overwrites every gradient. SG_ERROR_ORDER unless a forward pass in
 * SG_MODE_TRAIN came before. */
SG_CHECKED sg_status sg_net_backward(sg_net *graph);

/* ---- Looking inside ----------------------------------------------------------------------- */

/* A layer here is what one step of the forward pass writes: a convolution with what is fused to it,
 * a norm with its activation, a pooling. It is named after the last node in it. */
typedef struct sg_layer_report {
    const char *name;
    double mean, std;
    double between; /* the part of std that lies between images: that of each image's mean */
    bool finite;
} sg_layer_report;

/* Repeats the forward pass of the last batch and measures every layer's output. The mode and the
 * random choices are the same, the weights are as they are now, and running statistics are left
 * alone. */
SG_CHECKED sg_status sg_net_observe(sg_net *graph);
size_t sg_net_layer_count(const sg_net *graph);
/* Layer `index`, as the last sg_net_observe found it. */
sg_layer_report sg_net_layer_at(const sg_net *graph, size_t index);
/* The first layer, in the order of the forward pass, whose output was not finite; or
 * SG_NOT_FOUND. */
size_t sg_net_first_not_finite(const sg_net *graph);

typedef struct sg_net_info {
    size_t parameters;
    size_t activation_bytes; /* of all buffers, which share memory where their lives allow it */
    size_t unplanned_bytes;  /* what they would take without sharing */
    size_t work_bytes;       /* shared by all kernels */
    size_t ops;
    int block; /* channels in a block of the layout */
} sg_net_info;

sg_net_info sg_net_information(const sg_net *graph);

/* The kernels of convolution `index`, "NAME: forward, data, weights"; NULL past the end. Valid
 * until the next call. */
const char *sg_net_kernel(sg_net *graph, size_t index);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
