/* Reading unknown constants: see problem.h and unknowns.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/problem.h"

static sg_status refuse(sgi_reader *reader, const sgi_yaml *node, const char *message,
                        const char *advice)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s", message);
    sgi_diagnostic_suggest(reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
}

sg_status sgi_problem_name_unknowns(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "unknowns");
    sgi_names *names = &problem->names;
    if (!section)
        return SG_OK;
    if (section->kind != SG_YAML_MAPPING || section->count == 0)
        return refuse(reader, section,
                      "'unknowns' must be a mapping of names to what they start at",
                      "as in  unknowns: {k: {start: 0.5, bounds: [0.1, 10]}}");
    size_t count = (size_t)section->count / 2, before = (size_t)names->symbol_count;
    if (count > SG_MOST_UNKNOWNS)
        return refuse(reader, section, "there are more than 64 unknown constants",
                      "a field may be an unknown function of the coordinates");
    names->symbols = sgi_arena_grow(&problem->arena, names->symbols, before, before + count,
                                    sizeof *names->symbols);
    problem->unknowns = sgi_arena_allocate(&problem->arena, count, sizeof *problem->unknowns);
    if (!names->symbols || !problem->unknowns)
        return SG_ERROR_MEMORY;
    for (const sgi_yaml *name = section->first; name; name = name->next->next) {
        sg_status status = sgi_problem_check_name(reader, name, false);
        if (status != SG_OK)
            return status;
        sgi_input input = {.kind = SG_INPUT_UNKNOWN, .index = (int)problem->unknown_count};
        problem->unknowns[problem->unknown_count++].name = name->text;
        names->symbols[names->symbol_count++] =
            (sgi_symbol){.name = name->text,
                         .value = name->next,
                         .constant = true,
                         .unknown = true,
                         .state = SG_SYMBOL_DONE,
                         .expr = sgi_expressions_input(problem->exprs, &input)};
    }
    return problem->exprs->status;
}

/* The size of a change where the file gives none. */
static double default_scale(const sgi_unknown *u)
{
    double room = (u->upper - u->lower) / 4, near = fmin(u->upper - u->start, u->start - u->lower);
    double scale = u->start != 0 ? fabs(u->start) : isfinite(room) ? room : near;
    return !isfinite(scale) ? 1 : isfinite(room) ? fmin(scale, room) : scale;
}

static sg_status check_unknown(sgi_reader *reader, const sgi_yaml *name, const sgi_unknown *u)
{
    const sgi_yaml *body = name->next;
    const sgi_yaml *bounds = body->kind == SG_YAML_MAPPING ? sgi_yaml_get(body, "bounds") : NULL;
    if (u->upper <= u->lower) {
        sgi_yaml_place(reader->diagnostic, bounds, 0, 0);
        sgi_diagnostic_say(reader->diagnostic,
                           "the bounds of the unknown '%s' are reversed or equal: %g is not below "
                           "%g",
                           u->name, u->lower, u->upper);
        return SG_ERROR_FORMAT;
    }
    if (!sgi_unknown_may_be(u, u->start)) {
        sgi_yaml_place(reader->diagnostic, bounds, 0, 0);
        sgi_diagnostic_say(reader->diagnostic,
                           "the unknown '%s' starts at %g, which does not lie between its bounds "
                           "%g and %g",
                           u->name, u->start, u->lower, u->upper);
        sgi_diagnostic_suggest(reader->diagnostic,
                               "bounds are never reached: the start must lie strictly inside");
        return SG_ERROR_FORMAT;
    }
    return SG_OK;
}

/* A number is short for {start: number}. A key that is no key is told before a start that is not
 * there, which it may have been meant for. */
static sg_status read_body(sgi_reader *reader, const sgi_yaml *name, sgi_unknown *u)
{
    const sgi_yaml *body = name->next;
    char what[96];
    if (body->kind == SG_YAML_SCALAR)
        return sgi_option_read(reader, sgi_option_find(reader->table, "unknowns.*.start"), body, u);
    snprintf(what, sizeof what, "the unknown '%.60s'", u->name);
    bool mapping = body->kind == SG_YAML_MAPPING;
    sg_status status =
        mapping ? sgi_options_read(reader, "unknowns.*", what, body, u) : SG_ERROR_FORMAT;
    if (!mapping || (status == SG_OK && !sgi_yaml_get(body, "start"))) {
        sgi_yaml_place(reader->diagnostic, body, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "the unknown '%s' has no start", u->name);
        sgi_diagnostic_suggest(reader->diagnostic,
                               "as in  %s: {start: 0.5, bounds: [0.1, 10]}, or  %s: 0.5", u->name,
                               u->name);
        return SG_ERROR_FORMAT;
    }
    return status;
}

sg_status sgi_problem_read_unknowns(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "unknowns");
    sg_status status = SG_OK;
    sgi_unknown *u = problem->unknowns;
    for (const sgi_yaml *name = section ? section->first : NULL; name && status == SG_OK;
         name = name->next->next, u++) {
        char label[96];
        int length = snprintf(label, sizeof label, "unknowns.%s", u->name);
        u->label = sgi_arena_text(&problem->arena, label, (size_t)length);
        if (!u->label)
            return SG_ERROR_MEMORY;
        status = sgi_options_default(reader, "unknowns.*", u);
        if (status == SG_OK)
            status = read_body(reader, name, u);
        if (status == SG_OK)
            status = check_unknown(reader, name, u);
        if (status == SG_OK && u->scale == 0)
            u->scale = default_scale(u);
    }
    return status;
}

static bool is_used(const sgi_expressions *exprs, const uint8_t *reached, size_t unknown)
{
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (input && input->kind == SG_INPUT_UNKNOWN && (size_t)input->index == unknown)
            return true;
    }
    return false;
}

sg_status sgi_problem_check_unknowns(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "unknowns");
    size_t nodes = problem->exprs->count;
    if (problem->unknown_count == 0)
        return SG_OK;
    uint8_t *reached = sgi_arena_allocate(&problem->arena, 2 * nodes, 1);
    if (!reached)
        return SG_ERROR_MEMORY;
    sgi_problem_reach(problem, reached, reached + nodes);
    const sgi_yaml *name = section->first;
    for (size_t k = 0; k < problem->unknown_count; k++, name = name->next->next) {
        if (is_used(problem->exprs, reached, k))
            continue;
        sgi_yaml_place(reader->diagnostic, name, 0, 0);
        sgi_diagnostic_say(reader->diagnostic,
                           "the unknown '%s' is in no equation and no condition, so nothing "
                           "determines it",
                           problem->unknowns[k].name);
        sgi_diagnostic_suggest(reader->diagnostic, "take it out of 'unknowns', or use it");
        return SG_ERROR_FORMAT;
    }
    return SG_OK;
}
