/* One table of functions for each instruction set that the build has, and the choice among them.
 * The tables are called STEM_generic, STEM_avx2 ...; each is defined by a file of a few lines that
 * includes the loops and is compiled with the flags of its set (cmake/isa.cmake). */
#ifndef SG_BASE_ISA_H
#define SG_BASE_ISA_H

#include "stablegrad/cpu.h"

/* SGI_ISA_TABLES(type, stem, tail) declares them; SGI_ISA_TABLE(isa, stem, tail) is the one of
 * `isa`, which sg_isa_resolve has returned. `tail` comes after the set's name and may be empty. */
#if SG_HAVE_X86_KERNELS
#define SGI_ISA_TABLES(type, stem, tail)                                                           \
    extern const type stem##_generic##tail, stem##_avx2##tail, stem##_avx512##tail
#define SGI_ISA_TABLE(isa, stem, tail)                                                             \
    ((isa) == SG_ISA_AVX512 ? &stem##_avx512##tail                                                 \
     : (isa) == SG_ISA_AVX2 ? &stem##_avx2##tail                                                   \
                            : &stem##_generic##tail)
#else
#define SGI_ISA_TABLES(type, stem, tail) extern const type stem##_generic##tail
#define SGI_ISA_TABLE(isa, stem, tail)   ((void)(isa), &stem##_generic##tail)
#endif

#endif
