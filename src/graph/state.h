/* State dicts, for rooms that keep more beside the weights in one file. */
#ifndef SG_GRAPH_STATE_H
#define SG_GRAPH_STATE_H

#include "base/safetensors.h"
#include "stablegrad/graph.h"

/* As sg_net_save, with one tensor more (NULL: none), the optimizer's state for example. */
SG_CHECKED sg_status sg_net_write(sg_net *graph, const char *path, const sg_tensor_note *notes,
                                  size_t note_count, const sg_tensor *more);

/* As sg_net_load, from a file that is open already. */
SG_CHECKED sg_status sg_net_read(sg_net *graph, const sg_safetensors *file, bool strict);

#endif
