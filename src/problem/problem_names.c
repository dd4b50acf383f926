/* The names of a problem: coordinates, fields, constants, definitions. See problem.h. */
#include <stdio.h>
#include <string.h>

#include "problem/problem.h"

static sg_status refuse(sgi_reader *reader, const sgi_yaml *node, const char *message)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s", message);
    return SG_ERROR_FORMAT;
}

/* The section `key`, which must be there and of the kind. */
static sg_status need_section(sgi_problem *problem, sgi_reader *reader, const char *key,
                              sgi_yaml_kind kind, const char *example, const sgi_yaml **section)
{
    *section = sgi_yaml_get(problem->root, key);
    if (*section && (*section)->kind == kind && (*section)->count > 0)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, *section ? *section : problem->root, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       *section ? "'%s' is not given as it should be" : "'%s' is missing", key);
    sgi_diagnostic_suggest(reader->diagnostic, "as in  %s: %s", key, example);
    return SG_ERROR_FORMAT;
}

/* What is no name, with what was probably meant. */
static sg_status refuse_name(sgi_reader *reader, const sgi_yaml *node)
{
    const char *text = node->kind == SG_YAML_SCALAR ? node->text : "";
    sg_status status = refuse(
        reader, node, "a name is a letter followed by letters, digits and underscores, at most 40");
    if (strchr(text, ' '))
        sgi_diagnostic_suggest(reader->diagnostic, "names are separated by commas");
    else if (text[0] && strspn(text, "0123456789") == strlen(text))
        sgi_diagnostic_suggest(reader->diagnostic, "decimals are written with a point: 0.5");
    else if ((unsigned char)text[0] >= 0x80)
        sgi_diagnostic_suggest(reader->diagnostic, "Greek letters are written out, as theta");
    return status;
}

sg_status sgi_problem_check_name(sgi_reader *reader, const sgi_yaml *node, bool coordinate)
{
    static const char *const kinds[] = {[SG_NAME_COORDINATE] = "a coordinate",
                                        [SG_NAME_FIELD] = "a field",
                                        [SG_NAME_SYMBOL] = "a constant or a definition",
                                        [SG_NAME_FUNCTION] = "a function"};
    if (node->kind != SG_YAML_SCALAR || !sgi_is_name(node->text, node->length))
        return refuse_name(reader, node);
    if (coordinate && strchr(node->text, '_'))
        return refuse(reader, node, "a coordinate's name has no underscore");
    sgi_name_kind kind = sgi_names_kind(reader->names, node->text, node->length);
    if (kind == SG_NAME_NONE)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "'%s' is the name of %s already", node->text,
                       strcmp(node->text, "pi") == 0 ? "a number" : kinds[kind]);
    return SG_ERROR_FORMAT;
}

static sg_status read_coordinate_names(sgi_problem *problem, sgi_reader *reader,
                                       const sgi_yaml *section)
{
    sgi_names *names = &problem->names;
    names->time = -1;
    for (const sgi_yaml *key = section->first; key; key = key->next->next) {
        sg_status status = sgi_problem_check_name(reader, key, true);
        if (status != SG_OK)
            return status;
        if (names->coordinate_count == SG_MOST_COORDINATES)
            return refuse(reader, key, "there are more than 16 coordinates");
        if (strcmp(key->text, "t") == 0)
            names->time = names->coordinate_count;
        names->coordinates[names->coordinate_count++] = key->text;
    }
    return SG_OK;
}

static sg_status read_fields(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "fields");
    bool one = section && section->kind == SG_YAML_SCALAR && section->length > 0;
    sg_status status = SG_OK;
    if (!one)
        status = need_section(problem, reader, "fields", SG_YAML_SEQUENCE, "[u]", &section);
    if (status != SG_OK)
        return status;
    const char **fields = sgi_arena_allocate(&problem->arena, SG_MOST_FIELDS, sizeof *fields);
    if (!fields)
        return SG_ERROR_MEMORY;
    problem->names.fields = fields;
    for (const sgi_yaml *item = one ? section : section->first; item;
         item = one ? NULL : item->next) {
        status = sgi_problem_check_name(reader, item, false);
        if (status != SG_OK)
            return status;
        if (problem->names.field_count == SG_MOST_FIELDS)
            return refuse(reader, item, "there are more than 64 fields");
        fields[problem->names.field_count++] = item->text;
    }
    return SG_OK;
}

/* Adds the names of a section; their expressions are read later, in any order. */
static sg_status read_symbols(sgi_problem *problem, sgi_reader *reader, const char *key,
                              bool constant)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, key);
    if (!section)
        return SG_OK;
    if (section->kind != SG_YAML_MAPPING)
        return refuse(reader, section,
                      constant ? "'constants' must be a mapping, as {nu: 0.01}"
                               : "'definitions' must be a mapping of names to expressions");
    sgi_names *names = &problem->names;
    size_t capacity = (size_t)names->symbol_count + (size_t)section->count / 2;
    names->symbols = sgi_arena_grow(&problem->arena, names->symbols, (size_t)names->symbol_count,
                                    capacity, sizeof *names->symbols);
    if (!names->symbols)
        return SG_ERROR_MEMORY;
    for (const sgi_yaml *name = section->first; name; name = name->next->next) {
        sg_status status = sgi_problem_check_name(reader, name, false);
        if (status != SG_OK)
            return status;
        names->symbols[names->symbol_count++] =
            (sgi_symbol){.name = name->text, .value = name->next, .constant = constant};
    }
    return SG_OK;
}

