/* Quasi-Newton methods: steps along -H g with a strong Wolfe line search, H an estimate of the
 * inverse Hessian that every step improves. They need gradients alone.
 *
 * BFGS, self-scaled BFGS and self-scaled Broyden (Al-Baali; Urban, Stefanou and Pons, 2025) keep H
 * as a dense matrix; L-BFGS keeps the last SGI_QUASI_PAIRS steps. H is kept when the objective
 * changes between steps; a pair is always made of two gradients of the same objective. */
#ifndef SG_SECOND_QUASI_H
#define SG_SECOND_QUASI_H

#include <stdbool.h>

#include "second/methods.h"
#include "second/objective.h"
#include "stablegrad/memory.h"
#include "stablegrad/pool.h"

enum { SGI_QUASI_PAIRS = 20 };

typedef struct sgi_quasi sgi_quasi;

/* Numbers of a method's state, which is the caller's memory: zeros at the start. In double: it may
 * be more than there is room for. */
double sgi_quasi_state(sgi_second_kind kind, double parameters);

/* `objective` is copied; `state` and `pool` must outlive the handle. */
SG_CHECKED sg_status sgi_quasi_create(sgi_quasi **quasi, sgi_second_kind kind,
                                      const sgi_objective *objective, double *state, sg_pool *pool,
                                      const sg_allocator *allocator);
void sgi_quasi_destroy(sgi_quasi *quasi); /* NULL is allowed */

/* The objective has changed since the last step: its gradient is computed anew. */
void sgi_quasi_changed(sgi_quasi *quasi);

typedef struct sgi_quasi_step {
    double before, after; /* f */
    double length;   /* of the step in units of -H g; 0: no step lowers f, and H was forgotten */
    int evaluations; /* of f and its gradient */
    bool finite;     /* false: the gradient is not, and nothing changed */
} sgi_quasi_step;

SG_CHECKED sg_status sgi_quasi_step_take(sgi_quasi *quasi, sgi_quasi_step *step);

/* The dense H (parameters, parameters), for the tests; NULL for L-BFGS. */
const double *sgi_quasi_matrix(const sgi_quasi *quasi);

#endif
