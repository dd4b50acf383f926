/* Conjugate gradients: A x = b for a symmetric, positive definite A that is known by its products.
 */
#ifndef SG_SECOND_CONJUGATE_H
#define SG_SECOND_CONJUGATE_H

#include <stddef.h>

#include "stablegrad/status.h"

typedef sg_status sgi_operator(void *context, const double *x, double *product);

typedef struct sgi_conjugate {
    sgi_operator *apply;
    void *context;
    size_t size;
    int most;         /* iterations */
    double tolerance; /* of |b - A x| / |b| */
    double *rest;     /* (size): becomes b - A x */
    double *along;    /* (size), as the next: memory */
    double *product;
} sgi_conjugate;

/* From x = 0. *iterations, which may be NULL, says how many products were made. It ends early at a
 * direction along which A is not positive, as rounding may make it. */
SG_CHECKED sg_status sgi_conjugate_solve(const sgi_conjugate *c, const double *b, double *x,
                                         int *iterations);

#endif
