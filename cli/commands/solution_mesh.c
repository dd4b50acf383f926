/* A mesh of the domain: see solution_mesh.h. Coordinates are taken as for .vti: up to three are x,
 * y and z; of more, t or the last one is cut in slices, and others stay at their middle. */
#include "commands/solution_mesh.h"

#include <stdlib.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/vtu.h"
#include "problem/problem_mesh.h"

enum { LABEL = 160 };

/* Which coordinates span the mesh, and what the others are. */
typedef struct frame {
    int axes, coordinates[SG_MESH_AXES];
    double point[SG_MOST_COORDINATES];
} frame;

static frame choose_frame(solution *s)
{
    const sgi_problem *problem = s->problem;
    frame f = {0};
    int count = problem->names.coordinate_count;
    s->along = -1;
    if (count > SG_MESH_AXES)
        s->along = problem->names.time >= 0 ? problem->names.time : count - 1;
    for (int c = 0; c < count; c++) {
        f.point[c] = (problem->lower[c] + problem->upper[c]) / 2;
        if (c != s->along && f.axes < SG_MESH_AXES)
            f.coordinates[f.axes++] = c;
    }
    return f;
}

static void choose_slices(solution *s)
{
    s->slice_count = 1;
    if (s->along < 0)
        return;
    size_t size = s->grid.sizes[s->along];
    s->slice_count = size < SG_VTI_SLICES ? size : SG_VTI_SLICES;
    for (size_t i = 0; i < s->slice_count; i++)
        s->slices[i] = sgi_box_grid_axis(
            &s->grid, s->along,
            s->slice_count > 1 ? (i * (size - 1) + (s->slice_count - 1) / 2) / (s->slice_count - 1)
                               : 0);
}

/* The mesh's points in all coordinates, slice after slice. */
static int take_points(solution *s, const frame *f)
{
    size_t width = (size_t)s->problem->names.coordinate_count;
    s->places = (sgi_places){.count = s->mesh.point_count * s->slice_count};
    s->points = malloc(s->places.count * width * sizeof *s->points);
    if (!s->points) {
        complain("out of memory");
        return EXIT_RUN_FAILED;
    }
    s->places.points = s->points;
    double *point = s->points;
    for (size_t slice = 0; slice < s->slice_count; slice++)
        for (size_t i = 0; i < s->mesh.point_count; i++, point += width) {
            for (size_t c = 0; c < width; c++)
                point[c] = f->point[c];
            for (int k = 0; k < f->axes; k++)
                point[f->coordinates[k]] = s->mesh.points[i * (size_t)f->axes + (size_t)k];
            if (s->along >= 0)
                point[s->along] = s->slices[slice];
        }
    return EXIT_DONE;
}

int choose_mesh(solution *s)
{
    frame f = choose_frame(s);
    size_t counts[SG_MESH_AXES];
    for (int k = 0; k < f.axes; k++)
        counts[k] = s->grid.sizes[f.coordinates[k]];
    choose_slices(s);
    sg_status status =
        sgi_problem_mesh(s->problem, f.axes, f.coordinates, counts, f.point, &s->mesh, NULL);
    if (status == SG_ERROR_ARGUMENT) {
        complain("a mesh takes a grid of 2 points or more along each coordinate, and of at most %d",
                 SG_MESH_MOST);
        return EXIT_BAD_INPUT;
    }
    if (status != SG_OK) {
        complain("the mesh cannot be made: %s", sg_status_text(status));
        return exit_code_of(status);
    }
    if (s->mesh.cell_count == 0) {
        complain("no cell of this grid lies in the domain; give a finer one by --grid");
        return EXIT_BAD_INPUT;
    }
    s->meshed = true;
    return take_points(s, &f);
}

sg_status write_mesh(const solution *s, const char *path, sg_diagnostic *diagnostic)
{
    if (!s->meshed)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, path,
                             "a mesh is made from a grid, not from points");
    size_t width = (size_t)s->problem->names.coordinate_count, quantities = s->column_count - width;
    size_t count = quantities * s->slice_count;
    sgi_vti_field *fields = calloc(count, sizeof *fields);
    char(*names)[LABEL] = calloc(count, sizeof *names);
    sg_status status = SG_ERROR_MEMORY;
    for (size_t i = 0; i < count && fields && names; i++) {
        size_t k = width + i / s->slice_count, slice = i % s->slice_count;
        if (s->along < 0)
            snprintf(names[i], LABEL, "%.120s", s->names[k]);
        else
            snprintf(names[i], LABEL, "%.100s %.40s=%.6g", s->names[k],
                     s->problem->names.coordinates[s->along], s->slices[slice]);
        fields[i] = (sgi_vti_field){names[i], s->columns[k] + slice * s->mesh.point_count};
    }
    const sgi_vtu_mesh mesh = {s->mesh.axes, s->mesh.point_count, s->mesh.cell_count,
                               s->mesh.points, s->mesh.cells};
    if (fields && names)
        status = sgi_vtu_write(path, &mesh, fields, count, NULL, diagnostic);
    else
        (void)sgi_fail_file(diagnostic, status, path, "out of memory");
    free(fields);
    free(names);
    return status;
}
