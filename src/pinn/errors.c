/* Errors against the reference: see errors.h. */
#include "pinn/errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "problem/place.h"
#include "problem/remarks.h"
#include "problem/sampler.h"
#include "problem/solution_files.h"

static double **allocate_fields(const sg_allocator *allocator, size_t fields, size_t count)
{
    double **arrays = sgi_allocate(allocator, fields, sizeof *arrays);
    if (!arrays)
        return NULL;
    for (size_t f = 0; f < fields; f++)
        arrays[f] = sgi_allocate(allocator, count, sizeof **arrays);
    return arrays;
}

static void release_fields(const sg_allocator *allocator, double **arrays, size_t fields)
{
    for (size_t f = 0; arrays && f < fields; f++)
        sgi_release(allocator, arrays[f]);
    sgi_release(allocator, arrays);
}

static bool all_there(double **arrays, size_t fields)
{
    bool there = arrays != NULL;
    for (size_t f = 0; there && f < fields; f++)
        there = arrays[f] != NULL;
    return there;
}

static sgi_places places_of(const sgi_errors *errors)
{
    return (sgi_places){errors->points ? NULL : &errors->grid, errors->points, errors->count};
}

static void find_point(const sgi_errors *errors, size_t i, double *point)
{
    size_t width = (size_t)errors->grid.coordinates;
    if (errors->points)
        memcpy(point, errors->points + i * width, width * sizeof *point);
    else
        sgi_box_grid_points(&errors->grid, i, 1, point);
}

static sg_status take_points(sgi_errors *errors, size_t count)
{
    errors->count = count;
    errors->points = sgi_allocate(&errors->allocator, count,
                                  (size_t)errors->grid.coordinates * sizeof *errors->points);
    return errors->points ? SG_OK : SG_ERROR_MEMORY;
}

/* Chooses the points. */
static sg_status choose_points(sgi_errors *errors, const sgi_problem *problem)
{
    sgi_box_grid whole = sgi_box_grid_of_problem(problem);
    size_t fields = (size_t)problem->names.field_count, width = (size_t)whole.coordinates;
    errors->grid = sgi_box_grid_thinned(&whole, SG_ERROR_VALUES / fields);
    errors->of_files = problem->solution.kind == SG_SOLUTION_FILES && !problem->solution.on_grid;
    if (errors->of_files)
        return take_points(errors, sgi_solution_points(problem));
    errors->thinned = errors->grid.total < whole.total;
    errors->count = errors->grid.total;
    if (!errors->thinned || width <= SG_ERROR_AXES)
        return SG_OK;
    sg_status status = take_points(errors, SG_ERROR_DRAWN);
    if (status != SG_OK)
        return status;
    /* Of the validation points those of step 1; the validation loss has those of step 0. */
    sgi_draw draw = {(uint64_t)problem->settings.training.seed, SG_POINTS_VALIDATION, 1};
    for (size_t i = 0; i < errors->count; i++) {
        double point[SG_MOST_COORDINATES];
        sgi_uniforms uniforms = {
            .seed = draw.seed, .stream = sgi_draw_stream(&draw, 0), .counter = (uint64_t)i << 24};
        (void)sgi_place_interior(problem, NULL, &uniforms, point);
        memcpy(errors->points + i * width, point, width * sizeof *point);
    }
    return SG_OK;
}

/* Drawn points outside the home of a field have no value of it, as those of a grid. */
static void blank_homes(sgi_errors *errors)
{
    for (int f = 0; errors->points && f < errors->problem->names.field_count; f++)
        for (size_t i = 0; errors->problem->homes[f] && i < errors->count; i++) {
            double point[SG_MOST_COORDINATES];
            find_point(errors, i, point);
            if (!sgi_problem_has(errors->problem, errors->problem->homes[f], point))
                errors->reference[f][i] = NAN;
        }
}

/* A reference such as log(x + y) may be infinite in a corner alone. */
static void find_left_out(sgi_errors *errors)
{
    int fields = errors->problem->names.field_count;
    errors->nothing = true;
    for (size_t i = 0; i < errors->count; i++) {
        double point[SG_MOST_COORDINATES];
        bool finite = true, some = false; /* a file need not have all fields */
        find_point(errors, i, point);
        if ((!errors->points || errors->of_files) && !sgi_problem_covers(errors->problem, point))
            continue;
        errors->inside++;
        for (int f = 0; f < fields; f++) {
            double value = errors->reference[f][i];
            uint64_t home = errors->problem->homes[f];
            bool good = isfinite(value) || (home && !sgi_problem_has(errors->problem, home, point));
            finite = finite && good;
            some = some || good;
            errors->nothing = errors->nothing && (!isfinite(value) || value == 0);
        }
        if (!(errors->of_files ? some : finite) && errors->left_out++ == 0)
            memcpy(errors->first_left_out, point, sizeof point);
    }
}

