/* The engine's data. See include/stablegrad/jet.h for what it does and kernel/kernels.h for rows.
 *
 * unit    a stretch of tiles, in the order of the sets; a step has a number of units that does not
 *         depend on the threads. Each accumulates its own gradient, sums and moments, and they are
 *         combined in unit order: that makes results bit-identical for any number of threads.
 * worker  one thread's memory for one tile, whole depth. */
#ifndef SG_JET_ENGINE_H
#define SG_JET_ENGINE_H

#include "jet/network.h"
#include "jet/plan.h"

/* A point set and what is fixed about its tiles. */
typedef struct sgi_jet_state {
    sg_jet_set set;
    int points;       /* of a tile: a multiple of 6, and of points_per_item */
    int point_stride; /* between arrays over the points of a tile; whole cache lines */
    int items;        /* of a tile */
    int item_stride;  /* between arrays over the items of a tile; whole cache lines */
    int rows;         /* points * channels */
    sgi_features features;
    void *tables;      /* owns the arrays of `features` */
    size_t first_sum;  /* of the set's sums within a unit's */
    size_t first_tile; /* in the order of all sets, this call */
    size_t tiles;
} sgi_jet_state;

/* Memory of one tile. z, a, memo: (layers - 1) arrays of rows. */
typedef struct sgi_jet_worker {
    void *memory; /* owns all arrays below */
    void **z, **a, **memo;
    void *features;          /* rows */
    void *moved[2];          /* rows: adjoints or tangents of two neighbouring layers */
    void *y, *y_moved;       /* (channels, outputs, point_stride) */
    void *coordinates;       /* (coordinates, point_stride) */
    void *item_coordinates;  /* (points_per_item, coordinates, item_stride) */
    void *varying;           /* (plan's varying, point_stride) */
    void *item_varying;      /* (points_per_item, plan's varying, item_stride) */
    void *values, *adjoints; /* (points_per_item, requests, outputs, item_stride) */
    void *tangents;          /* like `values` */
    void *residuals;         /* (item_stride), where a Jacobian call wants them */
    void *scalars;           /* (scalars, item_stride): adjoints */
    void **coordinate_at, **varying_at, **value_at, **adjoint_at; /* what the callbacks get */
    void **scalar_at;
} sgi_jet_worker;

/* What a call does with each tile. */
typedef enum sgi_jet_mode {
    SG_JET_FORWARD,
    SG_JET_GRADIENT,
    SG_JET_ROWS,
    SG_JET_PUSH,
    SG_JET_PULL
} sgi_jet_mode;

/* What SG_JET_ROWS keeps of a layer. Either its part of every row of the Jacobian, the weight and
 * then the bias; or, when `factored`, the two factors that this part is the product of: the layer's
 * inputs and adjoints, (sides, channels) rows of each item. */
typedef struct sgi_jet_kept {
    bool factored;
    size_t begin;    /* element of a row, or of an item's inputs */
    size_t adjoints; /* element of an item's adjoints */
} sgi_jet_kept;

typedef struct sgi_jet_store {
    const sgi_jet_kept *layers;      /* (layers) */
    size_t scalars;                  /* element of a row where those of the scalars begin */
    size_t row_size;                 /* elements, as the two below */
    size_t input_size, adjoint_size; /* of an item */
    void *rows;                      /* (items, components, row_size) */
    void *inputs, *adjoints;         /* (items, input_size), (items, adjoint_size) */
    void *residuals;                 /* NULL, or (items, components) */
    bool stream;                     /* the rows are more than caches hold; set by the call */
} sgi_jet_store;

/* One call, as the units see it. */
typedef struct sgi_jet_call {
    sgi_jet_mode mode;
    size_t set_begin, set_end; /* the sets it works on */
    bool adds;                 /* sums and moments to those of the call before it */
    size_t first, count;       /* items, SG_JET_ROWS */
    sgi_jet_store store;       /* SG_JET_ROWS */
    double *products;          /* SG_JET_PUSH */
    const void *direction;     /* SG_JET_PUSH: (parameters) */
    const double *weights;     /* SG_JET_PULL */
    size_t tiles, units;
} sgi_jet_call;

struct sg_jet {
    sg_allocator allocator;
    sg_jet_network *network;
    const sgi_kernels *kernels;
    sg_pool *pool;
    bool general, tangents;
    sgi_jet_state *states; /* (set_count) */
    size_t set_count;
    sgi_layer_shape *shapes; /* (layers) */
    size_t *packed_begin;    /* (layers) element where a layer's packed weights begin */
    size_t *gradient_begin;  /* (layers + 1) */
    sgi_jet_kept *whole;     /* (layers): rows laid out as the network's own array of parameters */
    void *packed, *packed_direction;
    int threads;
    sgi_jet_worker *workers; /* (threads) */
    size_t most_units;
    void **unit_gradient;     /* (most_units) */
    double *unit_scalars;     /* (most_units, scalars): the scalars' part of the gradient */
    double *unit_sums;        /* (most_units, sums) */
    size_t sums;              /* of all sets */
    sg_moments *unit_moments; /* (most_units) */
    double *result_sums;      /* (sums) */
    double *call_sums;        /* (sums + 2): those of the last call, and what moments need */
    sg_moments result_moments;
    size_t memory;
    sgi_jet_call call;
};

/* Creation with or without what the reverse pass needs. */
SG_CHECKED sg_status sgi_jet_create_for(sg_jet **jet, const sg_jet_config *config, bool reverse,
                                        const sg_allocator *allocator);

/* tile.c: one tile. `first` and `count` are items of the set. */
void sgi_tile_forward(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                      size_t count);
/* Calls the residual callback; its adjoints are left in the worker's request arrays. */
void sgi_tile_residual(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                       size_t count, int component, double *sums);
/* Turns adjoints of requests into adjoints of channels: y_moved += weights[i * step] * adjoints, or
 * 1 for NULL weights. */
void sgi_tile_gather(sg_jet *jet, const sgi_jet_state *state, int worker, size_t count,
                     const double *weights, size_t step);
/* Adds the gradient of the adjoints in y_moved. */
void sgi_tile_reverse(sg_jet *jet, const sgi_jet_state *state, int worker, void *gradient);
/* The same, item by item: what the call's store keeps of them, item 0 being its item `first`. */
void sgi_tile_reverse_rows(sg_jet *jet, const sgi_jet_state *state, int worker, size_t first,
                           size_t count, int component);
/* Tangents of the requests along packed_direction, left in the worker's `tangents`. */
void sgi_tile_tangent(sg_jet *jet, const sgi_jet_state *state, int worker);
void sgi_tile_clear(const sg_jet *jet, const sgi_jet_state *state, int worker); /* y_moved <- 0 */

/* units.c: runs a call over all tiles. */
void sgi_jet_run(sg_jet *jet, const sgi_jet_call *call);
/* Packs `values` (parameters) into `packed`. */
void sgi_jet_pack(sg_jet *jet, const void *values, void *packed);
/* Combines the units' gradients into `gradient` (parameters). */
void sgi_jet_collect(sg_jet *jet, void *gradient);

#endif
