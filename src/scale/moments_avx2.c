/* The scaler's loops for AVX2. */
#define SG_TABLE sg_scale_kernels_avx2
#include "scale/moments_body.h"
