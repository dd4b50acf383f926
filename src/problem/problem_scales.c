/* The section `scales`: reading it, and putting sizes into expressions. See scales.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/data.h"
#include "problem/exact_conditions.h"
#include "problem/scales.h"

/* ---- Reading ----------------------------------------------------------------------------------
 */

/* Products of a few sizes must stay within what a double holds. */
static const double least_size = 1e-30, most_size = 1e30;

static sg_status refuse(sgi_reader *reader, const sgi_yaml *node, const char *name,
                        const char *message, const char *advice)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "the scale of '%.40s' %s", name, message);
    sgi_diagnostic_suggest(reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
}

static sg_status read_number(sgi_reader *reader, const char *name, const sgi_yaml *node,
                             double *value)
{
    char place[96];
    sgi_expr expr;
    (void)snprintf(place, sizeof place, "in the scale of '%.40s'", name);
    sgi_scope scope = {reader->names, place, false, false, 0, false};
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return refuse(reader, node, name, "must be a number", "as in  T: 80,  or  auto");
    sg_status status =
        sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, &expr, reader->diagnostic);
    if (status == SG_OK &&
        (!sgi_is_constant(reader->names->exprs, expr, value) || !isfinite(*value)))
        return refuse(reader, node, name, "must be a number", "as in  T: 80,  or  auto");
    return status;
}

static sg_status read_size(sgi_reader *reader, const char *name, const sgi_yaml *node,
                           sgi_scale *scale)
{
    if (sgi_yaml_is(node, "auto"))
        return SG_OK;
    sg_status status = read_number(reader, name, node, &scale->size);
    if (status == SG_OK && !(scale->size >= least_size && scale->size <= most_size))
        return refuse(reader, node, name, "must be a size above 0, from 1e-30 to 1e30",
                      "a size has no sign and is never 0; what a field is measured from is its "
                      "offset, as in  T: {size: 80, offset: 293}");
    (void)snprintf(scale->origin, sizeof scale->origin, "given");
    return status;
}

/* {size: 80, offset: 293} */
static sg_status read_pair(sgi_reader *reader, const char *name, const sgi_yaml *node,
                           bool coordinate, sgi_scale *scale)
{
    static const char example[] = "as in  T: {size: 80, offset: 293}";
    const sgi_yaml *size = sgi_yaml_get(node, "size"), *offset = sgi_yaml_get(node, "offset");
    for (const sgi_yaml *key = node->first; key; key = key->next->next)
        if (!sgi_yaml_is(key, "size") && !sgi_yaml_is(key, "offset"))
            return refuse(reader, key, name, "has a size and an offset, and nothing else", example);
    if (!size || (offset && sgi_yaml_is(size, "auto")))
        return refuse(reader, node, name, "needs the number  size", example);
    if (offset && coordinate)
        return refuse(reader, offset, name, "has no offset, since it is a coordinate",
                      "the network sees coordinates from -1 to 1 in any case");
    sg_status status = read_size(reader, name, size, scale);
    if (status == SG_OK && offset)
        status = read_number(reader, name, offset, &scale->offset);
    if (status == SG_OK && fabs(scale->offset) > most_size)
        return refuse(reader, offset, name, "has an offset beyond 1e30", example);
    return status;
}

static sg_status read_entry(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *key)
{
    const sgi_names *names = &problem->names;
    sgi_scale *scale = NULL;
    sgi_nearest nearest;
    bool coordinate = false;
    sgi_nearest_begin(&nearest, key->text ? key->text : "", key->length);
    for (int k = 0; k < names->coordinate_count && !scale; k++) {
        sgi_nearest_offer(&nearest, names->coordinates[k]);
        coordinate = sgi_yaml_is(key, names->coordinates[k]);
        scale = coordinate ? &problem->scales.coordinates[k] : NULL;
    }
    for (int f = 0; f < names->field_count && !scale; f++) {
        sgi_nearest_offer(&nearest, names->fields[f]);
        scale = sgi_yaml_is(key, names->fields[f]) ? &problem->scales.fields[f] : NULL;
    }
    if (!scale) {
        sgi_yaml_place(reader->diagnostic, key, 0, 0);
        sgi_diagnostic_say(reader->diagnostic,
                           "'%.60s' in 'scales' is neither a coordinate nor a field", key->text);
        sgi_nearest_suggest(&nearest, reader->diagnostic);
        return SG_ERROR_FORMAT;
    }
    return key->next->kind == SG_YAML_MAPPING
               ? read_pair(reader, key->text, key->next, coordinate, scale)
               : read_size(reader, key->text, key->next, scale);
}

