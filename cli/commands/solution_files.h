/* Evaluated solutions as files: .csv, .npz, .vti, .vtu by the name's ending. */
#ifndef SG_CLI_SOLUTION_FILES_H
#define SG_CLI_SOLUTION_FILES_H

#include "commands/solution.h"

bool ends_in(const char *path, const char *ending);

/* Whether the ending is one of those, and there is no such file or --force was given. Says so if
 * not. */
bool may_write(const char *path, bool force);
/* The same of a file with another ending. */
bool may_replace(const char *path, bool force);

/* Says what is wrong and returns an exit code. */
int write_solution(const solution *s, const char *path);

#endif
