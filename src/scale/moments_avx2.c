/* The scaler's loops for AVX2. */
#define SG_TABLE sgi_scale_kernels_avx2
#include "scale/moments_body.h"
