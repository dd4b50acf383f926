/* A mesh of the domain to evaluate a solution on, for .vtu. */
#ifndef SG_CLI_SOLUTION_MESH_H
#define SG_CLI_SOLUTION_MESH_H

#include "commands/solution.h"

/* Makes the mesh over the solution's grid and takes its points, once for each slice, as the places.
 * Says what is wrong and returns an exit code. */
int choose_mesh(solution *s);

/* Writes it with the evaluated columns; SG_ERROR_ARGUMENT when there is no mesh. */
sg_status write_mesh(const solution *s, const char *path, sg_diagnostic *diagnostic);

#endif
