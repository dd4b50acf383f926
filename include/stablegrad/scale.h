/* StableGrad: each block's gradient, after the backward pass and before the optimizer, is brought
 * to one common scale c, the scale of the gradient at the network's output:
 *
 *     sigma_l = std(g_l)      alpha_l = c / (sigma_l + eps)      g_l <- alpha_l * g_l
 *
 * A step is: observe the signal at the output (once for each point set), measure, then either
 * apply, or hand the scaler to the optimizer, which multiplies inside its own pass:
 *
 *     sg_scaler_observe(scaler, adjoint, SG_FLOAT32, count, 1.0);
 *     sg_scaler_measure(scaler, step);
 *     sg_optim_step(optim, scaler, NULL);
 */
#ifndef STABLEGRAD_SCALE_H
#define STABLEGRAD_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/cpu.h"
#include "stablegrad/list.h"
#include "stablegrad/memory.h"
#include "stablegrad/params.h"
#include "stablegrad/pool.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Moments: the statistics everything here is made of ---------------------------------- */

/* Count, mean and sum of squared deviations of a set of numbers, in double.
 * {0, 0, 0} is the empty set. If any number is not finite, m2 is not finite. */
typedef struct sg_moments {
    double count;
    double mean;
    double m2;
} sg_moments;

/* Adds `count` numbers multiplied by `factor`. */
void sg_moments_add(sg_moments *moments, const void *values, sg_type type, size_t count,
                    double factor);

/* Adds the set `other` to `moments`. */
void sg_moments_merge(sg_moments *moments, const sg_moments *other);

/* The population standard deviation; |mean| for a set of one number, 0 for an empty set. */
double sg_moments_std(const sg_moments *moments);

/* ---- Configuration ------------------------------------------------------------------------ */

/* What is done to a block's gradient. */
#define SG_METHOD_LIST(X)                                                                          \
    /* g <- alpha g */                                                                             \
    X(SG_METHOD_STABLEGRAD, "stablegrad", "stablegrad=on", "StableGrad")                           \
    /* g <- sign(g), the baseline of the paper's appendix C.2 */                                   \
    X(SG_METHOD_SIGN, "sign")                                                                      \
    /* g as it is: statistics and the guard against non-finite values only */                      \
    X(SG_METHOD_NONE, "none", "none=off")                                                          \
    /* g <- (g - mean(g)) / (std(g) + eps), ZNorm (Yun, 2024) */                                   \
    X(SG_METHOD_ZNORM, "znorm", "znorm", "ZNorm")                                                  \
    /* each row of a tensor clipped by the norm of its values, AGC (Brock et al., 2021) */         \
    X(SG_METHOD_AGC, "agc", "agc", "AGC")

typedef enum sg_method { SG_METHOD_LIST(SG_LIST_ENUM) } sg_method;
#define SG_METHOD_COUNT (0 SG_METHOD_LIST(SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. All functions sg_..._name below do the same. */
const char *sg_method_name(sg_method method);

/* The common scale c. RULE stands for the rules that have a word in problem files, NUMBER for the
 * one that is chosen by giving a number. g is the gradient of all blocks together, and g~ the
 * rescaled one. An observed rule needs a signal from sg_scaler_observe in every step. */
#define SG_REFERENCE_LIST(RULE, NUMBER)                                                            \
    /* std of dL/du over every output value of every point set; observed */                        \
    RULE(SG_REFERENCE_OUTPUT, "output")                                                            \
    /* std of the weighted residuals r, where L = |r|^2 / 2; observed */                           \
    RULE(SG_REFERENCE_RESIDUAL, "residual")                                                        \
    /* the c for which |g~| = |g| */                                                               \
    RULE(SG_REFERENCE_NORM, "norm")                                                                \
    /* the c for which <g, g~> = |g|^2 */                                                          \
    RULE(SG_REFERENCE_INNER, "inner")                                                              \
    /* the number in sg_scale_config.constant */                                                   \
    NUMBER(SG_REFERENCE_CONSTANT, "constant")

typedef enum sg_reference { SG_REFERENCE_LIST(SG_LIST_ENUM, SG_LIST_ENUM) } sg_reference;
#define SG_REFERENCE_COUNT (0 SG_REFERENCE_LIST(SG_LIST_COUNT, SG_LIST_COUNT))
const char *sg_reference_name(sg_reference reference);

