/* The loops of programs for the target's baseline. */
#define SG_TABLE sgi_program_loops_generic
#include "expr/program_body.h"
