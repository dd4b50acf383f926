/* Equations: the residuals at points of the domain. See problem.h. */
#include <stdio.h>
#include <string.h>

#include "pinn/problem.h"

/* Reads one equation's expression; it must contain a field. */
static sg_status read_equation(sg_problem *problem, sg_reader *reader, const sg_yaml *name,
                               const sg_yaml *node, sg_expr *root)
{
    char place[128];
    snprintf(place, sizeof place, "in equation '%.60s'", name->text);
    sg_scope scope = {&problem->names, place, true, true, 0};
    if (node->kind != SG_YAML_SCALAR || node->length == 0) {
        sg_yaml_place(reader->diagnostic, node, 0, 0);
        sg_diagnostic_say(reader->diagnostic, "equation '%.60s' must be an expression", name->text);
        return SG_ERROR_FORMAT;
    }
    sg_status status =
        sg_names_parse(&scope, node, 0, node->length, true, root, reader->diagnostic);
    if (status != SG_OK)
        return status;
    bool field = sg_depends_on(problem->graph, *root, SG_INPUT_FIELD);
    if (!field && problem->graph->status == SG_OK) {
        char fields[200];
        sg_yaml_place(reader->diagnostic, node, 0, 0);
        sg_diagnostic_say(reader->diagnostic, "equation '%.60s' contains no field", name->text);
        sg_diagnostic_suggest(reader->diagnostic,
                              "it can use coordinates, constants, definitions %s",
                              sg_problem_field_list(problem, fields, sizeof fields));
        return SG_ERROR_FORMAT;
    }
    return problem->graph->status;
}

/* The mapping form: {expression: ..., weight: 2}. */
static sg_status read_weighted(sg_reader *reader, const sg_yaml *name,
                               sg_equation_settings *settings, const sg_yaml **expression)
{
    char what[96];
    snprintf(what, sizeof what, "equation '%.60s'", name->text);
    sg_status status = sg_options_read(reader, "equations.*", what, name->next, settings);
    if (status != SG_OK)
        return status;
    *expression = sg_yaml_get(name->next, "expression");
    if (*expression)
        return SG_OK;
    sg_yaml_place(reader->diagnostic, name, 0, 0);
    sg_diagnostic_say(reader->diagnostic, "%s has no 'expression'", what);
    return SG_ERROR_FORMAT;
}

static sg_status read_all(sg_problem *problem, sg_reader *reader, const sg_yaml *section,
                          sg_point_set *set)
{
    for (const sg_yaml *name = section->first; name; name = name->next->next) {
        if (set->component_count == SG_MOST_COMPONENTS) {
            sg_yaml_place(reader->diagnostic, name, 0, 0);
            sg_diagnostic_say(reader->diagnostic, "there are more than %d equations",
                              SG_MOST_COMPONENTS);
            return SG_ERROR_FORMAT;
        }
        sg_equation_settings settings;
        const sg_yaml *expression = name->next;
        sg_status status = sg_options_default(reader, "equations.*", &settings);
        if (status == SG_OK && expression->kind == SG_YAML_MAPPING)
            status = read_weighted(reader, name, &settings, &expression);
        int k = set->component_count;
        if (status == SG_OK)
            status = read_equation(problem, reader, name, expression, &set->roots[k]);
        if (status != SG_OK)
            return status;
        set->terms[k] = (sg_term){name->text, settings.weight};
        set->component_terms[k] = k;
        set->component_count = set->term_count = k + 1;
    }
    return SG_OK;
}

sg_status sg_problem_read_equations(sg_problem *problem, sg_reader *reader)
{
    const sg_yaml *section = sg_yaml_get(problem->root, "equations");
    if (!section || section->kind != SG_YAML_MAPPING || section->count == 0) {
        sg_yaml_place(reader->diagnostic, section ? section : problem->root, 0, 0);
        sg_diagnostic_say(reader->diagnostic, section ? "'equations' must be a mapping of names to "
                                                        "expressions"
                                                      : "'equations' is missing");
        sg_diagnostic_suggest(reader->diagnostic, "as in  equations: {heat: u_t - u_xx}");
        return SG_ERROR_FORMAT;
    }
    sg_point_set *set = &problem->sets[problem->set_count++];
    size_t count = (size_t)section->count / 2;
    *set = (sg_point_set){.name = "domain",
                          .kind = SG_SET_DOMAIN,
                          .points_per_item = 1,
                          .items = problem->settings.points,
                          .terms = sg_arena_allocate(&problem->arena, count, sizeof(sg_term)),
                          .component_terms = sg_arena_allocate(&problem->arena, count, sizeof(int)),
                          .roots = sg_arena_allocate(&problem->arena, count, sizeof(sg_expr))};
    if (!set->terms || !set->component_terms || !set->roots)
        return SG_ERROR_MEMORY;
    return read_all(problem, reader, section, set);
}
