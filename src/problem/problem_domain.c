/* Reading the domain: expressions of shapes. See domain.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/domain_reading.h"

static sg_status read_named(sgi_domain_reading *r, const sgi_yaml *key, const sgi_region **region);

/* ---- Expressions of shapes --------------------------------------------------------------------
 */

/* "plate - hole", from left to right; & binds more strongly than +, | and -. */
typedef struct set_parser {
    sgi_domain_reading *r;
    const sgi_yaml *node;
    size_t at;
    int depth;
    bool complete; /* what has been read could end here, but for parentheses */
    sgi_region *region;
} set_parser;

static sg_status parse_sum(set_parser *p);

static char peek(set_parser *p)
{
    while (p->at < p->node->length && strchr(" \t\r\n", p->node->text[p->at]))
        p->at++;
    return p->at < p->node->length ? p->node->text[p->at] : '\0';
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static sg_status unexpected(set_parser *p)
{
    char c = peek(p);
    size_t length = name_length(p->node->text + p->at);
    sgi_yaml_place(p->r->reader->diagnostic, p->node, p->at, length ? length : 1);
    if (c == '\0')
        sgi_diagnostic_say(p->r->reader->diagnostic, "%s is missing at the end",
                           p->complete ? "a closing parenthesis" : "the name of a shape");
    else
        sgi_diagnostic_say(p->r->reader->diagnostic, "'%.*s' cannot stand here",
                           (int)(length ? length : 1), p->node->text + p->at);
    sgi_diagnostic_suggest(
        p->r->reader->diagnostic,
        "shapes are joined by +, cut by - and intersected by &, as in  plate - hole");
    return SG_ERROR_FORMAT;
}

static sg_status unknown_name(set_parser *p, size_t length)
{
    const sgi_domain_reading *r = p->r;
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, p->node->text + p->at, length);
    for (const sgi_yaml *key = r->section ? r->section->first : NULL; key; key = key->next->next)
        sgi_nearest_offer(&nearest, key->text);
    sgi_nearest_offer(&nearest, "box");
    sgi_yaml_place(r->reader->diagnostic, p->node, p->at, length);
    sgi_diagnostic_say(r->reader->diagnostic, "there is no shape '%.*s'",
                       (int)(length > 60 ? 60 : length), p->node->text + p->at);
    if (nearest.best[0])
        sgi_nearest_suggest(&nearest, r->reader->diagnostic);
    else
        sgi_diagnostic_suggest(
            r->reader->diagnostic,
            "shapes are described in 'shapes'; 'box' is that of the coordinates");
    return SG_ERROR_FORMAT;
}

static sg_status parse_shape_name(set_parser *p)
{
    const char *text = p->node->text + p->at;
    size_t length = name_length(text);
    const sgi_region *named = sgi_domain_find(p->r->domain, text, length);
    sg_status status = SG_OK;
    for (const sgi_yaml *key = p->r->section ? p->r->section->first : NULL; key && !named;
         key = key->next->next)
        if (key->length == length && memcmp(key->text, text, length) == 0) {
            status = read_named(p->r, key, &named);
            break;
        }
    if (status != SG_OK)
        return status;
    if (!named)
        return unknown_name(p, length);
    p->complete = true;
    for (int i = 0; i < named->count && status == SG_OK; i++)
        status = sgi_region_add(p->region, named->steps[i].join, named->steps[i].shape);
    p->at += length;
    return status;
}

static sg_status parse_one(set_parser *p)
{
    char c = peek(p);
    p->complete = false;
    if (c == '(') {
        if (++p->depth > SG_YAML_MOST_DEPTH)
            return unexpected(p);
        p->at++;
        sg_status status = parse_sum(p);
        if (status == SG_OK && peek(p) != ')')
            return unexpected(p);
        p->at++;
        p->depth--;
        return status;
    }
    return name_length(p->node->text + p->at) ? parse_shape_name(p) : unexpected(p);
}

static sg_status parse_common(set_parser *p)
{
    sg_status status = parse_one(p);
    while (status == SG_OK && peek(p) == '&') {
        p->at++;
        status = parse_one(p);
        if (status == SG_OK)
            status = sgi_region_add(p->region, SG_JOIN_INTERSECTION, NULL);
    }
    return status;
}

static sg_status parse_sum(set_parser *p)
{
    sg_status status = parse_common(p);
    for (char c = peek(p); status == SG_OK && (c == '+' || c == '|' || c == '-'); c = peek(p)) {
        p->at++;
        status = parse_common(p);
        if (status == SG_OK)
            status = sgi_region_add(p->region, c == '-' ? SG_JOIN_DIFFERENCE : SG_JOIN_UNION, NULL);
    }
    return status;
}

