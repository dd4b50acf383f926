/* The choice of a table: see kernels.h; and the activations' names. */
#include "kernel/kernels.h"

#include "base/list.h"
#include "kernel/tables.h"

const char *sg_activation_name(sg_activation activation)
{
    static const char *const names[] = {SG_ACTIVATION_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_ACTIVATION_COUNT, (int)activation);
}

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
