/* What is minimised, as the methods see it: f(x) = 1/2 |r(x)|^2.
 *
 * The methods write x into `values`, and call the functions, each of which looks at x as it is
 * then. r may get another length between two steps, never within one. A number that is not finite
 * is ordinary output. All arrays are in double. */
#ifndef SG_SECOND_OBJECTIVE_H
#define SG_SECOND_OBJECTIVE_H

#include <stddef.h>

#include "second/metric.h"
#include "stablegrad/jet.h"
#include "stablegrad/status.h"

typedef struct sgi_objective {
    void *context;
    size_t parameters;
    double *values;                    /* (parameters): x */
    const sgi_parameter_span *tensors; /* (tensor_count): all of x, in its order */
    size_t tensor_count;

    /* f, with its gradient unless that is NULL: (parameters). */
    sg_status (*gradient)(void *context, double *gradient, double *f);

    /* For methods that need the Jacobian J of r; NULL otherwise. */
    size_t (*count)(void *context); /* of residuals */
    sg_status (*residuals)(void *context, double *residuals);
    sg_status (*push)(void *context, const double *direction, double *products); /* J v */
    sg_status (*pull)(void *context, const double *weights, double *products);   /* J^T w */
    sg_status (*normal)(void *context, const sg_normal_equations *parts);        /* J^T J ... */
    /* J D^2 J^T, (residuals, residuals), D the diagonal matrix of `columns` (parameters). */
    sg_status (*kernel)(void *context, const double *columns, double *kernel);
    /* The same where D^2 is one number for each tensor: `weights` (tensor_count). */
    sg_status (*tensor_kernel)(void *context, const double *weights, double *kernel);
} sgi_objective;

#endif
