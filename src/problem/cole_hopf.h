/* The exact solution of Burgers' equation u_t + u u_x = nu u_xx with u = -sin(pi x) at t = 0.
 *
 * Cole-Hopf turns it into a quotient of integrals over the line,
 *     u(x, t) = -int sin(pi y) e^(-G(y)/nu) dy / int e^(-G(y)/nu) dy,
 *     G(y) = cos(pi y)/(2 pi) + (x - y)^2/(4 t).
 * The largest exponent is subtracted before anything is exponentiated (log-sum-exp), so no nu
 * overflows. The trapezoidal rule on an infinite line converges faster than any power for such
 * integrands: with steps of 3/4 of the narrowest peak's width, sqrt(nu / max G''), its error is
 * below rounding. Minima of G lie within t of x, and beyond that distance G grows at least as
 * (|x - y| - t)^2/(4 t), which bounds the interval; terms below e^-40 of the largest are left out.
 */
#ifndef SG_PROBLEM_COLE_HOPF_H
#define SG_PROBLEM_COLE_HOPF_H

#include <stddef.h>

#include "stablegrad/memory.h"
#include "stablegrad/pool.h"
#include "stablegrad/status.h"

/* u at `count` points (x[i], t[i]), t >= 0, nu > 0; `refine` >= 1 divides the step further, to
 * check convergence. Work is divided over `pool`. */
SG_CHECKED sg_status sgi_cole_hopf(double nu, const double *x, const double *t, size_t count,
                                   int refine, double *u, sg_pool *pool,
                                   const sg_allocator *allocator);

#endif
