/* The leading eigenvalues of a symmetric positive semidefinite matrix, and how a vector lies in
 * them.
 *
 * Two ways. A small matrix is taken apart whole by LAPACK (dsyevr). A large one is never formed: it
 * is a function that multiplies, and the Lanczos process with full reorthogonalisation gives the
 * eigenvalues from above. The process is our own and not ARPACK's: what is wanted are the few
 * largest eigenvalues of a kernel whose spectrum falls fast, within twenty or so products of which
 * each costs as much as two training steps. ARPACK restarts to bound a memory that is small here
 * (twenty vectors as long as the residual), calls back through reverse communication with state of
 * its own, and would be one more library to install; the process is fifty lines, and the tests hold
 * it against LAPACK. */
#ifndef SG_DIAGNOSE_SPECTRUM_H
#define SG_DIAGNOSE_SPECTRUM_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

/* product = A vector, both of the matrix's size. */
typedef sg_status sgi_multiply_function(void *context, const double *vector, double *product);

/* Arrays are taken by sgi_spectrum_create. */
typedef struct sgi_spectrum {
    size_t capacity;
    size_t count;    /* eigenvalues found */
    double *values;  /* (count) from the largest down */
    double *shares;  /* (count) of |r|^2 that lies along each eigenvector */
    bool whole;      /* these are all eigenvalues */
    double error;    /* bound of the error of values[0], relative; that of the others: 0.01 */
    size_t products; /* multiplications that it took; 0: dense */
} sgi_spectrum;

/* For matrices of size `size`, of which at most `capacity` eigenvalues are kept. */
SG_CHECKED sg_status sgi_spectrum_create(sgi_spectrum *spectrum, size_t capacity,
                                         const sg_allocator *allocator);
void sgi_spectrum_release(sgi_spectrum *spectrum, const sg_allocator *allocator);

/* All eigenvalues of `matrix` (size, size), symmetric, which is overwritten; the first `capacity`
 * are kept. `r` (size). SG_ERROR_MEMORY, or SG_ERROR_STATE for a matrix that is not finite. */
SG_CHECKED sg_status sgi_spectrum_dense(sgi_spectrum *spectrum, double *matrix, size_t size,
                                        const double *r, const sg_allocator *allocator);

/* The leading ones by at most `products` multiplications: those whose error bound is below a
 * hundredth of them, the first always. The process begins at r and a fixed random vector together,
 * so that it sees the directions of r early and misses none. */
SG_CHECKED sg_status sgi_spectrum_lanczos(sgi_spectrum *spectrum, sgi_multiply_function *multiply,
                                          void *context, size_t size, const double *r,
                                          size_t products, const sg_allocator *allocator);

#endif
