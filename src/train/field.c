/* field.npz and field.vti: see field.h. */
#include "train/field.h"

#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/npz.h"
#include "files/vti.h"
#include "pinn/errors.h"

enum { NAME_SIZE = 256 };

/* What both files hold: the axes, and named arrays over the grid. */
typedef struct gallery {
    sg_allocator allocator;
    sgi_problem *problem;
    sgi_box_grid grid;
    double *axes[SG_MOST_COORDINATES]; /* (grid.sizes[c]) */
    double *memory;                    /* (most, grid.total) */
    double **arrays;                   /* (most), into `memory` */
    char (*names)[NAME_SIZE];          /* (most) */
    size_t count, most;
    sg_pool *pool;
} gallery;

/* ---- Evaluating --------------------------------------------------------------------------- */

static void release(gallery *g)
{
    for (int c = 0; c < g->grid.coordinates; c++)
        sgi_release(&g->allocator, g->axes[c]);
    sgi_release(&g->allocator, g->memory);
    sgi_release(&g->allocator, (void *)g->arrays);
    sgi_release(&g->allocator, g->names);
}

static sg_status allocate(gallery *g)
{
    g->memory = sgi_allocate(&g->allocator, g->most * g->grid.total, sizeof *g->memory);
    g->arrays = sgi_allocate(&g->allocator, g->most, sizeof *g->arrays);
    g->names = sgi_allocate(&g->allocator, g->most, sizeof *g->names);
    bool there = g->memory && g->arrays && g->names;
    for (size_t k = 0; k < g->most && there; k++)
        g->arrays[k] = g->memory + k * g->grid.total;
    for (int c = 0; c < g->grid.coordinates && there; c++) {
        g->axes[c] = sgi_allocate(&g->allocator, g->grid.sizes[c], sizeof *g->axes[c]);
        there = g->axes[c] != NULL;
        for (size_t i = 0; i < g->grid.sizes[c] && there; i++)
            g->axes[c][i] = sgi_box_grid_axis(&g->grid, c, i);
    }
    return there ? SG_OK : SG_ERROR_MEMORY;
}

/* Names the next `count` arrays PREFIX name SUFFIX and hands them out. */
static double **take(gallery *g, const char *prefix, const char *const *names, const char *suffix,
                     size_t count)
{
    double **arrays = g->arrays + g->count;
    for (size_t k = 0; k < count; k++)
        snprintf(g->names[g->count++], NAME_SIZE, "%s%s%s", prefix, names[k], suffix);
    return arrays;
}

static sg_status add_fields(gallery *g, sg_jet_network *network)
{
    sgi_problem *problem = g->problem;
    size_t fields = (size_t)problem->names.field_count;
    sgi_places places = {&g->grid, NULL, g->grid.total};
    sgi_point_set values;
    sg_diagnostic diagnostic;
    sg_status status =
        sgi_problem_quantities(problem, problem->names.fields, fields, &values, &diagnostic);
    if (status != SG_OK)
        return status;
    double **arrays = take(g, "", problem->names.fields, "", fields);
    status =
        sgi_quantities_evaluate(problem, &values, network, &places, arrays, g->pool, &g->allocator);
    sgi_point_set_release(&values);
    if (status != SG_OK || problem->solution.kind == SG_SOLUTION_NONE)
        return status;
    arrays = take(g, "", problem->names.fields, "_reference", fields);
    return sgi_places_reference(problem, &places, arrays, g->pool, &g->allocator);
}

/* Where errors are known at the points of files only. The difference of a field and its reference
 * between these points would mostly show how coarse they are. */
static sg_status add_errors(gallery *g, sg_jet_network *network)
{
    sgi_problem *problem = g->problem;
    sgi_places places = {&g->grid, NULL, g->grid.total};
    sgi_errors *errors;
    sg_status status = sgi_errors_create(&errors, problem, g->pool, &g->allocator);
    if (status != SG_OK || !errors || !errors->of_files) {
        sgi_errors_destroy(errors);
        return status;
    }
    status = sgi_errors_measure(errors, network, g->pool);
    if (status == SG_OK)
        status = sgi_errors_between(
            errors, &places,
            take(g, "", problem->names.fields, "_error", (size_t)problem->names.field_count),
            g->pool);
    sgi_errors_destroy(errors);
    return status;
}

static sg_status add_maps(gallery *g, sg_jet_network *network)
{
    const sgi_maps_list *maps = &g->problem->settings.evaluation.maps;
    sgi_places places = {&g->grid, NULL, g->grid.total};
    sgi_point_set values;
    sg_diagnostic diagnostic;
    if (maps->count == 0)
        return SG_OK;
    sg_status status =
        sgi_problem_quantities(g->problem, maps->values, (size_t)maps->count, &values, &diagnostic);
    if (status != SG_OK)
        return status;
    double **arrays = take(g, "", maps->values, "", (size_t)maps->count);
    status = sgi_quantities_evaluate(g->problem, &values, network, &places, arrays, g->pool,
                                     &g->allocator);
    sgi_point_set_release(&values);
    return status;
}

