/* State dicts, for rooms that keep more beside the weights in one file. */
#ifndef SG_GRAPH_STATE_H
#define SG_GRAPH_STATE_H

#include "files/safetensors.h"
#include "stablegrad/graph.h"

/* As sg_net_save, with one tensor more (NULL: none), the optimizer's state for example. */
SG_CHECKED sg_status sgi_net_write(sg_net *graph, const char *path, const sgi_tensor_note *notes,
                                   size_t note_count, const sgi_tensor *more);

/* As sg_net_load, from a file that is open already. */
SG_CHECKED sg_status sgi_net_read(sg_net *graph, const sgi_safetensors *file, bool strict);

#endif
