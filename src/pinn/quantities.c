/* Evaluating a trained network: see quantities.h. */
#include "pinn/quantities.h"

#include <math.h>

#include "base/memory.h"
#include "problem/exact.h"
#include "problem/solution_files.h"

/* Memory for one chunk of points. */
typedef struct chunk {
    const sg_allocator *allocator;
    size_t size;                       /* points */
    double *points;                    /* (size, coordinates) */
    double *varying;                   /* (size, numbers): coefficients of the requests that vary */
    double *values;                    /* (size, requests, outputs) */
    double *columns;                   /* (slots, size): what the program reads */
    double unknowns[SG_MOST_UNKNOWNS]; /* the values of unknown constants */
    const void **inputs;
    void **outputs;
    void *scratch;
} chunk;

static void release_chunk(chunk *c)
{
    sgi_release(c->allocator, c->points);
    sgi_release(c->allocator, c->varying);
    sgi_release(c->allocator, c->values);
    sgi_release(c->allocator, c->columns);
    sgi_release(c->allocator, (void *)c->inputs);
    sgi_release(c->allocator, (void *)c->outputs);
    sgi_release(c->allocator, c->scratch);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static sg_status allocate_chunk(chunk *c, const sgi_problem *problem, const sgi_point_set *set,
                                size_t values, size_t count, const sg_allocator *allocator)
{
    const sgi_program *program = set->residual.program, *before = set->varying.program;
    size_t slots = program->input_count, outputs = program->output_count;
    size_t numbers = before ? before->output_count : 0, scratch = sgi_program_scratch(program);
    if (before) {
        slots = larger(slots, before->input_count + numbers);
        outputs = larger(outputs, numbers);
        scratch = larger(scratch, sgi_program_scratch(before));
    }
    size_t most = (size_t)problem->settings.evaluation.chunk;
    size_t coordinates = (size_t)problem->names.coordinate_count;
    *c = (chunk){.allocator = allocator, .size = count < most ? count : most};
    c->points = sgi_allocate(allocator, c->size * coordinates, sizeof *c->points);
    c->varying = sgi_allocate(allocator, c->size * numbers, sizeof *c->varying);
    c->values = sgi_allocate(allocator, c->size * values, sizeof *c->values);
    c->columns = sgi_allocate(allocator, c->size * slots, sizeof *c->columns);
    c->inputs = sgi_allocate(allocator, slots, sizeof *c->inputs);
    c->outputs = sgi_allocate(allocator, outputs, sizeof *c->outputs);
    c->scratch = sgi_allocate(allocator, scratch, 1);
    if (c->points && c->varying && c->values && c->columns && c->inputs && c->outputs && c->scratch)
        return SG_OK;
    release_chunk(c);
    return SG_ERROR_MEMORY;
}

static void fill_points(chunk *c, const sgi_places *places, int coordinates, size_t first, size_t n)
{
    size_t width = (size_t)coordinates;
    if (places->grid) {
        sgi_box_grid_points(places->grid, first, n, c->points);
        return;
    }
    for (size_t i = 0; i < n * width; i++)
        c->points[i] = places->points[first * width + i];
}

/* Column `slot` of the program's inputs, from the points, from what the network gave, or from the
 * unknown constants. */
static void fill_column(double *column, const sgi_slot *slot, const chunk *c, size_t coordinates,
                        size_t values, size_t n)
{
    if (slot->kind == SG_SLOT_UNKNOWN) {
        for (size_t i = 0; i < n; i++)
            column[i] = c->unknowns[slot->index];
        return;
    }
    const double *from = slot->kind == SG_SLOT_COORDINATE ? c->points : c->values;
    size_t stride = slot->kind == SG_SLOT_COORDINATE ? coordinates : values;
    for (size_t i = 0; i < n; i++)
        column[i] = slot->kind == SG_SLOT_NORMAL ? 0 : from[i * stride + slot->index];
}

/* Runs the program on its columns; the outputs' arrays are set. */
static void run_program(const chunk *c, const sgi_bound_program *bound, size_t coordinates,
                        size_t values, size_t n)
{
    for (uint32_t k = 0; k < bound->program->input_count; k++) {
        double *column = c->columns + k * c->size;
        fill_column(column, &bound->slots[k], c, coordinates, values, n);
        c->inputs[k] = column;
    }
    sgi_program_evaluate(bound->program, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, n, c->inputs,
                         NULL, c->outputs, c->scratch);
}

static void fill_varying(const chunk *c, const sgi_bound_program *bound, size_t coordinates,
                         size_t n)
{
    if (!bound->program)
        return;
    size_t numbers = bound->program->output_count;
    double *results = c->columns + bound->program->input_count * c->size;
    for (size_t k = 0; k < numbers; k++)
        c->outputs[k] = results + k * c->size;
    run_program(c, bound, coordinates, 0, n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < numbers; k++)
            c->varying[i * numbers + k] = results[k * c->size + i];
}

/* Points of a grid that lie outside the domain, or the home of an output, have no values. */
static void blank_outside(const chunk *c, const sgi_problem *problem, const sgi_places *places,
                          const uint64_t *homes, double *const *outputs, size_t count, size_t n)
{
    size_t coordinates = (size_t)problem->names.coordinate_count;
    uint64_t any = 0;
    for (size_t k = 0; k < count; k++)
        any |= homes[k];
    if (!places->grid || (!any && !problem->domain.region))
        return;
    for (size_t i = 0; i < n; i++) {
        bool inside = false;
        for (size_t k = 0; k < count; k++) { /* most outputs live where the one before them does */
            if (k == 0 || homes[k] != homes[k - 1])
                inside = sgi_problem_has(problem, homes[k], c->points + i * coordinates);
            if (!inside)
                outputs[k][i] = NAN;
        }
    }
}

/* Residuals that are trained in nondimensional form, in the user's units. */
static void to_units(const chunk *c, const sgi_point_set *set, size_t n)
{
    for (int k = 0; k < set->component_count && set->scales; k++)
        for (size_t i = 0; i < n; i++)
            ((double *)c->outputs[k])[i] *= set->scales[k];
}

static sg_status evaluate_chunks(chunk *c, const sgi_problem *problem, const sgi_point_set *set,
                                 const sg_jet_plan *plan, sg_jet_network *network,
                                 const sgi_places *places, double *const *outputs, sg_pool *pool)
{
    const sgi_bound_program *bound = &set->residual;
    int coordinates = problem->names.coordinate_count;
    size_t values = set->request_count * (size_t)problem->names.field_count;
    for (size_t first = 0; first < places->count; first += c->size) {
        size_t n = places->count - first < c->size ? places->count - first : c->size;
        fill_points(c, places, coordinates, first, n);
        fill_varying(c, &set->varying, (size_t)coordinates, n);
        sg_status status =
            sg_jet_evaluate(network, plan, pool, c->points, c->varying, n, c->values, c->allocator);
        if (status != SG_OK)
            return status;
        for (uint32_t k = 0; k < bound->program->output_count; k++)
            c->outputs[k] = outputs[k] + first;
        run_program(c, bound, (size_t)coordinates, values, n);
        to_units(c, set, n);
        blank_outside(c, problem, places, set->homes, (double *const *)c->outputs,
                      bound->program->output_count, n);
    }
    return SG_OK;
}

sg_status sgi_quantities_evaluate(const sgi_problem *problem, const sgi_point_set *set,
                                  sg_jet_network *network, const sgi_places *places,
                                  double *const *outputs, sg_pool *pool, const sg_allocator *given)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sg_jet_plan *plan;
    chunk c;
    sg_status status = sg_jet_plan_create(&plan, problem->names.coordinate_count, set->requests,
                                          set->request_count, &allocator);
    if (status != SG_OK)
        return status;
    status =
        allocate_chunk(&c, problem, set, set->request_count * (size_t)problem->names.field_count,
                       places->count, &allocator);
    if (status == SG_OK) {
        for (size_t k = 0; k < problem->unknown_count; k++)
            c.unknowns[k] = sgi_problem_unknown(problem, network, k);
        status = evaluate_chunks(&c, problem, set, plan, network, places, outputs, pool);
        release_chunk(&c);
    }
    sg_jet_plan_destroy(plan);
    return status;
}

