/* The loops of programs for AVX-512. */
#include <immintrin.h>
#define SG_TABLE           sgi_program_loops_avx512
#define VECTOR_F32         __m512
#define VECTOR_F64         __m512d
#define SLEEF_F32(f, ulps) Sleef_##f##f16_##ulps##avx512f
#define SLEEF_F64(f, ulps) Sleef_##f##d8_##ulps##avx512f
#include "expr/program_body.h"
