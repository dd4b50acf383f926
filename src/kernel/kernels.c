/* The choice of a table: see kernels.h. */
#include "kernel/kernels.h"

#include "kernel/tables.h"

const sgi_kernels *sgi_kernels_for(sg_isa isa, sg_type type)
{
    bool single = type == SG_FLOAT32;
#if SG_HAVE_X86_KERNELS
    if (isa == SG_ISA_AVX512)
        return single ? &sgi_kernels_avx512_f32 : &sgi_kernels_avx512_f64;
    if (isa == SG_ISA_AVX2)
        return single ? &sgi_kernels_avx2_f32 : &sgi_kernels_avx2_f64;
#endif
    (void)isa;
    return single ? &sgi_kernels_generic_f32 : &sgi_kernels_generic_f64;
}

const sgi_kernels *sgi_kernels_plain(sg_type type)
{
    return type == SG_FLOAT32 ? &sgi_kernels_plain_f32 : &sgi_kernels_plain_f64;
}
