/* The optimizers' loops for AVX2. */
#define SG_TABLE sgi_optim_kernels_avx2
#include "optim/kernels_body.h"