static sg_status read_joined(sgi_domain_reading *r, const sgi_yaml *node, sgi_region *region)
{
    set_parser p = {.r = r, .node = node, .region = region};
    sg_status status = parse_sum(&p);
    if (status == SG_OK && peek(&p) != '\0')
        return unexpected(&p);
    if (status == SG_ERROR_UNSUPPORTED)
        return sgi_refuse(
            r->reader, node, NULL,
            "this is made of more than %d shapes and operations, or nested too deeply",
            SG_MOST_STEPS);
    return status;
}

/* ---- Regions ----------------------------------------------------------------------------------
 */

const sgi_region *sgi_domain_find(const sgi_domain *domain, const char *name, size_t length)
{
    for (int i = 0; i < domain->region_count; i++)
        if (strlen(domain->regions[i]->name) == length &&
            memcmp(domain->regions[i]->name, name, length) == 0)
            return domain->regions[i];
    return NULL;
}

static sgi_region *new_region(sgi_domain_reading *r, const char *name)
{
    sgi_region *region = sgi_arena_allocate(r->reader->arena, 1, sizeof *region);
    if (region)
        *region = (sgi_region){.name = name, .axes = r->domain->axes};
    return region;
}

static sg_status check_region_name(sgi_domain_reading *r, const sgi_yaml *key)
{
    if (!sgi_is_name(key->text, key->length))
        return sgi_refuse(
            r->reader, key, NULL,
            "a name is a letter followed by letters, digits and underscores, at most 40");
    if (sgi_yaml_is(key, "box") || sgi_yaml_is(key, "boundary") || sgi_yaml_is(key, "domain"))
        return sgi_refuse(r->reader, key, NULL,
                          "'%s' has a meaning of its own and cannot be the name of a shape",
                          key->text);
    if (sgi_names_kind(r->reader->names, key->text, key->length) == SG_NAME_COORDINATE)
        return sgi_refuse(r->reader, key, NULL, "'%s' is the name of a coordinate already",
                          key->text);
    return SG_OK;
}

/* Reads a shape of the section that has not been read, and what it is made of before it. */
static sg_status read_named(sgi_domain_reading *r, const sgi_yaml *key, const sgi_region **out)
{
    for (int i = 0; i < r->depth; i++)
        if (r->open[i] == key)
            return sgi_refuse(r->reader, key, NULL, "the shape '%s' is made of itself", key->text);
    if (r->depth == SG_YAML_MOST_DEPTH)
        return sgi_refuse(r->reader, key, NULL, "shapes are nested too deeply");
    sg_status status = check_region_name(r, key);
    if (status != SG_OK)
        return status;
    if (r->domain->region_count == SG_MOST_REGIONS)
        return sgi_refuse(r->reader, key, NULL, "there are more than %d shapes",
                          SG_MOST_REGIONS - 1);
    sgi_region *region = new_region(r, key->text);
    if (!region)
        return SG_ERROR_MEMORY;
    r->open[r->depth++] = key;
    if (key->next->kind == SG_YAML_MAPPING)
        status = sgi_domain_read_shape(r, key, key->next, region);
    else if (key->next->kind == SG_YAML_SCALAR)
        status = read_joined(r, key->next, region);
    else
        status = sgi_refuse(r->reader, key->next,
                            "as in  {disc: {center: [0.5, 0.5], radius: 0.2}}  or  plate - hole",
                            "the shape '%s' is not given as it should be", key->text);
    r->depth--;
    if (status == SG_OK)
        status = sgi_region_prepare(region);
    if (status != SG_OK)
        return status;
    if (sgi_region_bounded(region) && !(region->measure > 0))
        return sgi_refuse(
            r->reader, key, NULL,
            "nothing is left of the shape '%s', or less than one part in 100,000 of its bounds",
            key->text);
    /* What it is made of may have come before it. */
    r->domain->regions[r->domain->region_count++] = region;
    *out = region;
    return SG_OK;
}

static sg_status add_box(sgi_domain_reading *r)
{
    sgi_shape *shape = sgi_arena_allocate(r->reader->arena, 1, sizeof *shape);
    double *from = sgi_arena_allocate(r->reader->arena, SG_MOST_AXES, sizeof *from);
    double *to = sgi_arena_allocate(r->reader->arena, SG_MOST_AXES, sizeof *to);
    sgi_region *region = new_region(r, "box");
    if (!shape || !from || !to || !region)
        return SG_ERROR_MEMORY;
    for (int k = 0; k < r->domain->axes; k++) {
        from[k] = r->lower[r->domain->coordinates[k]];
        to[k] = r->upper[r->domain->coordinates[k]];
    }
    *shape = (sgi_shape){.kind = sgi_shape_find("box"),
                         .name = "box",
                         .axes = r->domain->axes,
                         .values = {from, to},
                         .counts = {1, 1}};
    sg_status status = sgi_shape_prepare(shape, r->reader->arena);
    if (status == SG_OK)
        status = sgi_region_add(region, SG_JOIN_SHAPE, shape);
    if (status == SG_OK)
        status = sgi_region_prepare(region);
    r->domain->regions[r->domain->region_count++] = region;
    return status;
}

