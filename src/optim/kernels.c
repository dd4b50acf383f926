/* The choice of loops. */
#include "optim/kernels.h"

const sgi_optim_kernels *sgi_optim_kernels_for(sg_isa isa)
{
#if SG_HAVE_X86_KERNELS
    if (isa == SG_ISA_AVX512)
        return &sgi_optim_kernels_avx512;
    if (isa == SG_ISA_AVX2)
        return &sgi_optim_kernels_avx2;
#endif
    (void)isa;
    return &sgi_optim_kernels_generic;
}