static sg_status read_bound(sgi_reader *reader, const char *coordinate, const sgi_yaml *node,
                            double *value)
{
    char place[96];
    snprintf(place, sizeof place, "in the range of '%s'", coordinate);
    sgi_scope scope = {reader->names, place, false, false, 0, false};
    sgi_expr expr;
    if (node->kind != SG_YAML_SCALAR)
        return refuse(reader, node, "a bound must be a number");
    sg_status status =
        sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, &expr, reader->diagnostic);
    if (status == SG_OK && !sgi_is_constant(reader->names->exprs, expr, value))
        return refuse(reader, node, "a bound must be a number");
    return status;
}

static sg_status read_bounds(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *section)
{
    int k = 0;
    for (const sgi_yaml *key = section->first; key; key = key->next->next, k++) {
        const sgi_yaml *range = key->next;
        if (range->kind != SG_YAML_SEQUENCE || range->count != 2) {
            sgi_yaml_place(reader->diagnostic, range, 0, 0);
            sgi_diagnostic_say(reader->diagnostic, "the range of '%s' must be two numbers",
                               key->text);
            sgi_diagnostic_suggest(reader->diagnostic, "as in  %s: [0, 1]", key->text);
            return SG_ERROR_FORMAT;
        }
        sg_status status = read_bound(reader, key->text, range->first, &problem->lower[k]);
        if (status == SG_OK)
            status = read_bound(reader, key->text, range->last, &problem->upper[k]);
        if (status != SG_OK)
            return status;
        if (!(problem->lower[k] < problem->upper[k])) {
            sgi_yaml_place(reader->diagnostic, range, 0, 0);
            sgi_diagnostic_say(reader->diagnostic, "the range of '%s' is empty: %g is not below %g",
                               key->text, problem->lower[k], problem->upper[k]);
            return SG_ERROR_FORMAT;
        }
    }
    return SG_OK;
}

/* ---- Equations and conditions ---------------------------------------------------------------- */

enum { MOST_LABEL = 60 };

static sg_status check_label(sgi_reader *reader, const sgi_yaml *node)
{
    bool good = node->kind == SG_YAML_SCALAR && node->length > 0 && node->length <= MOST_LABEL;
    for (size_t i = 0; good && i < node->length; i++) {
        unsigned char c = (unsigned char)node->text[i];
        good = c >= ' ' && c != 127 && c != '/' && c != '\\';
    }
    if (good)
        return SG_OK;
    (void)refuse(
        reader, node,
        "the name of an equation, a condition or a data set has at most 60 bytes, none of them a "
        "slash, a backslash or a control character");
    sgi_diagnostic_suggest(reader->diagnostic, "it is part of the names of arrays in field.npz");
    return SG_ERROR_FORMAT;
}

/* The array NAME of field.npz would be there twice: as a field, and for `what`. */
static sg_status check_clash(const sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node,
                             const char *name, const char *what)
{
    for (int f = 0; f < problem->names.field_count; f++)
        if (strcmp(problem->names.fields[f], name) == 0) {
            sgi_yaml_place(reader->diagnostic, node, 0, 0);
            sgi_diagnostic_say(reader->diagnostic,
                               "the field '%s' has the name that field.npz gives to %s", name,
                               what);
            return SG_ERROR_FORMAT;
        }
    return SG_OK;
}

static sg_status check_references(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *reference = sgi_yaml_get(problem->root, "reference");
    sg_status status = SG_OK;
    static const struct {
        const char *suffix, *what;
    } others[] = {{"_reference", "a reference"}, {"_error", "an error"}};
    for (int f = 0; reference && f < problem->names.field_count; f++)
        for (size_t i = 0; i < sizeof others / sizeof others[0] && status == SG_OK; i++) {
            char name[128];
            snprintf(name, sizeof name, "%s%s", problem->names.fields[f], others[i].suffix);
            status = check_clash(problem, reader, sgi_yaml_get(problem->root, "fields"), name,
                                 others[i].what);
        }
    return status;
}

