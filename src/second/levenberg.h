/* Levenberg-Marquardt: damped Gauss-Newton steps (Marquardt, 1963), bent along the curve that the
 * residuals follow (geodesic acceleration: Transtrum and Sethna, 2012).
 *
 * With J the Jacobian of r, c the squared norms of its columns and D = (c / mean c + 1e-4)^(-1/2),
 * a step in the variables x / D is
 *
 *     (D J^T J D + lambda) d = -D J^T r,    x <- x + D (d + a)
 *
 * where a is the same equation solved with q = [(r(x + h D d) - r) / h - J D d] / h in the place of
 * r, which is half the second derivative of r along d; a is left out unless |a| < 0.75 |d|. A step
 * that does not lower f is taken back and tried again with more damping. metric.h has other D.
 *
 * When residuals are fewer than parameters, d = -D J^T (J D^2 J^T + lambda)^-1 r is the same step
 * from a smaller matrix: the kernel form (Gauss-Newton in function space, ENGD-W). Where D is one
 * number for a tensor, the matrix is made from products of a layer's inputs and adjoints, which for
 * wide layers is several times faster. The kernel form may remember the step phi before (SPRING:
 * Goldshlager, Abrahamsen and Lin, 2024):
 *
 *     d = mu D^-1 phi - D J^T (J D^2 J^T + lambda)^-1 (r + mu J phi)
 *
 * which is the damped step that is nearest to mu phi, not to 0; when it does not lower f, phi is
 * left out. And it may be solved by conjugate gradients, with products of J alone and no matrix. */
#ifndef SG_SECOND_LEVENBERG_H
#define SG_SECOND_LEVENBERG_H

#include <stdbool.h>

#include "second/methods.h"
#include "second/objective.h"
#include "stablegrad/cpu.h"
#include "stablegrad/memory.h"
#include "stablegrad/pool.h"

typedef struct sgi_levenberg_config {
    size_t most_residuals; /* that r will ever have */
    bool bend;             /* geodesic acceleration */
    sgi_metric metric;     /* not SGI_METRIC_AUTO; all but columns need the objective's tensors */
    sgi_solver solver;
    double momentum; /* mu, in [0, 1); more than 0 is not for SGI_SOLVER_SMALLER */
    double *last;    /* (parameters): phi, the caller's, part of what a step remembers; or NULL */
    sg_pool *pool;   /* NULL: the calling thread; must outlive the handle */
    sg_isa isa;
} sgi_levenberg_config;

typedef struct sgi_levenberg sgi_levenberg;

/* `objective` is copied. All memory is taken here. */
SG_CHECKED sg_status sgi_levenberg_create(sgi_levenberg **levenberg, const sgi_objective *objective,
                                          const sgi_levenberg_config *config,
                                          const sg_allocator *allocator);
void sgi_levenberg_destroy(sgi_levenberg *levenberg); /* NULL is allowed */

/* Bytes that a handle holds, in double: it may be more than there are. */
double sgi_levenberg_memory(double parameters, double most_residuals, sgi_solver solver);

typedef struct sgi_levenberg_step {
    double before, after; /* f */
    double damping;       /* of the step that was taken, or of the last that was tried */
    double gain;          /* what f fell by, over what the damped model promised; NaN: no step */
    int tries;            /* steps that were tried, the one that was taken included */
    bool taken;           /* false: x is as it was */
    bool finite;          /* false: J is not, so that there was no step to try: nothing changed */
    bool bent;            /* a was part of the step */
    bool carried;         /* the step before was */
    int products;         /* of SGI_SOLVER_FREE: with J and with its transpose, each */
} sgi_levenberg_step;

/* One step. *damping is lambda; what it becomes, and `last`, is all that the next one remembers.
 * SG_OK when no step lowers f: `taken` is false then. */
SG_CHECKED sg_status sgi_levenberg_step_take(sgi_levenberg *levenberg, double *damping,
                                             sgi_levenberg_step *step);

/* lambda at the start, and the least that it becomes. */
#define SGI_LEVENBERG_DAMPING 1e-2
#define SGI_LEVENBERG_LEAST   1e-15

#endif
