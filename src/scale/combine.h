/* Joining two sets' moments (Chan, Golub and LeVeque), shared by the loops and the callers. */
#ifndef SG_SCALE_COMBINE_H
#define SG_SCALE_COMBINE_H

#include "stablegrad/scale.h"

static inline void sgi_moments_combine(sg_moments *a, const sg_moments *b)
{
    if (b->count == 0)
        return;
    double count = a->count + b->count;
    double delta = b->mean - a->mean;
    a->mean += delta * (b->count / count);
    a->m2 += b->m2 + delta * delta * (a->count * b->count / count);
    a->count = count;
}

#endif
