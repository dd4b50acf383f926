/* The scaler's loops for AVX-512. */
#define SG_TABLE sgi_scale_kernels_avx512
#include "scale/moments_body.h"
