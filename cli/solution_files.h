/* Evaluated solutions as files: .csv, .npz, .vti by the name's ending. */
#ifndef SG_CLI_SOLUTION_FILES_H
#define SG_CLI_SOLUTION_FILES_H

#include "solution.h"

/* Says what is wrong and returns an exit code. */
int write_solution(const solution *s, const char *path);

/* Whether the ending is one of those. Says so if not. */
bool known_ending(const char *path);

#endif
