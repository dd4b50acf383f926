/* Reading measured data: what the problem says. See data.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/data_reading.h"

typedef sgi_data_reading reading;

/* ---- Observed expressions ---------------------------------------------------------------------
 */

static sg_status add_observed(reading *r, const sgi_yaml *place, const char *text, sgi_expr expr,
                              const char *column)
{
    sgi_data *data = r->data;
    for (int j = 0; j < data->observed; j++)
        if (strcmp(data->texts[j], text) == 0)
            return sgi_refuse(r->reader, place, NULL, "%s observes '%.60s' twice", r->what, text);
    if (data->observed == SG_MOST_OBSERVED)
        return sgi_refuse(r->reader, place, NULL, "%s observes more than %d expressions", r->what,
                          SG_MOST_OBSERVED);
    r->places[data->observed] = place;
    data->texts[data->observed] = text;
    data->exprs[data->observed++] = expr;
    r->wanted.quantities[r->wanted.quantity_count++] = column;
    return r->problem->exprs->status;
}

static sg_status add_field(reading *r, int field, const char *column)
{
    sgi_input input = {.kind = SG_INPUT_FIELD, .index = field};
    return add_observed(r, r->name, r->problem->names.fields[field],
                        sgi_expressions_input(r->problem->exprs, &input), column);
}

static sg_status add_expression(reading *r, const sgi_yaml *key)
{
    sgi_expressions *exprs = r->problem->exprs;
    char place[112];
    snprintf(place, sizeof place, "in %s", r->what);
    sgi_scope scope = {&r->problem->names, place, true, true, 0, false};
    sgi_expr expr;
    sg_status status =
        sgi_names_parse(&scope, key, 0, key->length, SG_READ_VALUE, &expr, r->reader->diagnostic);
    if (status == SG_OK)
        status = exprs->status;
    if (status != SG_OK)
        return status;
    if (key->next->kind != SG_YAML_SCALAR || key->next->length == 0)
        return sgi_refuse(r->reader, key->next, "as in  observe: {u_x: flux}",
                          "this must be the name of a column or an array, or its number");
    if (!sgi_has_slope(exprs, expr, SG_INPUT_FIELD) && exprs->status == SG_OK)
        return sgi_refuse(r->reader, key, "as in  observe: {u_x: flux}",
                          "%s observes something that does not change with the fields", r->what);
    return add_observed(r, key, key->text, expr, key->next->text);
}

/* Fields that `columns` names, then what `observe` lists; without both, the fields that the file
 * has under their names. */
static sg_status choose_observed(reading *r, const sgi_arrays *arrays, bool named)
{
    const sgi_names *names = &r->problem->names;
    const sgi_yaml *list = sgi_yaml_get(r->name->next, "observe");
    bool by_name = !list && !r->columns.given;
    sg_status status = SG_OK;
    for (int f = 0; f < names->field_count && status == SG_OK; f++) {
        bool given = (r->columns.given & ~r->columns.none) >> f & 1;
        if (given)
            status = add_field(r, f, r->columns.names[names->coordinate_count + f]);
        else if (by_name && (!named || sgi_file_has(arrays, names->fields[f])))
            status = add_field(r, f, names->fields[f]);
    }
    if (list && list->kind != SG_YAML_MAPPING)
        return sgi_refuse(r->reader, list, "as in  observe: {u_x: flux}",
                          "'observe' says which column or array has the values of an expression");
    for (const sgi_yaml *key = list ? list->first : NULL; key && status == SG_OK;
         key = key->next->next)
        status = add_expression(r, key);
    if (status == SG_OK && r->data->observed == 0)
        return sgi_refuse(r->reader, r->name, "say what was measured, as in  observe: {u: T}",
                          "%s observes nothing: no column has the name of a field", r->what);
    return status;
}

/* ---- Standard deviations ----------------------------------------------------------------------
 */

/* A number, or else the name of a column. */
static sg_status read_deviation(reading *r, const sgi_yaml *node, int j)
{
    sgi_scope scope = {&r->problem->names, r->what, false, false, 0, false};
    sg_diagnostic unread = {0};
    sgi_expr expr;
    double *number = &r->std_numbers[j];
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_refuse(r->reader, node, "as in  std: 0.1",
                          "a standard deviation is a number or the name of a column");
    sg_status status =
        sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, &expr, &unread);
    if (status == SG_ERROR_MEMORY)
        return status;
    if (status != SG_OK || !sgi_is_constant(r->problem->exprs, expr, number)) {
        r->std_columns[j] = node->text;
        return SG_OK;
    }
    if (!(*number > 0 && isfinite(*number)))
        return sgi_refuse(r->reader, node, NULL, "a standard deviation is above 0");
    return SG_OK;
}

