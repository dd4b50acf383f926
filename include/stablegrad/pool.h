/* A small thread pool that a caller makes once and lends to the library's passes. */
#ifndef STABLEGRAD_POOL_H
#define STABLEGRAD_POOL_H

#include <stddef.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A pool runs one job at a time; share one between handles only if their calls do not overlap.
 * Wherever a pool is accepted, NULL means "in the calling thread".
 * Results never depend on the number of threads: work is cut into units that do not depend on it,
 * and what the units compute is combined in unit order. */
typedef struct sg_pool sg_pool;

/* Work on unit `unit`; `worker` in [0, threads) tells which thread calls, 0 is the caller's own. */
typedef void sg_unit_function(void *context, size_t unit, int worker);

/* Makes a pool of `threads` >= 1 threads in all (the caller's thread is one of them);
 * 0 means one for each processor the process may run on. */
SG_CHECKED sg_status sg_pool_create(sg_pool **pool, int threads, const sg_allocator *allocator);

/* Joins the threads and frees the pool. NULL is allowed. */
void sg_pool_destroy(sg_pool *pool);

/* The number of threads, the caller's included; 1 for NULL. */
int sg_pool_threads(const sg_pool *pool);

/* Calls `function` once for each unit in [0, units), on all threads, and returns when all are done.
 */
void sg_pool_run(sg_pool *pool, size_t units, sg_unit_function *function, void *context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