/* Data sets are terms of the loss beside equations and conditions. */
static sg_status check_data_labels(const sgi_problem *problem, sgi_reader *reader)
{
    static const char *const others[] = {"equations", "conditions"};
    const sgi_yaml *data = sgi_yaml_get(problem->root, "data");
    const sgi_yaml *key = data && data->kind == SG_YAML_MAPPING ? data->first : NULL;
    sg_status status = SG_OK;
    for (; key && status == SG_OK; key = key->next->next) {
        status = check_label(reader, key);
        for (int i = 0; i < 2 && status == SG_OK; i++) {
            const sgi_yaml *section = sgi_yaml_get(problem->root, others[i]);
            if (section && section->kind == SG_YAML_MAPPING && sgi_yaml_get(section, key->text))
                status = sgi_refuse(reader, key, "metrics list the loss of each by its name",
                                    "%s has this name already", i ? "a condition" : "an equation");
        }
    }
    return status;
}

sg_status sgi_problem_check_labels(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *equations = sgi_yaml_get(problem->root, "equations");
    const sgi_yaml *conditions = sgi_yaml_get(problem->root, "conditions");
    sg_status status = check_references(problem, reader);
    if (status == SG_OK && problem->domain.region)
        status = check_clash(problem, reader, sgi_yaml_get(problem->root, "fields"), "inside",
                             "what says where the domain is");
    const sgi_yaml *key = equations && equations->kind == SG_YAML_MAPPING ? equations->first : NULL;
    for (; key && status == SG_OK; key = key->next->next) {
        char name[128];
        status = check_label(reader, key);
        snprintf(name, sizeof name, "residual_%.*s", MOST_LABEL, key->text);
        if (status == SG_OK)
            status = check_clash(problem, reader, key, name, "the residual of this equation");
    }
    key = conditions && conditions->kind == SG_YAML_MAPPING ? conditions->first : NULL;
    for (; key && status == SG_OK; key = key->next->next) {
        status = check_label(reader, key);
        if (status == SG_OK && equations && equations->kind == SG_YAML_MAPPING &&
            sgi_yaml_get(equations, key->text)) {
            (void)refuse(reader, key, "an equation has this name already");
            sgi_diagnostic_suggest(reader->diagnostic, "metrics list the loss of each by its name");
            status = SG_ERROR_FORMAT;
        }
    }
    return status == SG_OK ? check_data_labels(problem, reader) : status;
}

sg_status sgi_problem_read_names(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *coordinates;
    sg_status status = need_section(problem, reader, "coordinates", SG_YAML_MAPPING,
                                    "{x: [-1, 1], t: [0, 1]}", &coordinates);
    if (status == SG_OK)
        status = read_coordinate_names(problem, reader, coordinates);
    if (status == SG_OK)
        status = read_fields(problem, reader);
    if (status == SG_OK)
        status = read_symbols(problem, reader, "constants", true);
    if (status == SG_OK)
        status = read_symbols(problem, reader, "definitions", false);
    if (status == SG_OK)
        status = sgi_problem_name_unknowns(problem, reader);
    for (int i = 0; i < problem->names.symbol_count && status == SG_OK; i++)
        status = sgi_names_resolve(&problem->names, &problem->names.symbols[i], reader->diagnostic);
    if (status == SG_OK)
        status = sgi_problem_read_unknowns(problem, reader);
    return status == SG_OK ? read_bounds(problem, reader, coordinates) : status;
}

/* Whether the field is in an equation or a condition. */
static bool is_used(const sgi_expressions *exprs, const uint8_t *reached, int field)
{
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (input && input->kind == SG_INPUT_FIELD && input->index == field)
            return true;
    }
    return false;
}

void sgi_problem_reach(const sgi_problem *problem, uint8_t *reached, uint8_t *one)
{
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        sgi_expressions_reach(problem->exprs, set->roots, (size_t)set->component_count, one);
        for (uint32_t i = 0; i < problem->exprs->count; i++)
            reached[i] |= one[i];
    }
}

sg_status sgi_problem_check_fields(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "fields");
    const sgi_yaml *item = section->kind == SG_YAML_SEQUENCE ? section->first : section;
    size_t nodes = problem->exprs->count;
    uint8_t *reached = sgi_arena_allocate(&problem->arena, 2 * nodes, 1);
    if (!reached)
        return SG_ERROR_MEMORY;
    sgi_problem_reach(problem, reached, reached + nodes);
    for (int f = 0; f < problem->names.field_count; f++, item = item->next) {
        if (is_used(problem->exprs, reached, f))
            continue;
        sgi_yaml_place(reader->diagnostic, item, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "the field '%s' is in no equation and no condition",
                           problem->names.fields[f]);
        sgi_diagnostic_suggest(reader->diagnostic, "take it out of 'fields', or say what it obeys");
        return SG_ERROR_FORMAT;
    }
    return SG_OK;
}

const char *sgi_problem_field_list(const sgi_problem *problem, char *text, size_t capacity)
{
    const sgi_names *names = &problem->names;
    size_t used =
        (size_t)snprintf(text, capacity, "and the field%s", names->field_count > 1 ? "s" : "");
    for (int i = 0; i < names->field_count && used < capacity; i++)
        used +=
            (size_t)snprintf(text + used, capacity - used, "%s %s", i ? "," : "", names->fields[i]);
    return text;
}
