/* The loops in double for AVX-512. */
typedef double real;
#define SG_SINGLE  0
#define SG_BYTES   64
#define SG_COLUMNS 4
#define SG_TABLE   sgi_kernels_avx512_f64
#define SG_NAME    "avx512"
#include "kernel/loops_body.h"
