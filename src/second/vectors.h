/* Sums over vectors of double, always in the same order. */
#ifndef SG_SECOND_VECTORS_H
#define SG_SECOND_VECTORS_H

#include <stddef.h>

/* Four sums at a time: additions that do not wait for each other. */
static inline double sgi_dot(const double *a, const double *b, size_t count)
{
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* to += factor * from */
static inline void sgi_add(double *to, double factor, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += factor * from[i];
}

#endif
