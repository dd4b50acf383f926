/* Equations: the residuals at points of the domain or of a region of it. See problem.h. */
#include <math.h>
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

/* An equation while it is read. */
typedef struct equation {
    sgi_problem *problem;
    sgi_reader *reader;
    const sgi_yaml *name;
    char what[96]; /* "equation 'heat'" */
    const sgi_yaml *expression;
    const sgi_region *region;
    sgi_equation_settings *settings;
} equation;

static sg_status refuse(equation *e, const sgi_yaml *node, const char *message, const char *advice)
{
    sgi_yaml_place(e->reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(e->reader->diagnostic, "%s %s", e->what, message);
    if (advice)
        sgi_diagnostic_suggest(e->reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
}

/* The mapping form: {expression: ..., in: steel, weight: 2}. */
static sg_status read_mapping(equation *e)
{
    const sgi_yaml *body = e->name->next, *in = sgi_yaml_get(body, "in");
    sg_status status = sgi_options_read(e->reader, "equations.*", e->what, body, e->settings);
    if (status != SG_OK)
        return status;
    e->expression = sgi_yaml_get(body, "expression");
    if (!e->expression)
        return refuse(e, e->name, "has no 'expression'", NULL);
    if (in)
        return sgi_problem_read_region(e->problem, e->reader, e->what, in, &e->region);
    if (e->settings->points > 0)
        return refuse(e, sgi_yaml_get(body, "points"), "has points and no region of its own",
                      "the points of the whole domain are given once, as  points: 4096");
    return SG_OK;
}

/* The set of the region's equations, a new one if there is none. Regions that were cut by the
 * domain are the same when their names are. */
static sg_status find_set(equation *e, size_t most, sgi_point_set **found)
{
    sgi_problem *problem = e->problem;
    sgi_arena *arena = &problem->arena;
    const char *name = e->region ? e->region->name : "domain";
    for (int k = 0; k < problem->set_count; k++) {
        *found = &problem->sets[k];
        if (!e->region == !(*found)->region && strcmp((*found)->name, name) == 0)
            return SG_OK;
    }
    *found = &problem->sets[problem->set_count];
    **found = (sgi_point_set){.name = name,
                              .kind = SG_SET_DOMAIN,
                              .region = e->region,
                              .share = 1,
                              .points_per_item = 1,
                              .terms = sgi_arena_allocate(arena, most, sizeof(sgi_term)),
                              .component_terms = sgi_arena_allocate(arena, most, sizeof(int)),
                              .roots = sgi_arena_allocate(arena, most, sizeof(sgi_expr))};
    if (!(*found)->terms || !(*found)->component_terms || !(*found)->roots)
        return SG_ERROR_MEMORY;
    problem->set_count++;
    return SG_OK;
}

/* Points of the set: the equation's own, or by the region's share. */
static sg_status count_points(equation *e, sgi_point_set *set)
{
    const sgi_domain *domain = &e->problem->domain;
    int64_t all = e->problem->settings.points, own = e->settings->points;
    if (set->region) {
        const sgi_region *whole = domain->region ? domain->region : domain->regions[0];
        set->share = fmin(set->region->measure / whole->measure, 1);
    }
    if (set->component_count > 0 && own > 0 && set->items != own)
        return refuse(e, sgi_yaml_get(e->name->next, "points"),
                      "has another number of points than those before it in its region",
                      "equations of one region share their points: give the number once, first");
    if (set->component_count == 0)
        set->items = own ? own : (int64_t)fmax(1, round((double)all * set->share));
    return SG_OK;
}

static sg_status add_equation(equation *e, size_t most)
{
    sgi_point_set *set;
    sg_status status = find_set(e, most, &set);
    if (status == SG_OK)
        status = count_points(e, set);
    if (status != SG_OK)
        return status;
    int k = set->component_count;
    status = read_equation(e->problem, e->reader, e->name, e->expression, &set->roots[k]);
    set->terms[k] = (sgi_term){e->name->text, e->settings->weight};
    set->component_terms[k] = k;
    set->component_count = set->term_count = k + 1;
    return status;
}

static sg_status read_all(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *section)
{
    int number = 0;
    for (const sgi_yaml *name = section->first; name; name = name->next->next) {
        equation e = {.problem = problem,
                      .reader = reader,
                      .name = name,
                      .expression = name->next,
                      .settings = &problem->equations[number]};
        snprintf(e.what, sizeof e.what, "equation '%.60s'", name->text);
        if (number++ == SG_MOST_COMPONENTS) {
            sgi_yaml_place(reader->diagnostic, name, 0, 0);
            sgi_diagnostic_say(reader->diagnostic, "there are more than %d equations",
                               SG_MOST_COMPONENTS);
            return SG_ERROR_FORMAT;
        }
        sg_status status = sgi_options_default(reader, "equations.*", e.settings);
        if (status == SG_OK && name->next->kind == SG_YAML_MAPPING)
            status = read_mapping(&e);
        if (status == SG_OK)
            status = add_equation(&e, (size_t)section->count / 2);
        if (status != SG_OK)
            return status;
    }
    return sgi_problem_find_homes(problem);
}

sg_status sgi_problem_read_equations(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "equations");
    if (!section && sgi_yaml_get(problem->root, "data"))
        return SG_OK; /* data alone: a function that has their values */
    if (!section || section->kind != SG_YAML_MAPPING || section->count == 0) {
        sgi_yaml_place(reader->diagnostic, section ? section : problem->root, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, section
                                                   ? "'equations' must be a mapping of names to "
                                                     "expressions"
                                                   : "'equations' is missing");
        sgi_diagnostic_suggest(reader->diagnostic, "as in  equations: {heat: u_t - u_xx}");
        return SG_ERROR_FORMAT;
    }
    problem->equations = sgi_arena_allocate(&problem->arena, (size_t)section->count / 2 + 1,
                                            sizeof *problem->equations);
    return problem->equations ? read_all(problem, reader, section) : SG_ERROR_MEMORY;
}