/* ---- The reference ------------------------------------------------------------------------ */

/* The points of a chunk, coordinate by coordinate: columns[c] (size). */
static void split_points(const chunk *c, size_t coordinates, size_t n)
{
    for (size_t k = 0; k < coordinates; k++)
        for (size_t i = 0; i < n; i++)
            c->columns[k * c->size + i] = c->points[i * coordinates + k];
}

/* The reference; or, with `own`, what is known at the points of its files, between them. */
static sg_status evaluate_reference(const sgi_problem *problem, const double *const *own,
                                    const sgi_places *places, double *const *outputs, sg_pool *pool,
                                    const sg_allocator *given)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    size_t coordinates = (size_t)problem->names.coordinate_count;
    size_t fields = (size_t)problem->names.field_count;
    size_t most = (size_t)problem->settings.evaluation.chunk;
    chunk c = {.allocator = &allocator, .size = places->count < most ? places->count : most};
    const double *columns[SG_MOST_COORDINATES];
    double *parts[SG_MOST_FIELDS];
    c.points = sgi_allocate(&allocator, c.size * coordinates, sizeof *c.points);
    c.columns = sgi_allocate(&allocator, c.size * coordinates, sizeof *c.columns);
    sg_status status = c.points && c.columns ? SG_OK : SG_ERROR_MEMORY;
    for (size_t first = 0; first < places->count && status == SG_OK; first += c.size) {
        size_t n = places->count - first < c.size ? places->count - first : c.size;
        fill_points(&c, places, (int)coordinates, first, n);
        split_points(&c, coordinates, n);
        for (size_t k = 0; k < coordinates; k++)
            columns[k] = c.columns + k * c.size;
        for (size_t f = 0; f < fields; f++)
            parts[f] = outputs[f] + first;
        status = own ? sgi_solution_between(problem, own, columns, n, parts, pool)
                     : sgi_exact_evaluate(problem, columns, n, parts, pool);
        blank_outside(&c, problem, places, problem->homes, parts, fields, n);
    }
    release_chunk(&c);
    return status;
}

sg_status sgi_places_reference(const sgi_problem *problem, const sgi_places *places,
                               double *const *outputs, sg_pool *pool, const sg_allocator *given)
{
    return evaluate_reference(problem, NULL, places, outputs, pool, given);
}

sg_status sgi_places_between(const sgi_problem *problem, const double *const *own,
                             const sgi_places *places, double *const *outputs, sg_pool *pool,
                             const sg_allocator *given)
{
    if (problem->solution.kind != SG_SOLUTION_FILES)
        return SG_ERROR_UNSUPPORTED;
    return evaluate_reference(problem, own, places, outputs, pool, given);
}
