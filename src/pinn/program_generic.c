/* The loops of programs for the target's baseline. */
#define SG_TABLE sg_program_loops_generic
#include "pinn/program_body.h"
