/* Seconds on a clock that only goes forward, and seconds that the process has computed. */
#ifndef SG_BASE_CLOCK_H
#define SG_BASE_CLOCK_H

#include <time.h>

static inline double sgi_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all its threads together: other work of the machine does not count. */
static inline double sgi_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
