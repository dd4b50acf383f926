/* The reference loops in float: see kernels.h. */
#include <math.h>
#include <string.h>

#include "kernel/tables.h"

typedef float real;
#define SG_TABLE  sgi_kernels_plain_f32
#define sgi_tanh  tanhf
#define sgi_exp   expf
#define sgi_sin   sinf
#define sgi_cos   cosf
#define sgi_erf   erff
#define sgi_log1p log1pf
#include "kernel/plain_body.h"
