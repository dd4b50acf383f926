/* The tables of kernels, one for each instruction set and type. */
#ifndef SG_KERNEL_TABLES_H
#define SG_KERNEL_TABLES_H

#include "kernel/kernels.h"

extern const sgi_kernels sgi_kernels_plain_f32;
extern const sgi_kernels sgi_kernels_plain_f64;
extern const sgi_kernels sgi_kernels_generic_f32;
extern const sgi_kernels sgi_kernels_generic_f64;
extern const sgi_kernels sgi_kernels_avx2_f32;
extern const sgi_kernels sgi_kernels_avx2_f64;
extern const sgi_kernels sgi_kernels_avx512_f32;
extern const sgi_kernels sgi_kernels_avx512_f64;

#endif
