/* The arithmetic of the method: see factors.h. */
#include "scale/factors.h"

#include <math.h>

double sgi_block_norm2(const sgi_block *block)
{
    const sg_moments *m = &block->moments;
    return m->m2 + m->count * m->mean * m->mean;
}

static bool takes_part(const sgi_block *block)
{
    return block->touched && sg_moments_std(&block->moments) > 0;
}

bool sgi_reference_is_observed(sg_reference reference)
{
    switch (reference) {
    case SG_REFERENCE_OUTPUT:
    case SG_REFERENCE_RESIDUAL:
        return true;
    case SG_REFERENCE_NORM:
    case SG_REFERENCE_INNER:
    case SG_REFERENCE_CONSTANT:
        break;
    }
    return false;
}

double sgi_reference_from_blocks(sg_reference reference, const sgi_block *blocks, size_t count,
                                 double eps)
{
    double kept = 0, once = 0, twice = 0; /* |g|^2; divided by sigma; and by its square */
    for (size_t b = 0; b < count; b++) {
        if (!takes_part(&blocks[b]))
            continue;
        double norm2 = sgi_block_norm2(&blocks[b]);
        double sigma = sg_moments_std(&blocks[b].moments) + eps;
        kept += norm2;
        once += norm2 / sigma;
        twice += norm2 / sigma / sigma;
    }
    switch (reference) {
    case SG_REFERENCE_NORM:
        return kept > 0 && twice > 0 ? sqrt(kept / twice) : 0;
    case SG_REFERENCE_INNER:
        return kept > 0 && once > 0 ? kept / once : 0;
    case SG_REFERENCE_OUTPUT:
    case SG_REFERENCE_RESIDUAL:
    case SG_REFERENCE_CONSTANT:
        break;
    }
    return 0;
}

static double alpha_of(const sgi_block *block, double c, double eps)
{
    return c / (sg_moments_std(&block->moments) + eps);
}

bool sgi_block_scalable(const sgi_block *block, double c, double eps)
{
    if (!takes_part(block))
        return false;
    double alpha = alpha_of(block, c, eps);
    /* No element is further from the mean than sqrt(m2). */
    double bound = fabs(block->moments.mean) + sqrt(block->moments.m2);
    return alpha >= block->smallest && alpha <= block->largest &&
           alpha <= block->largest / fmax(bound, 1);
}

double sgi_block_factor(const sgi_block *block, double c, double eps)
{
    return sgi_block_scalable(block, c, eps) ? alpha_of(block, c, eps) : 1;
}

double sgi_std_ratio(const sgi_block *blocks, const sg_block_report *reports, size_t count,
                     bool scaled)
{
    double low = INFINITY, high = 0;
    for (size_t b = 0; b < count; b++) {
        if (!takes_part(&blocks[b]))
            continue;
        double std = scaled ? reports[b].scaled_std : reports[b].std;
        low = fmin(low, std);
        high = fmax(high, std);
    }
    return low > 0 && high > 0 && isfinite(low) ? high / low : 1;
}
