/* Regions that equations hold in, and where fields live. See problem.h. */
#include <stdio.h>
#include <string.h>

#include "problem/place.h"

/* Points of a region of which all must lie in the domain, for the region to be taken as it is. */
enum { SAMPLES = 4096 };

/* "the region of equation 'heat' is made of too many shapes" */
static sg_status refuse(sgi_reader *reader, const sgi_yaml *node, const char *what,
                        const char *message)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "the region of %s %s", what, message);
    return SG_ERROR_FORMAT;
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

static sg_status unknown_region(sgi_problem *problem, sgi_reader *reader, const char *what,
                                const sgi_yaml *node)
{
    const sgi_domain *domain = &problem->domain;
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, node->text, node->length);
    for (int k = 0; k < domain->region_count; k++)
        sgi_nearest_offer(&nearest, domain->regions[k]->name);
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "there is no shape '%.60s' for %s to hold in",
                       node->text, what);
    if (nearest.best[0])
        sgi_nearest_suggest(&nearest, reader->diagnostic);
    else
        sgi_diagnostic_suggest(reader->diagnostic,
                               "regions are described in 'shapes', and named here");
    return SG_ERROR_FORMAT;
}

static bool lies_in_domain(const sgi_problem *problem, const sgi_region *region)
{
    const sgi_domain *domain = &problem->domain;
    const sgi_region *whole = domain->region ? domain->region : domain->regions[0];
    bool inside = sgi_region_bounded(region);
    for (int i = 0; i < SAMPLES && inside; i++) {
        double point[SG_MOST_COORDINATES] = {0}, x[SG_MOST_AXES];
        sgi_uniforms uniforms = {.stream = 4, .counter = (uint64_t)i << 24};
        sgi_place_interior(problem, region, &uniforms, point);
        sgi_domain_axes(domain, point, x);
        inside = sgi_region_distance(whole, x) <= sgi_region_tolerance(whole);
    }
    return inside;
}

/* What the region and the domain have in common, under the region's name. */
static sg_status cut_region(sgi_problem *problem, const sgi_region *named, sgi_region **cut)
{
    const sgi_domain *domain = &problem->domain;
    const sgi_region *parts[] = {named, domain->region ? domain->region : domain->regions[0]};
    *cut = sgi_arena_allocate(&problem->arena, 1, sizeof **cut);
    if (!*cut)
        return SG_ERROR_MEMORY;
    **cut = (sgi_region){.name = named->name, .axes = named->axes};
    sg_status status = SG_OK;
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < parts[p]->count && status == SG_OK; i++)
            status = sgi_region_add(*cut, parts[p]->steps[i].join, parts[p]->steps[i].shape);
    if (status == SG_OK)
        status = sgi_region_add(*cut, SG_JOIN_INTERSECTION, NULL);
    return status == SG_OK ? sgi_region_prepare(*cut) : status;
}

sg_status sgi_problem_read_region(sgi_problem *problem, sgi_reader *reader, const char *what,
                                  const sgi_yaml *node, const sgi_region **region)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return refuse(reader, node, what, "must be the name of one shape");
    const sgi_region *named = sgi_domain_find(&problem->domain, node->text, node->length);
    sgi_region *cut;
    if (!named)
        return unknown_region(problem, reader, what, node);
    *region = named;
    if (lies_in_domain(problem, named))
        return SG_OK;
    sg_status status = cut_region(problem, named, &cut);
    if (status == SG_ERROR_UNSUPPORTED)
        return refuse(reader, node, what, "is made of too many shapes");
    if (status != SG_OK)
        return status;
    double cover = 1; /* points are tried in it: see SG_MOST_TRIES */
    for (int k = 0; k < cut->axes; k++)
        cover *= cut->upper[k] - cut->lower[k];
    if (cut->carrier)
        cover = cut->carrier->kind->measure(cut->carrier);
    *region = cut;
    return cut->measure > 0 && cut->measure >= 1e-3 * cover
               ? SG_OK
               : refuse(reader, node, what, "has nothing, or almost nothing, of the domain in it");
}

/* ---- Homes ------------------------------------------------------------------------------------
 */

/* The fields of an expression, as bits. */
static uint64_t fields_of(const sgi_expressions *exprs, sgi_expr root, uint8_t *reached)
{
    uint64_t fields = 0;
    sgi_expressions_reach(exprs, &root, 1, reached);
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (input && input->kind == SG_INPUT_FIELD)
            fields |= (uint64_t)1 << input->index;
    }
    return fields;
}

sg_status sgi_problem_find_homes(sgi_problem *problem)
{
    uint64_t everywhere = 0;
    uint8_t *reached = sgi_allocate(&problem->allocator, problem->exprs->count, 1);
    if (!reached)
        return SG_ERROR_MEMORY;
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        for (int c = 0; c < set->component_count; c++) {
            uint64_t fields = fields_of(problem->exprs, set->roots[c], reached);
            everywhere |= set->region ? 0 : fields;
            for (int f = 0; f < problem->names.field_count; f++)
                if (fields >> f & 1)
                    problem->homes[f] |= (uint64_t)1 << k;
        }
    }
    for (int f = 0; f < problem->names.field_count; f++)
        if (everywhere >> f & 1)
            problem->homes[f] = 0;
    sgi_release(&problem->allocator, reached);
    return SG_OK;
}

uint64_t sgi_problem_home_of(const sgi_problem *problem, sgi_expr root, uint8_t *reached)
{
    uint64_t fields = fields_of(problem->exprs, root, reached);
    bool one = fields && !(fields & (fields - 1));
    return one ? problem->homes[__builtin_ctzll(fields)] : 0;
}

bool sgi_problem_has(const sgi_problem *problem, uint64_t homes, const double *point)
{
    double x[SG_MOST_AXES];
    bool inside = sgi_domain_has(&problem->domain, point);
    if (!homes || !inside)
        return inside;
    sgi_domain_axes(&problem->domain, point, x);
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_region *region = homes >> k & 1 ? problem->sets[k].region : NULL;
        if (region && sgi_region_distance(region, x) <= sgi_region_tolerance(region))
            return true;
    }
    return false;
}

/* ---- Sets of equations ------------------------------------------------------------------------
 */

int sgi_problem_equation_count(const sgi_problem *problem)
{
    int count = 0;
    for (int k = 0; k < problem->set_count; k++)
        count += problem->sets[k].kind == SG_SET_DOMAIN ? problem->sets[k].component_count : 0;
    return count;
}

const char *sgi_point_set_what(const sgi_point_set *set)
{
    return set->kind == SG_SET_DOMAIN ? "equation"
           : set->kind == SG_SET_DATA ? "data set"
                                      : "condition";
}