static sg_status read_section(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *section)
{
    sg_status status = SG_OK;
    if (sgi_yaml_is(section, "auto"))
        return SG_OK;
    if (section->kind != SG_YAML_MAPPING || section->count == 0) {
        sgi_yaml_place(reader->diagnostic, section, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "'scales' must be sizes by name, or auto");
        sgi_diagnostic_suggest(reader->diagnostic,
                               "as in  scales: {x: 0.01, T: {size: 80, offset: 293}}");
        return SG_ERROR_FORMAT;
    }
    for (const sgi_yaml *key = section->first; key && status == SG_OK; key = key->next->next)
        status = read_entry(problem, reader, key);
    return status;
}

static sg_status check_size(sgi_reader *reader, const sgi_yaml *section, const char *name,
                            double size)
{
    if (size >= least_size && size <= most_size)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, section, 0, 0);
    if (size > 0)
        sgi_diagnostic_say(reader->diagnostic,
                           "'%s' seems to have the size %g, which is not from 1e-30 to 1e30", name,
                           size);
    else
        sgi_diagnostic_say(reader->diagnostic,
                           "the size of the field '%s' cannot be found: no condition, source or "
                           "reference gives it a value other than 0",
                           name);
    sgi_diagnostic_suggest(reader->diagnostic, "write its size, as in  scales: {%s: 1}", name);
    return SG_ERROR_FORMAT;
}

/* Everything needs a size by now. */
static sg_status check_found(const sgi_problem *problem, sgi_reader *reader,
                             const sgi_yaml *section)
{
    const sgi_names *names = &problem->names;
    const sgi_scales *scales = &problem->scales;
    sg_status status = SG_OK;
    for (int k = 0; k < names->coordinate_count && status == SG_OK; k++)
        status = check_size(reader, section, names->coordinates[k], scales->coordinates[k].size);
    for (int f = 0; f < names->field_count && status == SG_OK; f++)
        status = check_size(reader, section, names->fields[f], scales->fields[f].size);
    return status;
}

/* ---- Residuals --------------------------------------------------------------------------------
 */

/* Measurements with standard deviations keep their weights among each other: all are divided by one
 * number, the mean of their sizes, which goes into their factors. So the spread is still what one
 * deviation counts. */
static void divide_data(sgi_data *data, double *scales)
{
    double squares = 0, count = 0;
    for (size_t j = 0; j < (size_t)data->observed; j++) {
        for (size_t i = 0; i < data->trained; i++)
            if (data->factors[j * data->count + i] != 0) {
                squares += scales[j] * scales[j];
                count++;
            }
        scales[j] = 1;
    }
    double mean = sqrt(squares / fmax(count, 1));
    for (size_t i = 0; i < (size_t)data->observed * data->count; i++)
        data->factors[i] /= mean;
    data->spread /= mean;
}

static sg_status size_residuals(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *section)
{
    for (int k = 0; k < problem->set_count; k++) {
        sgi_point_set *set = &problem->sets[k];
        set->scales =
            sgi_arena_allocate(&problem->arena, (size_t)set->component_count, sizeof *set->scales);
        if (!set->scales)
            return SG_ERROR_MEMORY;
        sg_status status = sgi_scales_residuals(problem, &problem->scales, k, set->scales);
        for (int c = 0; c < set->component_count && status == SG_OK; c++) {
            if (set->scales[c] > 0 && isfinite(1 / set->scales[c]))
                continue;
            sgi_yaml_place(reader->diagnostic, section, 0, 0);
            sgi_diagnostic_say(reader->diagnostic,
                               "the size of %s '%.60s' cannot be found: it is not finite, or 0, "
                               "for fields of these sizes",
                               sgi_point_set_what(set), set->terms[set->component_terms[c]].name);
            sgi_diagnostic_suggest(reader->diagnostic,
                                   "a field may need an offset, as in  T: {size: 80, offset: 293}");
            return SG_ERROR_FORMAT;
        }
        if (status != SG_OK)
            return status;
        if (set->data && set->data->stds)
            divide_data(&problem->data[set->data - problem->data], set->scales);
    }
    return SG_OK;
}

double sgi_scales_unit(const sgi_scales *scales, sgi_derivative derivative)
{
    double unit = 1;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        for (int i = 0; i < sgi_derivative_order(derivative, k); i++)
            unit *= scales->coordinates[k].size;
    return unit;
}

double sgi_scales_size(const sgi_scales *scales, const sgi_input *input)
{
    return scales->fields[input->index].size / sgi_scales_unit(scales, input->derivative);
}

/* ---- Expressions ------------------------------------------------------------------------------
 */

static sgi_expr put_size(sgi_problem *problem, sgi_expr node, const sgi_input *input)
{
    if (input->kind != SG_INPUT_FIELD)
        return node;
    double size = problem->scales.fields[input->index].size;
    return sgi_mul(problem->exprs, sgi_constant(problem->exprs, size), node);
}

static sgi_expr put_unit(sgi_problem *problem, sgi_expr node, const sgi_input *input)
{
    if (input->kind != SG_INPUT_FIELD)
        return node;
    double unit = sgi_scales_unit(&problem->scales, input->derivative);
    return sgi_mul(problem->exprs, sgi_constant(problem->exprs, 1 / unit), node);
}

