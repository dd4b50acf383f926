/* A plan as the engine sees it: channels, the chain rule's table, and how requests follow. */
#ifndef SG_JET_PLAN_H
#define SG_JET_PLAN_H

#include "kernel/kernels.h"
#include "stablegrad/jet.h"

/* A derivative, or a combination of derivatives. */
typedef struct sgi_jet_channel {
    int order;                    /* of a combination: the highest of its terms */
    int along[SG_JET_MOST_ORDER]; /* the coordinates, ascending; unused entries are 0 */
    const sg_jet_term *terms;     /* NULL, or (count), each along ascending coordinates */
    size_t count;
} sgi_jet_channel;

/* A request is the sum of its parts. */
typedef struct sgi_jet_part {
    int channel;
    double coefficient;
} sgi_jet_part;

/* A request as a sum of terms. */
typedef struct sgi_jet_form {
    sg_jet_term *terms; /* in the plan's own array; the values first, none twice */
    size_t count;
    bool varying;
} sgi_jet_form;

struct sg_jet_plan {
    sg_allocator allocator;
    int coordinates;
    sgi_jet_channel channel[SG_JET_MOST_CHANNELS]; /* by order; the value is channel 0 */
    int channels;
    int varying; /* how many numbers each point brings for coefficients that vary */
    sgi_chain chain;
    sgi_chain_term *chain_terms; /* of `chain` */
    size_t requests;
    sg_jet_term *terms;  /* of all forms */
    sgi_jet_form *forms; /* (requests) */
    size_t *part_begin;  /* (requests + 1) */
    sgi_jet_part *parts;
};

/* The channel of a derivative along ascending coordinates. */
sgi_jet_channel sgi_jet_derivative(int order, const int *along);

/* The channel's number in the plan, or -1. */
int sgi_jet_find_channel(const sg_jet_plan *plan, const sgi_jet_channel *wanted);

/* plan_chain.c: the chain rule of the plan's channels. */
SG_CHECKED sg_status sgi_jet_make_chain(sg_jet_plan *plan);

#endif
