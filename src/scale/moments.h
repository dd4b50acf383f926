/* The inner loops of the scaler, one table for each instruction set.
 *
 * All tables give the same bits: the loops have a fixed number of lanes whatever the width of the
 * machine's vectors, and nothing is contracted to a fused multiply-add. */
#ifndef SG_SCALE_MOMENTS_H
#define SG_SCALE_MOMENTS_H

#include <stddef.h>

#include "base/isa.h"
#include "stablegrad/scale.h"

typedef struct sgi_scale_kernels {
    /* Moments of `count` numbers, read once from memory. */
    sg_moments (*moments[2])(const void *values, size_t count); /* by sg_type */
    /* values <- factor * values */
    void (*multiply[2])(void *values, size_t count, double factor);
    /* to <- sign(from), 0 for 0; `to` may be `from` */
    void (*sign[2])(void *to, const void *from, size_t count);
    /* to <- (from - mean) * factor, in double; `to` may be `from` */
    void (*centre[2])(void *to, const void *from, size_t count, double mean, double factor);
} sgi_scale_kernels;

SGI_ISA_TABLES(sgi_scale_kernels, sgi_scale_kernels, );

/* The table for a resolved instruction set (not SG_ISA_AUTO). */
const sgi_scale_kernels *sgi_scale_kernels_for(sg_isa isa);

#endif
