/* The loops in double for AVX2. */
typedef double real;
#define SG_SINGLE  0
#define SG_BYTES   32
#define SG_COLUMNS 2
#define SG_TABLE   sgi_kernels_avx2_f64
#define SG_NAME    "avx2"
#include "kernel/loops_body.h"
