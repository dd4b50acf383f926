/* Sums over the ranks that share a batch: see internal.h. */
#include "graph/internal.h"

sg_status sgi_net_sum(sg_net *graph, void *values, sg_type type, size_t count)
{
    if (sgi_net_ranks(graph) == 1)
        return SG_OK;
    sg_ranks used = *graph->config.ranks;
    if (graph->broken) /* another call would wait for ranks that are no longer there */
        used.sum = NULL;
    if (sgi_ranks_sum(&used, values, type, count))
        return SG_OK;
    graph->broken = true;
    return sgi_net_fail(graph, SG_ERROR_REDUCE, "a sum over %d ranks failed", used.count);
}

/* Counts and sums first, which give the means of all; then squared deviations from these, so that
 * nothing is lost when the mean is large. */
sg_status sgi_net_sum_moments(sg_net *graph, sg_moments *moments, size_t count)
{
    double sums[SG_MOST_SUMMED][2], squares[SG_MOST_SUMMED];
    if (sgi_net_ranks(graph) == 1)
        return SG_OK;
    for (size_t i = 0; i < count; i++) {
        sums[i][0] = moments[i].count;
        sums[i][1] = moments[i].count * moments[i].mean;
    }
    sg_status status = sgi_net_sum(graph, sums, SG_FLOAT64, 2 * count);
    if (status != SG_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        sums[i][1] /= sums[i][0];
        double d = moments[i].mean - sums[i][1];
        squares[i] = moments[i].m2 + moments[i].count * d * d;
    }
    status = sgi_net_sum(graph, squares, SG_FLOAT64, count);
    for (size_t i = 0; i < count && status == SG_OK; i++)
        moments[i] = (sg_moments){sums[i][0], sums[i][1], squares[i]};
    return status;
}