const char *sgi_errors_sentence(const sgi_errors *errors, char *text, size_t size)
{
    char point[200];
    text[0] = '\0';
    size_t outside = errors->count - errors->inside;
    if (errors->of_files && (outside > 0 || errors->left_out > 0)) {
        char first[60] = "", second[60] = "";
        if (outside > 0)
            snprintf(first, sizeof first, "%zu lie outside the domain", outside);
        if (errors->left_out > 0)
            snprintf(second, sizeof second, "%zu have no value", errors->left_out);
        snprintf(text, size,
                 "of the %zu points of the reference's files %s%s%s; errors are measured at the "
                 "others",
                 errors->count, first, first[0] && second[0] ? " and " : "", second);
    } else if (errors->left_out > 0)
        snprintf(text, size,
                 "the reference is not finite at %zu of %zu points %s, the "
                 "first at %s; errors are measured at the others",
                 errors->left_out, errors->inside,
                 errors->points ? "drawn in the domain" : "of the evaluation grid",
                 sgi_problem_point(errors->problem, errors->first_left_out, point, sizeof point));
    return text;
}

static sg_status prepare(sgi_errors *errors, sgi_problem *problem, sg_pool *pool)
{
    size_t fields = (size_t)problem->names.field_count;
    const sg_allocator *a = &errors->allocator;
    sg_diagnostic diagnostic;
    sg_status status = sgi_problem_quantities(problem, problem->names.fields, fields,
                                              &errors->values, &diagnostic);
    if (status == SG_OK)
        status = choose_points(errors, problem);
    if (status != SG_OK)
        return status;
    errors->reference = allocate_fields(a, fields, errors->count);
    errors->prediction = allocate_fields(a, fields, errors->count);
    errors->fields = sgi_allocate(a, fields + 1, sizeof *errors->fields);
    if (!all_there(errors->reference, fields) || !all_there(errors->prediction, fields) ||
        !errors->fields)
        return SG_ERROR_MEMORY;
    sgi_places places = places_of(errors);
    if (errors->of_files)
        sgi_solution_own(problem, errors->points, errors->reference);
    else
        status = sgi_places_reference(problem, &places, errors->reference, pool, a);
    if (status == SG_OK) {
        blank_homes(errors);
        find_left_out(errors);
    }
    return status;
}

sg_status sgi_errors_create(sgi_errors **out, sgi_problem *problem, sg_pool *pool,
                            const sg_allocator *given)
{
    *out = NULL;
    if (problem->solution.kind == SG_SOLUTION_NONE)
        return SG_OK;
    sgi_errors *errors = SGI_NEW(sgi_errors, given);
    if (!errors)
        return SG_ERROR_MEMORY;
    errors->problem = problem;
    sg_status status = prepare(errors, problem, pool);
    if (status == SG_OK)
        *out = errors;
    else
        sgi_errors_destroy(errors);
    return status;
}

void sgi_errors_destroy(sgi_errors *errors)
{
    if (!errors)
        return;
    size_t fields = (size_t)errors->problem->names.field_count;
    sgi_point_set_release(&errors->values);
    release_fields(&errors->allocator, errors->reference, fields);
    release_fields(&errors->allocator, errors->prediction, fields);
    sgi_release(&errors->allocator, errors->points);
    sgi_release(&errors->allocator, errors->fields);
    sgi_release(&errors->allocator, errors);
}

/* The larger of the two; fmax would drop a NaN. */
static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

sg_status sgi_errors_measure(sgi_errors *errors, sg_jet_network *network, sg_pool *pool)
{
    size_t fields = (size_t)errors->problem->names.field_count;
    sgi_places places = places_of(errors);
    sg_status status = sgi_quantities_evaluate(errors->problem, &errors->values, network, &places,
                                               errors->prediction, pool, &errors->allocator);
    if (status != SG_OK)
        return status;
    double all_error = 0, all_size = 0, all_largest = 0;
    for (size_t f = 0; f < fields; f++) {
        size_t compared = 0;
        double error = 0, size = 0, largest = NAN; /* of no point at all */
        for (size_t i = 0; i < errors->count; i++) {
            if (!isfinite(errors->reference[f][i]))
                continue;
            double d = errors->prediction[f][i] - errors->reference[f][i];
            error += d * d;
            size += errors->reference[f][i] * errors->reference[f][i];
            largest = compared++ == 0 ? fabs(d) : larger(largest, fabs(d));
        }
        errors->fields[f] =
            (sg_pinn_error){errors->problem->names.fields[f], sqrt(error / size), largest};
        if (compared == 0 && errors->of_files)
            continue; /* no file has this field */
        all_error += error;
        all_size += size;
        all_largest = larger(all_largest, largest);
    }
    errors->fields[fields] = (sg_pinn_error){"all", sqrt(all_error / all_size), all_largest};
    errors->field_count = fields + 1;
    return SG_OK;
}

sg_status sgi_errors_between(const sgi_errors *errors, const sgi_places *places,
                             double *const *outputs, sg_pool *pool)
{
    size_t fields = (size_t)errors->problem->names.field_count;
    if (!errors->of_files)
        return SG_ERROR_UNSUPPORTED;
    double **own = allocate_fields(&errors->allocator, fields, errors->count);
    sg_status status = all_there(own, fields) ? SG_OK : SG_ERROR_MEMORY;
    for (size_t f = 0; f < fields && status == SG_OK; f++)
        for (size_t i = 0; i < errors->count; i++)
            own[f][i] = errors->prediction[f][i] - errors->reference[f][i];
    if (status == SG_OK)
        status = sgi_places_between(errors->problem, (const double *const *)own, places, outputs,
                                    pool, &errors->allocator);
    release_fields(&errors->allocator, own, fields);
    return status;
}
