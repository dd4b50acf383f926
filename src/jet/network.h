/* A network as the engine sees it: layers over one flat array of parameters. */
#ifndef SG_JET_NETWORK_H
#define SG_JET_NETWORK_H

#include "stablegrad/jet.h"

/* Networks that follow each other along a coordinate: `networks[k]` is meant up to `ends[k]`. Of
 * those that have no weights yet, the last that has some stands in their place. */
typedef struct sgi_jet_pieces {
    int along;
    size_t count, ready;
    sg_jet_network **networks; /* (count) */
    const double *ends;        /* (count) */
} sgi_jet_pieces;

/* The piece that is meant at a point. */
size_t sgi_jet_piece_at(const sgi_jet_pieces *pieces, const double *point);

struct sg_jet_network {
    sg_allocator allocator;
    sg_type type;
    sg_activation activation;
    double frequency;
    int coordinates, outputs, features;
    int layer_count;      /* hidden layers and the output layer */
    sg_jet_layer *layers; /* (layer_count) */
    size_t parameters;
    size_t scalar_count, scalar_begin; /* the last of the parameters */
    char **scalars;                    /* (scalar_count) their names */
    void *values, *gradients;          /* (parameters) of `type` */
    /* The input map: `raw` kept coordinates, then sines and cosines of `waves` waves. */
    int raw, waves;
    int *raw_index;        /* (raw) coordinate of each raw feature */
    double *scale, *shift; /* (raw) */
    double *wave;          /* (waves, coordinates) */
    double *unit;          /* (coordinates) that derivatives are taken in */
    /* NULL, or what sg_jet_evaluate evaluates in place of this network; not owned. */
    sgi_jet_pieces *pieces;
};

/* The deviation-preserving gain of an activation: see sg_jet_init. */
double sgi_activation_gain(sg_activation activation, double frequency);

#endif
