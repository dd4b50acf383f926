/* The tables of kernels, one for each instruction set and type. */
#ifndef SG_KERNEL_TABLES_H
#define SG_KERNEL_TABLES_H

#include "kernel/kernels.h"

extern const sg_kernels sg_kernels_reference_f32;
extern const sg_kernels sg_kernels_reference_f64;
extern const sg_kernels sg_kernels_generic_f32;
extern const sg_kernels sg_kernels_generic_f64;
extern const sg_kernels sg_kernels_avx2_f32;
extern const sg_kernels sg_kernels_avx2_f64;
extern const sg_kernels sg_kernels_avx512_f32;
extern const sg_kernels sg_kernels_avx512_f64;

#endif
