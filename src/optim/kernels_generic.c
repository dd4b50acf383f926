/* The optimizers' loops for the target's baseline. */
#define SG_TABLE sgi_optim_kernels_generic
#include "optim/kernels_body.h"
