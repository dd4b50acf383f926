/* Moments of sets of numbers, and the choice of loops. */
#include "scale/moments.h"

#include <float.h>
#include <math.h>

#include "scale/combine.h"

const sgi_scale_kernels *sgi_scale_kernels_for(sg_isa isa)
{
    return SGI_ISA_TABLE(isa, sgi_scale_kernels, );
}

void sg_moments_add(sg_moments *moments, const void *values, sg_type type, size_t count,
                    double factor)
{
    if (!moments || !values || count == 0 || (unsigned)type >= SG_TYPE_COUNT)
        return;
    const sgi_scale_kernels *kernels = sgi_scale_kernels_for(sg_isa_resolve(SG_ISA_AUTO));
    sg_moments added = kernels->moments[type](values, count);
    added.mean *= factor;
    added.m2 *= factor * factor;
    sgi_moments_combine(moments, &added);
}

void sg_moments_merge(sg_moments *moments, const sg_moments *other)
{
    if (!moments || !other)
        return;
    sgi_moments_combine(moments, other);
}

double sg_moments_std(const sg_moments *moments)
{
    if (!moments || moments->count == 0)
        return 0;
    if (moments->count == 1)
        return fabs(moments->mean);
    double std = sqrt(moments->m2 / moments->count);
    /* Equal numbers leave a trace of the mean's rounding error: that is no spread. */
    return std <= 8 * DBL_EPSILON * fabs(moments->mean) ? 0 : std;
}