/* How spans are joined into blocks. */
#define SG_BLOCKS_LIST(X)                                                                          \
    /* a layer's weight and bias together */                                                       \
    X(SG_BLOCKS_LAYER, "layer")                                                                    \
    /* each span */                                                                                \
    X(SG_BLOCKS_TENSOR, "tensor")                                                                  \
    /* each weight span; biases are left as they are */                                            \
    X(SG_BLOCKS_WEIGHT, "weight")                                                                  \
    /* one block: normalisation over time without balancing between layers */                      \
    X(SG_BLOCKS_ALL, "all")

typedef enum sg_blocks { SG_BLOCKS_LIST(SG_LIST_ENUM) } sg_blocks;
#define SG_BLOCKS_COUNT (0 SG_BLOCKS_LIST(SG_LIST_COUNT))
const char *sg_blocks_name(sg_blocks blocks);

/* What happens to the optimizer's moments when rescaling ends, or begins late, so that the
 * gradients change units: see sg_optim_handover in optim.h. */
#define SG_HANDOVER_LIST(X)                                                                        \
    X(SG_HANDOVER_CONVERT, "convert") /* they are converted to the new units */                    \
    X(SG_HANDOVER_KEEP, "keep") /* they stay as they are; the next steps have a wrong size */      \
    X(SG_HANDOVER_RESTART, "restart") /* they are forgotten, and their bias correction too */

typedef enum sg_handover { SG_HANDOVER_LIST(SG_LIST_ENUM) } sg_handover;
#define SG_HANDOVER_COUNT (0 SG_HANDOVER_LIST(SG_LIST_COUNT))
const char *sg_handover_name(sg_handover handover);

/* How gradients are laid out over ranks when `reduce` is given. */
#define SG_SHARDING_LIST(X)                                                                        \
    /* every rank holds the whole, already summed gradient */                                      \
    X(SG_GRADIENTS_REPLICATED, "replicated")                                                       \
    /* every rank holds its own part of each block's elements */                                   \
    X(SG_GRADIENTS_SHARDED, "sharded")

typedef enum sg_sharding { SG_SHARDING_LIST(SG_LIST_ENUM) } sg_sharding;
#define SG_SHARDING_COUNT (0 SG_SHARDING_LIST(SG_LIST_COUNT))
const char *sg_sharding_name(sg_sharding sharding);

/* Sums `count` values over all ranks, in place, on every rank; 0 on success. Collective: every
 * rank calls it the same number of times in each sg_scaler_measure, once more in an sg_optim_step
 * that clips sharded gradients which are signs or were scaled in memory, and once more in one of an
 * optimizer that looks at whole tensors (LAMB, NovoGrad, Adam-mini) when gradients are sharded.
 * A rank that holds a part of a tensor with rows holds whole rows of it under SG_METHOD_AGC.
 * Sums are reduced, never standard deviations, so that the statistics are those of the global
 * batch. */
typedef int sg_reduce_function(void *context, double *values, size_t count);

#define SG_FOREVER UINT64_MAX

typedef struct sg_scale_config {
    sg_method method;
    sg_reference reference;
    sg_blocks blocks;
    double constant;            /* c of SG_REFERENCE_CONSTANT, > 0 and finite */
    double eps;                 /* >= 0 and finite */
    uint64_t from, until;       /* active for from <= step < until */
    sg_handover handover;       /* what an optimizer does at either end of the window */
    sg_reduce_function *reduce; /* NULL: a single rank */
    void *reduce_context;       /* must outlive the scaler */
    sg_sharding sharding;       /* only looked at when `reduce` is given */
    sg_isa isa;
    double threshold; /* SG_METHOD_AGC: the most that |g| / |w| of a row may be, > 0 */
    double floor;     /* SG_METHOD_AGC: what |w| of a row counts as at least, > 0 */
    bool scalars;     /* spans of SG_ROLE_SCALAR are rescaled, each a block of its own; a block of
                         one number keeps its sign alone, and ZNorm and AGC still leave it as it is.
                         false: their gradients stay as they are */
} sg_scale_config;

/* The paper's method: stablegrad, output, layer, eps 1e-8, from 0, forever, convert, one rank; and
 * for AGC its authors' threshold 0.01 and floor 1e-3. */
sg_scale_config sg_scale_defaults(void);

/* ---- The scaler --------------------------------------------------------------------------- */

typedef struct sg_scaler sg_scaler;

/* Makes a scaler over `params` (sealed from now on). `pool` may be NULL; pool and params must
 * outlive the scaler. `config` NULL means the defaults; it is copied. SG_METHOD_AGC needs a value
 * in every span. */
SG_CHECKED sg_status sg_scaler_create(sg_scaler **scaler, sg_params *params,
                                      const sg_scale_config *config, sg_pool *pool,
                                      const sg_allocator *allocator);

