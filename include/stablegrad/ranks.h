/* Ranks: processes, as a rule on several machines, that train one network together.
 *
 * Every rank runs the same calls on the same network with the same weights. An engine whose pool
 * belongs to a rank computes that rank's share of the points, and the sums over points are added up
 * over all ranks, so that every rank gets the result for all points. What one rank alone would get
 * is the same up to rounding; the same number of ranks gives the same bits.
 *
 * The library knows nothing of networks between machines: the caller gives the function that adds
 * up, MPI_Allreduce for example.
 *
 *     sg_ranks ranks = {.rank = rank, .count = count, .sum = my_sum, .context = &communicator};
 *     sg_pool_set_ranks(pool, &ranks);
 */
#ifndef STABLEGRAD_RANKS_H
#define STABLEGRAD_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/params.h"
#include "stablegrad/pool.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Adds up `count` values of a type over all ranks, in place; afterwards every rank must have the
 * same bits. 0 on success. Collective: every rank calls it in the same order with the same counts.
 */
typedef int sg_rank_sum_function(void *context, void *values, sg_type type, size_t count);

typedef struct sg_ranks {
    int rank, count; /* 0 <= rank < count */
    sg_rank_sum_function *sum;
    void *context;
} sg_ranks;

/* From now on the engines that use this pool (jet.h, pinn.h) share their points with the other
 * ranks; NULL: they work alone again. `ranks` is not copied. While it is set, calls of such engines
 * are collective, but for sg_jet_rows, which gives every rank all the rows that it asks for.
 * Callbacks are called for this rank's items only. SG_ERROR_ARGUMENT, and nothing is changed,
 * without a pool or for ranks that do not make sense. */
SG_CHECKED sg_status sg_pool_set_ranks(sg_pool *pool, const sg_ranks *ranks);

/* NULL for a pool that works alone, and for NULL. */
const sg_ranks *sg_pool_ranks(const sg_pool *pool);

/* Adds up over the ranks of the pool, in place, as the engines do; nothing to do for a pool that
 * works alone. When it fails the values become NaN, and the pool is broken: every later sum fails
 * without a call, until ranks are set anew. Trainers return SG_ERROR_REDUCE then. */
void sg_pool_sum(sg_pool *pool, void *values, sg_type type, size_t count);
bool sg_pool_broken(const sg_pool *pool);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
