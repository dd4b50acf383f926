/* The inner loops of the optimizers, one table for each instruction set. All tables give the same
 * bits: the loops are element by element and nothing is contracted. */
#ifndef SG_OPTIM_KERNELS_H
#define SG_OPTIM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/isa.h"
#include "stablegrad/cpu.h"

/* One step of Adam or AdamW, the numbers that depend on the step worked out. */
typedef struct sgi_adam_step {
    double factor; /* of the gradient: StableGrad's and clipping's */
    double keep;   /* 1 - rate * decay, AdamW */
    double l2;     /* decay added to the gradient, Adam */
    double beta1, beta2;
    double root_correction; /* sqrt(1 - beta2^t) */
    double eps;
    double rate; /* rate / (1 - beta1^t) */
} sgi_adam_step;

/* One step of SGD. */
typedef struct sgi_sgd_step {
    double factor, l2, momentum, dampening, rate;
    bool nesterov;
    bool first; /* the momentum buffer is empty: it becomes the gradient */
} sgi_sgd_step;

typedef struct sgi_optim_kernels {
    /* value, gradient, first moment, second moment: `count` elements each; by sg_type */
    void (*adam[2])(void *p, const void *g, void *m, void *v, size_t count, const sgi_adam_step *s);
    /* `b` is the momentum buffer; NULL without momentum */
    void (*sgd[2])(void *p, const void *g, void *b, size_t count, const sgi_sgd_step *s);
} sgi_optim_kernels;

SGI_ISA_TABLES(sgi_optim_kernels, sgi_optim_kernels, );

/* The table for a resolved instruction set (not SG_ISA_AUTO). */
const sgi_optim_kernels *sgi_optim_kernels_for(sg_isa isa);

#endif
