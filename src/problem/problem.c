/* Reading a problem as a whole: see problem.h. */

#include <string.h>

#include "config/document.h"
#include "problem/data.h"
#include "problem/exact_conditions.h"
#include "problem/scales.h"
#include "problem/solution_files.h"

static sg_status read_settings(sgi_problem *problem, sgi_reader *reader)
{
    sg_status status = sgi_options_default(reader, "", &problem->settings);
    if (status == SG_OK)
        status = sgi_problem_read_training(problem, reader);
    sgi_training_settings first = problem->settings.training; /* with the defaults of its kind */
    if (status == SG_OK)
        status =
            sgi_options_read(reader, "", reader->table->what, problem->root, &problem->settings);
    problem->settings.training = first;
    if (status == SG_OK)
        status =
            sgi_document_name(reader, problem->root, &problem->sources[0], &problem->settings.name);
    return status;
}

/* MultiAdam has a gradient for each set of points, and only a factor can be shared by all. */
static sg_status check_groups(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_training_settings *training = &problem->settings.training;
    if (training->optimizer != SG_OPTIM_MULTIADAM || training->method == SG_METHOD_STABLEGRAD ||
        training->method == SG_METHOD_NONE)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, sgi_yaml_get(problem->root, "training"), 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "multiadam keeps the gradients of the conditions apart, and the method '%s' "
                       "changes their sum",
                       sg_method_name((sg_method)training->method));
    sgi_diagnostic_suggest(reader->diagnostic, "'stablegrad: off', or the method 'stablegrad'");
    return SG_ERROR_FORMAT;
}

static sg_status read_all(sgi_problem *problem, sgi_reader *reader, const char *const *overrides,
                          size_t count)
{
    sg_status status =
        sgi_document_tree(reader, problem->sources, overrides, count, &problem->root);
    if (status == SG_OK)
        status = sgi_document_keys(reader, problem->root);
    if (status == SG_OK)
        status = sgi_problem_check_sets(problem, reader, count);
    if (status == SG_OK)
        status = sgi_problem_read_names(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_read_windows(problem, reader);
    if (status == SG_OK)
        status = sgi_domain_read(&problem->domain, reader, problem->root, problem->lower,
                                 problem->upper);
    if (status == SG_OK)
        status = read_settings(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_check_labels(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_read_equations(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_read_conditions(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_finish_points(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_read_data(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_check_training(problem, reader);
    if (status == SG_OK)
        status = check_groups(problem, reader);
    if (status == SG_OK)
        status = sgi_exact_finish(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_check_windows(problem, reader);
    if (status == SG_OK && problem->window < 0)
        status = sgi_problem_read_solution(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_check_fields(problem, reader);
    if (status == SG_OK && problem->window < 0)
        status = sgi_problem_read_initial(problem, reader);
    if (status == SG_OK)
        status = sgi_problem_check_unknowns(problem, reader);
    if (status == SG_OK)
        status = sgi_scales_read(problem, reader);
    for (int k = 0; k < problem->set_count && status == SG_OK; k++)
        status = sgi_point_set_compile(problem, &problem->arena, &problem->sets[k]);
    return status;
}

sg_status sgi_problem_read(sgi_problem **out, const char *name, const char *text, size_t size,
                           const char *const *overrides, size_t override_count,
                           const sg_allocator *given, sg_diagnostic *diagnostic)
{
    return sgi_problem_read_as(out, name, text, size, overrides, override_count, -1, given,
                               diagnostic);
}

sg_status sgi_problem_read_as(sgi_problem **out, const char *name, const char *text, size_t size,
                              const char *const *overrides, size_t override_count, int window,
                              const sg_allocator *given, sg_diagnostic *diagnostic)
{
    *out = NULL;
    memset(diagnostic, 0, sizeof *diagnostic);
    sgi_problem *problem = SGI_NEW(sgi_problem, given);
    if (!problem)
        return SG_ERROR_MEMORY;
    problem->window = window;
    sgi_arena_init(&problem->arena, &problem->allocator);
    problem->sources = sgi_document_sources(&problem->arena, name, text, size, override_count);
    sg_status status = problem->sources
                           ? sgi_expressions_create(&problem->exprs, &problem->allocator)
                           : SG_ERROR_MEMORY;
    if (status == SG_OK) {
        problem->names.exprs = problem->exprs;
        sgi_reader reader = {.table = &sgi_problem_options,
                             .names = &problem->names,
                             .arena = &problem->arena,
                             .diagnostic = diagnostic};
        status = read_all(problem, &reader, overrides, override_count);
    }
    if (status != SG_OK)
        sgi_problem_destroy(problem);
    else
        *out = problem;
    return status;
}

sg_status sgi_problem_load(sgi_problem **problem, const char *path, const char *const *overrides,
                           size_t override_count, const sg_allocator *given,
                           sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    char *text = NULL;
    size_t size = 0;
    *problem = NULL;
    sg_status status = sgi_document_text(path, &allocator, &text, &size, diagnostic);
    if (status == SG_OK)
        status = sgi_problem_read(problem, path, text, size, overrides, override_count, &allocator,
                                  diagnostic);
    sgi_release(&allocator, text);
    return status;
}

void sgi_problem_destroy(sgi_problem *problem)
{
    if (!problem)
        return;
    for (int k = 0; k < problem->set_count; k++)
        sgi_point_set_release(&problem->sets[k]);
    for (int i = 0; i < problem->filter_count; i++)
        sgi_program_destroy(problem->filters[i].keep);
    sgi_program_destroy(problem->solution.program);
    sgi_solution_release_files(problem);
    sgi_expressions_destroy(problem->exprs);
    sgi_arena_clear(&problem->arena);
    sgi_release(&problem->allocator, problem);
}
