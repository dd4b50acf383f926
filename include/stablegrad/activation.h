/* The activations of the jet engine and the limits on its derivatives, which its interface (jet.h)
 * and its inner loops share. */
#ifndef STABLEGRAD_ACTIVATION_H
#define STABLEGRAD_ACTIVATION_H

#include "stablegrad/list.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Append to the list, never reorder it. SG_ACTIVATION_SIN is sin(frequency * z), and
 * SG_ACTIVATION_GELU is the exact form z * Phi(z), Phi being the normal distribution function. */
#define SG_ACTIVATION_LIST(X)                                                                      \
    X(SG_ACTIVATION_TANH, "tanh")                                                                  \
    X(SG_ACTIVATION_SILU, "silu")                                                                  \
    X(SG_ACTIVATION_SIN, "sin")                                                                    \
    X(SG_ACTIVATION_GELU, "gelu")                                                                  \
    X(SG_ACTIVATION_SOFTPLUS, "softplus")

typedef enum sg_activation { SG_ACTIVATION_LIST(SG_LIST_ENUM) } sg_activation;
#define SG_ACTIVATION_COUNT (0 SG_ACTIVATION_LIST(SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. */
const char *sg_activation_name(sg_activation activation);

/* The highest order of a derivative, and the largest number of channels of a plan (see jet.h). */
enum { SG_JET_MOST_ORDER = 4, SG_JET_MOST_CHANNELS = 128 };

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
