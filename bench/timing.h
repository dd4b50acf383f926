/* Shared by the benchmarks: the clock, medians, and the Python of the peers. */
#ifndef SG_BENCH_TIMING_H
#define SG_BENCH_TIMING_H

#include <stdlib.h>

#include "base/clock.h"

#ifdef SG_BENCH_PYTHON
/* The Python that has the peers: SG_BENCH_PEERS, or else the one that the build has found with
 * PyTorch. Empty: none. */
static inline const char *peer_python(void)
{
    const char *python = getenv("SG_BENCH_PEERS");
    return python ? python : SG_BENCH_PYTHON;
}
#endif

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Processor time of the process: with one thread, a step's own time however busy the machine is. */
static inline double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sorts `values`. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
