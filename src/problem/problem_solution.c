/* The reference solution of a problem file. See problem.h. */
#include <string.h>

#include "problem/data.h"
#include "problem/solution_files.h"

static int coordinate_named(const sgi_names *names, const char *name)
{
    for (int k = 0; k < names->coordinate_count; k++)
        if (strcmp(names->coordinates[k], name) == 0)
            return k;
    return -1;
}

static int place_of_field(const sgi_names *names, const char *name)
{
    for (int f = 0; f < names->field_count; f++)
        if (strcmp(names->fields[f], name) == 0)
            return f;
    return -1;
}

/* Cole-Hopf's x where it is no coordinate but a definition, for which solution->program is made.
 * *fits: it depends on coordinates alone. */
static sg_status define_x(sgi_problem *problem, sgi_reader *reader, bool *fits)
{
    sgi_symbol *x = sgi_names_find(&problem->names, "x", 1);
    *fits = false;
    if (!x)
        return SG_OK;
    sg_status status = sgi_names_resolve(&problem->names, x, reader->diagnostic);
    if (status != SG_OK)
        return status;
    *fits = sgi_depends_on(problem->exprs, x->expr, SG_INPUT_COORDINATE) &&
            !sgi_depends_on(problem->exprs, x->expr, SG_INPUT_FIELD) &&
            !sgi_depends_on(problem->exprs, x->expr, SG_INPUT_UNKNOWN);
    return *fits ? sgi_program_create(&problem->solution.program, problem->exprs, &x->expr, 1,
                                      &problem->allocator)
                 : SG_OK;
}

static sg_status read_cole_hopf(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node)
{
    sgi_solution *solution = &problem->solution;
    sgi_names *names = &problem->names;
    sgi_symbol *nu = sgi_names_find(names, "nu", 2);
    int x = coordinate_named(names, "x");
    solution->t = coordinate_named(names, "t");
    bool fits = nu && sgi_is_constant(problem->exprs, nu->expr, &solution->nu) &&
                solution->nu > 0 && names->coordinate_count == 2 && solution->t >= 0 &&
                names->field_count == 1 && problem->lower[solution->t] >= 0;
    solution->x = 1 - solution->t; /* the other coordinate, in which x may be given */
    if (fits && x < 0) {
        sg_status status = define_x(problem, reader, &fits);
        if (status != SG_OK)
            return status;
    }
    if (fits) {
        solution->kind = SG_SOLUTION_COLE_HOPF;
        return SG_OK;
    }
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "cole_hopf is the solution of u_t + u*u_x = nu*u_xx with u = -sin(pi*x) at "
                       "t = 0: it needs coordinates x and t >= 0, or another in which x is "
                       "defined, one field and a constant nu > 0");
    return SG_ERROR_FORMAT;
}

static sg_status read_field(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *key)
{
    const sgi_names *names = &problem->names;
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, key->text, key->length);
    int f = 0;
    while (f < names->field_count && strcmp(names->fields[f], key->text) != 0)
        sgi_nearest_offer(&nearest, names->fields[f++]);
    if (f == names->field_count) {
        sgi_yaml_place(reader->diagnostic, key, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "'%.60s' in 'reference' is not a field", key->text);
        sgi_nearest_suggest(&nearest, reader->diagnostic);
        return SG_ERROR_FORMAT;
    }
    const sgi_yaml *value = key->next;
    if (value->kind != SG_YAML_SCALAR || value->length == 0) {
        sgi_yaml_place(reader->diagnostic, value, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "the reference of '%s' must be an expression",
                           key->text);
        return SG_ERROR_FORMAT;
    }
    sgi_scope scope = {&problem->names, "in 'reference'", true, false, 0, false};
    return sgi_names_parse(&scope, value, 0, value->length, SG_READ_VALUE,
                           &problem->solution.exprs[f], reader->diagnostic);
}

static sg_status read_expressions(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node)
{
    size_t fields = (size_t)problem->names.field_count;
    problem->solution.exprs = sgi_arena_allocate(&problem->arena, fields, sizeof(sgi_expr));
    if (!problem->solution.exprs)
        return SG_ERROR_MEMORY;
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        sg_status status = read_field(problem, reader, key);
        if (status != SG_OK)
            return status;
    }
    for (size_t f = 0; f < fields; f++) {
        if (sgi_yaml_get(node, problem->names.fields[f]))
            continue;
        sgi_yaml_place(reader->diagnostic, node, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "'reference' has no expression for the field '%s'",
                           problem->names.fields[f]);
        return SG_ERROR_FORMAT;
    }
    problem->solution.kind = SG_SOLUTION_EXPRESSIONS;
    return sgi_program_create(&problem->solution.program, problem->exprs, problem->solution.exprs,
                              fields, &problem->allocator);
}

sg_status sgi_problem_read_solution(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *node = sgi_yaml_get(problem->root, "reference");
    problem->solution.node = node;
    if (!node || sgi_yaml_is(node, "none"))
        return SG_OK;
    bool files = node->kind == SG_YAML_SEQUENCE && node->first;
    if (node->kind == SG_YAML_MAPPING && sgi_yaml_get(node, "file"))
        files = place_of_field(&problem->names, "file") < 0; /* a field may be called so */
    if (files)
        return sgi_solution_read_files(problem, reader, node);
    if (node->kind == SG_YAML_MAPPING)
        return read_expressions(problem, reader, node);
    if (sgi_yaml_is(node, "cole_hopf"))
        return read_cole_hopf(problem, reader, node);
    sgi_nearest nearest;
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    if (node->kind == SG_YAML_SCALAR) {
        sgi_diagnostic_say(reader->diagnostic, "'%.60s' is not a reference solution", node->text);
        sgi_nearest_begin(&nearest, node->text, node->length);
        sgi_nearest_offer(&nearest, "cole_hopf");
        sgi_nearest_offer(&nearest, "none");
        sgi_nearest_suggest(&nearest, reader->diagnostic);
    } else {
        sgi_diagnostic_say(reader->diagnostic, "'reference' cannot be an empty list");
    }
    if (!reader->diagnostic->suggestion[0])
        sgi_diagnostic_suggest(reader->diagnostic, "as in  reference: {u: exp(-t)*sin(pi*x)}");
    return SG_ERROR_FORMAT;
}

sg_status sgi_problem_copy_files(const sgi_problem *problem, const char *folder,
                                 sg_diagnostic *diagnostic)
{
    sg_status status =
        sgi_domain_copy_files(&problem->domain, folder, &problem->allocator, diagnostic);
    for (int i = 0; i < problem->solution.file_count && status == SG_OK; i++)
        status = sgi_attachment_copy(&problem->solution.files[i].file, folder, &problem->allocator,
                                     diagnostic);
    for (int i = 0; i < problem->data_count && status == SG_OK; i++)
        if (problem->data[i].file.file)
            status = sgi_attachment_copy(&problem->data[i].file, folder, &problem->allocator,
                                         diagnostic);
    if (status == SG_OK && problem->initial.file)
        status = sgi_attachment_copy(&problem->initial, folder, &problem->allocator, diagnostic);
    return status;
}

bool sgi_problem_covers(const sgi_problem *problem, const double *point)
{
    for (int k = 0; k < problem->names.coordinate_count; k++) {
        double slack = 1e-9 * (problem->upper[k] - problem->lower[k]);
        if (!(point[k] >= problem->lower[k] - slack && point[k] <= problem->upper[k] + slack))
            return false;
    }
    return sgi_domain_has(&problem->domain, point);
}
