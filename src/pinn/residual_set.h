/* One set of points of a residual (residual.h), and what the engine calls at a tile of them. */
#ifndef SG_PINN_RESIDUAL_SET_H
#define SG_PINN_RESIDUAL_SET_H

#include "pinn/residual.h"

/* Workspaces of workers do not share cache lines. */
typedef struct sgi_residual_set {
    const sgi_problem *problem;
    const sgi_point_set *set;
    sg_type type;                  /* the network's */
    sg_isa isa;                    /* a real one */
    const sg_jet_network *earlier; /* of the window before, or NULL */
    int64_t items, sampled_items;  /* now, and without given points */
    sgi_given given;
    sgi_given kept;     /* unless points are given: those that follow the residual; count 0: none */
    sgi_cloud cloud;    /* unless points are given or kept */
    sgi_given fixed;    /* the points of an integral */
    double *weights;    /* of an integral: (sampled items), the weight of each of its own points */
    double *totals;     /* of an integral: (components) */
    double *stored;     /* NULL, or (items, components): where weighted residuals go */
    double *parameters; /* (2 * components): 2 w / N and 0; of an integral 0 and 2 w I */
    double *roots;      /* (components): sqrt(2 w / N) */
    const sgi_time_factors *by_time; /* of the residuals, or NULL */
    char *workspaces;                /* (workers, workspace_bytes) */
    size_t workspace_bytes;
} sgi_residual_set;

/* The bytes that a worker needs. */
size_t sgi_residual_set_workspace(const sgi_residual_set *set);

/* Points that are not drawn, or NULL. */
const sgi_given *sgi_residual_set_stored(const sgi_residual_set *set);

/* Whether an equation of the set reads the normals of its points. */
bool sgi_residual_set_needs_normals(const sgi_residual_set *set);

/* The weight of an item in an integral. */
double sgi_residual_set_weight(const sgi_residual_set *set, size_t item);

/* For sg_jet_set, with a sgi_residual_set as their context. */
void sgi_residual_set_points(void *context, size_t set, size_t first, size_t count, int worker,
                             void *const *coordinates);
void sgi_residual_set_varying(void *context, size_t set, size_t first, size_t count, int worker,
                              void *const *coordinates, void *const *outputs);
void sgi_residual_set_residual(void *context, const sg_jet_tile *tile);

#endif