/* ---- The whole --------------------------------------------------------------------------------
 */

/* The network's inputs are scaled by the coordinates' ranges, and maps are drawn over them. */
static sg_status check_reach(sgi_domain_reading *r, const sgi_yaml *node, const sgi_region *region)
{
    for (int k = 0; k < region->axes; k++) {
        int c = r->domain->coordinates[k];
        double near = 1e-9 * (r->upper[c] - r->lower[c]);
        if (region->lower[k] >= r->lower[c] - near && region->upper[k] <= r->upper[c] + near)
            continue;
        static const char advice[] =
            "enlarge the range, or cut the domain by it, as in  (plate - hole) & box";
        const char *name = r->reader->names->coordinates[c];
        if (!isfinite(region->lower[k]) || !isfinite(region->upper[k]))
            return sgi_refuse(r->reader, node, advice, "the domain has no end along '%s'", name);
        return sgi_refuse(
            r->reader, node, advice,
            "the domain reaches from %s = %g to %g, beyond the range of '%s', [%g, %g]", name,
            region->lower[k], region->upper[k], name, r->lower[c], r->upper[c]);
    }
    return SG_OK;
}

static sg_status read_domain(sgi_domain_reading *r, const sgi_yaml *node)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_refuse(r->reader, node, "as in  domain: plate - hole",
                          "'domain' is an expression of shapes");
    sgi_region *region = new_region(r, "domain");
    if (!region)
        return SG_ERROR_MEMORY;
    sg_status status = read_joined(r, node, region);
    if (status == SG_OK)
        status = sgi_region_prepare(region);
    if (status == SG_OK)
        status = check_reach(r, node, region);
    if (status != SG_OK)
        return status;
    double cover = 1; /* points are tried in it: see SG_MOST_TRIES */
    for (int k = 0; k < region->axes; k++)
        cover *= region->upper[k] - region->lower[k];
    if (region->carrier)
        cover = region->carrier->kind->measure(region->carrier);
    if (!(region->measure >= 1e-3 * cover))
        return sgi_refuse(
            r->reader, node, NULL,
            "nothing is left of the domain, or less than one part in 1,000 of its bounds");
    const sgi_region *box = r->domain->regions[0];
    bool same = region->count == 1 && region->steps[0].shape == box->steps[0].shape;
    r->domain->region = same ? NULL : region;
    return SG_OK;
}

sg_status sgi_domain_read(sgi_domain *domain, sgi_reader *reader, const sgi_yaml *root,
                          const double *lower, const double *upper)
{
    const sgi_yaml *node = sgi_yaml_get(root, "domain");
    sgi_domain_reading r = {.domain = domain,
                            .reader = reader,
                            .file = root->source,
                            .lower = lower,
                            .upper = upper,
                            .section = sgi_yaml_get(root, "shapes")};
    *domain = (sgi_domain){0};
    for (int k = 0; k < reader->names->coordinate_count; k++)
        if (k != reader->names->time)
            domain->coordinates[domain->axes++] = k;
    if (!node && !r.section)
        return SG_OK;
    if (domain->axes == 0)
        return sgi_refuse(r.reader, node ? node : r.section, NULL,
                          "a problem whose only coordinate is t has no shapes");
    sg_status status = add_box(&r);
    if (status == SG_OK && r.section && r.section->kind != SG_YAML_MAPPING)
        return sgi_refuse(r.reader, r.section,
                          "as in  {hole: {disc: {center: [0.5, 0.5], radius: 0.2}}}",
                          "'shapes' must be a mapping of names to shapes");
    for (const sgi_yaml *key = r.section ? r.section->first : NULL; key && status == SG_OK;
         key = key->next->next) {
        const sgi_region *region = sgi_domain_find(domain, key->text, key->length);
        if (!region || sgi_yaml_is(key, "box"))
            status = read_named(&r, key, &region);
    }
    return status == SG_OK && node ? read_domain(&r, node) : status;
}

void sgi_domain_axes(const sgi_domain *domain, const double *point, double *x)
{
    for (int k = 0; k < domain->axes; k++)
        x[k] = point[domain->coordinates[k]];
}

bool sgi_domain_has(const sgi_domain *domain, const double *point)
{
    double x[SG_MOST_AXES];
    if (!domain->region)
        return true;
    sgi_domain_axes(domain, point, x);
    return sgi_region_distance(domain->region, x) <= sgi_region_tolerance(domain->region);
}
