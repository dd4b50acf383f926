/* The machine's peak in fused multiply-adds, single precision. */
#ifndef SG_BENCH_FMA_PEAK_H
#define SG_BENCH_FMA_PEAK_H

#include "stablegrad/stablegrad.h"

/* Floating-point operations per second on all threads of the pool together, with the vectors of
 * `isa`, the best of a few tries of some milliseconds. */
double bench_fma_peak(sg_pool *pool, sg_isa isa);

#endif
