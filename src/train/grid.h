/* Regular grids over a problem's box: both ends of each coordinate's range are on the grid, and the
 * last coordinate runs fastest. */
#ifndef SG_TRAIN_GRID_H
#define SG_TRAIN_GRID_H

#include "pinn/problem.h"

typedef struct sg_grid {
    int coordinates;
    size_t sizes[SG_MOST_COORDINATES];
    double lower[SG_MOST_COORDINATES], upper[SG_MOST_COORDINATES];
    size_t total; /* points */
} sg_grid;

/* The grid of the problem's evaluation settings. */
sg_grid sg_grid_of_problem(const sg_problem *problem);

/* The same box with other sizes. SG_ERROR_ARGUMENT if there are too many points to count. */
SG_CHECKED sg_status sg_grid_make(const sg_problem *problem, const size_t *sizes, sg_grid *grid);

/* A grid of at most `most` points, each axis cut in the same proportion to no less than two points
 * (or what it had): for pictures and files of problems in many coordinates. */
sg_grid sg_grid_thinned(const sg_grid *grid, size_t most);

/* Point `index` of an axis. */
double sg_grid_axis(const sg_grid *grid, int coordinate, size_t index);

/* Points [first, first + count): `points` (count, coordinates), row by row. */
void sg_grid_points(const sg_grid *grid, size_t first, size_t count, double *points);

#endif