/* That of each expression, by the text of the expression. */
static sg_status read_list(reading *r, const sgi_yaml *list)
{
    sgi_data *data = r->data;
    for (const sgi_yaml *key = list->first; key; key = key->next->next) {
        sgi_nearest nearest;
        int j = 0;
        sgi_nearest_begin(&nearest, key->text, key->length);
        while (j < data->observed && strcmp(data->texts[j], key->text) != 0)
            sgi_nearest_offer(&nearest, data->texts[j++]);
        if (j == data->observed) {
            (void)sgi_refuse(r->reader, key, NULL, "%s does not observe '%.60s'", r->what,
                             key->text);
            sgi_nearest_suggest(&nearest, r->reader->diagnostic);
            return SG_ERROR_FORMAT;
        }
        sg_status status = read_deviation(r, key->next, j);
        if (status != SG_OK)
            return status;
    }
    for (int j = 0; j < data->observed; j++)
        if (!r->std_columns[j] && r->std_numbers[j] == 0)
            return sgi_refuse(r->reader, list, "weights follow from all of them or from none",
                              "%s has no standard deviation for '%.60s'", r->what, data->texts[j]);
    return SG_OK;
}

static sg_status read_deviations(reading *r)
{
    const sgi_yaml *node = sgi_yaml_get(r->name->next, "std");
    sg_status status = SG_OK;
    r->deviations = node != NULL;
    if (!node)
        return SG_OK;
    if (node->kind == SG_YAML_MAPPING)
        status = read_list(r, node);
    else
        for (int j = 0; j < r->data->observed && status == SG_OK; j++)
            status = read_deviation(r, node, j);
    for (int j = 0; j < r->data->observed && status == SG_OK; j++)
        if (r->std_columns[j]) {
            r->std_places[j] = r->wanted.quantity_count;
            r->wanted.quantities[r->wanted.quantity_count++] = r->std_columns[j];
        }
    return status;
}

/* ---- Factors of coordinates -------------------------------------------------------------------
 */

static sg_status read_factors(reading *r)
{
    const sgi_names *names = &r->problem->names;
    const sgi_yaml *node = sgi_yaml_get(r->name->next, "factors");
    sgi_scope scope = {&r->problem->names, r->what, false, false, 0, false};
    for (int k = 0; k < names->coordinate_count; k++)
        r->coordinate_factors[k] = 1;
    if (!node)
        return SG_OK;
    if (node->kind != SG_YAML_MAPPING)
        return sgi_refuse(r->reader, node, "as in  factors: {x: 0.001}",
                          "'factors' says what a coordinate's numbers are multiplied by");
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        int k = 0;
        sgi_expr expr;
        while (k < names->coordinate_count && strcmp(names->coordinates[k], key->text) != 0)
            k++;
        if (k == names->coordinate_count)
            return sgi_refuse(r->reader, key,
                              "the unit of a value is part of the expression, as in  observe: "
                              "{1000*u: millimetres}",
                              "'%.60s' is not a coordinate", key->text);
        if (key->next->kind != SG_YAML_SCALAR || key->next->length == 0)
            return sgi_refuse(r->reader, key->next, NULL, "a factor is a number");
        sg_status status = sgi_names_parse(&scope, key->next, 0, key->next->length, SG_READ_VALUE,
                                           &expr, r->reader->diagnostic);
        if (status != SG_OK)
            return status;
        if (!sgi_is_constant(r->problem->exprs, expr, &r->coordinate_factors[k]) ||
            !isfinite(r->coordinate_factors[k]) || r->coordinate_factors[k] == 0)
            return sgi_refuse(r->reader, key->next, NULL, "a factor is a number, and not 0");
    }
    return SG_OK;
}

/* ---- The values -------------------------------------------------------------------------------
 */

static sg_status take(reading *r, const sgi_arrays *arrays, bool named, const char *path,
                      sg_diagnostic *said, bool *unfit)
{
    sgi_samples samples = {.count = 0};
    sgi_file_columns_coordinates(r->problem, &r->columns, &r->wanted);
    sg_status status = choose_observed(r, arrays, named);
    if (status == SG_OK)
        status = read_deviations(r);
    if (status == SG_OK)
        status = read_factors(r);
    if (status != SG_OK)
        return status;
    status =
        sgi_samples_make(&samples, arrays, named, &r->wanted, path, &r->problem->allocator, said);
    *unfit = status == SG_ERROR_FORMAT;
    if (status == SG_OK)
        status = sgi_data_take_rows(r, &samples);
    sgi_samples_release(&samples);
    return status;
}

