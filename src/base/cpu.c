/* Which instruction set to use: what the processor has, of what the build contains. */
#include "stablegrad/cpu.h"

#include "base/list.h"

const char *sg_isa_name(sg_isa isa)
{
    static const char *const names[] = {SG_ISA_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_ISA_COUNT, (int)isa);
}

/* The build's own limit, set in cmake/isa.cmake to test everything as on a lesser processor. */
#ifndef SG_MAX_ISA
#define SG_MAX_ISA SG_ISA_AVX512
#endif

static int runs(sg_isa isa)
{
    if (isa > SG_MAX_ISA)
        return 0;
    if (isa == SG_ISA_GENERIC)
        return 1;
#if SG_HAVE_X86_KERNELS
    if (isa == SG_ISA_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == SG_ISA_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma");
#endif
    return 0;
}

sg_isa sg_isa_resolve(sg_isa wanted)
{
    if (wanted != SG_ISA_AUTO)
        return runs(wanted) ? wanted : SG_ISA_AUTO;
    if (runs(SG_ISA_AVX512))
        return SG_ISA_AVX512;
    return runs(SG_ISA_AVX2) ? SG_ISA_AVX2 : SG_ISA_GENERIC;
}
