/* The geometry of a step: see update.h. */
#include "diagnose/update.h"

#include <float.h>
#include <math.h>

#include "base/params.h"

sgi_update sgi_update_of(const sg_params *params, const size_t *block_of_span, const double *values,
                         const double *step, sgi_block_update *blocks, size_t count)
{
    sgi_update update = {.spread = 1};
    double total = 0, least = INFINITY, most = 0;
    for (size_t b = 0; b < count; b++)
        blocks[b] = (sgi_block_update){0, 0};
    for (size_t s = 0, i = 0; s < params->count; s++) { /* squares first: of values, of the step */
        sgi_block_update *block = &blocks[block_of_span[s]];
        for (size_t end = i + params->spans[s].count; i < end; i++) {
            block->relative += values[i] * values[i];
            block->share += step[i] * step[i];
            total += step[i] * step[i];
        }
    }
    for (size_t b = 0; b < count; b++) {
        double values2 = blocks[b].relative, step2 = blocks[b].share;
        blocks[b].relative = values2 > 0 ? sqrt(step2 / values2) : 0;
        blocks[b].share = total > 0 ? step2 / total : 0;
        if (blocks[b].relative > 0) {
            least = fmin(least, blocks[b].relative);
            most = fmax(most, blocks[b].relative);
            update.spread = most / least;
        }
        if (blocks[b].share > update.largest_share) {
            update.largest_share = blocks[b].share;
            update.largest_block = b;
        }
    }
    return update;
}

double sgi_linear_error(const double *before, const double *after, const double *product,
                        size_t size)
{
    double change2 = 0, error2 = 0;
    for (size_t i = 0; i < size; i++) {
        double change = after[i] - before[i], error = change - product[i];
        change2 += change * change;
        error2 += error * error;
    }
    return sqrt(error2) / (sqrt(change2) + DBL_MIN);
}
