/* Conditions: residuals on faces of the domain and between them. See problem.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/exact_conditions.h"
#include "problem/quadrature.h"

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

/* Coordinates along which a normal may point, if every face has one. */
static unsigned normals_of(const condition *c)
{
    unsigned bits = 0;
    for (int i = 0; i < c->set->face_count; i++) {
        const sgi_face *face = &c->set->faces[i];
        if (face->normal == 0)
            return 0;
        if (!face->region)
            bits |= 1u << face->coordinate;
        for (int k = 0; face->region && k < c->problem->domain.axes; k++)
            bits |= 1u << c->problem->domain.coordinates[k];
    }
    return bits;
}

/* What the expressions of the condition may use. */
static sgi_scope scope_of(const condition *c)
{
    sgi_scope scope = {&c->problem->names, c->place, true, true, normals_of(c), false};
    for (int i = 0; i < c->set->face_count; i++)
        scope.slanted = scope.slanted || c->set->faces[i].region;
    return scope;
}

/* What the mean over the points is taken of. */
static sgi_expr integrand(const condition *c, sgi_expr expr)
{
    sgi_expressions *exprs = c->problem->exprs;
    return c->set->integral ? sgi_mul(exprs, sgi_constant(exprs, c->set->measure), expr) : expr;
}

/* Whether it is the same at all points; unknown constants are. */
static bool is_number(const condition *c, sgi_expr expr)
{
    sgi_expressions *exprs = c->problem->exprs;
    return !sgi_depends_on(exprs, expr, SG_INPUT_FIELD) &&
           !sgi_depends_on(exprs, expr, SG_INPUT_COORDINATE) &&
           !sgi_depends_on(exprs, expr, SG_INPUT_NORMAL);
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
    size_t end = strcspn(key->text, "="), length = end;
    if (key->next->kind != SG_YAML_SCALAR || key->next->length > 0 || end == key->length ||
        key->text[end + 1] == '=' || (end > 0 && strchr("<>!", key->text[end - 1])))
        return SG_OK;
    while (length > 0 && key->text[length - 1] == ' ')
        length--;
    if (sgi_names_kind(&c->problem->names, key->text, length) == SG_NAME_COORDINATE)
        return refuse(c, key, "has a second place after a comma",
                      "places are joined by |, as in  at: x = 0 | x = 1");
    return refuse(c, key, "has an = where a colon belongs", "as in  u: 0");
}

/* ---- The start of windows ----------------------------------------------------------------- */

static bool starts_windows(const condition *c)
{
    return c->problem->windows.count > 0 && sgi_problem_is_start(c->problem, c->set);
}

static sg_status refuse_start(condition *c, const sgi_yaml *node)
{
    return refuse(c, node, "cannot start a window",
                  "with windows it gives fields, or their first derivatives by t, without 'exact'");
}

/* The field that a key is, or `u_t` of it; -1: neither. */
static int field_of(const condition *c, const sgi_yaml *key, bool *slope)
{
    const sgi_names *names = &c->problem->names;
    for (int f = 0; f < names->field_count; f++) {
        char text[128];
        snprintf(text, sizeof text, "%s_t", names->fields[f]);
        *slope = names->time >= 0 && sgi_yaml_is(key, text);
        if (*slope || sgi_yaml_is(key, names->fields[f]))
            return f;
    }
    return -1;
}

/* After the first window, what the window before has in place of the value in the file. */
static sg_status from_earlier(condition *c, const sgi_yaml *key, sgi_expr *value)
{
    bool slope = false;
    int field = field_of(c, key, &slope);
    if (field < 0)
        return refuse_start(c, key);
    if (c->problem->window <= 0)
        return SG_OK;
    sgi_input input = {.kind = SG_INPUT_EARLIER,
                       .index = field,
                       .derivative = slope ? sgi_derivative_unit(c->problem->names.time) : 0};
    *value = sgi_expressions_input(c->problem->exprs, &input);
    return c->problem->exprs->status;
}

/* The left side is the key, the right side its value. */
static sg_status read_pair(condition *c, const sgi_yaml *key)
{
    sgi_reader *reader = c->reader;
    sgi_scope scope = scope_of(c);
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
    if (c->set->integral && !is_number(c, right))
        return refuse(c, value, "gives an integral, which is one number",
                      "what belongs under the integral stands on the left side");
    if (starts_windows(c))
        status = from_earlier(c, key, &right);
    if (status != SG_OK)
        return status;
    return add_component(c, key, sgi_sub(c->problem->exprs, integrand(c, left), right));
}

static sg_status read_expression(condition *c, const sgi_yaml *node)
{
    sgi_scope scope = scope_of(c);
    sgi_expr root;
    if (starts_windows(c))
        return refuse_start(c, node);
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
    return add_component(c, node, integrand(c, root));
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

/* `u: value` of a condition that holds exactly, or with `slopes` `u_t: value`. */
static sg_status read_exact_pair(condition *c, const sgi_yaml *key, sgi_expr distance, bool slopes)
{
    sgi_expressions *exprs = c->problem->exprs;
    sgi_scope scope = {&c->problem->names, c->place, true, false, 0, false};
    const sgi_yaml *value = key->next;
    sgi_expr right;
    bool slope = false;
    int field = field_of(c, key, &slope);
    if (field < 0)
        return refuse(c, key, "is exact and can only give fields their values",
                      "as in  u: 0, and at the start also  u_t: 0");
    if (slope != slopes)
        return SG_OK;
    if (value->kind != SG_YAML_SCALAR || value->length == 0)
        return refuse(c, value, "needs an expression here", "as in  u: -sin(pi*x)");
    sg_status status = sgi_names_parse(&scope, value, 0, value->length, SG_READ_VALUE, &right,
                                       c->reader->diagnostic);
    if (status == SG_OK)
        status = exprs->status;
    c->set->component_count++; /* something is said */
    if (status != SG_OK)
        return status;
    return slope ? sgi_exact_slope(c->problem, c->reader, c->name, field, right)
                 : sgi_exact_add(c->problem, c->reader, c->name, field, right, distance, c->set);
}

static sg_status read_distance(condition *c, sgi_expr *distance)
{
    const sgi_yaml *node = sgi_yaml_get(c->name->next, "distance");
    sgi_scope scope = {&c->problem->names, c->place, true, false, 0, false};
    *distance = 0;
    if (!node)
        return SG_OK;
    if (!c->settings->exact)
        return refuse(c, node, "has a distance and is not exact", "add  exact: true");
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return refuse(c, node, "needs an expression here", "as in  distance: x*(1 - x)");
    return sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, distance,
                           c->reader->diagnostic);
}

