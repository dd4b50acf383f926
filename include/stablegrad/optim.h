/* Optimizers with PyTorch's exact semantics where PyTorch has them, over the caller's own memory.
 *
 * A span without a gradient (NULL) is passed over and its state does not advance, as PyTorch does
 * with `grad is None`; so step counts, which bias correction needs, are kept for each span. */
#ifndef STABLEGRAD_OPTIM_H
#define STABLEGRAD_OPTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/cpu.h"
#include "stablegrad/list.h"
#include "stablegrad/memory.h"
#include "stablegrad/params.h"
#include "stablegrad/pool.h"
#include "stablegrad/scale.h"
#include "stablegrad/schedule.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define SG_OPTIM_LIST(X)                                                                           \
    /* decoupled weight decay */                                                                   \
    X(SG_OPTIM_ADAMW, "adamw", "adamw", "AdamW")                                                   \
    /* weight decay added to the gradient */                                                       \
    X(SG_OPTIM_ADAM, "adam", "adam", "Adam")                                                       \
    /* momentum, dampening, Nesterov */                                                            \
    X(SG_OPTIM_SGD, "sgd", "sgd", "SGD")                                                           \
    /* Adam's step, made as long as the tensor: rate |value| / |step| (You et al., 2020) */        \
    X(SG_OPTIM_LAMB, "lamb", "lamb", "LAMB")                                                       \
    /* momentum of gradients divided by the running norm of their tensor (Ginsburg et al., 2019)   \
     */                                                                                            \
    X(SG_OPTIM_NOVOGRAD, "novograd", "novograd", "NovoGrad")                                       \
    /* AdamW with one second moment for a tensor (Zhang et al., 2024) */                           \
    X(SG_OPTIM_ADAM_MINI, "adam-mini", "adam-mini", "Adam-mini")                                   \
    /* the mean of AdamW's steps for each group of losses, with moments of its own (Yao et al.,    \
     * 2023) */                                                                                    \
    X(SG_OPTIM_MULTIADAM, "multiadam", "multiadam", "MultiAdam")                                   \
    /* AdamW in the eigenvectors of the mean G G^T and G^T G of a matrix (Vyas et al., 2024) */    \
    X(SG_OPTIM_SOAP, "soap", "soap", "SOAP")

typedef enum sg_optim_kind { SG_OPTIM_LIST(SG_LIST_ENUM) } sg_optim_kind;
#define SG_OPTIM_COUNT (0 SG_OPTIM_LIST(SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. */
const char *sg_optim_name(sg_optim_kind kind);

typedef struct sg_optim_config {
    sg_optim_kind kind;
    double rate;         /* learning rate, >= 0 */
    double beta1, beta2; /* all but SGD, in [0, 1) */
    double eps;          /* all but SGD, >= 0 */
    double decay;        /* weight decay, >= 0 */
    double momentum;     /* SGD, >= 0 */
    double dampening;    /* SGD */
    bool nesterov;       /* SGD; needs momentum > 0 and dampening 0 */
    double clip_norm;    /* clip the global gradient norm to this, after StableGrad; 0: off */
    const sg_schedule_term *schedule; /* copied; NULL with count 0: constant */
    size_t schedule_count;
    sg_isa isa;
    size_t groups;  /* MultiAdam: gradients of each span, 1 to SG_OPTIM_MOST_GROUPS */
    size_t refresh; /* SOAP: steps from one turn of its bases to the next, at least 1 */
} sg_optim_config;

enum { SG_OPTIM_MOST_GROUPS = 64 };

/* PyTorch's defaults for the kind: rate 1e-3, betas 0.9 and 0.999, eps 1e-8, decay 1e-2 for AdamW
 * and Adam-mini and 0 for the others, momentum 0, no clipping, constant schedule. LAMB has eps
 * 1e-6, NovoGrad betas 0.95 and 0.98, MultiAdam 0.99 and 0.99 and SOAP 0.95 and 0.95, as their
 * authors do; MultiAdam has one group, and SOAP turns its bases every second step. */
sg_optim_config sg_optim_defaults(sg_optim_kind kind);

typedef struct sg_optim sg_optim;

/* Makes an optimizer over `params` (sealed from now on), each of whose spans must have a value.
 * `pool` may be NULL; pool and params must outlive the optimizer. `config` is copied. */
SG_CHECKED sg_status sg_optim_create(sg_optim **optim, sg_params *params,
                                     const sg_optim_config *config, sg_pool *pool,
                                     const sg_allocator *allocator);

/* NULL is allowed. */
void sg_optim_destroy(sg_optim *optim);

