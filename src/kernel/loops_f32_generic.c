/* The loops in float for the target's baseline. */
typedef float real;
#define SG_SINGLE  1
#define SG_BYTES   16
#define SG_COLUMNS 2
#define SG_TABLE   sgi_kernels_generic_f32
#define SG_NAME    "generic"
#include "kernel/loops_body.h"