static sg_status read_file(reading *r, int index)
{
    char name[32], *data;
    size_t size;
    const sgi_yaml *body = r->name->next;
    sg_diagnostic said = {0};
    snprintf(name, sizeof name, "data-%d", index + 1);
    sgi_attach wanted = {"a data set", name, SG_ARRAY_ENDINGS, sgi_yaml_get(body, "file"),
                         sgi_yaml_get(body, "sum")};
    sg_status status =
        sgi_attach_read(&wanted, r->reader, r->problem->root->source, &r->data->file, &data, &size);
    if (status == SG_OK) {
        sgi_arrays arrays;
        bool named, unfit = false;
        status = sgi_arrays_parse(data, size, r->data->file.file, (size_t)2 * SG_ATTACHMENT_BYTES,
                                  &r->problem->allocator, &arrays, &named, &said);
        if (status == SG_ERROR_FORMAT)
            unfit = true;
        if (status == SG_OK)
            status = take(r, &arrays, named, r->data->file.file, &said, &unfit);
        sgi_arrays_release(&arrays);
        if (unfit)
            status = sgi_attach_refuse(&wanted, r->reader, &said);
    }
    sgi_release(&r->reader->arena->allocator, data);
    return status;
}

/* A list of numbers in the problem itself. */
static sg_status read_array(reading *r, const sgi_yaml *key, sgi_array *array)
{
    const sgi_yaml *list = key->next;
    if (list->kind != SG_YAML_SEQUENCE || list->count == 0)
        return sgi_refuse(r->reader, list, "as in  values: {x: [0, 0.5], u: [1, 2]}",
                          "'%.60s' must be a list of numbers", key->text);
    *array = (sgi_array){
        .name = (char *)(uintptr_t)key->text,
        .rank = 1,
        .shape = {(size_t)list->count},
        .count = (size_t)list->count,
        .values = sgi_arena_allocate(&r->problem->arena, (size_t)list->count, sizeof(double))};
    if (!array->values)
        return SG_ERROR_MEMORY;
    size_t i = 0;
    for (const sgi_yaml *item = list->first; item; item = item->next) {
        sgi_scope scope = {&r->problem->names, r->what, false, false, 0, false};
        sgi_expr expr;
        if (sgi_yaml_is(item, "nan")) {
            array->values[i++] = NAN;
            continue;
        }
        if (item->kind != SG_YAML_SCALAR || item->length == 0)
            return sgi_refuse(r->reader, item, "nan stands for a value that is missing",
                              "this must be a number");
        sg_status status = sgi_names_parse(&scope, item, 0, item->length, SG_READ_VALUE, &expr,
                                           r->reader->diagnostic);
        if (status != SG_OK)
            return status;
        if (!sgi_is_constant(r->problem->exprs, expr, &array->values[i++]))
            return sgi_refuse(r->reader, item, NULL, "this must be a number");
    }
    return SG_OK;
}

static sg_status read_values(reading *r, const sgi_yaml *node)
{
    sg_diagnostic said = {0};
    bool unfit = false;
    if (node->kind != SG_YAML_MAPPING || node->count == 0)
        return sgi_refuse(r->reader, node, "as in  values: {x: [0, 0.5], u: [1, 2]}",
                          "'values' has a list of numbers for each coordinate and measurement");
    sgi_arrays arrays = {.allocator = r->problem->allocator,
                         .count = (size_t)node->count / 2,
                         .items = sgi_arena_allocate(&r->problem->arena, (size_t)node->count / 2,
                                                     sizeof(sgi_array))};
    sg_status status = arrays.items ? SG_OK : SG_ERROR_MEMORY;
    size_t i = 0;
    for (const sgi_yaml *key = node->first; key && status == SG_OK; key = key->next->next)
        status = read_array(r, key, &arrays.items[i++]);
    if (status == SG_OK)
        status = take(r, &arrays, true, "values", &said, &unfit);
    return unfit ? sgi_refuse(r->reader, node, said.suggestion[0] ? said.suggestion : NULL, "%s",
                              said.message)
                 : status;
}

