/* The inner loops of the optimizers, one table for each instruction set. All tables give the same
 * bits: the loops are element by element and nothing is contracted. */
#ifndef SG_OPTIM_KERNELS_H
#define SG_OPTIM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/isa.h"
#include "stablegrad/cpu.h"

/* One step of Adam, AdamW or LAMB, the numbers that depend on the step worked out. */
typedef struct sgi_adam_step {
    double factor; /* of the gradient: StableGrad's and clipping's */
    double keep;   /* 1 - rate * decay, AdamW */
    double l2;     /* decay: added to the gradient, Adam; to the step, LAMB */
    double beta1, beta2;
    double root_correction; /* sqrt(1 - beta2^t) */
    double eps;
    double rate; /* rate / (1 - beta1^t); LAMB: times the tensor's trust ratio instead */
    double first_correction; /* 1 - beta1^t, LAMB */
} sgi_adam_step;

/* One step of SGD, or of an optimizer that divides the whole tensor's gradient by one number. */
typedef struct sgi_sgd_step {
    double factor; /* of the gradient: StableGrad's and clipping's */
    double unit;   /* and after it one over the tensor's scale, NovoGrad; 1 for the others */
    double keep;   /* 1 - rate * decay where decay is decoupled, Adam-mini; 1 for the others */
    double l2, momentum, dampening, rate;
    bool nesterov;
    bool first; /* the momentum buffer is empty: it becomes the gradient */
} sgi_sgd_step;

/* A sum whose element i is added to lane i mod 8: every vector width adds in the same order, and so
 * do several calls over consecutive stretches whose lengths are multiples of 8. */
enum { SG_SUM_LANES = 8 };
typedef struct sgi_lanes {
    double of[SG_SUM_LANES];
} sgi_lanes;

typedef struct sgi_optim_kernels {
    /* value, gradient, first moment, second moment: `count` elements each; by sg_type */
    void (*adam[2])(void *p, const void *g, void *m, void *v, size_t count, const sgi_adam_step *s);
    /* `b` is the momentum buffer; NULL without momentum */
    void (*sgd[2])(void *p, const void *g, void *b, size_t count, const sgi_sgd_step *s);
    /* LAMB's step in two: adds the squares of values and of the step to come; then takes it */
    void (*lamb_look[2])(const void *p, const void *g, const void *m, const void *v, size_t count,
                         const sgi_adam_step *s, sgi_lanes sums[2]);
    void (*lamb_move[2])(void *p, const void *g, void *m, void *v, size_t count,
                         const sgi_adam_step *s);
    /* adds the squares of gradients times `factor` */
    void (*squares[2])(const void *g, size_t count, double factor, sgi_lanes *sum);
} sgi_optim_kernels;

SGI_ISA_TABLES(sgi_optim_kernels, sgi_optim_kernels, );

/* The table for a resolved instruction set (not SG_ISA_AUTO). */
const sgi_optim_kernels *sgi_optim_kernels_for(sg_isa isa);

#endif
