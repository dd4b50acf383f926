/* Evaluated solutions as files: see solution_files.h. */
#include "commands/solution_files.h"

#include <string.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "commands/solution_mesh.h"
#include "files/csv.h"
#include "files/npz.h"
#include "files/vti.h"

bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), end = strlen(ending);
    return length > end && strcmp(path + length - end, ending) == 0;
}

static bool known_ending(const char *path)
{
    if (ends_in(path, ".npz") || ends_in(path, ".csv") || ends_in(path, ".vti") ||
        ends_in(path, ".vtu"))
        return true;
    complain("%s ends in none of .npz, .csv, .vti, .vtu", path);
    return false;
}

bool may_write(const char *path, bool force)
{
    return known_ending(path) && may_replace(path, force);
}

bool may_replace(const char *path, bool force)
{
    if (force || access(path, F_OK) != 0)
        return true;
    complain("%s exists already; --force overwrites it", path);
    return false;
}

static size_t coordinates_of(const solution *s)
{
    return (size_t)s->problem->names.coordinate_count;
}

/* On a grid: axes, then arrays over them. At points: one column each. */
static sg_status add_arrays(sgi_npz *npz, const solution *s, sg_diagnostic *diagnostic)
{
    size_t coordinates = coordinates_of(s), rank = s->places.grid ? coordinates : 1;
    const size_t *shape = s->places.grid ? s->grid.sizes : &s->places.count;
    sg_status status = SG_OK;
    for (size_t k = 0; k < s->column_count && status == SG_OK; k++) {
        if (s->places.grid && k < coordinates) {
            /* Along its own axis the coordinate's column repeats with the stride of later axes. */
            size_t stride = 1, n = s->grid.sizes[k];
            for (size_t c = k + 1; c < coordinates; c++)
                stride *= s->grid.sizes[c];
            for (size_t i = 0; i < n; i++)
                s->columns[k][i] = s->columns[k][i * stride];
            status =
                sgi_npz_add(npz, s->names[k], SG_ARRAY_FLOAT64, 1, &n, s->columns[k], diagnostic);
        } else {
            status = sgi_npz_add(npz, s->names[k], SG_ARRAY_FLOAT64, rank, shape, s->columns[k],
                                 diagnostic);
        }
    }
    return status;
}

static sg_status write_npz(const solution *s, const char *path, sg_diagnostic *diagnostic)
{
    sgi_npz *npz;
    sg_status status = sgi_npz_create(&npz, path, NULL, diagnostic);
    if (status != SG_OK)
        return status;
    status = add_arrays(npz, s, diagnostic);
    if (status == SG_OK)
        return sgi_npz_commit(npz, diagnostic);
    sgi_npz_abandon(npz);
    return status;
}

static sg_status write_vti(const solution *s, const char *path, sg_diagnostic *diagnostic)
{
    size_t coordinates = coordinates_of(s);
    sgi_vti_grid grid = {.rank = coordinates};
    sgi_vti_field fields[MOST_COLUMNS];
    if (!s->places.grid)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, path,
                             "image data needs a grid, not points");
    for (size_t c = 0; c < coordinates; c++) {
        size_t stride = 1;
        for (size_t d = c + 1; d < coordinates; d++)
            stride *= s->grid.sizes[d];
        for (size_t i = 0; i < s->grid.sizes[c]; i++)
            s->columns[c][i] = s->columns[c][i * stride];
        grid.names[c] = s->names[c];
        grid.axes[c] = s->columns[c];
        grid.shape[c] = s->grid.sizes[c];
    }
    size_t count = s->column_count - coordinates;
    for (size_t k = 0; k < count; k++)
        fields[k] = (sgi_vti_field){s->names[coordinates + k], s->columns[coordinates + k]};
    return sgi_vti_write(path, &grid, fields, count, NULL, diagnostic);
}

int write_solution(const solution *s, const char *path)
{
    sg_diagnostic diagnostic = {0};
    sg_status status;
    if (ends_in(path, ".npz"))
        status = write_npz(s, path, &diagnostic);
    else if (ends_in(path, ".vti"))
        status = write_vti(s, path, &diagnostic);
    else if (ends_in(path, ".vtu"))
        status = write_mesh(s, path, &diagnostic);
    else
        status = sgi_csv_write(path, s->column_count, s->names, (const double *const *)s->columns,
                               s->places.count, NULL, &diagnostic);
    if (status != SG_OK)
        tell(&diagnostic);
    return exit_code_of(status);
}
