/* The evaluation grid: see field_grid.h. */
#include "report/field_grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool sgi_field_grid_of(sgi_field_grid *grid, const sgi_run *run)
{
    *grid = (sgi_field_grid){.count = 1};
    const char *name;
    for (; (name = sgi_run_item(run, "coordinates", grid->rank)); grid->rank++) {
        const sgi_array *axis = sgi_arrays_find(&run->field, name);
        if (grid->rank == SG_ARRAY_RANK || !axis || axis->rank != 1 || axis->count == 0)
            return false;
        for (size_t i = 0; i < axis->count; i++)
            if (!isfinite(axis->values[i]))
                return false;
        grid->names[grid->rank] = name;
        grid->axes[grid->rank] = axis->values;
        grid->shape[grid->rank] = axis->count;
        if (__builtin_mul_overflow(grid->count, axis->count, &grid->count))
            return false;
    }
    size_t stride = 1;
    grid->time = grid->rank;
    for (size_t d = grid->rank; d-- > 0;) {
        grid->stride[d] = stride;
        stride *= grid->shape[d];
        if (strcmp(grid->names[d], "t") == 0)
            grid->time = d;
    }
    return grid->rank > 0;
}

const double *sgi_field_grid_values(const sgi_field_grid *grid, const sgi_run *run,
                                    const char *name, const char *suffix)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < run->field.count; i++) {
        const sgi_array *array = &run->field.items[i];
        if (strncmp(array->name, name, length) == 0 && strcmp(array->name + length, suffix) == 0)
            return array->rank == grid->rank &&
                           memcmp(array->shape, grid->shape, grid->rank * sizeof(size_t)) == 0
                       ? array->values
                       : NULL;
    }
    return NULL;
}

/* The size of the field where coordinate d has index i: the root mean square over that slice. */
static double slice_size(const sgi_field_grid *grid, const double *values, size_t d, size_t i)
{
    size_t inner = grid->stride[d], outer = grid->count / inner / grid->shape[d];
    double sum = 0;
    for (size_t o = 0; o < outer; o++)
        for (size_t k = 0; k < inner; k++) {
            double v = values[(o * grid->shape[d] + i) * inner + k];
            sum += isfinite(v) ? v * v : 0;
        }
    return sqrt(sum * (double)grid->shape[d] / (double)grid->count);
}

/* The middle, or the nearest index within an eighth of the range whose slice is not small. */
static size_t middle(const sgi_field_grid *grid, const double *guide, size_t d)
{
    size_t centre = grid->shape[d] / 2, reach = grid->shape[d] / 8;
    double largest = 0;
    for (size_t k = 0; guide && k <= 2 * reach; k++)
        largest = fmax(largest, slice_size(grid, guide, d, centre - reach + k));
    for (size_t k = 0; k <= reach; k++)
        for (int side = 0; guide && side < 2; side++) {
            size_t i = side ? centre + k : centre - k;
            if (i < grid->shape[d] && slice_size(grid, guide, d, i) >= 0.5 * largest)
                return i;
        }
    return centre;
}

static sgi_plane plane_of(const sgi_field_grid *grid, size_t x, size_t y)
{
    return (sgi_plane){.x_count = grid->shape[x],
                       .y_count = grid->shape[y],
                       .x_stride = grid->stride[x],
                       .y_stride = grid->stride[y],
                       .x_low = grid->axes[x][0],
                       .x_high = grid->axes[x][grid->shape[x] - 1],
                       .y_low = grid->axes[y][0],
                       .y_high = grid->axes[y][grid->shape[y] - 1],
                       .x_name = grid->names[x],
                       .y_name = grid->names[y],
                       .square = x != grid->time && y != grid->time};
}

/* Fixes coordinate d at index i in the view's plane number p. */
static void fix(sgi_view *view, size_t p, const sgi_field_grid *grid, size_t d, size_t i)
{
    char *title = view->titles[p];
    size_t used = strlen(title);
    double at = grid->axes[d][i];
    (void)snprintf(title + used, SG_VIEW_TITLE - used, "%s%.40s = %s%.3g", used ? ", " : "",
                   grid->names[d], at <= -1e-12 ? "−" : "", fabs(at) < 1e-12 ? 0 : fabs(at));
    view->offset[p] += i * grid->stride[d];
}

/* Two planes' directions, and one coordinate that takes its first, middle and last value. */
static void choose_series(sgi_view *view, const sgi_field_grid *grid, const double *guide)
{
    size_t along = grid->time < grid->rank ? grid->time : grid->rank - 1;
    size_t x = along == 0 ? 1 : 0, y = x + 1 == along ? x + 2 : x + 1;
    size_t n = grid->shape[along];
    size_t places[SG_VIEW_PLANES] = {0, n / 2, n - 1};
    if (along != grid->time) {
        places[0] = n / 4;
        places[2] = n - 1 - n / 4;
    }
    view->count = SG_VIEW_PLANES;
    view->same_axes = true;
    for (size_t p = 0; p < SG_VIEW_PLANES; p++) {
        view->planes[p] = plane_of(grid, x, y);
        fix(view, p, grid, along, places[p]);
    }
    for (size_t d = 0; d < grid->rank; d++)
        if (d != x && d != y && d != along) {
            size_t i = middle(grid, guide, d);
            for (size_t p = 0; p < view->count; p++)
                fix(view, p, grid, d, i);
        }
}

void sgi_view_choose(sgi_view *view, const sgi_field_grid *grid, const double *guide)
{
    *view = (sgi_view){.count = 1, .same_axes = true};
    if (grid->rank == 2) {
        size_t x = grid->time == 1 ? 1 : 0;
        view->planes[0] = plane_of(grid, x, 1 - x);
        return;
    }
    if (grid->rank > 3 || grid->time < grid->rank) {
        choose_series(view, grid, guide);
        return;
    }
    view->count = 3;
    view->same_axes = false;
    for (size_t p = 0; p < 3; p++) {
        size_t fixed = 2 - p, x = fixed == 0 ? 1 : 0, y = fixed == 2 ? 1 : 2;
        view->planes[p] = plane_of(grid, x, y);
        fix(view, p, grid, fixed, middle(grid, guide, fixed));
    }
}