/* offset + size * N, or with exact conditions g + d * size * N. */
static sg_status make_transforms(sgi_problem *problem)
{
    sgi_expressions *exprs = problem->exprs;
    size_t fields = (size_t)problem->names.field_count;
    if (!problem->transforms)
        problem->transforms =
            sgi_arena_allocate(&problem->arena, fields, sizeof *problem->transforms);
    if (!problem->transforms)
        return SG_ERROR_MEMORY;
    sg_status status = SG_OK;
    for (int f = 0; f < (int)fields && status == SG_OK; f++) {
        const sgi_scale *scale = &problem->scales.fields[f];
        sgi_input input = {.kind = SG_INPUT_FIELD, .index = f};
        sgi_expr output = sgi_expressions_input(exprs, &input);
        if (problem->transforms[f])
            status = sgi_exact_rebuild(problem, &problem->transforms[f], 1, put_size);
        else
            problem->transforms[f] = sgi_add(exprs, sgi_constant(exprs, scale->offset),
                                             put_size(problem, output, &input));
        if (status == SG_OK)
            status = exprs->status;
    }
    return status;
}

sg_status sgi_scales_apply(sgi_problem *problem, sgi_expr *roots, size_t count)
{
    return problem->scales.on ? sgi_exact_rebuild(problem, roots, count, put_unit) : SG_OK;
}

enum { MOST_TERMS = 64 };

/* Takes the constant out of a product, if it has one: c * x becomes x. */
static bool take_constant(const sgi_expressions *exprs, sgi_expr *expr, double *factor)
{
    const sgi_node node = exprs->nodes[*expr];
    double value;
    for (int k = 0; k < 2 && node.op == SG_OP_MUL; k++)
        if (sgi_is_constant(exprs, node.arguments[k], &value)) {
            *factor *= value;
            *expr = node.arguments[1 - k];
            return true;
        }
    return false;
}

/* factor * expr, with constants of a product and of a numerator put into the factor: numbers of
 * opposite sizes meet before anything is computed in float. */
static sgi_expr multiply(sgi_expressions *exprs, double factor, sgi_expr expr)
{
    const sgi_node node = exprs->nodes[expr];
    if (node.op == SG_OP_MUL || node.op == SG_OP_DIV) {
        sgi_expr left = node.arguments[0], right = node.arguments[1];
        bool changed = take_constant(exprs, &left, &factor);
        if (node.op == SG_OP_MUL)
            changed = take_constant(exprs, &right, &factor) || changed;
        if (changed)
            expr = sgi_apply(exprs, node.op, left, right, 0);
    }
    while (take_constant(exprs, &expr, &factor))
        continue;
    return sgi_mul(exprs, sgi_constant(exprs, factor), expr);
}

sgi_expr sgi_scales_divide(sgi_expressions *exprs, sgi_expr expr, double scale)
{
    struct {
        sgi_expr expr;
        double factor;
    } open[MOST_TERMS];
    sgi_expr sum = 0;
    double constant = 0, value;
    int count = 0, budget = 4 * MOST_TERMS;
    open[count].expr = expr;
    open[count++].factor = 1 / scale;
    while (count > 0) {
        sgi_expr at = open[--count].expr;
        double factor = open[count].factor;
        const sgi_node node = exprs->nodes[at];
        bool left = node.op == SG_OP_MUL && sgi_is_constant(exprs, node.arguments[0], &value);
        if ((node.op == SG_OP_ADD || node.op == SG_OP_SUB) && count + 2 <= MOST_TERMS &&
            budget-- > 0) { /* the first argument is taken first */
            open[count].expr = node.arguments[1];
            open[count++].factor = node.op == SG_OP_SUB ? -factor : factor;
            open[count].expr = node.arguments[0];
            open[count++].factor = factor;
        } else if (node.op == SG_OP_NEG || left) {
            open[count].expr = node.arguments[left];
            open[count++].factor = left ? factor * value : -factor;
        } else if (sgi_is_constant(exprs, at, &value)) {
            constant += factor * value;
        } else {
            sum = sgi_add(exprs, sum, multiply(exprs, factor, at));
        }
    }
    return sgi_add(exprs, sum, sgi_constant(exprs, constant));
}

/* ---- The whole --------------------------------------------------------------------------------
 */

sg_status sgi_scales_read(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "scales");
    if (!section)
        return SG_OK;
    sg_status status = read_section(problem, reader, section);
    if (status == SG_OK)
        status = sgi_scales_find(problem, &problem->scales);
    if (status == SG_OK)
        status = check_found(problem, reader, section);
    if (status == SG_OK)
        status = size_residuals(problem, reader, section);
    problem->scales.on = true;
    return status == SG_OK ? make_transforms(problem) : status;
}
