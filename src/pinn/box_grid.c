/* Grids: see box_grid.h. */
#include "pinn/box_grid.h"

#include <math.h>

static size_t count_points(const sgi_box_grid *grid)
{
    size_t total = 1;
    for (int c = 0; c < grid->coordinates; c++) {
        if (grid->sizes[c] == 0 || total > SIZE_MAX / sizeof(double) / grid->sizes[c])
            return 0;
        total *= grid->sizes[c];
    }
    return total;
}

sg_status sgi_box_grid_make(const sgi_problem *problem, const size_t *sizes, sgi_box_grid *grid)
{
    *grid = (sgi_box_grid){.coordinates = problem->names.coordinate_count};
    for (int c = 0; c < grid->coordinates; c++) {
        grid->sizes[c] = sizes[c];
        grid->lower[c] = problem->lower[c];
        grid->upper[c] = problem->upper[c];
    }
    grid->total = count_points(grid);
    return grid->total ? SG_OK : SG_ERROR_ARGUMENT;
}

sgi_box_grid sgi_box_grid_of_problem(const sgi_problem *problem)
{
    size_t sizes[SG_MOST_COORDINATES];
    sgi_box_grid grid;
    for (int c = 0; c < problem->names.coordinate_count; c++)
        sizes[c] = (size_t)problem->settings.evaluation.grid[c];
    if (sgi_box_grid_make(problem, sizes, &grid) != SG_OK)
        grid.total = SIZE_MAX;
    return grid;
}

sgi_box_grid sgi_box_grid_thinned(const sgi_box_grid *grid, size_t most)
{
    sgi_box_grid thin = *grid;
    /* Cutting leaves small axes alone, so the others may have to be cut more than once. */
    while (thin.total > most) {
        double share = pow((double)most / (double)thin.total, 1.0 / thin.coordinates);
        bool cut = false;
        for (int c = 0; c < thin.coordinates; c++) {
            size_t size = (size_t)((double)thin.sizes[c] * share);
            if (size < 2)
                size = thin.sizes[c] < 2 ? thin.sizes[c] : 2;
            cut = cut || size < thin.sizes[c];
            thin.sizes[c] = size;
        }
        size_t total = count_points(&thin);
        thin.total = total ? total : SIZE_MAX;
        if (!cut)
            break;
    }
    return thin;
}

double sgi_box_grid_axis(const sgi_box_grid *grid, int c, size_t index)
{
    size_t last = grid->sizes[c] - 1;
    if (last == 0)
        return (grid->lower[c] + grid->upper[c]) / 2;
    if (index == last)
        return grid->upper[c];
    return grid->lower[c] + (grid->upper[c] - grid->lower[c]) * ((double)index / (double)last);
}

void sgi_box_grid_points(const sgi_box_grid *grid, size_t first, size_t count, double *points)
{
    for (size_t i = 0; i < count; i++) {
        size_t rest = first + i;
        for (int c = grid->coordinates - 1; c >= 0; c--) {
            points[i * (size_t)grid->coordinates + (size_t)c] =
                sgi_box_grid_axis(grid, c, rest % grid->sizes[c]);
            rest /= grid->sizes[c];
        }
    }
}
