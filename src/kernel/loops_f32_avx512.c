/* The loops in float for AVX-512. */
typedef float real;
#define SG_SINGLE  1
#define SG_BYTES   64
#define SG_COLUMNS 4
#define SG_TABLE   sgi_kernels_avx512_f32
#define SG_NAME    "avx512"
#include "kernel/loops_body.h"