/* With `slopes`, once more for what builds on the values. */
static sg_status read_pairs(condition *c, sgi_expr distance, bool slopes)
{
    for (const sgi_yaml *key = c->name->next->first; key; key = key->next->next) {
        char path[128];
        snprintf(path, sizeof path, "conditions.*.%.60s", key->text);
        sg_status status = SG_OK;
        bool option = sgi_option_find(c->reader->table, path) != NULL;
        if (c->settings->exact && (!option || sgi_yaml_is(key, "expression")))
            status = read_exact_pair(c, key, distance, slopes);
        else if (sgi_yaml_is(key, "expression"))
            status = read_expression(c, key->next);
        else if (!option)
            status = read_pair(c, key);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static sg_status read_expressions(condition *c)
{
    sgi_expr distance;
    sg_status status = read_distance(c, &distance);
    if (status == SG_OK)
        status = read_pairs(c, distance, false);
    if (status == SG_OK && c->settings->exact)
        status = read_pairs(c, distance, true);
    return status;
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
    if (sgi_yaml_get(c->name->next, "at") || sgi_yaml_get(c->name->next, "over"))
        return refuse(c, c->name, "is periodic and has no 'at'", "a place or a period, not both");
    for (int k = 0; k < c->problem->names.coordinate_count && status == SG_OK; k++)
        if (c->settings->periodic >> k & 1)
            status = sgi_problem_add_plane(c->problem, c->reader, c->what, c->name, c->set, k,
                                           c->problem->upper[k]);
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

/* Whether every face is a single point, as in a problem with one coordinate. */
static bool is_of_points(const condition *c)
{
    bool points = true;
    for (int i = 0; i < c->set->face_count; i++) {
        const sgi_face *face = &c->set->faces[i];
        int fixed = face->region || face->interior
                        ? 0
                        : 1 + __builtin_popcount(face->filter ? face->filter->fixed : 0);
        points = points && fixed == c->problem->names.coordinate_count;
    }
    return points;
}

/* One item of a single point says as much as a thousand. */
static void count_points(condition *c)
{
    c->set->items = is_of_points(c) ? c->set->face_count : c->settings->points;
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
    if (c->settings->periodic && c->settings->exact)
        return refuse(c, c->name, "is periodic and cannot be exact",
                      "inputs: {raw: [t], periodic: {x: 4}} makes a network periodic by itself");
    if (c->settings->periodic)
        return make_pairs(c);
    const sgi_yaml *at = sgi_yaml_get(body, "at"), *over = sgi_yaml_get(body, "over");
    if (at && over)
        return refuse(c, over, "has a place and an integral", "it takes  at  or  over, not both");
    if (over && c->settings->exact)
        return refuse(c, over, "is an integral and cannot be exact", "take out  exact");
    at = at ? at : over;
    if (at)
        status = sgi_problem_read_place(c->problem, c->reader, c->what, at, c->set);
    if (status == SG_OK && c->settings->exact && c->problem->windows.count > 0 && starts_windows(c))
        return refuse_start(c, c->name);
    if (status == SG_OK && c->problem->windows.count > 0 && sgi_yaml_get(body, "distance"))
        return refuse(c, c->name, "has a distance, which may differ from window to window",
                      "leave out 'distance' or 'exact'");
    if (over && status == SG_OK) {
        c->set->integral = true;
        c->set->measure = sgi_quadrature_measure(c->problem, c->set);
    }
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
    int most = SG_MOST_SETS - problem->set_count;
    if (section->kind != SG_YAML_MAPPING || section->count / 2 > most) {
        sgi_yaml_place(reader->diagnostic, section, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "'conditions' must be a mapping of at most %d names",
                           most);
        sgi_diagnostic_suggest(reader->diagnostic,
                               "as in  conditions: {initial: {at: t = 0, u: -sin(pi*x)}}");
        return SG_ERROR_FORMAT;
    }
    problem->conditions = sgi_arena_allocate(&problem->arena, (size_t)section->count / 2,
                                             sizeof *problem->conditions);
    if (!problem->conditions)
        return SG_ERROR_MEMORY;
    int number = 0;
    for (const sgi_yaml *name = section->first; name; name = name->next->next) {
        condition c = {.problem = problem,
                       .reader = reader,
                       .name = name,
                       .set = &problem->sets[problem->set_count],
                       .settings = &problem->conditions[number++]};
        snprintf(c.what, sizeof c.what, "condition '%.60s'", name->text);
        snprintf(c.place, sizeof c.place, "in %s", c.what);
        sg_status status = read_condition(&c);
        if (status != SG_OK)
            return status;
        count_points(&c);
        if (!c.settings->exact) /* what holds exactly takes no points */
            problem->set_count++;
    }
    return SG_OK;
}
