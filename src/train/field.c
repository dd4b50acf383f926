/* field.npz: see field.h. */
#include "train/field.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "files/npz.h"

typedef struct writer {
    sgi_npz *npz;
    const sgi_problem *problem;
    const sgi_box_grid *grid;
    sgi_message *message;
} writer;

static sg_status add(writer *w, const char *name, const double *values)
{
    return sgi_npz_add(w->npz, name, SG_ARRAY_FLOAT64, (size_t)w->grid->coordinates, w->grid->sizes,
                       values, w->message->text, sizeof w->message->text);
}

static sg_status add_axes(writer *w, double *axis)
{
    sg_status status = SG_OK;
    for (int c = 0; c < w->grid->coordinates && status == SG_OK; c++) {
        for (size_t i = 0; i < w->grid->sizes[c]; i++)
            axis[i] = sgi_box_grid_axis(w->grid, c, i);
        status = sgi_npz_add(w->npz, w->problem->names.coordinates[c], SG_ARRAY_FLOAT64, 1,
                             &w->grid->sizes[c], axis, w->message->text, sizeof w->message->text);
    }
    return status;
}

/* Adds `count` arrays under PREFIX name SUFFIX. */
static sg_status add_all(writer *w, const char *prefix, const char *const *names,
                         const char *suffix, double *const *arrays, size_t count)
{
    sg_status status = SG_OK;
    for (size_t k = 0; k < count && status == SG_OK; k++) {
        char name[256];
        snprintf(name, sizeof name, "%s%s%s", prefix, names[k], suffix);
        status = add(w, name, arrays[k]);
    }
    return status;
}

static sg_status add_fields(writer *w, sgi_problem *problem, sg_jet_network *network, sg_pool *pool,
                            double **arrays, const sg_allocator *allocator)
{
    size_t fields = (size_t)problem->names.field_count;
    sgi_places places = {w->grid, NULL, w->grid->total};
    sgi_point_set values;
    sg_diagnostic diagnostic;
    sg_status status =
        sgi_problem_quantities(problem, problem->names.fields, fields, &values, &diagnostic);
    if (status == SG_OK) {
        status =
            sgi_quantities_evaluate(problem, &values, network, &places, arrays, pool, allocator);
        sgi_point_set_release(&values);
    }
    if (status == SG_OK)
        status = add_all(w, "", problem->names.fields, "", arrays, fields);
    if (status != SG_OK || problem->solution.kind == SG_SOLUTION_NONE)
        return status;
    status = sgi_places_reference(problem, &places, arrays, pool, allocator);
    if (status == SG_OK)
        status = add_all(w, "", problem->names.fields, "_reference", arrays, fields);
    return status;
}

static sg_status add_residuals(writer *w, const sgi_problem *problem, sg_jet_network *network,
                               sg_pool *pool, double **arrays, const sg_allocator *allocator)
{
    const sgi_point_set *domain = &problem->sets[0];
    const char *names[SG_MOST_COMPONENTS];
    for (int k = 0; k < domain->component_count; k++)
        names[k] = domain->terms[domain->component_terms[k]].name;
    sgi_places places = {w->grid, NULL, w->grid->total};
    sg_status status =
        sgi_quantities_evaluate(problem, domain, network, &places, arrays, pool, allocator);
    if (status != SG_OK)
        return status;
    return add_all(w, "residual_", names, "", arrays, (size_t)domain->component_count);
}

static sg_status write_arrays(writer *w, sgi_problem *problem, sg_jet_network *network,
                              sg_pool *pool, const sg_allocator *allocator)
{
    size_t fields = (size_t)problem->names.field_count;
    size_t components = (size_t)problem->sets[0].component_count;
    size_t count = fields > components ? fields : components;
    double **arrays = sgi_allocate(allocator, count, sizeof *arrays);
    double *memory = sgi_allocate(allocator, count * w->grid->total, sizeof *memory);
    sg_status status = arrays && memory ? SG_OK : SG_ERROR_MEMORY;
    for (size_t k = 0; k < count && status == SG_OK; k++)
        arrays[k] = memory + k * w->grid->total;
    if (status == SG_OK)
        status = add_axes(w, memory);
    if (status == SG_OK)
        status = add_fields(w, problem, network, pool, arrays, allocator);
    if (status == SG_OK)
        status = add_residuals(w, problem, network, pool, arrays, allocator);
    sgi_release(allocator, memory);
    sgi_release(allocator, arrays);
    return status;
}

sg_status sgi_field_write(const char *folder, sgi_problem *problem, sg_jet_network *network,
                          sg_pool *pool, const sg_allocator *given, sgi_message *message)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    char path[SG_PATH_SIZE];
    sgi_box_grid whole = sgi_box_grid_of_problem(problem);
    sgi_box_grid grid = sgi_box_grid_thinned(&whole, SG_FIELD_POINTS);
    writer w = {.problem = problem, .grid = &grid, .message = message};
    sg_status status = sgi_run_path(path, folder, "field.npz");
    message->text[0] = '\0';
    if (status == SG_OK)
        status = sgi_npz_create(&w.npz, path, &allocator, message->text, sizeof message->text);
    if (status == SG_OK) {
        status = write_arrays(&w, problem, network, pool, &allocator);
        if (status == SG_OK)
            return sgi_npz_commit(w.npz, message->text, sizeof message->text);
        sgi_npz_abandon(w.npz);
    }
    if (!message->text[0])
        sgi_message_set(message, "cannot write %s/field.npz: %s", folder, sg_status_text(status));
    return status;
}
