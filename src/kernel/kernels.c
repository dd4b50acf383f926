/* The choice of a table: see kernels.h. */
#include "kernel/kernels.h"

#include "kernel/tables.h"

const sg_kernels *sg_kernels_for(sg_isa isa, sg_type type)
{
    bool single = type == SG_FLOAT32;
#if SG_HAVE_X86_KERNELS
    if (isa == SG_ISA_AVX512)
        return single ? &sg_kernels_avx512_f32 : &sg_kernels_avx512_f64;
    if (isa == SG_ISA_AVX2)
        return single ? &sg_kernels_avx2_f32 : &sg_kernels_avx2_f64;
#endif
    (void)isa;
    return single ? &sg_kernels_generic_f32 : &sg_kernels_generic_f64;
}

const sg_kernels *sg_kernels_reference(sg_type type)
{
    return type == SG_FLOAT32 ? &sg_kernels_reference_f32 : &sg_kernels_reference_f64;
}
