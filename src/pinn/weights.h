/* A network's weights as safetensors, under the names that PyTorch users know. Needs jansson. */
#ifndef SG_PINN_WEIGHTS_H
#define SG_PINN_WEIGHTS_H

#include "files/safetensors.h"
#include "stablegrad/diagnostic.h"
#include "stablegrad/jet.h"

enum { SG_WEIGHT_NAME = 72 };

/* Tensors over the network's own memory; `names` holds their texts. */
typedef struct sgi_weights {
    sg_allocator allocator;
    sgi_tensor *tensors;
    char (*names)[SG_WEIGHT_NAME];
    size_t count; /* two for each layer and one for each scalar; there is room for two more */
} sgi_weights;

SG_CHECKED sg_status sgi_weights_list(sgi_weights *list, const sg_jet_network *network,
                                      const sg_allocator *allocator);
void sgi_weights_release(sgi_weights *list);

/* Weights only: layers.N.weight (out, in), layers.N.bias (out), in the network's type, and of each
 * scalar NAME.parameter (1). */
SG_CHECKED sg_status sgi_weights_save(const char *path, const sg_jet_network *network,
                                      const sg_allocator *allocator, sg_diagnostic *diagnostic);

/* Reads weights in float or double into the network; every tensor must be there with its shape,
 * others are ignored. On failure the network is unchanged. */
SG_CHECKED sg_status sgi_weights_load(const char *path, sg_jet_network *network,
                                      const sg_allocator *allocator, sg_diagnostic *diagnostic);

/* The same from a file that is open already; `path` is for messages. */
SG_CHECKED sg_status sgi_weights_read(const sgi_safetensors *file, const char *path,
                                      sg_jet_network *network, const sg_allocator *allocator,
                                      sg_diagnostic *diagnostic);

#endif
