/* The loops of programs, written once and compiled for each instruction set and both types.
 *
 * A file for an instruction set defines SG_TABLE, the name of its table, and, where SLEEF has
 * vector functions for it, VECTOR_F32, VECTOR_F64 (types) and SLEEF_F32(f, ulps), SLEEF_F64(f,
 * ulps) (names); without them the C library's scalar functions are called. */
#include <math.h>
#include <string.h>

#ifdef VECTOR_F32
#include <sleef.h>
#endif

#include "expr/program.h"

#define REAL    float
#define NAME(f) f##_f32
#define LIBM(g) g##f
#define ABS     fabsf
#define SQRT    sqrtf
#define FLOOR   floorf
#ifdef VECTOR_F32
#define VECTOR         VECTOR_F32
#define SLEEF(f, ulps) SLEEF_F32(f, ulps)
#endif
#include "expr/program_template.h"
#undef REAL
#undef NAME
#undef LIBM
#undef ABS
#undef SQRT
#undef FLOOR
#undef VECTOR
#undef SLEEF

#define REAL    double
#define NAME(f) f##_f64
#define LIBM(g) g
#define ABS     fabs
#define SQRT    sqrt
#define FLOOR   floor
#ifdef VECTOR_F64
#define VECTOR         VECTOR_F64
#define SLEEF(f, ulps) SLEEF_F64(f, ulps)
#endif
#include "expr/program_template.h"

const sgi_program_loops SG_TABLE = {.run = {run_f32, run_f64}};
