/* Where a condition holds: planes, boundaries of shapes, and parts of them. See problem.h.
 *
 *     place   part | part | ...
 *     part    piece & piece & ...    points that are in all of them
 *     piece   x = 0                  a plane
 *             boundary               the domain's boundary in space
 *             hole.boundary          that of a shape, as far as it lies in the domain
 *             x < 0.5                the points where this holds
 *             steel                  those that lie in the shape
 *             domain                 those of the domain, which is true of all
 *
 * The points of a part are drawn on its first plane or boundary, or in its first shape if there is
 * neither; the other pieces are tests, and further planes fix their coordinates. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "problem/place.h"

enum { MEASURE_TRIES = 1 << 13, MOST_REGISTERS = 64 };

/* A place while it is read. */
typedef struct reading {
    sgi_problem *problem;
    sgi_reader *reader;
    const char *what; /* "condition 'initial'" */
    const sgi_yaml *node;
    sgi_point_set *set;
    char place[100]; /* "in condition 'initial'" */
} reading;

static reading begin_reading(sgi_problem *problem, sgi_reader *reader, const char *what,
                             const sgi_yaml *node, sgi_point_set *set)
{
    reading r = {problem, reader, what, node, set, ""};
    snprintf(r.place, sizeof r.place, "in %.90s", what);
    return r;
}

/* One part of it: what its points are drawn on, and the tests. */
typedef struct part {
    size_t begin, end;
    bool boundary;            /* the domain's */
    bool interior;            /* no plane and no boundary, but what lies inside */
    bool domain;              /* the word is there */
    const sgi_region *region; /* whose boundary, or NULL */
    int coordinate;           /* of a plane, or -1 */
    double value;
    sgi_filter filter;
    sgi_expr keep; /* the product of the comparisons; 0: none */
    bool compared;
} part;

