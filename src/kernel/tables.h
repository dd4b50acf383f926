/* The tables of kernels, one for each instruction set and type. */
#ifndef SG_KERNEL_TABLES_H
#define SG_KERNEL_TABLES_H

#include "base/isa.h"
#include "kernel/kernels.h"

extern const sgi_kernels sgi_kernels_plain_f32;
extern const sgi_kernels sgi_kernels_plain_f64;
SGI_ISA_TABLES(sgi_kernels, sgi_kernels, _f32);
SGI_ISA_TABLES(sgi_kernels, sgi_kernels, _f64);

#endif
