/* Reading shapes: their numbers, rotation and translation. See domain.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/domain_reading.h"

/* ---- Numbers of shapes ------------------------------------------------------------------------
 */

static sg_status read_number(sgi_domain_reading *r, const char *shape, const sgi_yaml *node,
                             double *value)
{
    char place[96];
    snprintf(place, sizeof place, "in shape '%.40s'", shape);
    sgi_scope scope = {r->reader->names, place, false, false, 0, false};
    sgi_expr expr;
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_refuse(r->reader, node, NULL, "this must be a number %s", place);
    sg_status status =
        sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, &expr, r->reader->diagnostic);
    if (status == SG_OK &&
        (!sgi_is_constant(r->reader->names->exprs, expr, value) || !isfinite(*value)))
        return sgi_refuse(r->reader, node, NULL, "this must be a number %s", place);
    return status;
}

/* "x, y" */
static const char *axis_names(const sgi_domain_reading *r, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < r->domain->axes && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "",
                                 r->reader->names->coordinates[r->domain->coordinates[k]]);
    return text;
}

/* A list with a number for each axis; on a line, the number alone will do. */
static sg_status read_point(sgi_domain_reading *r, const char *shape, const sgi_yaml *node,
                            double *x)
{
    char axes[128];
    if (r->domain->axes == 1 && node->kind == SG_YAML_SCALAR)
        return read_number(r, shape, node, x);
    if (node->kind != SG_YAML_SEQUENCE || node->count != r->domain->axes)
        return sgi_refuse(r->reader, node, NULL,
                          "this must be a list of %d number%s in shape '%.40s', one for %s",
                          r->domain->axes, r->domain->axes == 1 ? "" : "s", shape,
                          axis_names(r, axes, sizeof axes));
    sg_status status = SG_OK;
    for (const sgi_yaml *item = node->first; item && status == SG_OK; item = item->next)
        status = read_number(r, shape, item, x++);
    return status;
}

static sg_status read_points(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *node, int key)
{
    if (node->kind != SG_YAML_SEQUENCE || node->count == 0)
        return sgi_refuse(r->reader, node, NULL, "this must be a list of points in shape '%.40s'",
                          shape->name);
    size_t axes = (size_t)r->domain->axes, count = (size_t)node->count;
    double *values = sgi_arena_allocate(r->reader->arena, count * axes, sizeof *values);
    if (!values)
        return SG_ERROR_MEMORY;
    shape->values[key] = values;
    shape->counts[key] = count;
    sg_status status = SG_OK;
    for (const sgi_yaml *item = node->first; item && status == SG_OK; item = item->next) {
        status = read_point(r, shape->name, item, values);
        values += axes;
    }
    return status;
}

static sg_status read_value(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *body,
                            const sgi_yaml *node, int key)
{
    sgi_shape_value kind = shape->kind->keys[key].value;
    if (kind == SG_SHAPE_FILE)
        return sgi_domain_read_file(r, shape, node, sgi_yaml_get(body, "sum"));
    if (kind == SG_SHAPE_POINTS)
        return read_points(r, shape, node, key);
    double *values = sgi_arena_allocate(r->reader->arena, SG_MOST_AXES, sizeof *values);
    if (!values)
        return SG_ERROR_MEMORY;
    shape->values[key] = values;
    shape->counts[key] = 1;
    return kind == SG_SHAPE_NUMBER ? read_number(r, shape->name, node, values)
                                   : read_point(r, shape->name, node, values);
}

/* ---- Shapes -----------------------------------------------------------------------------------
 */

static int find_key(const sgi_shape_kind *kind, const char *name)
{
    for (int i = 0; i < SG_MOST_SHAPE_KEYS && kind->keys[i].name; i++)
        if (strcmp(kind->keys[i].name, name) == 0)
            return i;
    return -1;
}

static sg_status unknown_key(sgi_domain_reading *r, const sgi_shape_kind *kind, const sgi_yaml *key)
{
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, key->text, key->length);
    for (int i = 0; i < SG_MOST_SHAPE_KEYS && kind->keys[i].name; i++)
        sgi_nearest_offer(&nearest, kind->keys[i].name);
    (void)sgi_refuse(r->reader, key, NULL, "'%.60s' is not a %s of a %s", key->text,
                     kind->read ? "key" : "number", kind->name);
    if (nearest.best[0])
        sgi_nearest_suggest(&nearest, r->reader->diagnostic);
    else
        sgi_diagnostic_suggest(r->reader->diagnostic, "as in  %s: %s", kind->name, kind->example);
    return SG_ERROR_FORMAT;
}

