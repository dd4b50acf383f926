/* Regular grids over a problem's box: both ends of each coordinate's range are on the grid, and the
 * last coordinate runs fastest. */
#ifndef SG_PINN_BOX_GRID_H
#define SG_PINN_BOX_GRID_H

#include "problem/problem.h"

typedef struct sgi_box_grid {
    int coordinates;
    size_t sizes[SG_MOST_COORDINATES];
    double lower[SG_MOST_COORDINATES], upper[SG_MOST_COORDINATES];
    size_t total; /* points */
} sgi_box_grid;

/* The grid of the problem's evaluation settings; `total` is SIZE_MAX when there are too many points
 * to count, so use it thinned. */
sgi_box_grid sgi_box_grid_of_problem(const sgi_problem *problem);

/* The same box with other sizes. SG_ERROR_ARGUMENT if there are too many points to count. */
SG_CHECKED sg_status sgi_box_grid_make(const sgi_problem *problem, const size_t *sizes,
                                       sgi_box_grid *grid);

/* A grid of at most `most` points, each axis cut in the same proportion to no less than two points
 * (or what it had): for pictures and files of problems in many coordinates. */
sgi_box_grid sgi_box_grid_thinned(const sgi_box_grid *grid, size_t most);

/* Point `index` of an axis. */
double sgi_box_grid_axis(const sgi_box_grid *grid, int coordinate, size_t index);

/* Points [first, first + count): `points` (count, coordinates), row by row. */
void sgi_box_grid_points(const sgi_box_grid *grid, size_t first, size_t count, double *points);

#endif
