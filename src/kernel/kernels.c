/* The choice of a table: see kernels.h. */
#include "kernel/kernels.h"

#include "kernel/tables.h"

const sgi_kernels *sgi_kernels_for(sg_isa isa, sg_type type)
{
    if (type == SG_FLOAT32)
        return SGI_ISA_TABLE(isa, sgi_kernels, _f32);
    return SGI_ISA_TABLE(isa, sgi_kernels, _f64);
}

const sgi_kernels *sgi_kernels_plain(sg_type type)
{
    return type == SG_FLOAT32 ? &sgi_kernels_plain_f32 : &sgi_kernels_plain_f64;
}
