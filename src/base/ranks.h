/* What the engines do with ranks: shares of the work, and sums. See stablegrad/ranks.h. */
#ifndef SG_BASE_RANKS_H
#define SG_BASE_RANKS_H

#include "stablegrad/ranks.h"

/* The number of ranks that share the work of a pool, and which this is. */
int sgi_rank_count(const sg_pool *pool);
int sgi_rank_index(const sg_pool *pool);

/* Where the share of rank `rank` of `count` things begins; that of the next is where it ends. */
static inline size_t sgi_share_begin(size_t count, int rank, int ranks)
{
    size_t each = count / (size_t)ranks, rest = count % (size_t)ranks, r = (size_t)rank;
    return r * each + (r < rest ? r : rest);
}

/* Adds up over ranks; false, and NaN in all values, when that fails. NULL: nothing to do. */
SG_CHECKED bool sgi_ranks_sum(const sg_ranks *ranks, void *values, sg_type type, size_t count);

#endif