/* {center: [0.5, 0.5], radius: 0.2} */
static sg_status read_values(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *node)
{
    const sgi_shape_kind *kind = shape->kind;
    sg_status status = SG_OK;
    if (node->kind != SG_YAML_MAPPING) {
        (void)sgi_refuse(r->reader, node, NULL, "the %s '%.40s' is given by names with numbers",
                         kind->name, shape->name);
        sgi_diagnostic_suggest(r->reader->diagnostic, "as in  %s: %s", kind->name, kind->example);
        return SG_ERROR_FORMAT;
    }
    int given = 0;
    for (const sgi_yaml *key = node->first; key && status == SG_OK; key = key->next->next) {
        int i = find_key(kind, key->text);
        if (kind->read && sgi_yaml_is(key, "sum") && sgi_yaml_get(node, "file"))
            continue; /* belongs to the file */
        if (kind->either && i >= 0 && given++)
            return sgi_refuse(r->reader, key, NULL, "the %s '%.40s' has '%s' and '%s': give one",
                              kind->name, shape->name, kind->keys[0].name, kind->keys[1].name);
        status = i < 0 ? unknown_key(r, kind, key) : read_value(r, shape, node, key->next, i);
    }
    for (int i = 0; i < SG_MOST_SHAPE_KEYS && kind->keys[i].name && status == SG_OK; i++)
        if (kind->either ? given == 0 : !shape->values[i] && !shape->file.file) {
            status = sgi_refuse(r->reader, node, NULL, "the %s '%.40s' has no '%s'", kind->name,
                                shape->name, kind->keys[i].name);
            sgi_diagnostic_suggest(r->reader->diagnostic, "as in  %s: %s", kind->name,
                                   kind->example);
        }
    return status;
}

/* to <- turn about one axis of space, or in the plane, times to. */
static void turn_about(double *matrix, int axes, int axis, double degrees)
{
    int i = axes == 2 ? 0 : (axis + 1) % 3, j = axes == 2 ? 1 : (axis + 2) % 3;
    /* Quarter turns are exact. */
    double c =
        fmod(degrees, 180) == 0 ? (fmod(degrees, 360) == 0 ? 1 : -1) : cos(degrees * M_PI / 180);
    double s = fmod(degrees, 180) == 0 ? 0 : sin(degrees * M_PI / 180);
    if (fmod(degrees, 180) != 0 && fmod(degrees, 90) == 0)
        c = 0;
    for (int k = 0; k < axes; k++) {
        double a = matrix[i * axes + k], b = matrix[j * axes + k];
        matrix[i * axes + k] = c * a - s * b;
        matrix[j * axes + k] = s * a + c * b;
    }
}

/* Degrees counterclockwise in the plane; in space a list of three, about x, then y, then z. The
 * middle of the shape's bounds stays where it is. */
static sg_status read_rotation(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *node)
{
    double degrees[3] = {0, 0, 0}, middle[SG_MOST_AXES];
    int axes = shape->axes;
    if (axes != 2 && axes != 3)
        return sgi_refuse(r->reader, node, NULL,
                          "a shape is rotated in two or three dimensions; this one has %d", axes);
    if (axes == 3 && (node->kind != SG_YAML_SEQUENCE || node->count != 3))
        return sgi_refuse(r->reader, node, "as in  rotate: [0, 0, 30]",
                          "in space 'rotate' takes three angles, about x, y and z");
    sg_status status = axes == 2 ? read_number(r, shape->name, node, degrees)
                                 : read_point(r, shape->name, node, degrees);
    if (status != SG_OK)
        return status;
    if (shape->kind->unbounded)
        return sgi_refuse(r->reader, node, NULL, "a %s has no middle to be rotated about",
                          shape->kind->name);
    status = sgi_shape_prepare(shape, r->reader->arena);
    for (int k = 0; k < axes; k++) {
        middle[k] = (shape->lower[k] + shape->upper[k]) / 2;
        shape->turn[k * axes + k] = 1;
    }
    if (axes == 2)
        turn_about(shape->turn, 2, 0, degrees[0]);
    for (int k = 0; axes == 3 && k < 3; k++)
        turn_about(shape->turn, 3, k, degrees[k]);
    shape->turned = true;
    for (int i = 0; i < axes; i++)
        shape->move[i] = middle[i] - sgi_dot(shape->turn + i * axes, middle, axes);
    return status;
}

static sg_status read_move(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *node)
{
    double by[SG_MOST_AXES] = {0};
    sg_status status = read_point(r, shape->name, node, by);
    for (int k = 0; k < shape->axes; k++)
        shape->move[k] += by[k];
    return status;
}

/* What people call the shapes of the table, too. */
static const struct {
    const char *name, *ours;
} other_names[] = {
    {"circle", "disc"}, {"disk", "disc"},   {"sphere", "ball"},      {"square", "rectangle"},
    {"cube", "box"},    {"cuboid", "box"},  {"triangle", "polygon"}, {"halfspace", "half-space"},
    {"stl", "surface"}, {"mesh", "surface"}};

