/* The loops in float for AVX2. */
typedef float real;
#define SG_SINGLE  1
#define SG_BYTES   32
#define SG_COLUMNS 2
#define SG_TABLE   sgi_kernels_avx2_f32
#define SG_NAME    "avx2"
#include "kernel/loops_body.h"
