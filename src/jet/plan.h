/* A plan as the engine sees it: channels, the chain rule's table, and how requests follow. */
#ifndef SG_JET_PLAN_H
#define SG_JET_PLAN_H

#include "kernel/kernels.h"

/* A derivative, or a combination of pure second derivatives. */
typedef struct sgi_jet_channel {
    int order;                    /* 2 for a combination */
    int along[SG_JET_MOST_ORDER]; /* the coordinates, ascending; unused entries are 0 */
    const double *second;         /* NULL, or (coordinates) */
} sgi_jet_channel;

/* A request is the sum of its parts. */
typedef struct sgi_jet_part {
    int channel;
    double coefficient;
} sgi_jet_part;

struct sg_jet_plan {
    sg_allocator allocator;
    int coordinates;
    sgi_jet_channel channel[SG_JET_MOST_CHANNELS]; /* by order; the value is channel 0 */
    int channels;
    sgi_chain chain;
    sgi_chain_term *terms; /* of `chain` */
    size_t requests;
    double *second;     /* (requests, coordinates): copies of the requests' combinations */
    size_t *part_begin; /* (requests + 1) */
    sgi_jet_part *parts;
};

#endif
