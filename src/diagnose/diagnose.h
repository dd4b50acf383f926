/* A problem's effective dynamics at the weights as they are: the kernels K and K_SG on a fixed
 * batch of points, what the paper's theorem says there, and what the optimizer's next step does.
 *
 * All is computed in double, whatever the run's precision: the change of the residual in one step
 * is small, and in float its linearisation error would be rounding. The batch is the training batch
 * shrunk, every set by the same factor, to a number of residuals that is bounded; so is the memory.
 * The reference scale is brought to what a whole training batch would have: dL/du of each point has
 * the 1/N of its set, and a weighted residual its root. */
#ifndef SG_DIAGNOSE_DIAGNOSE_H
#define SG_DIAGNOSE_DIAGNOSE_H

#include "diagnose/spectrum.h"
#include "diagnose/theorem.h"
#include "diagnose/update.h"
#include "stablegrad/pinn.h"

enum {
    SGI_DENSE_RESIDUALS = 512, /* up to here the whole spectrum, by LAPACK */
    SGI_LANCZOS_PRODUCTS = 20  /* above: multiplications for each of the two kernels */
};

typedef struct sgi_diagnose_config {
    size_t residuals; /* about as many, at most; 0: those of a training step */
    size_t products;  /* 0: SGI_LANCZOS_PRODUCTS */
    sg_pool *pool;    /* NULL: the calling thread; must outlive the handle */
    sg_isa isa;
} sgi_diagnose_config;

/* A block of parameters. */
typedef struct sgi_diagnosed_block {
    const char *name;
    double std, factor, scaled_std; /* of its gradient on the batch, and what StableGrad does */
    sgi_block_update update;        /* of the optimizer's step */
} sgi_diagnosed_block;

typedef struct sgi_diagnosis {
    uint64_t step;    /* steps taken before */
    size_t residuals; /* of the batch */
    bool finite;      /* false: a residual or gradient is not, and nothing below is known */
    double loss;      /* on the batch, 1/2 |r|^2 */
    sgi_theorem theorem;
    double reference;                   /* c; 0: there is none, and all factors are 1 */
    double ratio_raw, ratio_scaled;     /* R_std */
    double decrease, decrease_scaled;   /* of the linearised steps, in parts of the loss */
    const sgi_spectrum *plain, *scaled; /* of K and K_SG */
    bool stepped;         /* the optimizer's step is finite; else what follows is not known */
    bool rescaled;        /* it was taken with StableGrad */
    double linear_error;  /* E_lin */
    sgi_update update;    /* over the blocks */
    double tensor_spread; /* update.spread over single tensors */
    const sgi_diagnosed_block *blocks;
    size_t block_count;
} sgi_diagnosis;

typedef struct sgi_diagnose sgi_diagnose;

/* For the problem of `pinn`, which must outlive the handle. Takes the memory of everything but the
 * eigenvalues. */
SG_CHECKED sg_status sgi_diagnose_create(sgi_diagnose **diagnose, sg_pinn *pinn,
                                         const sgi_diagnose_config *config,
                                         const sg_allocator *allocator);
void sgi_diagnose_destroy(sgi_diagnose *diagnose); /* NULL is allowed */

/* Measures at the trainer's weights. The optimizer's next step is taken for trial and taken back:
 * weights, optimizer and counters are afterwards as they were, to the bit; only the gradients, the
 * training batch's points and the scaler's report are those of the trial. What the result points to
 * lives until the next call. */
SG_CHECKED sg_status sgi_diagnose_measure(sgi_diagnose *diagnose, sg_pinn_trainer *trainer,
                                          sgi_diagnosis *result);

#endif