__attribute__((format(printf, 5, 6))) static sg_status refuse(reading *r, size_t begin, size_t end,
                                                              const char *advice,
                                                              const char *format, ...)
{
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    sgi_yaml_place(r->reader->diagnostic, r->node, begin, end > begin ? end - begin : 1);
    sgi_diagnostic_say(r->reader->diagnostic, "%s", message);
    if (advice)
        sgi_diagnostic_suggest(r->reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
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

static bool reads(const reading *r, size_t begin, size_t end, const char *word)
{
    return end - begin == strlen(word) && memcmp(r->node->text + begin, word, end - begin) == 0;
}

/* ---- Faces ------------------------------------------------------------------------------------
 */

/* Lengths of the coordinates that are left free. */
static double plane_measure(const sgi_problem *problem, int coordinate, unsigned fixed)
{
    double measure = 1;
    bool start = coordinate == problem->names.time && problem->domain.region;
    for (int k = 0; k < problem->names.coordinate_count; k++)
        if (k != coordinate && !(fixed >> k & 1) && !start)
            measure *= problem->upper[k] - problem->lower[k];
    return start && !fixed ? problem->domain.region->measure : measure;
}

static double time_length(const sgi_problem *problem)
{
    int t = problem->names.time;
    return t < 0 ? 1 : problem->upper[t] - problem->lower[t];
}

/* What share of the tries is good, and whether all of those have a normal. */
static double good_share(const sgi_problem *problem, const sgi_face *face, bool pairs,
                         bool *has_normal)
{
    int good = 0;
    *has_normal = true;
    sgi_uniforms uniforms = {.stream = 1};
    for (int i = 0; i < MEASURE_TRIES; i++) {
        double point[SG_MOST_COORDINATES] = {0}, normal[SG_MOST_COORDINATES];
        if (!sgi_place_try(problem, face, pairs, &uniforms, point, normal))
            continue;
        good++;
        *has_normal = *has_normal && sgi_dot(normal, normal, problem->names.coordinate_count) > 0;
    }
    return (double)good / MEASURE_TRIES;
}

/* Adds the face if something is left of it. A face with a filter is measured by trying. */
static sg_status add_face(reading *r, const part *p, sgi_face face)
{
    sgi_point_set *set = r->set;
    bool pairs = set->kind == SG_SET_PAIRS, has_normal = true;
    bool region = r->problem->domain.region != NULL;
    face.whole = face.measure;
    if (face.filter) {
        double share = good_share(r->problem, &face, pairs, &has_normal);
        face.measure *= share;
        if (share > 0 && share < 1e-3)
            return refuse(r, p->begin, p->end,
                          "give the piece a shape of its own, which fits it better",
                          "less than one point in 1,000 is left of this place %s", r->place);
    }
    if (!(face.measure > 0))
        return SG_OK;
    if (!face.region && !face.interior && region && face.coordinate != r->problem->names.time)
        face.normal = has_normal ? 1 : 0;
    if (set->face_count == SG_MOST_FACES)
        return refuse(r, p->begin, p->end, NULL, "%s has too many faces", r->what);
    set->faces[set->face_count++] = face;
    set->curved = set->curved || region || face.region || face.filter || face.interior;
    return SG_OK;
}

/* A copy of the part's filter that lasts; NULL in `kept` if the part needs none. */
static sg_status keep_filter(reading *r, const part *p, const sgi_filter **kept)
{
    sgi_problem *problem = r->problem;
    sgi_filter filter = p->filter;
    *kept = NULL;
    bool side = p->boundary || p->region;
    bool start = !side && !p->interior && p->coordinate == problem->names.time && !filter.fixed;
    if (problem->domain.region && !p->boundary && !start)
        filter.within[filter.within_count++] = problem->domain.region;
    if (!problem->domain.region && (p->region || (p->interior && filter.named)))
        filter.within[filter.within_count++] = problem->domain.regions[0];
    if (side && filter.fixed)
        return refuse(r, p->begin, p->end, "as in  hole.boundary & x < 0.5",
                      "a plane and a boundary meet in less than a surface %s", r->place);
    if (!filter.within_count && !filter.touched_count && !filter.fixed && !p->keep && !p->compared)
        return SG_OK;
    if (problem->filter_count == SG_MOST_FACES)
        return refuse(r, p->begin, p->end, NULL,
                      "there are too many places that are parts of others");
    if (p->compared) {
        sg_status status = sgi_program_create(&problem->filters[problem->filter_count].keep,
                                              problem->exprs, &p->keep, 1, &problem->allocator);
        if (status != SG_OK)
            return status;
        filter.keep = problem->filters[problem->filter_count].keep;
    }
    problem->filters[problem->filter_count] = filter;
    *kept = &problem->filters[problem->filter_count++];
    if (filter.keep && filter.keep->registers > MOST_REGISTERS)
        return refuse(r, p->begin, p->end, NULL, "the comparison %s is too long", r->place);
    return SG_OK;
}

static sg_status add_plane(reading *r, const part *p, const sgi_filter *filter, int coordinate,
                           double value)
{
    const sgi_problem *problem = r->problem;
    double lower = problem->lower[coordinate], upper = problem->upper[coordinate];
    double near = 1e-12 * (upper - lower), normal = 0;
    if (fabs(value - lower) <= near)
        value = lower, normal = -1;
    if (fabs(value - upper) <= near)
        value = upper, normal = 1;
    return add_face(
        r, p,
        (sgi_face){.coordinate = coordinate,
                   .value = value,
                   .normal = normal,
                   .measure = plane_measure(problem, coordinate, filter ? filter->fixed : 0),
                   .filter = filter});
}

/* The faces of the box, but for those of t. */
static sg_status add_box(reading *r, const part *p, const sgi_filter *filter)
{
    const sgi_problem *problem = r->problem;
    sg_status status = SG_OK;
    for (int k = 0; k < problem->names.coordinate_count && status == SG_OK; k++) {
        if (k == problem->names.time)
            continue;
        status = add_plane(r, p, filter, k, problem->lower[k]);
        if (status == SG_OK)
            status = add_plane(r, p, filter, k, problem->upper[k]);
    }
    return status;
}

static sg_status add_sides(reading *r, const part *p, const sgi_filter *filter,
                           const sgi_region *region)
{
    sg_status status = SG_OK;
    for (int i = 0; i < region->side_count && status == SG_OK; i++) {
        const sgi_region_side *side = &region->sides[i];
        double all = side->shape->kind->boundary_measure(side->shape);
        double whole = filter ? all : side->measure;
        /* What is not there but for the step aside in corners. */
        if (side->measure < 1e-4 * all)
            continue;
        if (side->measure < 1e-3 * all)
            status = refuse(r, p->begin, p->end, NULL,
                            "less than one part in 1,000 is left of the boundary of '%s' %s",
                            side->shape->name, r->place);
        else
            status = add_face(r, p,
                              (sgi_face){.coordinate = -1,
                                         .normal = 1,
                                         .measure = whole * time_length(r->problem),
                                         .region = region,
                                         .side = i,
                                         .filter = filter});
    }
    return status;
}

/* The inside of the first shape, or of the domain. What of it is taken, the filter says. */
static sg_status add_inside(reading *r, const part *p, const sgi_filter *filter)
{
    const sgi_problem *problem = r->problem;
    const sgi_region *region = p->filter.named ? p->filter.within[0] : NULL;
    double measure = time_length(problem);
    if (region && !sgi_region_bounded(region))
        region = NULL;
    const sgi_region *drawn = region ? region : problem->domain.region;
    for (int k = 0; k < problem->names.coordinate_count && !drawn; k++)
        if (k != problem->names.time)
            measure *= problem->upper[k] - problem->lower[k];
    return add_face(r, p,
                    (sgi_face){.coordinate = -1,
                               .interior = true,
                               .measure = drawn ? measure * drawn->measure : measure,
                               .region = region,
                               .filter = filter});
}

static sg_status add_part(reading *r, const part *p)
{
    const sgi_filter *filter;
    const sgi_region *region = p->boundary ? r->problem->domain.region : p->region;
    int before = r->set->face_count;
    sg_status status = keep_filter(r, p, &filter);
    if (status != SG_OK)
        return status;
    if (p->interior)
        status = add_inside(r, p, filter);
    else if (region)
        status = add_sides(r, p, filter, region);
    else if (p->boundary)
        status = add_box(r, p, filter);
    else
        status = add_plane(r, p, filter, p->coordinate, p->value);
    if (status != SG_OK || r->set->face_count > before)
        return status;
    if (p->boundary && !region && !filter)
        return refuse(r, p->begin, p->end, NULL, "%s has no spatial boundary", r->what);
    return refuse(r, p->begin, p->end, NULL, "no point of the domain is at this place %s",
                  r->place);
}

/* ---- Pieces -----------------------------------------------------------------------------------
 */

static sg_status unknown_place(reading *r, size_t begin, size_t end)
{
    const sgi_names *names = &r->problem->names;
    const sgi_domain *domain = &r->problem->domain;
    sgi_nearest nearest;
    char text[64];
    sgi_nearest_begin(&nearest, r->node->text + begin, end - begin);
    for (int k = 0; k < names->coordinate_count; k++)
        sgi_nearest_offer(&nearest, names->coordinates[k]);
    for (int k = 0; k < domain->region_count; k++) {
        snprintf(text, sizeof text, "%.40s.boundary", domain->regions[k]->name);
        sgi_nearest_offer(&nearest, text);
    }
    sgi_nearest_offer(&nearest, "boundary");
    bool side = memchr(r->node->text + begin, '.', end - begin) != NULL;
    (void)refuse(r, begin, end, NULL, "'%.*s' is %s %s", (int)(end - begin > 60 ? 60 : end - begin),
                 r->node->text + begin, side ? "the boundary of no shape" : "not a coordinate",
                 r->place);
    if (nearest.best[0])
        sgi_nearest_suggest(&nearest, r->reader->diagnostic);
    else
        sgi_diagnostic_suggest(r->reader->diagnostic,
                               "a place is written  t = 0,  x = -1 | x = 1,  or  boundary");
    return SG_ERROR_FORMAT;
}

/* The sign of a comparison in [begin, end): its bytes; false for none, or a single =. */
static bool find_comparison(const reading *r, size_t begin, size_t end, size_t *sign, size_t *after)
{
    const char *text = r->node->text;
    *sign = begin;
    while (*sign < end && !strchr("<>=!", text[*sign]))
        ++*sign;
    for (*after = *sign; *after < end && strchr("<>=!", text[*after]);)
        ++*after;
    return *sign < end && !(*after - *sign == 1 && text[*sign] == '=');
}

/* `t == 0`, and `t >= 0` where nothing else says where the points are. */
static sg_status refuse_comparison(reading *r, size_t sign, size_t after)
{
    bool tests = r->node->text[sign] != '=' && r->node->text[sign] != '!';
    return refuse(r, sign, after,
                  tests
                      ? "write =, as in  at: t = 0; or say what it is a part of, as in  boundary & "
                        "x < 0.5"
                      : "write =, as in  at: t = 0",
                  "'%.*s' %s compares; a place is a plane, coordinate = value", (int)(after - sign),
                  r->node->text + sign, r->place);
}

static sg_status read_comparison(reading *r, part *p, size_t begin, size_t end)
{
    sgi_scope scope = {&r->problem->names, r->place, true, false, 0, false};
    sgi_expr expr;
    sg_status status =
        sgi_names_parse(&scope, r->node, begin, end, SG_READ_VALUE, &expr, r->reader->diagnostic);
    if (status != SG_OK)
        return status;
    p->keep = p->compared ? sgi_mul(r->problem->exprs, p->keep, expr) : expr;
    p->compared = true;
    return r->problem->exprs->status;
}

/* The value of `x = -1`, which begins after the sign. */
static sg_status read_value(reading *r, int k, size_t name, size_t begin, size_t end, double *value)
{
    const sgi_problem *problem = r->problem;
    sgi_scope scope = {&r->problem->names, r->place, false, false, 0, false};
    sgi_expr expr;
    sg_status status =
        sgi_names_parse(&scope, r->node, begin, end, SG_READ_VALUE, &expr, r->reader->diagnostic);
    if (status != SG_OK)
        return status;
    if (!sgi_is_constant(problem->exprs, expr, value))
        return refuse(r, name, end, "as in  at: t = 0", "%s needs a number for its coordinate",
                      r->what);
    double lower = problem->lower[k], upper = problem->upper[k], near = 1e-12 * (upper - lower);
    if (problem->window >= 0 && k == problem->names.time && *value == problem->first_time)
        *value = lower; /* each window has a start of its own */
    if (*value < lower - near || *value > upper + near)
        return refuse(r, name, end, NULL, "%s = %g lies outside the domain, [%g, %g]",
                      problem->names.coordinates[k], *value, lower, upper);
    return SG_OK;
}

/* `x = -1` in bytes [begin, end). */
static sg_status read_plane(reading *r, part *p, size_t begin, size_t end)
{
    const sgi_names *names = &r->problem->names;
    const char *equals = memchr(r->node->text + begin, '=', end - begin);
    size_t name = begin, name_end = equals ? (size_t)(equals - r->node->text) : end;
    size_t value_begin = name_end + 1;
    double value;
    trim(r->node->text, &name, &name_end);
    int k = 0;
    while (k < names->coordinate_count && !reads(r, name, name_end, names->coordinates[k]))
        k++;
    if (k == names->coordinate_count)
        return unknown_place(r, name, name_end);
    if (!equals)
        return refuse(r, name, end, "as in  at: t = 0", "%s needs a value for its coordinate",
                      r->what);
    sg_status status = read_value(r, k, name, value_begin, end, &value);
    if (status != SG_OK)
        return status;
    if (p->coordinate == k || (p->filter.fixed >> k & 1))
        return refuse(r, begin, end, "join places by |, as in  x = 0 | x = 1",
                      "'%s' cannot have two values at once %s", names->coordinates[k], r->place);
    if (p->coordinate < 0 && !p->boundary && !p->region) {
        p->coordinate = k;
        p->value = value;
    } else {
        p->filter.fixed |= 1u << k;
        p->filter.values[k] = value;
    }
    return SG_OK;
}

/* NAME.boundary; false in `known` for anything else. */
static sg_status read_side(reading *r, part *p, size_t begin, size_t end, bool *known)
{
    static const char suffix[] = ".boundary";
    size_t length = sizeof suffix - 1;
    *known = end - begin > length && memcmp(r->node->text + end - length, suffix, length) == 0;
    if (!*known)
        return SG_OK;
    const sgi_region *region =
        sgi_domain_find(&r->problem->domain, r->node->text + begin, end - begin - length);
    if (!region)
        return unknown_place(r, begin, end);
    if (p->coordinate < 0 && !p->boundary && !p->region) {
        p->region = region;
        return SG_OK;
    }
    if (p->filter.touched_count == SG_MOST_TOUCHED)
        return refuse(r, begin, end, NULL, "%s has too many faces", r->what);
    p->filter.touched[p->filter.touched_count++] = region;
    return SG_OK;
}

/* The name of a shape: its points alone. One place is left for the domain itself. */
static sg_status add_within(reading *r, part *p, const sgi_region *region, size_t begin, size_t end)
{
    if (p->filter.within_count + 1 == SG_MOST_TOUCHED)
        return refuse(r, begin, end, NULL, "there are more than %d shapes %s", SG_MOST_TOUCHED - 1,
                      r->place);
    p->filter.within[p->filter.within_count++] = region;
    p->filter.named = true;
    return SG_OK;
}

static sg_status read_piece(reading *r, part *p, size_t begin, size_t end)
{
    const sgi_region *region =
        sgi_domain_find(&r->problem->domain, r->node->text + begin, end - begin);
    size_t sign, after;
    bool known;
    if (region)
        return add_within(r, p, region, begin, end);
    if (reads(r, begin, end, "domain")) {
        p->domain = true;
        return SG_OK;
    }
    if (reads(r, begin, end, "boundary")) {
        if (p->coordinate < 0 && !p->region) {
            p->boundary = true;
            return SG_OK;
        }
        if (!r->problem->domain.region || p->filter.touched_count == SG_MOST_TOUCHED)
            return refuse(r, begin, end, NULL, "'boundary' comes first in a part of a place %s",
                          r->place);
        p->filter.touched[p->filter.touched_count++] = r->problem->domain.region;
        return SG_OK;
    }
    sg_status status = read_side(r, p, begin, end, &known);
    if (status != SG_OK || known)
        return status;
    if (!find_comparison(r, begin, end, &sign, &after))
        return read_plane(r, p, begin, end);
    bool equal = r->node->text[sign] == '=' || r->node->text[sign] == '!';
    return equal ? refuse_comparison(r, sign, after) : read_comparison(r, p, begin, end);
}

static sg_status read_part(reading *r, size_t begin, size_t end)
{
    part p = {.begin = begin, .end = end, .coordinate = -1};
    trim(r->node->text, &p.begin, &p.end);
    for (size_t at = begin; at <= end;) {
        size_t stop = at, piece = at, piece_end;
        while (stop < end && r->node->text[stop] != '&')
            stop++;
        piece_end = stop;
        trim(r->node->text, &piece, &piece_end);
        sg_status status = read_piece(r, &p, piece, piece_end);
        if (status != SG_OK)
            return status;
        at = stop + 1;
    }
    size_t sign, after;
    p.interior = p.coordinate < 0 && !p.boundary && !p.region && (p.domain || p.filter.named);
    if (p.coordinate < 0 && !p.boundary && !p.region && !p.interior) {
        (void)find_comparison(r, begin, end, &sign, &after);
        return refuse_comparison(r, sign, after);
    }
    return add_part(r, &p);
}

/* ---- The whole --------------------------------------------------------------------------------
 */

sg_status sgi_problem_read_place(sgi_problem *problem, sgi_reader *reader, const char *what,
                                 const sgi_yaml *node, sgi_point_set *set)
{
    reading r = begin_reading(problem, reader, what, node, set);
    if (node->kind != SG_YAML_SCALAR)
        return refuse(&r, 0, 0, "as in  at: x = -1 | x = 1", "%s needs a place", what);
    sg_status status = SG_OK;
    for (size_t begin = 0; begin <= node->length && status == SG_OK;) {
        size_t end = begin;
        while (end < node->length && node->text[end] != '|')
            end++;
        status = read_part(&r, begin, end);
        begin = end + 1;
    }
    return status;
}

sg_status sgi_problem_add_plane(sgi_problem *problem, sgi_reader *reader, const char *what,
                                const sgi_yaml *node, sgi_point_set *set, int coordinate,
                                double value)
{
    reading r = begin_reading(problem, reader, what, node, set);
    part p = {.coordinate = coordinate, .value = value};
    return add_part(&r, &p);
}
