/* The Jacobian as a whole: panels of rows, made by the engine and used up by products.
 *
 * panel   a stretch of items of one set, and what is kept of them (sgi_jet_store).
 * group   vectors of a block that are taken together.
 * Panels and groups have sizes that do not depend on the threads; every number that comes out is
 * summed by one thread, panel after panel. */
#ifndef SG_JET_JACOBIAN_H
#define SG_JET_JACOBIAN_H

#include "jet/engine.h"

enum { SGI_PANEL_ROWS = 1024, SGI_GROUP_VECTORS = 32 };

/* Items [first, first + count) of a set; its residuals begin at `row` of all. */
typedef struct sgi_panel {
    size_t set, first, count, row;
    size_t rows;          /* count * components */
    size_t set_row, done; /* where the set's residuals begin; items of it in panels before */
    int rank, ranks;      /* whose items there are panels of; 0 ranks: all items */
} sgi_panel;

typedef struct sgi_kept_panel {
    sgi_panel panel;
    sgi_jet_store store;
} sgi_kept_panel;

struct sg_jacobian {
    sg_allocator allocator;
    sg_jet *jet;
    sg_jacobian_method method;
    void *panels; /* panel_bytes */
    size_t panel_bytes;
    char *scratch; /* (threads, scratch_bytes): of the products */
    size_t scratch_bytes;
    sgi_jet_kept *kept;       /* (set_count, layers): what the kernel keeps of each layer */
    sgi_jet_store *stores;    /* (set_count): the same with its sizes, no memory yet */
    sgi_kept_panel *resident; /* (set_count) */
    double *products;         /* (SGI_GROUP_VECTORS, SGI_PANEL_ROWS) */
    void *shares;             /* the same in the network's type; `products` itself in double */
    void *vectors;   /* (SGI_GROUP_VECTORS, parameters) of the network's type; NULL in double */
    void *residuals; /* (SGI_PANEL_ROWS) of the network's type */
    size_t memory;
};

/* Where to start for panels of this rank's share of the items. */
sgi_panel sgi_shared_panels(const sg_jacobian *jacobian);

/* The panel after `panel` (start with zeros, or with what sgi_shared_panels gives), of at most
 * capacity(jacobian, set) items; false at the end. */
typedef size_t sgi_panel_capacity(const sg_jacobian *jacobian, size_t set);
bool sgi_next_panel(const sg_jacobian *jacobian, sgi_panel_capacity *capacity, sgi_panel *panel);

/* Passes the panel's items through the network. */
void sgi_fill_panel(sg_jacobian *jacobian, const sgi_panel *panel, const sgi_jet_store *store);

/* Runs `function` for every unit in [0, units) on all threads. */
void sgi_jacobian_run(sg_jacobian *jacobian, size_t units, sg_unit_function *function,
                      void *context);

static inline void *sgi_jacobian_scratch(const sg_jacobian *jacobian, int worker)
{
    return jacobian->scratch + (size_t)worker * jacobian->scratch_bytes;
}

/* tangent_kernel.c: the largest scratch of its products, in elements; what is kept of each layer by
 * `method`, for the sets as they are; and the bytes that an item of a set then takes. */
size_t sgi_kernel_scratch(const sg_jacobian *jacobian);
void sgi_kernel_choose(sg_jacobian *jacobian, sg_jacobian_method method);
size_t sgi_kernel_item_bytes(const sg_jacobian *jacobian, size_t set);

/* jacobian_products.c: bytes of an item's rows and of their copies for J^T J. */
size_t sgi_square_item_bytes(const sg_jacobian *jacobian, size_t set);

#endif
