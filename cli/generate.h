/* The manual page and the shell completion, made from the same tables as --help. The build runs
 * `stablegrad help man` and `stablegrad help completion` and installs what they print. */
#ifndef SG_CLI_GENERATE_H
#define SG_CLI_GENERATE_H

#include <stdio.h>

void print_manual(FILE *to);
void print_completion(FILE *to);

#endif
