/* Sums over ranks: see ranks.h. */
#include "base/ranks.h"

#include <math.h>

bool sgi_ranks_sum(const sg_ranks *ranks, void *values, sg_type type, size_t count)
{
    if (!ranks || ranks->count == 1 || count == 0)
        return true;
    if (ranks->sum && ranks->sum(ranks->context, values, type, count) == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (type == SG_FLOAT32)
            ((float *)values)[i] = NAN;
        else
            ((double *)values)[i] = (double)NAN;
    return false;
}

int sgi_rank_count(const sg_pool *pool)
{
    const sg_ranks *ranks = sg_pool_ranks(pool);
    return ranks ? ranks->count : 1;
}

int sgi_rank_index(const sg_pool *pool)
{
    const sg_ranks *ranks = sg_pool_ranks(pool);
    return ranks ? ranks->rank : 0;
}
