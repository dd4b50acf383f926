/* points.npz: see points_file.h. */
#include "train/points_file.h"

#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/npz.h"
#include "problem/problem_mesh.h"
#include "train/run_folder.h"

enum { ALONG = 161 };

/* The middle of the domain's bounds. */
static void find_middle(const sgi_problem *problem, double *point)
{
    const sgi_domain *domain = &problem->domain;
    for (int c = 0; c < problem->names.coordinate_count; c++)
        point[c] = (problem->lower[c] + problem->upper[c]) / 2;
    for (int k = 0; k < domain->axes && domain->region; k++)
        point[domain->coordinates[k]] = (domain->region->lower[k] + domain->region->upper[k]) / 2;
}

static sg_status add_outline(sgi_npz *npz, const sgi_problem *problem, const char *name,
                             const int *coordinates, const sg_allocator *allocator,
                             sg_diagnostic *diagnostic)
{
    const size_t counts[2] = {ALONG, ALONG};
    double point[SG_MOST_COORDINATES], *lines = NULL;
    find_middle(problem, point);
    size_t count = 0;
    sgi_mesh mesh;
    sg_status status = sgi_problem_mesh(problem, 2, coordinates, counts, point, &mesh, allocator);
    if (status == SG_OK)
        status = sgi_mesh_outline(&mesh, &lines, &count);
    if (status != SG_OK)
        (void)sgi_fail(diagnostic, status, "points.npz cannot be made: %s", sg_status_text(status));
    else if (count > 0)
        status = sgi_npz_add(npz, name, SG_ARRAY_FLOAT64, 2, (const size_t[]){count, 4}, lines,
                             diagnostic);
    sgi_release(&mesh.allocator, lines);
    sgi_mesh_release(&mesh);
    return status;
}

static sg_status add_outlines(sgi_npz *npz, const sgi_problem *problem,
                              const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    const sgi_domain *domain = &problem->domain;
    int count = problem->names.coordinate_count;
    if (domain->axes >= 3) {
        sg_status status = SG_OK;
        for (int fixed = 0; fixed < 3 && status == SG_OK; fixed++) {
            char name[24];
            const int plane[2] = {domain->coordinates[fixed == 0 ? 1 : 0],
                                  domain->coordinates[fixed == 2 ? 1 : 2]};
            snprintf(name, sizeof name, "outline_%d", fixed);
            status = add_outline(npz, problem, name, plane, allocator, diagnostic);
        }
        return status;
    }
    if (domain->axes == 2)
        return add_outline(npz, problem, "outline", domain->coordinates, allocator, diagnostic);
    if (domain->axes == 0 || count != 2)
        return SG_OK;
    const int plane[2] = {problem->names.time, domain->coordinates[0]}; /* t runs to the right */
    return add_outline(npz, problem, "outline", plane, allocator, diagnostic);
}

/* Points from all over the list: those of a condition lie face after face. */
static sg_status add_set(sgi_npz *npz, const sg_pinn *pinn, const sg_pinn_batch *batch, size_t set,
                         const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    const sg_pinn_information *about = sg_pinn_describe(pinn);
    size_t width = about->coordinate_count;
    size_t count = sg_pinn_items(batch, set) * about->sets[set].points_per_item;
    size_t shown = count < SG_POINTS_SHOWN ? count : SG_POINTS_SHOWN;
    double *points = sgi_allocate(allocator, count, width * sizeof *points);
    char name[128];
    if (!points)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "points.npz cannot be made: out of memory");
    sg_pinn_points(batch, set, points);
    for (size_t i = 0; i < shown; i++)
        memmove(points + i * width,
                points + (size_t)((double)i * (double)count / (double)shown) * width,
                width * sizeof *points);
    snprintf(name, sizeof name, "set_%.100s", about->sets[set].name);
    sg_status status = sgi_npz_add(npz, name, SG_ARRAY_FLOAT64, 2, (const size_t[]){shown, width},
                                   points, diagnostic);
    sgi_release(allocator, points);
    return status;
}

sg_status sgi_points_write(const char *folder, const sg_pinn *pinn, const sg_pinn_batch *batch,
                           const sg_allocator *given, sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    char path[SG_PATH_SIZE];
    sgi_npz *npz;
    sg_status status = sgi_run_path(path, folder, "points.npz");
    if (status != SG_OK)
        return sgi_fail_file(diagnostic, status, folder, "the path is too long");
    status = sgi_npz_create(&npz, path, &allocator, diagnostic);
    if (status != SG_OK)
        return status;
    double middle[SG_MOST_COORDINATES];
    const size_t width = (size_t)pinn->problem->names.coordinate_count;
    find_middle(pinn->problem, middle);
    status = sgi_npz_add(npz, "middle", SG_ARRAY_FLOAT64, 1, &width, middle, diagnostic);
    if (status == SG_OK)
        status = add_outlines(npz, pinn->problem, &allocator, diagnostic);
    for (size_t k = 0; k < sg_pinn_describe(pinn)->set_count && status == SG_OK; k++)
        status = add_set(npz, pinn, batch, k, &allocator, diagnostic);
    if (status == SG_OK)
        return sgi_npz_commit(npz, diagnostic);
    sgi_npz_abandon(npz);
    return status;
}