static sg_status add_residuals(gallery *g, sg_jet_network *network)
{
    sgi_places places = {&g->grid, NULL, g->grid.total};
    sg_status status = SG_OK;
    for (int s = 0; s < g->problem->set_count && status == SG_OK; s++) {
        const sgi_point_set *set = &g->problem->sets[s];
        const char *names[SG_MOST_COMPONENTS];
        if (set->kind != SG_SET_DOMAIN)
            continue;
        for (int k = 0; k < set->component_count; k++)
            names[k] = set->terms[set->component_terms[k]].name;
        double **arrays = take(g, "residual_", names, "", (size_t)set->component_count);
        status = sgi_quantities_evaluate(g->problem, set, network, &places, arrays, g->pool,
                                         &g->allocator);
    }
    return status;
}

/* 1 in the domain and 0 outside, for programs that do not know what NaN means. */
static void add_inside(gallery *g)
{
    static const char *const name[] = {"inside"};
    if (!g->problem->domain.region)
        return;
    double *inside = take(g, "", name, "", 1)[0], point[SG_MOST_COORDINATES];
    for (size_t i = 0; i < g->grid.total; i++) {
        sgi_box_grid_points(&g->grid, i, 1, point);
        inside[i] = sgi_domain_has(&g->problem->domain, point);
    }
}

/* ---- Writing ------------------------------------------------------------------------------ */

static sg_status add_arrays(const gallery *g, sgi_npz *npz, sg_diagnostic *diagnostic)
{
    const sgi_box_grid *grid = &g->grid;
    sg_status status = SG_OK;
    for (int c = 0; c < grid->coordinates && status == SG_OK; c++)
        status = sgi_npz_add(npz, g->problem->names.coordinates[c], SG_ARRAY_FLOAT64, 1,
                             &grid->sizes[c], g->axes[c], diagnostic);
    for (size_t k = 0; k < g->count && status == SG_OK; k++)
        status = sgi_npz_add(npz, g->names[k], SG_ARRAY_FLOAT64, (size_t)grid->coordinates,
                             grid->sizes, g->arrays[k], diagnostic);
    return status;
}

static sg_status write_npz(const gallery *g, const char *path, sg_diagnostic *diagnostic)
{
    sgi_npz *npz;
    sg_status status = sgi_npz_create(&npz, path, &g->allocator, diagnostic);
    if (status != SG_OK)
        return status;
    status = add_arrays(g, npz, diagnostic);
    if (status == SG_OK)
        return sgi_npz_commit(npz, diagnostic);
    sgi_npz_abandon(npz);
    return status;
}

static sg_status write_vti(const gallery *g, const char *path, sg_diagnostic *diagnostic)
{
    sgi_vti_grid grid = {.rank = (size_t)g->grid.coordinates};
    sgi_vti_field *fields = sgi_allocate(&g->allocator, g->count, sizeof *fields);
    if (!fields)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    for (size_t c = 0; c < grid.rank; c++) {
        grid.names[c] = g->problem->names.coordinates[c];
        grid.axes[c] = g->axes[c];
        grid.shape[c] = g->grid.sizes[c];
    }
    for (size_t k = 0; k < g->count; k++)
        fields[k] = (sgi_vti_field){g->names[k], g->arrays[k]};
    sg_status status = sgi_vti_write(path, &grid, fields, g->count, &g->allocator, diagnostic);
    sgi_release(&g->allocator, fields);
    return status;
}

static sg_status write_both(const gallery *g, const char *folder, sg_diagnostic *diagnostic)
{
    char npz[SG_PATH_SIZE], vti[SG_PATH_SIZE];
    sg_status status = sgi_run_path(npz, folder, "field.npz");
    if (status == SG_OK)
        status = sgi_run_path(vti, folder, "field.vti");
    if (status != SG_OK)
        return sgi_fail_file(diagnostic, status, folder, "the path is too long");
    status = write_npz(g, npz, diagnostic);
    return status == SG_OK ? write_vti(g, vti, diagnostic) : status;
}

sgi_box_grid sgi_field_grid(const sgi_problem *problem)
{
    sgi_box_grid whole = sgi_box_grid_of_problem(problem);
    return sgi_box_grid_thinned(&whole, SG_FIELD_POINTS);
}

sg_status sgi_field_write(const char *folder, sgi_problem *problem, sg_jet_network *network,
                          sg_pool *pool, const sg_allocator *given, sg_diagnostic *diagnostic)
{
    size_t fields = (size_t)problem->names.field_count;
    size_t maps = (size_t)problem->settings.evaluation.maps.count;
    bool of_files = problem->solution.kind == SG_SOLUTION_FILES;
    gallery g = {.allocator = sgi_allocator_or_heap(given),
                 .problem = problem,
                 .grid = sgi_field_grid(problem),
                 .most = (of_files ? 3 : 2) * fields + maps +
                         (size_t)sgi_problem_equation_count(problem) + 1,
                 .pool = pool};
    sg_status status = allocate(&g);
    if (status == SG_OK)
        status = add_fields(&g, network);
    if (status == SG_OK)
        status = add_errors(&g, network);
    if (status == SG_OK)
        status = add_maps(&g, network);
    if (status == SG_OK)
        status = add_residuals(&g, network);
    if (status == SG_OK)
        add_inside(&g);
    if (status != SG_OK)
        sgi_fail_file(diagnostic, status, folder, "field.npz cannot be made: %s",
                      sg_status_text(status));
    else
        status = write_both(&g, folder, diagnostic);
    release(&g);
    return status;
}
