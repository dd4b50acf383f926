/* Shared by the benchmarks: the clock, and medians. */
#ifndef SG_BENCH_TIMING_H
#define SG_BENCH_TIMING_H

#include <stdlib.h>

#include "base/clock.h"

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts `values`. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
