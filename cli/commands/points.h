/* The points of `eval --points`, from tables and files of NumPy and MATLAB, by the names of their
 * columns. */
#ifndef SG_CLI_POINTS_H
#define SG_CLI_POINTS_H

#include "problem/problem.h"

/* Reads points: *points (count, coordinates) in the problem's order, released with free(). Columns
 * are matched by name; a file without names is taken in the problem's order, said on stderr, as is
 * the number of points outside the domain. Returns an exit code after saying what is wrong. */
int read_points(const char *path, const sgi_problem *problem, double **points, size_t *count);

#endif
