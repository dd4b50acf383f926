/* The loops in double for the target's baseline. */
typedef double real;
#define SG_SINGLE  0
#define SG_BYTES   16
#define SG_COLUMNS 2
#define SG_TABLE   sgi_kernels_generic_f64
#define SG_NAME    "generic"
#include "kernel/loops_body.h"
