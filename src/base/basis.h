/* A growing basis of a space of vectors: which vectors are combinations of those before, and of
 * which. Gaussian elimination that remembers what it did. */
#ifndef SG_BASE_BASIS_H
#define SG_BASE_BASIS_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

typedef struct sgi_basis {
    size_t columns, most; /* length of a vector, vectors that fit */
    size_t count;         /* vectors so far, called members */
    double *rows;         /* (most, columns): members reduced by those before, pivot 1 */
    size_t *pivots;       /* (most) */
    double *mixes;        /* (most, most): each row as a combination of members */
    double *rest,
        *size; /* (columns): what is left of the vector that is being reduced, and how large
                  the sums were that made it, which tells rounding from a remainder */
} sgi_basis;

/* An empty basis; release it whatever the status. */
SG_CHECKED sg_status sgi_basis_create(sgi_basis *basis, size_t columns, size_t most,
                                      const sg_allocator *allocator);
void sgi_basis_release(sgi_basis *basis, const sg_allocator *allocator);

/* Whether the vector is, to rounding, the sum of coefficients[i] * member i; `coefficients`
 * (most). */
bool sgi_basis_express(sgi_basis *basis, const double *vector, double *coefficients);

/* The same, and a vector that is not becomes a member. Returns whether it did; there must be room.
 */
bool sgi_basis_add(sgi_basis *basis, const double *vector, double *coefficients);

#endif
