/* The loops of programs for AVX2. */
#include <immintrin.h>
#define SG_TABLE           sgi_program_loops_avx2
#define VECTOR_F32         __m256
#define VECTOR_F64         __m256d
#define SLEEF_F32(f, ulps) Sleef_##f##f8_##ulps##avx2
#define SLEEF_F64(f, ulps) Sleef_##f##d4_##ulps##avx2
#include "expr/program_body.h"
