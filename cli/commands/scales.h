/* What `stablegrad check` says of the sizes with which a problem is nondimensional. */
#ifndef CLI_COMMANDS_SCALES_H
#define CLI_COMMANDS_SCALES_H

#include <jansson.h>

#include "problem/problem.h"

/* Nothing for a problem without `scales`. */
void print_scales(const sgi_problem *problem);

/* The same for --json; NULL without `scales`. */
json_t *json_scales(const sgi_problem *problem);

#endif
