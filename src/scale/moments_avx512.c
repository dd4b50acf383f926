/* The scaler's loops for AVX-512. */
#define SG_TABLE sg_scale_kernels_avx512
#include "scale/moments_body.h"
