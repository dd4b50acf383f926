/* The input map's tables for one plan. */
#ifndef SG_JET_FEATURES_H
#define SG_JET_FEATURES_H

#include "jet/network.h"
#include "jet/plan.h"

/* Fills all of `features` but points and strides. Returns the memory that its arrays live in, to be
 * released by the caller; NULL when memory runs out. */
void *sgi_features_create(sgi_features *features, const sg_jet_network *network,
                          const sg_jet_plan *plan, int lanes, const sg_allocator *allocator);

#endif
