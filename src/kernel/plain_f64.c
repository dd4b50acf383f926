/* The reference loops in double: see kernels.h. */
#include <math.h>
#include <string.h>

#include "kernel/tables.h"

typedef double real;
#define SG_TABLE  sgi_kernels_plain_f64
#define sgi_tanh  tanh
#define sgi_exp   exp
#define sgi_sin   sin
#define sgi_cos   cos
#define sgi_erf   erf
#define sgi_log1p log1p
#include "kernel/plain_body.h"
