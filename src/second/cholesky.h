/* Cholesky's factors of a dense symmetric matrix, on all threads, with the engine's products.
 *
 * Columns are taken in blocks, from left to right: a block first loses what all columns before it
 * contribute, which is one product and nearly all of the work, then its square on the diagonal is
 * factored, and the rows below are solved with it. What a thread computes is cut by the size of the
 * matrix alone, so the bits do not depend on the number of threads. */
#ifndef SG_SECOND_CHOLESKY_H
#define SG_SECOND_CHOLESKY_H

#include <stdbool.h>

#include "stablegrad/cpu.h"
#include "stablegrad/memory.h"
#include "stablegrad/pool.h"

typedef struct sgi_cholesky sgi_cholesky;

/* `pool` must outlive it. All memory is taken here. */
SG_CHECKED sg_status sgi_cholesky_create(sgi_cholesky **cholesky, sg_pool *pool, sg_isa isa,
                                         const sg_allocator *allocator);
void sgi_cholesky_destroy(sgi_cholesky *cholesky); /* NULL is allowed */

/* A = L L^T: the lower triangle of `matrix` (size, size) becomes L; what lies above the diagonal is
 * neither read nor kept. False when A is not positive definite, in which case `matrix` is of no
 * use. */
SG_CHECKED bool sgi_cholesky_factor(sgi_cholesky *cholesky, double *matrix, size_t size);

/* Solves L L^T x = b in place. */
void sgi_cholesky_solve(const double *factor, size_t size, double *vector);

#endif
