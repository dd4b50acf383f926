/* Unknown constants: numbers of the equations that training finds, as a diffusivity.
 *
 * What an optimizer moves is not the value k itself but a parameter p of order one, which is 0 at
 * the start: dk/dp is `scale` there, so that 1e8 and 1e-8 are trained alike. Bounds are kept by the
 * form of k(p), and not by cutting steps off, so that every optimizer sees a smooth problem without
 * bounds; Levenberg-Marquardt, for one, compares the loss after a step with what its linear model
 * promised, which a step that was cut off would spoil.
 *
 *     no bounds   k = start + scale p
 *     lower       k = lower + (s + sqrt(s^2 + 4 c^2)) / 2,  s = 2 scale p,  c = start - lower
 *     upper       the mirror image
 *     both        k = (lower + upper) / 2 + (upper - lower) / 2 * x / sqrt(1 + x^2),  x = a + b p
 *
 * Far from bounds these are straight lines, and near one they approach it slowly, as 1/p or 1/p^2:
 * a value that was driven there finds back. */
#ifndef SG_PROBLEM_UNKNOWNS_H
#define SG_PROBLEM_UNKNOWNS_H

#include <stdbool.h>

enum { SG_MOST_UNKNOWNS = 64 };

typedef struct sgi_unknown {
    const char *name;
    const char *label; /* "unknowns.k": its name among the network's parameters */
    double start;
    double lower, upper; /* lower < start < upper; may be infinite; next to each other */
    double scale;        /* dk/dp at the start, > 0 */
    double rate;         /* factor of the learning rate */
} sgi_unknown;

/* k(p), strictly between the bounds, and dk/dp. */
double sgi_unknown_value(const sgi_unknown *unknown, double parameter);
double sgi_unknown_slope(const sgi_unknown *unknown, double parameter);

/* The parameter at which it has that value, which lies strictly between the bounds. */
double sgi_unknown_parameter(const sgi_unknown *unknown, double value);

bool sgi_unknown_may_be(const sgi_unknown *unknown, double value); /* strictly between the bounds */

#endif