/* MultiAdam: where the gradient of group `group` by span `span` lies, `count` elements of the
 * span's type; it must outlive the optimizer. The span's own gradient, which a scaler measures and
 * clipping looks at, must hold their sum; a factor of either multiplies every group's gradient.
 * With one group nothing needs to be said: it is the span's own gradient. */
SG_CHECKED sg_status sg_optim_set_group(sg_optim *optim, size_t group, size_t span,
                                        const void *gradient);

/* What a call of sg_optim_step did. */
typedef struct sg_step_info {
    uint64_t step;        /* the step this was, counted from 0; skipped steps count too */
    bool skipped;         /* nothing was changed but the step number: a gradient was not finite */
    double rate;          /* learning rate with the schedule, before per-span factors */
    double gradient_norm; /* global norm, scaled, before clipping; 0 when it was not needed */
    double clip_factor;   /* what clipping multiplied the gradients by; 1 when off or below */
    bool rescaled;        /* the moments are in the units of rescaled gradients */
    bool handed_over;     /* `rescaled` changed with this step: see sg_optim_handover */
} sg_step_info;

/* Takes one step. With a scaler that has measured this step, its factors are applied inside the
 * pass and the gradients in memory stay raw; if sg_scaler_apply was called they are scaled already
 * and are taken as they are. A step that the scaler found not finite is skipped. Without a scaler
 * the gradients are taken as they are; they are then only checked when clipping is on.
 * `scaler` and `info` may be NULL. SG_ERROR_ORDER if the scaler has not measured since the last
 * step, or a group of MultiAdam has no gradient, SG_ERROR_MISMATCH if it was made from another
 * parameter set, SG_ERROR_REDUCE if norms could not be summed over the ranks, SG_ERROR_UNSUPPORTED
 * if several groups are to be changed by a method that is no multiplication (SG_METHOD_SIGN,
 * SG_METHOD_ZNORM, SG_METHOD_AGC) or whose result is in memory already; no value is changed then.
 */
SG_CHECKED sg_status sg_optim_step(sg_optim *optim, sg_scaler *scaler, sg_step_info *info);

/* Converts the moments to the units of the gradients to come. While StableGrad is on, moments are
 * averages of rescaled gradients: Adam's first moment differs from that of raw gradients by a
 * factor alpha, its second by alpha^2, the momentum of SGD by alpha. When the scaler's window ends,
 * the gradients are raw again, and steps with the old moments are far too large or too small for a
 * while. So the state holds for each span the mean factor of its last ten steps or so, and the
 * moments are divided by it; when rescaling begins late or again, they are multiplied by the first
 * factor.
 * SG_HANDOVER_KEEP and SG_HANDOVER_RESTART of the scaler's configuration say otherwise. A block
 * that was never rescaled (nor clipped) is left as it is. Weight decay that is added to the
 * gradient (SG_OPTIM_ADAM and SGD) is in the moments and is converted with them.
 *
 * sg_optim_step does this by itself in the first step whose units differ from those of the steps
 * before. Call this function to do it earlier, with the scaler that has measured the next step, or
 * to end rescaling by no longer giving sg_optim_step a scaler: with NULL it converts to raw units.
 * Nothing happens when the units do not change; *handed_over, which may be NULL, says whether they
 * did. The errors are those of sg_optim_step. */
SG_CHECKED sg_status sg_optim_handover(sg_optim *optim, const sg_scaler *scaler, bool *handed_over);

/* The number of the next step: how many were taken or skipped so far. */
uint64_t sg_optim_steps(const sg_optim *optim);

/* How many of them were skipped. */
uint64_t sg_optim_skipped(const sg_optim *optim);

/* The learning rate of the next step, with the schedule. */
double sg_optim_rate(const sg_optim *optim);

/* Replaces the base learning rate, finite and >= 0. */
SG_CHECKED sg_status sg_optim_set_rate(sg_optim *optim, double rate);

/* Multiplies the learning rate of one span (1 at the start), finite and >= 0; 0 freezes it. */
SG_CHECKED sg_status sg_optim_set_rate_factor(sg_optim *optim, size_t span, double factor);

/* ---- Saving and restoring ----------------------------------------------------------------- */

/* The whole state (step counts, moments and their units, but neither the parameters nor the
 * configuration) as one flat block in this machine's byte order. It is owned by the optimizer and
 * changed by every step. */
const void *sg_optim_state(const sg_optim *optim, size_t *size);

/* Copies a saved block back. SG_ERROR_STATE, and no change, unless it was saved by an optimizer of
 * the same kind over spans of the same names, types and counts. */
SG_CHECKED sg_status sg_optim_restore(sg_optim *optim, const void *state, size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
