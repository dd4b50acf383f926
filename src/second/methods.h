/* The methods of this room, by the names that files give them. They look at more than a gradient:
 * at residuals and their Jacobian, or at how the gradient changes from step to step. */
#ifndef SG_SECOND_METHODS_H
#define SG_SECOND_METHODS_H

#include <stdbool.h>

#include "base/list.h"

#define SGI_SECOND_LIST(X)                                                                         \
    /* damped Gauss-Newton steps with geodesic acceleration */                                     \
    X(SGI_SECOND_LEVENBERG, "levenberg", "levenberg=lm", "Levenberg-Marquardt")                    \
    /* the same from a matrix of the residuals, for networks with more weights than residuals */   \
    X(SGI_SECOND_KERNEL, "kernel", "kernel", "kernel Gauss-Newton")                                \
    /* quasi-Newton: see quasi.h */                                                                \
    X(SGI_SECOND_LBFGS, "lbfgs", "lbfgs", "L-BFGS")                                                \
    X(SGI_SECOND_BFGS, "bfgs", "bfgs", "BFGS")                                                     \
    X(SGI_SECOND_SSBFGS, "ssbfgs", "ssbfgs", "SSBFGS")                                             \
    X(SGI_SECOND_SSBROYDEN, "ssbroyden", "ssbroyden", "SSBroyden")

typedef enum sgi_second_kind { SGI_SECOND_LIST(SG_LIST_ENUM) } sgi_second_kind;
#define SGI_SECOND_COUNT (0 SGI_SECOND_LIST(SG_LIST_COUNT))

/* How the equations of a damped step are solved. */
typedef enum sgi_solver {
    SGI_SOLVER_SMALLER, /* the smaller one of the two matrices */
    SGI_SOLVER_KERNEL,  /* that of the residuals */
    SGI_SOLVER_FREE     /* the same without a matrix, by conjugate gradients */
} sgi_solver;

/* What files call it, in the kernel form. */
#define SGI_SOLVE_LIST(X)                                                                          \
    X(SGI_SOLVE_CHOLESKY, "cholesky")                                                              \
    X(SGI_SOLVE_CG, "cg")
typedef enum sgi_solve { SGI_SOLVE_LIST(SG_LIST_ENUM) } sgi_solve;

/* Whether a method looks at residuals and their Jacobian; the others look at gradients. */
static inline bool sgi_second_has_jacobian(sgi_second_kind kind)
{
    return kind == SGI_SECOND_LEVENBERG || kind == SGI_SECOND_KERNEL;
}

/* Whether its memory grows with the square of the number of parameters, and a step's time with it
 * or faster: a method for small networks. */
static inline bool sgi_second_is_dense(sgi_second_kind kind)
{
    return kind != SGI_SECOND_KERNEL && kind != SGI_SECOND_LBFGS;
}

/* The name in the list; "unknown" for other values. */
static inline const char *sgi_second_name(int kind)
{
    static const char *const names[] = {SGI_SECOND_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SGI_SECOND_COUNT, kind);
}

#endif
