/* The results of a comparison as a table, and how to go on from there. */
#ifndef SG_CLI_COMPARE_TABLE_H
#define SG_CLI_COMPARE_TABLE_H

#include <stdbool.h>

/* `reported`: there is a report to point to. */
void print_comparison(const char *folder, bool reported);

#endif
