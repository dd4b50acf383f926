/* Conjugate gradients (Hestenes and Stiefel, 1952): see conjugate.h. */
#include "second/conjugate.h"

#include <math.h>
#include <string.h>

#include "second/vectors.h"

sg_status sgi_conjugate_solve(const sgi_conjugate *c, const double *b, double *x, int *iterations)
{
    size_t n = c->size;
    sg_status status = SG_OK;
    memmove(c->rest, b, n * sizeof *b);
    memcpy(c->along, c->rest, n * sizeof *b);
    memset(x, 0, n * sizeof *x);
    double square = sgi_dot(c->rest, c->rest, n), goal = c->tolerance * c->tolerance * square;
    int made = 0;
    while (made < c->most && square > goal) {
        status = c->apply(c->context, c->along, c->product);
        if (status != SG_OK)
            break;
        made++;
        double curvature = sgi_dot(c->along, c->product, n);
        if (!(curvature > 0))
            break;
        double length = square / curvature, before = square;
        sgi_add(x, length, c->along, n);
        sgi_add(c->rest, -length, c->product, n);
        square = sgi_dot(c->rest, c->rest, n);
        for (size_t i = 0; i < n; i++)
            c->along[i] = c->rest[i] + square / before * c->along[i];
    }
    if (iterations)
        *iterations = made;
    return status;
}
