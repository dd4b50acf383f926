/* How far noise in the data moves some of the parameters of a least-squares fit.
 *
 * At the minimum of |R|^2 / 2, with G = J^T J, noise e in the residuals moves the parameters by
 * -G^-1 J^T e, to first order. So with direction a_j = G^-1 (unit vector of parameter j), residual
 * i, of variance v_i, adds v_i (J_i . a_j) (J_i . a_k) to the covariance of parameters j and k.
 * Residuals without noise, as those of equations, have their part in G alone. With equations that
 * weigh much this is the usual covariance of a fit whose fields obey them; where they weigh little
 * it is still that of what training finds.
 *
 * A network has more parameters than the residuals determine, so G is singular: each column is
 * brought to length 1 and a small number is added to the diagonal. Where that number alone holds a
 * direction, nothing determines it. */
#ifndef SG_PINN_UNCERTAINTY_H
#define SG_PINN_UNCERTAINTY_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/cpu.h"
#include "stablegrad/memory.h"
#include "stablegrad/pool.h"

typedef struct sgi_uncertainty sgi_uncertainty;

/* Of the last `unknowns` of `parameters`. `matrix` (parameters, parameters) is G.
 * SG_ERROR_UNSUPPORTED if it is not finite. */
SG_CHECKED sg_status sgi_uncertainty_create(sgi_uncertainty **uncertainty, const double *matrix,
                                            size_t parameters, size_t unknowns, sg_pool *pool,
                                            sg_isa isa, const sg_allocator *allocator);
void sgi_uncertainty_destroy(sgi_uncertainty *uncertainty); /* NULL is allowed */

/* Adds what `count` residuals of that variance do: `rows` (count, parameters) of J, `covariance`
 * (unknowns, unknowns). */
void sgi_uncertainty_add(const sgi_uncertainty *uncertainty, const double *rows, size_t count,
                         double variance, double *covariance);

/* By how much the fit follows residual i: J_i G^-1 J_i^T, in [0, 1]. `scratch` (parameters). */
double sgi_uncertainty_leverage(const sgi_uncertainty *uncertainty, const double *row,
                                double *scratch);

/* How far a step of Gauss and Newton would move the unknowns: -G^-1 `gradient`. */
void sgi_uncertainty_moves(const sgi_uncertainty *uncertainty, const double *gradient,
                           double *moves);

/* Of the combination of unknowns with these coefficients: the share, in [0, 1], of what holds it
 * that is the number added to the diagonal. Near 1: nothing determines it. `scratch` (parameters).
 */
double sgi_uncertainty_freedom(const sgi_uncertainty *uncertainty, const double *coefficients,
                               double *scratch);

/* The unknowns' block of G^-1, (unknowns, unknowns). */
void sgi_uncertainty_block(const sgi_uncertainty *uncertainty, double *block);

/* Eigenvalues, ascending, and eigenvectors (rows of `vectors`) of a small symmetric `matrix` (size,
 * size), which is overwritten, by Jacobi's rotations. */
void sgi_small_eigen(double *matrix, size_t size, double *values, double *vectors);

#endif
