/* How large signals are from layer to layer: a plain multilayer perceptron in double, with one
 * forward and one backward pass, whose activations, adjoints and weight gradients are measured. The
 * paper's figure 1 and appendix A.1.
 *
 * Beside the value h of a layer the network may carry p and s, its first and second derivatives by
 * the first input. With z = W h the layers are
 *
 *     h' = f(z)      p' = f'(z) Wp      s' = f''(z) (Wp)^2 + f'(z) Ws
 *
 * and the adjoints a, b, c of h', p', s' go back through
 *
 *     c <- W^T f' c      b <- W^T (f' b + 2 f'' Wp c)
 *     a <- W^T (f' a + f'' Wp b + (f''' (Wp)^2 + f'' Ws) c)
 *
 * which no single recursion of variances describes. A layer that is normalised is so before its
 * activation, and the last layer is neither normalised nor activated. There are no biases: they are
 * 0 at the start, which is what is looked at. */
#ifndef SG_FLOW_FLOW_H
#define SG_FLOW_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

typedef enum sgi_flow_function { SG_FLOW_RELU, SG_FLOW_TANH } sgi_flow_function;

typedef enum sgi_flow_norm {
    SG_FLOW_PLAIN,
    SG_FLOW_BATCH, /* each output over the batch */
    SG_FLOW_LAYER  /* each item over the outputs */
} sgi_flow_norm;

enum { SG_FLOW_CHANNELS = 3 };

typedef struct sgi_flow_config {
    const int *widths; /* (layers + 1): of the input, and of every layer's output */
    int layers;
    sgi_flow_function function;
    sgi_flow_norm norm; /* only with one channel */
    bool fan_out;       /* weights are normal, std = gain / sqrt(fan) */
    double gain;
    int channels; /* 1: the value alone; 3: and its first two derivatives */
    int batch;
    uint64_t seed;
} sgi_flow_config;

typedef struct sgi_flow_layer {
    double activation[SG_FLOW_CHANNELS]; /* std over batch and outputs */
    double adjoint[SG_FLOW_CHANNELS];    /* of the loss, by the same */
    double gradient;                     /* std of the weights' gradient */
    double factor;                       /* of StableGrad, for the layer's weights */
    /* What one recursion of variances says, from the first layer's activation and the last one's
     * adjoint on: n Var(W) times the mean of f'(z)^2, or for the value of f(z)^2 / z^2. */
    double predicted_activation[SG_FLOW_CHANNELS];
    double predicted_adjoint[SG_FLOW_CHANNELS];
} sgi_flow_layer;

/* Fills `layers` (config->layers). The inputs are standard normal. With one channel the loss is
 * half the mean over the batch of |u - y|^2, y standard normal; with three its derivatives by the
 * three channels of the output are independent normal numbers divided by the batch, so that what is
 * seen is the network and no particular equation. */
SG_CHECKED sg_status sgi_flow_measure(const sgi_flow_config *config, sgi_flow_layer *layers,
                                      const sg_allocator *allocator);

/* Largest over smallest of `count` numbers. */
double sgi_flow_spread(const double *values, int count);

#endif
