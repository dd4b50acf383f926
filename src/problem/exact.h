/* The reference solution at points. */
#ifndef SG_PROBLEM_EXACT_H
#define SG_PROBLEM_EXACT_H

#include "problem/problem.h"

/* All fields at `count` points: coordinates[c] and fields[f] are arrays of `count` doubles. Work is
 * divided over `pool`. SG_ERROR_UNSUPPORTED when the problem has no reference. */
SG_CHECKED sg_status sgi_exact_evaluate(const sgi_problem *problem,
                                        const double *const *coordinates, size_t count,
                                        double *const *fields, sg_pool *pool);

/* Cole-Hopf's x at the points: a coordinate, or what the problem defines. */
SG_CHECKED sg_status sgi_exact_x(const sgi_problem *problem, const double *const *coordinates,
                                 size_t count, double *x, sg_pool *pool);

#endif