/* NULL is allowed. */
void sg_scaler_destroy(sg_scaler *scaler);

/* Adds `count` values of this step's signal, times `factor`: dL/du at the outputs for
 * SG_REFERENCE_OUTPUT, the weighted residuals for SG_REFERENCE_RESIDUAL. Call once per point set.
 * For dL/du of a loss averaged over this rank's batch only, `factor` is 1/ranks. */
SG_CHECKED sg_status sg_scaler_observe(sg_scaler *scaler, const void *values, sg_type type,
                                       size_t count, double factor);

/* The same from moments that the caller has computed. */
SG_CHECKED sg_status sg_scaler_observe_moments(sg_scaler *scaler, const sg_moments *moments);

/* Gives this step's reference scale itself, finite and >= 0, in place of a signal. */
SG_CHECKED sg_status sg_scaler_observe_scale(sg_scaler *scaler, double scale);

/* Computes the statistics, the reference scale and the factors for step `step` (counted from 0),
 * reading each gradient once, and clears what was observed, whatever it returns. Collective when a
 * reduction is configured. */
SG_CHECKED sg_status sg_scaler_measure(sg_scaler *scaler, uint64_t step);

/* Multiplies the gradients in place. Does nothing in a step whose outcome is not SG_STEP_SCALED.
 * SG_ERROR_ORDER if this step was not measured, or was applied already. */
SG_CHECKED sg_status sg_scaler_apply(sg_scaler *scaler);

/* ---- The report --------------------------------------------------------------------------- */

/* What became of a step. Every outcome but the first leaves the gradients as they are. */
#define SG_OUTCOME_LIST(X)                                                                         \
    /* factors (or signs) are in force */                                                          \
    X(SG_STEP_SCALED, "scaled")                                                                    \
    /* outside the active window, or SG_METHOD_NONE */                                             \
    X(SG_STEP_INACTIVE, "inactive")                                                                \
    /* c is 0: nothing to scale to; take the step unscaled */                                      \
    X(SG_STEP_NO_REFERENCE, "no reference")                                                        \
    /* a gradient or the signal is not finite: do not take the step */                             \
    X(SG_STEP_NOT_FINITE, "not finite")

typedef enum sg_outcome { SG_OUTCOME_LIST(SG_LIST_ENUM) } sg_outcome;
#define SG_OUTCOME_COUNT (0 SG_OUTCOME_LIST(SG_LIST_COUNT))
const char *sg_outcome_name(sg_outcome outcome);

typedef struct sg_block_report {
    const char *name;  /* "layers.0", "layers.0.weight" or "all" */
    size_t count;      /* elements of this block that had a gradient, on this rank */
    double std;        /* raw; |g| for a block of one element */
    double norm2;      /* |g|^2, raw */
    double factor;     /* alpha; 1 where the block is left as it is, and for SG_METHOD_SIGN; what
                          the norm is multiplied by, for SG_METHOD_AGC */
    double scaled_std; /* factor * std */
    bool finite;       /* false: this block's gradient is not finite */
} sg_block_report;

typedef struct sg_scale_report {
    uint64_t step;
    sg_outcome outcome;
    double reference;    /* c; 0 when none was computed */
    double ratio_raw;    /* R_std: largest over smallest block std, of blocks with spread */
    double ratio_scaled; /* the same after the factors; both are 1 without such blocks */
    size_t block_count;
    const sg_block_report *blocks; /* owned by the scaler, rewritten by the next measure */
    bool signal_finite;            /* false: the observed signal is not finite */
    uint64_t steps_scaled;         /* counters over the life of the scaler */
    uint64_t steps_inactive;
    uint64_t steps_no_reference;
    uint64_t steps_not_finite;
} sg_scale_report;

/* The report of the last measured step; owned by the scaler, rewritten by the next measure. */
const sg_scale_report *sg_scaler_report(const sg_scaler *scaler);

/* The configuration the scaler was made with. */
const sg_scale_config *sg_scaler_config(const sg_scaler *scaler);

/* Replaces the window of the configuration, from <= until, for the steps measured from now on:
 * rescaling that is ended and begun as the run goes. SG_ERROR_ARGUMENT if it is none. */
SG_CHECKED sg_status sg_scaler_set_window(sg_scaler *scaler, uint64_t from, uint64_t until);

/* Sets the counters of the report, when a run is resumed: indexed by sg_outcome. */
void sg_scaler_set_counters(sg_scaler *scaler, const uint64_t counters[SG_OUTCOME_COUNT]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