/* ---- Sets -------------------------------------------------------------------------------------
 */

/* The set of points: residuals (e - value) * factor. */
static sg_status make_set(reading *r)
{
    sgi_data *data = r->data;
    sgi_expressions *exprs = r->problem->exprs;
    sgi_arena *arena = &r->problem->arena;
    size_t count = (size_t)data->observed;
    int64_t asked = data->settings.points, trained = (int64_t)data->trained;
    sgi_point_set *set = &r->problem->sets[r->problem->set_count];
    *set = (sgi_point_set){.name = r->name->text,
                           .kind = SG_SET_DATA,
                           .points_per_item = 1,
                           .items = asked > 0 && asked < trained ? asked : trained,
                           .data = data,
                           .distribution = SG_DRAW_UNIFORM,
                           .renew = 1,
                           .terms = sgi_arena_allocate(arena, 1, sizeof(sgi_term)),
                           .term_count = 1,
                           .component_count = data->observed,
                           .component_terms = sgi_arena_allocate(arena, count, sizeof(int)),
                           .roots = sgi_arena_allocate(arena, count, sizeof(sgi_expr))};
    if (!set->terms || !set->component_terms || !set->roots)
        return SG_ERROR_MEMORY;
    set->terms[0] = (sgi_term){r->name->text, data->settings.weight};
    for (int j = 0; j < data->observed; j++) {
        sgi_input value = {.kind = SG_INPUT_DATA, .index = 2 * j};
        sgi_input factor = {.kind = SG_INPUT_DATA, .index = 2 * j + 1};
        sgi_expr difference = sgi_sub(exprs, data->exprs[j], sgi_expressions_input(exprs, &value));
        set->roots[j] = sgi_mul(exprs, difference, sgi_expressions_input(exprs, &factor));
    }
    r->problem->set_count++;
    return exprs->status;
}

static sg_status read_set(reading *r, int index)
{
    sgi_arena *arena = &r->problem->arena;
    const sgi_yaml *body = r->name->next;
    r->data->texts = sgi_arena_allocate(arena, SG_MOST_OBSERVED, sizeof *r->data->texts);
    r->data->exprs = sgi_arena_allocate(arena, SG_MOST_OBSERVED, sizeof *r->data->exprs);
    if (!r->data->texts || !r->data->exprs)
        return SG_ERROR_MEMORY;
    if (body->kind != SG_YAML_MAPPING)
        return sgi_refuse(r->reader, body, "as in  {file: probes.csv, observe: {u: T}}",
                          "%s must be a mapping", r->what);
    sg_status status = sgi_options_default(r->reader, "data.*", &r->data->settings);
    if (status == SG_OK)
        status = sgi_options_read(r->reader, "data.*", r->what, body, &r->data->settings);
    if (status == SG_OK)
        status = sgi_file_columns_read(r->problem, r->reader, body, &r->columns);
    if (status != SG_OK)
        return status;
    const sgi_yaml *file = sgi_yaml_get(body, "file"), *values = sgi_yaml_get(body, "values");
    if (!file == !values)
        return sgi_refuse(r->reader, file ? values : r->name,
                          "as in  file: probes.csv, or  values: {x: [0, 0.5], u: [1, 2]}",
                          file ? "%s has a file and values: it takes one of them"
                               : "%s has no file and no values",
                          r->what);
    status = file ? read_file(r, index) : read_values(r, values);
    return status == SG_OK ? make_set(r) : status;
}

sg_status sgi_problem_read_data(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "data");
    int most = SG_MOST_SETS - problem->set_count;
    if (!section)
        return SG_OK;
    if (section->kind != SG_YAML_MAPPING || section->count / 2 > most)
        return sgi_refuse(reader, section, "as in  data: {probes: {file: probes.csv}}",
                          "'data' must be a mapping of at most %d names", most);
    problem->data =
        sgi_arena_allocate(&problem->arena, (size_t)section->count / 2 + 1, sizeof *problem->data);
    reading *r = sgi_arena_allocate(&problem->arena, 1, sizeof *r);
    if (!problem->data || !r)
        return SG_ERROR_MEMORY;
    for (const sgi_yaml *name = section->first; name; name = name->next->next) {
        int index = problem->data_count++;
        *r = (reading){.problem = problem, .reader = reader, .name = name};
        r->data = &problem->data[index];
        r->data->name = name;
        snprintf(r->what, sizeof r->what, "data set '%.60s'", name->text);
        sg_status status = read_set(r, index);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}
