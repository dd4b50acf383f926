/* Conditions: residuals on faces of the domain and between them. See problem.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/problem.h"

/* A condition while it is read. */
typedef struct condition {
    sgi_problem *problem;
    sgi_reader *reader;
    const sgi_yaml *name; /* its value, a mapping, is name->next */
    char what[96];        /* "condition 'initial'" */
    char place[100];      /* "in condition 'initial'" */
    sgi_point_set *set;
    sgi_condition_settings *settings;
} condition;

static sg_status refuse(condition *c, const sgi_yaml *node, const char *message, const char *advice)
{
    sgi_yaml_place(c->reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(c->reader->diagnostic, "%s %s", c->what, message);
    sgi_diagnostic_suggest(c->reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
}

/* ---- Where -------------------------------------------------------------------------------- */

static double face_measure(const sgi_problem *problem, int coordinate)
{
    double measure = 1;
    for (int k = 0; k < problem->names.coordinate_count; k++)
        if (k != coordinate)
            measure *= problem->upper[k] - problem->lower[k];
    return measure;
}

static sg_status add_face(condition *c, const sgi_yaml *node, int coordinate, double value)
{
    const sgi_problem *problem = c->problem;
    double lower = problem->lower[coordinate], upper = problem->upper[coordinate];
    double near = 1e-12 * (upper - lower), normal = 0;
    if (fabs(value - lower) <= near)
        value = lower, normal = -1;
    if (fabs(value - upper) <= near)
        value = upper, normal = 1;
    if (c->set->face_count == SG_MOST_FACES)
        return refuse(c, node, "has too many faces", "");
    c->set->faces[c->set->face_count++] =
        (sgi_face){coordinate, value, normal, face_measure(problem, coordinate)};
    return SG_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The bytes [begin, end) without white space around them. */
static void trim(const char *text, size_t *begin, size_t *end)
{
    while (*begin < *end && is_space(text[*begin]))
        (*begin)++;
    while (*end > *begin && is_space(text[*end - 1]))
        (*end)--;
}

static sg_status unknown_coordinate(condition *c, const sgi_yaml *node, size_t begin, size_t end)
{
    const sgi_names *names = &c->problem->names;
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, node->text + begin, end - begin);
    for (int k = 0; k < names->coordinate_count; k++)
        sgi_nearest_offer(&nearest, names->coordinates[k]);
    sgi_nearest_offer(&nearest, "boundary");
    sgi_yaml_place(c->reader->diagnostic, node, begin, end > begin ? end - begin : 1);
    sgi_diagnostic_say(c->reader->diagnostic, "'%.*s' is not a coordinate %s",
                       (int)(end - begin > 60 ? 60 : end - begin), node->text + begin, c->place);
    if (nearest.best[0])
        sgi_nearest_suggest(&nearest, c->reader->diagnostic);
    else
        sgi_diagnostic_suggest(c->reader->diagnostic,
                               "a place is written  t = 0,  x = -1 | x = 1,  or  boundary");
    return SG_ERROR_FORMAT;
}

/* `t == 0` and `t >= 0`: a place is a plane, and is written with one =. */
static sg_status refuse_comparison(condition *c, const sgi_yaml *node, size_t begin, size_t end)
{
    size_t sign = begin, after;
    while (sign < end && !strchr("<>=!", node->text[sign]))
        sign++;
    for (after = sign; after < end && strchr("<>=!", node->text[after]);)
        after++;
    if (sign == end || (after - sign == 1 && node->text[sign] == '='))
        return SG_OK;
    sgi_yaml_place(c->reader->diagnostic, node, sign, after - sign);
    sgi_diagnostic_say(c->reader->diagnostic,
                       "'%.*s' %s compares; a place is a plane, coordinate = value",
                       (int)(after - sign), node->text + sign, c->place);
    sgi_diagnostic_suggest(c->reader->diagnostic, "write =, as in  at: t = 0");
    return SG_ERROR_FORMAT;
}

/* `x = -1` in bytes [begin, end). */
static sg_status read_plane(condition *c, const sgi_yaml *node, size_t begin, size_t end)
{
    const sgi_names *names = &c->problem->names;
    size_t name_begin = begin, name_end = begin, value_begin;
    while (name_end < end && node->text[name_end] != '=')
        name_end++;
    value_begin = name_end + 1;
    bool equals = name_end < end;
    sg_status status = refuse_comparison(c, node, begin, end);
    if (status != SG_OK)
        return status;
    trim(node->text, &name_begin, &name_end);
    int k = 0;
    while (k < names->coordinate_count &&
           (strlen(names->coordinates[k]) != name_end - name_begin ||
            memcmp(names->coordinates[k], node->text + name_begin, name_end - name_begin) != 0))
        k++;
    if (k == names->coordinate_count)
        return unknown_coordinate(c, node, name_begin, name_end);
    if (!equals)
        return refuse(c, node, "needs a value for its coordinate", "as in  at: t = 0");
    sgi_scope scope = {&c->problem->names, c->place, false, false, 0};
    sgi_expr expr;
    double value;
    status = sgi_names_parse(&scope, node, value_begin, end, SG_READ_VALUE, &expr,
                             c->reader->diagnostic);
    if (status != SG_OK)
        return status;
    if (!sgi_is_constant(c->problem->exprs, expr, &value))
        return refuse(c, node, "needs a number for its coordinate", "as in  at: t = 0");
    double lower = c->problem->lower[k], upper = c->problem->upper[k];
    double near = 1e-12 * (upper - lower);
    if (value < lower - near || value > upper + near) {
        sgi_yaml_place(c->reader->diagnostic, node, name_begin, end - name_begin);
        sgi_diagnostic_say(c->reader->diagnostic, "%s = %g lies outside the domain, [%g, %g]",
                           names->coordinates[k], value, lower, upper);
        return SG_ERROR_FORMAT;
    }
    return add_face(c, node, k, value);
}

static sg_status add_boundary(condition *c, const sgi_yaml *node)
{
    const sgi_problem *problem = c->problem;
    for (int k = 0; k < problem->names.coordinate_count; k++) {
        if (k == problem->names.time)
            continue;
        sg_status status = add_face(c, node, k, problem->lower[k]);
        if (status == SG_OK)
            status = add_face(c, node, k, problem->upper[k]);
        if (status != SG_OK)
            return status;
    }
    return c->set->face_count ? SG_OK : refuse(c, node, "has no spatial boundary", "");
}

static sg_status read_place(condition *c, const sgi_yaml *node)
{
    if (node->kind != SG_YAML_SCALAR)
        return refuse(c, node, "needs a place", "as in  at: x = -1 | x = 1");
    for (size_t begin = 0; begin <= node->length;) {
        size_t end = begin, piece = begin, piece_end;
        while (end < node->length && node->text[end] != '|')
            end++;
        piece_end = end;
        trim(node->text, &piece, &piece_end);
        bool boundary = piece_end - piece == 8 && memcmp(node->text + piece, "boundary", 8) == 0;
        sg_status status = boundary ? add_boundary(c, node) : read_plane(c, node, piece, piece_end);
        if (status != SG_OK)
            return status;
        begin = end + 1;
    }
    return SG_OK;
}

/* ---- What ----------------------------------------------------------------------------------- */

static sg_status add_component(condition *c, const sgi_yaml *node, sgi_expr root)
{
    sgi_point_set *set = c->set;
    if (set->component_count == SG_MOST_COMPONENTS)
        return refuse(c, node, "has too many components", "");
    set->roots[set->component_count] = root;
    set->component_terms[set->component_count++] = 0;
    return c->problem->exprs->status;
}

/* When memory has run out, the answer means nothing; the status of the expressions tells later. */
static bool has_field(condition *c, sgi_expr expr)
{
    return sgi_depends_on(c->problem->exprs, expr, SG_INPUT_FIELD) ||
           c->problem->exprs->status != SG_OK;
}

/* Something that changes in jumps alone leaves training no slope to follow. */
static bool is_flat(condition *c, sgi_expr expr)
{
    return !sgi_has_slope(c->problem->exprs, expr, SG_INPUT_FIELD) &&
           c->problem->exprs->status == SG_OK;
}

/* Coordinates along which every face's normal is known. */
static unsigned normals_of(const sgi_point_set *set)
{
    unsigned bits = 0;
    for (int i = 0; i < set->face_count; i++) {
        if (set->faces[i].normal == 0)
            return 0;
        bits |= 1u << set->faces[i].coordinate;
    }
    return bits;
}

/* Whether a key that cannot be read as an expression looks like a misspelt option. */
static bool looks_like_option(const sgi_names *names, const sgi_yaml *key)
{
    if (!sgi_is_name(key->text, key->length))
        return false;
    for (size_t i = 0; i < key->length; i++)
        if (key->text[i] == '_' && sgi_names_kind(names, key->text, i) == SG_NAME_FIELD)
            return false;
    return true;
}

/* `u = 0` where `u: 0` is meant, and `x = 1` after the comma of `at: x = 0, x = 1`. */
static sg_status refuse_equation(condition *c, const sgi_yaml *key)
{
    size_t begin = 0, end = strcspn(key->text, "=");
    if (key->next->kind != SG_YAML_SCALAR || key->next->length > 0 || end == key->length ||
        key->text[end + 1] == '=' || (end > 0 && strchr("<>!", key->text[end - 1])))
        return SG_OK;
    trim(key->text, &begin, &end);
    if (sgi_names_kind(&c->problem->names, key->text + begin, end - begin) == SG_NAME_COORDINATE)
        return refuse(c, key, "has a second place after a comma",
                      "places are joined by |, as in  at: x = 0 | x = 1");
    return refuse(c, key, "has an = where a colon belongs", "as in  u: 0");
}

/* The left side is the key, the right side its value. */
static sg_status read_pair(condition *c, const sgi_yaml *key)
{
    sgi_reader *reader = c->reader;
    sgi_scope scope = {&c->problem->names, c->place, true, true, normals_of(c->set)};
    sgi_expr left, right;
    char fields[200];
    sg_status status = refuse_equation(c, key);
    if (status != SG_OK)
        return status;
    status = sgi_names_parse(&scope, key, 0, key->length, SG_READ_VALUE, &left, reader->diagnostic);
    if (status == SG_ERROR_FORMAT && looks_like_option(&c->problem->names, key))
        return sgi_options_unknown(reader, "conditions.*", "a condition", key,
                                   sgi_problem_field_list(c->problem, fields, sizeof fields));
    if (status != SG_OK)
        return status;
    const sgi_yaml *value = key->next;
    if (value->kind != SG_YAML_SCALAR || value->length == 0)
        return refuse(c, value, "needs an expression here", "as in  u: -sin(pi*x)");
    status =
        sgi_names_parse(&scope, value, 0, value->length, SG_READ_VALUE, &right, reader->diagnostic);
    if (status != SG_OK)
        return status;
    if (!has_field(c, left))
        return refuse(c, key, "has a left side without a field", "as in  u: -sin(pi*x)");
    if (is_flat(c, left))
        return refuse(c, key, "has a left side that changes in jumps alone, as comparisons do",
                      "as in  u: -sin(pi*x)");
    return add_component(c, key, sgi_sub(c->problem->exprs, left, right));
}

static sg_status read_expression(condition *c, const sgi_yaml *node)
{
    sgi_scope scope = {&c->problem->names, c->place, true, true, normals_of(c->set)};
    sgi_expr root;
    if (node->kind != SG_YAML_SCALAR)
        return refuse(c, node, "needs one expression", "as in  expression: u_x + u = 0");
    sg_status status = sgi_names_parse(&scope, node, 0, node->length, SG_READ_EQUATION, &root,
                                       c->reader->diagnostic);
    if (status != SG_OK)
        return status;
    if (!has_field(c, root))
        return refuse(c, node, "has an expression without a field", "");
    if (is_flat(c, root))
        return refuse(c, node, "changes with the fields in jumps alone, as comparisons do",
                      "training needs a slope to follow");
    return add_component(c, node, root);
}

/* Options go to the settings, anything else is an expression and waits for `at`. */
static sg_status read_options(condition *c)
{
    sg_status status = sgi_options_default(c->reader, "conditions.*", c->settings);
    for (const sgi_yaml *key = c->name->next->first; key && status == SG_OK;
         key = key->next->next) {
        char path[128];
        snprintf(path, sizeof path, "conditions.*.%.60s", key->text);
        const sgi_option *option = sgi_option_find(c->reader->table, path);
        if (option)
            status = sgi_option_read(c->reader, option, key->next, c->settings);
    }
    return status;
}

static sg_status read_expressions(condition *c)
{
    for (const sgi_yaml *key = c->name->next->first; key; key = key->next->next) {
        char path[128];
        snprintf(path, sizeof path, "conditions.*.%.60s", key->text);
        sg_status status = SG_OK;
        if (sgi_yaml_is(key, "expression"))
            status = read_expression(c, key->next);
        else if (!sgi_option_find(c->reader->table, path))
            status = read_pair(c, key);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

/* ---- Periodic pairs ----------------------------------------------------------------------- */

static sgi_expr field_input(sgi_expressions *exprs, int field, sgi_derivative derivative, int side)
{
    sgi_input input = {
        .kind = SG_INPUT_FIELD, .index = field, .side = side, .derivative = derivative};
    return sgi_expressions_input(exprs, &input);
}

/* The difference of the field's slopes at the two points of a pair, along the pair's own
 * coordinate: the normal of the upper face, which is 1 there and 0 elsewhere, picks it. */
static sgi_expr slope_difference(condition *c, int field)
{
    sgi_expressions *exprs = c->problem->exprs;
    sgi_expr sum = 0;
    for (int k = 0; k < c->problem->names.coordinate_count; k++) {
        if (!(c->settings->periodic >> k & 1))
            continue;
        sgi_input normal = {.kind = SG_INPUT_NORMAL, .index = k};
        sgi_expr difference = sgi_sub(exprs, field_input(exprs, field, sgi_derivative_unit(k), 1),
                                      field_input(exprs, field, sgi_derivative_unit(k), 0));
        sum =
            sgi_add(exprs, sum, sgi_mul(exprs, sgi_expressions_input(exprs, &normal), difference));
    }
    return sum;
}

static sg_status make_pairs(condition *c)
{
    sgi_expressions *exprs = c->problem->exprs;
    sg_status status = SG_OK;
    c->set->kind = SG_SET_PAIRS;
    c->set->points_per_item = 2;
    if (sgi_yaml_get(c->name->next, "at"))
        return refuse(c, c->name, "is periodic and has no 'at'", "a place or a period, not both");
    for (int k = 0; k < c->problem->names.coordinate_count && status == SG_OK; k++)
        if (c->settings->periodic >> k & 1)
            status = add_face(c, c->name, k, c->problem->upper[k]);
    for (int f = 0; f < c->problem->names.field_count && status == SG_OK; f++) {
        status = add_component(
            c, c->name, sgi_sub(exprs, field_input(exprs, f, 0, 1), field_input(exprs, f, 0, 0)));
        if (status == SG_OK && c->settings->slopes)
            status = add_component(c, c->name, slope_difference(c, f));
    }
    int made = c->set->component_count;
    if (status == SG_OK)
        status = read_expressions(c);
    if (status == SG_OK && c->set->component_count != made)
        return refuse(c, c->name, "is periodic and takes no expressions", "");
    return status;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* In a problem with one coordinate a face is a single point, so one item says as much as a
 * thousand. */
static void count_points(condition *c)
{
    bool line = c->problem->names.coordinate_count == 1;
    c->set->items = line ? c->set->face_count : c->settings->points;
}

static sg_status read_condition(condition *c)
{
    sgi_arena *arena = &c->problem->arena;
    const sgi_yaml *body = c->name->next;
    if (body->kind != SG_YAML_MAPPING)
        return refuse(c, body, "must be a mapping", "as in  {at: t = 0, u: -sin(pi*x)}");
    *c->set = (sgi_point_set){
        .name = c->name->text,
        .kind = SG_SET_FACES,
        .points_per_item = 1,
        .faces = sgi_arena_allocate(arena, SG_MOST_FACES, sizeof(sgi_face)),
        .terms = sgi_arena_allocate(arena, 1, sizeof(sgi_term)),
        .term_count = 1,
        .component_terms = sgi_arena_allocate(arena, SG_MOST_COMPONENTS, sizeof(int)),
        .roots = sgi_arena_allocate(arena, SG_MOST_COMPONENTS, sizeof(sgi_expr))};
    if (!c->set->faces || !c->set->terms || !c->set->component_terms || !c->set->roots)
        return SG_ERROR_MEMORY;
    sg_status status = read_options(c);
    if (status != SG_OK)
        return status;
    c->set->terms[0] = (sgi_term){c->name->text, c->settings->weight};
    if (c->settings->periodic)
        return make_pairs(c);
    const sgi_yaml *at = sgi_yaml_get(body, "at");
    if (at)
        status = read_place(c, at);
    if (status == SG_OK)
        status = read_expressions(c);
    if (status == SG_OK && !at)
        return refuse(c, c->name, "does not say where it holds", "add  at: t = 0  or the like");
    if (status == SG_OK && c->set->component_count == 0)
        return refuse(c, c->name, "sets nothing", "add a field and its value, as  u: 0");
    return status;
}

sg_status sgi_problem_read_conditions(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "conditions");
    if (!section)
        return SG_OK;
    if (section->kind != SG_YAML_MAPPING || section->count / 2 >= SG_MOST_SETS) {
        sgi_yaml_place(reader->diagnostic, section, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "'conditions' must be a mapping of at most %d names",
                           SG_MOST_SETS - 1);
        sgi_diagnostic_suggest(reader->diagnostic,
                               "as in  conditions: {initial: {at: t = 0, u: -sin(pi*x)}}");
        return SG_ERROR_FORMAT;
    }
    problem->conditions = sgi_arena_allocate(&problem->arena, (size_t)section->count / 2,
                                             sizeof *problem->conditions);
    if (!problem->conditions)
        return SG_ERROR_MEMORY;
    for (const sgi_yaml *name = section->first; name; name = name->next->next) {
        int k = problem->set_count++;
        condition c = {.problem = problem,
                       .reader = reader,
                       .name = name,
                       .set = &problem->sets[k],
                       .settings = &problem->conditions[k - 1]};
        snprintf(c.what, sizeof c.what, "condition '%.60s'", name->text);
        snprintf(c.place, sizeof c.place, "in %s", c.what);
        sg_status status = read_condition(&c);
        if (status != SG_OK)
            return status;
        count_points(&c);
    }
    return SG_OK;
}
