/* The choice of loops. */
#include "optim/kernels.h"

const sgi_optim_kernels *sgi_optim_kernels_for(sg_isa isa)
{
    return SGI_ISA_TABLE(isa, sgi_optim_kernels, );
}
