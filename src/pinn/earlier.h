/* The network of an earlier window at the start of the next: its values and derivatives by t at the
 * points of a tile, computed on a worker's own memory. */
#ifndef SG_PINN_EARLIER_H
#define SG_PINN_EARLIER_H

#include "stablegrad/jet.h"

/* Bytes of memory that sgi_earlier_evaluate needs for a tile. */
size_t sgi_earlier_memory(const sg_jet_network *network);

/* At `count` points, at most SG_JET_TILE_POINTS, whose coordinates are arrays of the network's
 * type: results (2 * outputs, SG_JET_TILE_POINTS), for each output its values and, with `slopes`,
 * its derivatives by coordinate `along`. */
void sgi_earlier_evaluate(const sg_jet_network *network, void *const *coordinates, size_t count,
                          int along, bool slopes, double *memory, double *results);

#endif
