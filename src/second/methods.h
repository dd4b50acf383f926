/* The methods of this room, by the names that files give them. They look at more than a gradient:
 * at residuals and their Jacobian, or at how the gradient changes from step to step. */
#ifndef SG_SECOND_METHODS_H
#define SG_SECOND_METHODS_H

#include "base/list.h"

#define SGI_SECOND_LIST(X)                                                                         \
    /* damped Gauss-Newton steps with geodesic acceleration */                                     \
    X(SGI_SECOND_LEVENBERG, "levenberg", "levenberg=lm", "Levenberg-Marquardt")                    \
    /* quasi-Newton: see quasi.h */                                                                \
    X(SGI_SECOND_LBFGS, "lbfgs", "lbfgs", "L-BFGS")                                                \
    X(SGI_SECOND_BFGS, "bfgs", "bfgs", "BFGS")                                                     \
    X(SGI_SECOND_SSBFGS, "ssbfgs", "ssbfgs", "SSBFGS")                                             \
    X(SGI_SECOND_SSBROYDEN, "ssbroyden", "ssbroyden", "SSBroyden")

typedef enum sgi_second_kind { SGI_SECOND_LIST(SG_LIST_ENUM) } sgi_second_kind;
#define SGI_SECOND_COUNT (0 SGI_SECOND_LIST(SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. */
static inline const char *sgi_second_name(int kind)
{
    static const char *const names[] = {SGI_SECOND_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SGI_SECOND_COUNT, kind);
}

#endif
