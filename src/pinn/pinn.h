/* Inside the handles of stablegrad/pinn.h. */
#ifndef SG_PINN_PINN_H
#define SG_PINN_PINN_H

#include "jet/network.h"
#include "pinn/residual.h"
#include "stablegrad/pinn.h"

struct sg_pinn {
    sg_allocator allocator;
    sgi_problem *problem;
    bool owns_problem;
    sg_jet_network *network;
    bool lent_network;             /* it is another handle's */
    const sg_jet_network *earlier; /* of a later window: the network of the one before */
    sgi_jet_pieces pieces;         /* with windows: their networks, which `network` stands for */
    double window_ends[SG_MOST_WINDOWS];
    sg_jet_network *windows[SG_MOST_WINDOWS];
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

/* The same for window `window` of `whole`, a handle over a problem with windows: `problem` is that
 * window's, and the network is the one that the whole has for it. */
SG_CHECKED sg_status sgi_pinn_over_window(sg_pinn **pinn, sgi_problem *problem, sg_pinn *whole,
                                          int window, const sg_allocator *allocator);

/* Reads the layers of a network's weights from a file of any problem; unknown constants stay. */
SG_CHECKED sg_status sgi_pinn_start(sg_pinn *pinn, const char *path, sg_diagnostic *diagnostic);

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

/* The problem of a batch. */
const sg_pinn *sgi_pinn_of(const sg_pinn_batch *batch);

/* From now on sg_pinn_give is refused: whoever made the batch counts on the points that it has. */
void sgi_pinn_fix(sg_pinn_batch *batch);

/* Without taking memory: gives a set without normals the caller's points, which are not copied and
 * must stay, or another number of sampled ones. */
void sgi_pinn_lend(sg_pinn_batch *batch, size_t set, const double *points, size_t count);
void sgi_pinn_resize(sg_pinn_batch *batch, size_t set, size_t items);

/* Where the trainer of a problem with several stages is, beside its steps and weights. */
typedef struct sgi_trainer_place {
    uint64_t window;       /* of the last step */
    uint64_t window_begin; /* steps of all windows before it */
    uint64_t stage;        /* of the next step; the last, if there is none */
    uint64_t stage_steps;  /* taken or skipped in this stage */
    double stage_seconds;  /* that they took */
    uint64_t skipped;      /* steps, of all stages */
    double loss;           /* of the last step */
} sgi_trainer_place;
sgi_trainer_place sgi_pinn_trainer_place(const sg_pinn_trainer *trainer);
uint64_t sgi_pinn_trainer_steps(const sg_pinn_trainer *trainer); /* of all stages */

/* The state of that stage's optimizer, as sg_optim_state; whether a block could be restored there,
 * SG_ERROR_STATE: no (of one that sees gradients alone only the size is compared, the rest is for
 * sg_optim_restore; the trainer then is in the window of that place, whose weights stay, and a
 * window that cannot be entered is another error); and restoring one that can, with the number of
 * steps of all stages. A stage whose budget is used up by then is over: it may have had a larger
 * one. */
const void *sgi_pinn_trainer_state(const sg_pinn_trainer *trainer, size_t *size);
SG_CHECKED sg_status sgi_pinn_trainer_fits(sg_pinn_trainer *trainer, const sgi_trainer_place *place,
                                           const void *state, size_t size);
sg_optim *sgi_pinn_trainer_stage_optim(const sg_pinn_trainer *trainer, uint64_t stage);
sg_scaler *sgi_pinn_trainer_stage_scaler(const sg_pinn_trainer *trainer, uint64_t stage);
void sgi_pinn_trainer_restore(sg_pinn_trainer *trainer, const sgi_trainer_place *place,
                              uint64_t steps, const void *state, size_t size);

/* Why the window could not be entered that a step, or a block that does not fit, was in; without a
 * message if that was not the reason. Such a trainer may be without scaler, optimizer and batch. */
const sg_diagnostic *sgi_pinn_trainer_why(const sg_pinn_trainer *trainer);

/* Whether all stages are over, the options of the one that the next step belongs to (the last, if
 * there is none), and how much of that stage's budget and of all budgets is used up, in [0, 1]. */
bool sgi_pinn_trainer_over(const sg_pinn_trainer *trainer);
const sgi_training_settings *sgi_pinn_trainer_stage(const sg_pinn_trainer *trainer);
double sgi_pinn_trainer_stage_share(const sg_pinn_trainer *trainer);
double sgi_pinn_trainer_share(const sg_pinn_trainer *trainer);

/* Steps of the whole run, those that were taken and what the budgets leave at most;
 * SG_STEPS_WITHOUT_END at most. */
uint64_t sgi_pinn_trainer_most_steps(const sg_pinn_trainer *trainer);

/* The stage of the last step; that of the next when there was none yet. */
uint64_t sgi_pinn_trainer_last_stage(const sg_pinn_trainer *trainer);

/* The causal weight of the last times in the last step; NaN without such weights. */
double sgi_pinn_trainer_causal(const sg_pinn_trainer *trainer);

/* What the last step did, when its optimizer is of second order; otherwise NULL. */
struct sgi_second_report;
const struct sgi_second_report *sgi_pinn_trainer_second(const sg_pinn_trainer *trainer);

/* Bytes of everything that is made for the training, and of the values and gradients of the
 * networks. */
size_t sgi_pinn_trainer_memory(const sg_pinn_trainer *trainer);

/* The status, and where it is not SG_OK a diagnostic that says at least what the status means. */
sg_status sgi_pinn_status(sg_status status, sg_diagnostic *diagnostic);

#endif
