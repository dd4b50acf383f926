/* Meshes of a problem's domain: see problem_mesh.h. */
#include "problem/problem_mesh.h"

#include <stdlib.h>
#include <string.h>

typedef struct frame {
    const sgi_problem *problem;
    int axes;
    const int *coordinates;
    const double *point;
} frame;

static double distance(const void *context, const double *x)
{
    const frame *f = context;
    double point[SG_MOST_COORDINATES], place[SG_MOST_AXES];
    memcpy(point, f->point, (size_t)f->problem->names.coordinate_count * sizeof *point);
    for (int k = 0; k < f->axes; k++)
        point[f->coordinates[k]] = x[k];
    sgi_domain_axes(&f->problem->domain, point, place);
    return sgi_region_distance(f->problem->domain.region, place);
}

sg_status sgi_problem_mesh(const sgi_problem *problem, int axes, const int *coordinates,
                           const size_t *counts, const double *point, sgi_mesh *mesh,
                           const sg_allocator *allocator)
{
    const sgi_region *region = problem->domain.region;
    frame f = {problem, axes, coordinates, point};
    sgi_mesh_grid grid = {.axes = axes, .context = &f};
    for (int k = 0; k < axes && k < SG_MESH_AXES; k++) {
        grid.counts[k] = counts[k];
        grid.lower[k] = problem->lower[coordinates[k]];
        grid.upper[k] = problem->upper[coordinates[k]];
    }
    if (region) {
        grid.distance = distance;
        grid.near = sgi_region_tolerance(region);
    }
    return sgi_mesh_make(mesh, &grid, allocator);
}

typedef struct edge {
    uint32_t low, high;
} edge;

static int compare(const void *a, const void *b)
{
    const edge *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

sg_status sgi_mesh_outline(const sgi_mesh *mesh, double **lines, size_t *count)
{
    size_t total = 3 * mesh->cell_count, found = 0;
    edge *edges = sgi_allocate(&mesh->allocator, total, sizeof *edges);
    *lines = edges ? sgi_allocate(&mesh->allocator, 4 * total, sizeof **lines) : NULL;
    *count = 0;
    if (!edges || !*lines) {
        sgi_release(&mesh->allocator, edges);
        return SG_ERROR_MEMORY;
    }
    for (size_t i = 0; i < total; i++) {
        uint32_t a = mesh->cells[i], b = mesh->cells[i % 3 == 2 ? i - 2 : i + 1];
        edges[i] = (edge){a < b ? a : b, a < b ? b : a};
    }
    qsort(edges, total, sizeof *edges, compare);
    for (size_t i = 0; i < total; i++) {
        bool again = (i > 0 && compare(&edges[i], &edges[i - 1]) == 0) ||
                     (i + 1 < total && compare(&edges[i], &edges[i + 1]) == 0);
        if (again)
            continue;
        memcpy(*lines + 4 * found, mesh->points + 2 * (size_t)edges[i].low, 2 * sizeof **lines);
        memcpy(*lines + 4 * found++ + 2, mesh->points + 2 * (size_t)edges[i].high,
               2 * sizeof **lines);
    }
    *count = found;
    sgi_release(&mesh->allocator, edges);
    return SG_OK;
}
