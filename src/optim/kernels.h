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

/* keep C + factor A B, (m, n) row by row. Element (i, j) of A is a[i * a_row + j * a_step], so that
 * a transposed A needs no copy; B is (k, n) row by row. `keep` 0: what C holds is not looked at. */
typedef struct sgi_product {
    size_t m, n, k;
    const void *a, *b;
    size_t a_row, a_step;
    void *c;
    double keep, factor;
} sgi_product;

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
    /* SOAP's parts: see soap.c. `average`: m becomes beta m + (1 - beta) g. `divide`: m, the first
     * moment, becomes the step, and v takes g in. `move`: p becomes keep p - rate u */
    void (*multiply[2])(const sgi_product *product);
    void (*average[2])(void *m, const void *g, size_t count, double beta);
    void (*divide[2])(void *m, void *v, const void *g, size_t count, const sgi_adam_step *s);
    void (*move[2])(void *p, const void *u, size_t count, double keep, double rate);
    double (*dot[2])(const void *a, const void *b, size_t count);
    /* Rows (size, size) that are orthonormal, row i in the space of the first i + 1 rows of `a`,
     * whatever their rank; `a` is overwritten, `factors` (size) is memory that it needs. */
    void (*orthonormal[2])(void *rows, void *a, void *factors, size_t size);
} sgi_optim_kernels;

SGI_ISA_TABLES(sgi_optim_kernels, sgi_optim_kernels, );

/* The table for a resolved instruction set (not SG_ISA_AUTO). */
const sgi_optim_kernels *sgi_optim_kernels_for(sg_isa isa);

#endif
