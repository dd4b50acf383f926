/* Inside the handles of stablegrad/pinn.h. */
#ifndef SG_PINN_PINN_H
#define SG_PINN_PINN_H

#include "pinn/residual.h"
#include "stablegrad/pinn.h"

struct sg_pinn {
    sg_allocator allocator;
    sgi_problem *problem;
    bool owns_problem;
    sg_jet_network *network;
    sg_params *params;
    sgi_arena arena; /* what `information` points to */
    sg_pinn_information information;
    sg_schedule_term schedule[SG_MOST_PIECES + 2]; /* what `optim` points to */
    sg_optim_config optim;
    char *text; /* NULL until it is asked for; of the problem's allocator */
};

/* A handle over a problem that the caller has opened and keeps; it must outlive the handle. */
SG_CHECKED sg_status sgi_pinn_over(sg_pinn **pinn, sgi_problem *problem,
                                   const sg_allocator *allocator);

/* Floating-point operations of the layer products of one gradient. */
double sgi_pinn_flops(const sg_pinn_batch *batch);

/* Channels of set `set` as text, "u u_t u_x u_xx", as snprintf does. */
size_t sgi_pinn_channels(const sg_pinn_batch *batch, size_t set, char *text, size_t size);

/* The residuals of single points: those of an integral are not averaged. */
void sgi_pinn_point_residuals(sg_pinn_batch *batch, double *residuals);

/* Makes the kernel of the residual vector, (residual_count, residual_count), of the engine's
 * kernel, which is that of single points. */
void sgi_pinn_average_kernel(const sg_pinn_batch *batch, double *kernel);

/* The residual of a batch, and the number of kept points that it has from now on. */
sgi_residual *sgi_pinn_residual(const sg_pinn_batch *batch);
void sgi_pinn_keep(sg_pinn_batch *batch, size_t set, size_t count);

/* What a trainer chooses points with, or NULL. */
struct sgi_refinement *sgi_pinn_trainer_refinement(const sg_pinn_trainer *trainer);

/* Bytes of the engines, the parameters and the optimizer. */
size_t sgi_pinn_trainer_memory(const sg_pinn_trainer *trainer);

/* The status, and where it is not SG_OK a diagnostic that says at least what the status means. */
sg_status sgi_pinn_status(sg_status status, sg_diagnostic *diagnostic);

#endif