static sg_status unknown_shape(sgi_domain_reading *r, const sgi_yaml *key)
{
    sgi_nearest nearest;
    char list[256];
    size_t used = 0;
    sgi_nearest_begin(&nearest, key->text, key->length);
    for (int i = 0; sgi_shape_at(i); i++) {
        sgi_nearest_offer(&nearest, sgi_shape_at(i)->name);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 sgi_shape_at(i)->name);
    }
    (void)sgi_refuse(r->reader, key, NULL, "'%.60s' is not a kind of shape", key->text);
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++)
        if (sgi_yaml_is(key, other_names[i].name)) {
            sgi_diagnostic_suggest(r->reader->diagnostic, "it is called '%s' here: %s: %s",
                                   other_names[i].ours, other_names[i].ours,
                                   sgi_shape_find(other_names[i].ours)->example);
            return SG_ERROR_FORMAT;
        }
    if (nearest.best[0])
        sgi_nearest_suggest(&nearest, r->reader->diagnostic);
    else
        sgi_diagnostic_suggest(r->reader->diagnostic, "there are: %s", list);
    return SG_ERROR_FORMAT;
}

/* The key of the mapping that names the kind; the others are rotate and move. */
static sg_status find_kind(sgi_domain_reading *r, const sgi_yaml *body, const char *name,
                           const sgi_yaml **found)
{
    const sgi_yaml *kind = NULL;
    for (const sgi_yaml *key = body->first; key; key = key->next->next) {
        if (sgi_yaml_is(key, "rotate") || sgi_yaml_is(key, "move"))
            continue;
        if (!sgi_shape_find(key->text))
            return unknown_shape(r, key);
        if (kind)
            return sgi_refuse(r->reader, key,
                              "join two shapes by their names, as in  both: plate + disc",
                              "the shape '%.40s' is two things at once", name);
        kind = key;
    }
    *found = kind;
    if (kind)
        return SG_OK;
    return sgi_refuse(r->reader, body, "as in  {disc: {center: [0.5, 0.5], radius: 0.2}}",
                      "the shape '%.40s' does not say what it is", name);
}

/* An unbounded shape matters as far out as the coordinates reach. */
static void set_reach(const sgi_domain_reading *r, sgi_shape *shape)
{
    double square = 0;
    for (int k = 0; k < shape->axes; k++) {
        int c = r->domain->coordinates[k];
        shape->middle[k] = (r->lower[c] + r->upper[c]) / 2;
        square += pow(r->upper[c] - r->lower[c], 2);
    }
    shape->reach = sqrt(square) / 2;
}

static sg_status check_axes(sgi_domain_reading *r, const sgi_yaml *node, const sgi_shape_kind *kind,
                            const char *name)
{
    int axes = r->domain->axes;
    char text[128];
    if (axes >= kind->least_axes && axes <= kind->most_axes)
        return SG_OK;
    (void)sgi_refuse(r->reader, node, NULL,
                     "the %s '%.40s' has %d dimension%s, and the problem has %d (%s)", kind->name,
                     name, kind->least_axes, kind->least_axes == 1 ? "" : "s", axes,
                     axis_names(r, text, sizeof text));
    return SG_ERROR_FORMAT;
}

/* {disc: {center: ..., radius: ...}, rotate: 30, move: [1, 0]} */
sg_status sgi_domain_read_shape(sgi_domain_reading *r, const sgi_yaml *name, const sgi_yaml *body,
                                sgi_region *region)
{
    const sgi_yaml *key = NULL;
    sg_status status = find_kind(r, body, name->text, &key);
    if (status != SG_OK || !key)
        return status;
    sgi_shape *shape = sgi_arena_allocate(r->reader->arena, 1, sizeof *shape);
    if (!shape)
        return SG_ERROR_MEMORY;
    *shape =
        (sgi_shape){.kind = sgi_shape_find(key->text), .name = name->text, .axes = r->domain->axes};
    for (int k = 0; k < shape->axes; k++)
        shape->axis_names[k] = r->reader->names->coordinates[r->domain->coordinates[k]];
    set_reach(r, shape);
    status = check_axes(r, key, shape->kind, name->text);
    if (status == SG_OK)
        status = read_values(r, shape, key->next);
    const char *wrong = status == SG_OK ? shape->kind->wrong(shape) : NULL;
    if (wrong)
        return sgi_refuse(r->reader, key->next, NULL, "the %s '%.40s' %s", shape->kind->name,
                          name->text, wrong);
    const sgi_yaml *rotate = sgi_yaml_get(body, "rotate"), *move = sgi_yaml_get(body, "move");
    if (status == SG_OK && rotate)
        status = read_rotation(r, shape, rotate);
    if (status == SG_OK && move)
        status = read_move(r, shape, move);
    if (status == SG_OK)
        status = sgi_shape_prepare(shape, r->reader->arena);
    return status == SG_OK ? sgi_region_add(region, SG_JOIN_SHAPE, shape) : status;
}
