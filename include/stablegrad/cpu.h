/* The instruction sets that the library's inner loops are compiled for. */
#ifndef STABLEGRAD_CPU_H
#define STABLEGRAD_CPU_H

#include "stablegrad/list.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* SG_ISA_AUTO picks the best set that both the processor and the build have; the others force one.
 * SG_ISA_GENERIC is what the compiler makes of vectors for the least processor of its target. */
#define SG_ISA_LIST(X)                                                                             \
    X(SG_ISA_AUTO, "auto")                                                                         \
    X(SG_ISA_GENERIC, "generic")                                                                   \
    X(SG_ISA_AVX2, "avx2")                                                                         \
    X(SG_ISA_AVX512, "avx512")

typedef enum sg_isa { SG_ISA_LIST(SG_LIST_ENUM) } sg_isa;
#define SG_ISA_COUNT (0 SG_ISA_LIST(SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. */
const char *sg_isa_name(sg_isa isa);

/* The instruction set that is used when `wanted` is asked for: the best one for SG_ISA_AUTO,
 * otherwise `wanted` itself. SG_ISA_AUTO as a result means that this processor cannot run `wanted`
 * or that this build does not contain it. */
sg_isa sg_isa_resolve(sg_isa wanted);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
