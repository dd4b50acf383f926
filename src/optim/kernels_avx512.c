/* The optimizers' loops for AVX-512. */
#define SG_TABLE sgi_optim_kernels_avx512
#include "optim/kernels_body.h"
