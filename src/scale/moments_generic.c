/* The scaler's loops for the target's baseline. */
#define SG_TABLE sgi_scale_kernels_generic
#include "scale/moments_body.h"
