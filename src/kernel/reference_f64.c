/* The reference loops in double: see kernels.h. */
#include <math.h>
#include <string.h>

#include "kernel/tables.h"

typedef double real;
#define SG_TABLE sg_kernels_reference_f64
#define sg_tanh  tanh
#define sg_exp   exp
#define sg_sin   sin
#define sg_cos   cos
#define sg_erf   erf
#define sg_log1p log1p
#include "kernel/reference_body.h"
