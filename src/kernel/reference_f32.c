/* The reference loops in float: see kernels.h. */
#include <math.h>
#include <string.h>

#include "kernel/tables.h"

typedef float real;
#define SG_TABLE sg_kernels_reference_f32
#define sg_tanh  tanhf
#define sg_exp   expf
#define sg_sin   sinf
#define sg_cos   cosf
#define sg_erf   erff
#define sg_log1p log1pf
#include "kernel/reference_body.h"
