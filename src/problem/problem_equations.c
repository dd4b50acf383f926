/* Equations: the residuals at points of the domain. See problem.h. */
#include <stdio.h>
#include <string.h>

#include "problem/problem.h"

/* Reads one equation's expression; it must contain a field. */
static sg_status read_equation(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *name,
                               const sgi_yaml *node, sgi_expr *root)
{
    char place[128];
    snprintf(place, sizeof place, "in equation '%.60s'", name->text);
    sgi_scope scope = {&problem->names, place, true, true, 0, false};
    if (node->kind != SG_YAML_SCALAR || node->length == 0) {
        sgi_yaml_place(reader->diagnostic, node, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "equation '%.60s' must be an expression",
                           name->text);
        return SG_ERROR_FORMAT;
    }
    sg_status status =
        sgi_names_parse(&scope, node, 0, node->length, SG_READ_EQUATION, root, reader->diagnostic);
    if (status != SG_OK)
        return status;
    bool field = sgi_depends_on(problem->exprs, *root, SG_INPUT_FIELD);
    if (!field && problem->exprs->status == SG_OK) {
        char fields[200];
        sgi_yaml_place(reader->diagnostic, node, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "equation '%.60s' contains no field", name->text);
        sgi_diagnostic_suggest(reader->diagnostic,
                               "it can use coordinates, constants, definitions %s",
                               sgi_problem_field_list(problem, fields, sizeof fields));
        return SG_ERROR_FORMAT;
    }
    bool slope = sgi_has_slope(problem->exprs, *root, SG_INPUT_FIELD);
    if (!slope && problem->exprs->status == SG_OK) {
        sgi_yaml_place(reader->diagnostic, node, 0, 0);
        sgi_diagnostic_say(reader->diagnostic,
                           "equation '%.60s' changes with the fields in jumps alone, as "
                           "comparisons do",
                           name->text);
        sgi_diagnostic_suggest(reader->diagnostic, "training needs a slope to follow");
        return SG_ERROR_FORMAT;
    }
    return problem->exprs->status;
}

/* The mapping form: {expression: ..., weight: 2}. */
static sg_status read_weighted(sgi_reader *reader, const sgi_yaml *name,
                               sgi_equation_settings *settings, const sgi_yaml **expression)
{
    char what[96];
    snprintf(what, sizeof what, "equation '%.60s'", name->text);
    sg_status status = sgi_options_read(reader, "equations.*", what, name->next, settings);
    if (status != SG_OK)
        return status;
    *expression = sgi_yaml_get(name->next, "expression");
    if (*expression)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, name, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s has no 'expression'", what);
    return SG_ERROR_FORMAT;
}

static sg_status read_all(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *section,
                          sgi_point_set *set)
{
    for (const sgi_yaml *name = section->first; name; name = name->next->next) {
        if (set->component_count == SG_MOST_COMPONENTS) {
            sgi_yaml_place(reader->diagnostic, name, 0, 0);
            sgi_diagnostic_say(reader->diagnostic, "there are more than %d equations",
                               SG_MOST_COMPONENTS);
            return SG_ERROR_FORMAT;
        }
        sgi_equation_settings settings;
        const sgi_yaml *expression = name->next;
        sg_status status = sgi_options_default(reader, "equations.*", &settings);
        if (status == SG_OK && expression->kind == SG_YAML_MAPPING)
            status = read_weighted(reader, name, &settings, &expression);
        int k = set->component_count;
        if (status == SG_OK)
            status = read_equation(problem, reader, name, expression, &set->roots[k]);
        if (status != SG_OK)
            return status;
        set->terms[k] = (sgi_term){name->text, settings.weight};
        set->component_terms[k] = k;
        set->component_count = set->term_count = k + 1;
    }
    return SG_OK;
}

sg_status sgi_problem_read_equations(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "equations");
    if (!section || section->kind != SG_YAML_MAPPING || section->count == 0) {
        sgi_yaml_place(reader->diagnostic, section ? section : problem->root, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, section
                                                   ? "'equations' must be a mapping of names to "
                                                     "expressions"
                                                   : "'equations' is missing");
        sgi_diagnostic_suggest(reader->diagnostic, "as in  equations: {heat: u_t - u_xx}");
        return SG_ERROR_FORMAT;
    }
    sgi_point_set *set = &problem->sets[problem->set_count++];
    size_t count = (size_t)section->count / 2;
    *set =
        (sgi_point_set){.name = "domain",
                        .kind = SG_SET_DOMAIN,
                        .points_per_item = 1,
                        .items = problem->settings.points,
                        .terms = sgi_arena_allocate(&problem->arena, count, sizeof(sgi_term)),
                        .component_terms = sgi_arena_allocate(&problem->arena, count, sizeof(int)),
                        .roots = sgi_arena_allocate(&problem->arena, count, sizeof(sgi_expr))};
    if (!set->terms || !set->component_terms || !set->roots)
        return SG_ERROR_MEMORY;
    return read_all(problem, reader, section, set);
}
