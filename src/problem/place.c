/* Points that are tried: see place.h. */
#include "problem/place.h"

#include <string.h>

enum { MOST_REGISTERS = 64 };

/* The program of a filter at one point. */
static bool keeps(const sgi_program *program, const double *point)
{
    double registers[MOST_REGISTERS] = {0}, values[3] = {0};
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const sgi_instruction *in = &program->instructions[i];
        for (int k = 0; k < sgi_op_arity(in->op); k++) {
            sgi_operand from = in->arguments[k];
            values[k] =
                from.input ? point[program->inputs[from.index].index] : registers[from.index];
        }
        registers[in->target] = in->op == SG_OP_CONSTANT
                                    ? in->value
                                    : sgi_op_apply(in->op, values[0], values[1], values[2]);
    }
    sgi_operand out = program->outputs[0];
    return (out.input ? point[program->inputs[out.index].index] : registers[out.index]) != 0;
}

static bool passes(const sgi_filter *filter, const sgi_domain *domain, const double *point)
{
    double x[SG_MOST_AXES], normal[SG_MOST_AXES];
    if (!filter)
        return true;
    sgi_domain_axes(domain, point, x);
    for (int i = 0; i < filter->within_count; i++)
        if (sgi_region_distance(filter->within[i], x) > sgi_region_tolerance(filter->within[i]))
            return false;
    for (int i = 0; i < filter->touched_count; i++)
        if (!sgi_region_touches(filter->touched[i], x, normal))
            return false;
    return !filter->keep || keeps(filter->keep, point);
}

/* A coordinate anywhere in its range. One that will be given a value of its own, as the bits of
 * `fixed` say, takes no number of a sequence. */
static void draw_coordinate(const sgi_problem *problem, int k, unsigned fixed,
                            sgi_uniforms *uniforms, double *point)
{
    if (uniforms->use == SG_USE_CHANCE || !(fixed >> k & 1))
        point[k] = problem->lower[k] +
                   (problem->upper[k] - problem->lower[k]) * sgi_uniform_next(uniforms);
}

static void draw_anywhere(const sgi_problem *problem, unsigned fixed, sgi_uniforms *uniforms,
                          double *point)
{
    for (int k = 0; k < problem->names.coordinate_count; k++)
        draw_coordinate(problem, k, fixed, uniforms, point);
}

static void put_axes(const sgi_domain *domain, const double *x, double *point)
{
    for (int k = 0; k < domain->axes; k++)
        point[domain->coordinates[k]] = x[k];
}

static void draw_time(const sgi_problem *problem, unsigned fixed, sgi_uniforms *uniforms,
                      double *point)
{
    if (problem->names.time >= 0)
        draw_coordinate(problem, problem->names.time, fixed, uniforms, point);
}

static bool draw_interior(const sgi_problem *problem, const sgi_region *region, unsigned fixed,
                          sgi_uniforms *uniforms, double *point)
{
    double x[SG_MOST_AXES];
    if (!region)
        region = problem->domain.region;
    if (!region) {
        draw_anywhere(problem, fixed, uniforms, point);
        return true;
    }
    int tries = uniforms->use == SG_USE_CHANCE ? SG_MOST_TRIES : 1;
    bool good = false;
    for (int i = 0; i < tries && !good; i++)
        good = sgi_region_try_interior(region, uniforms, x);
    put_axes(&problem->domain, x, point);
    draw_time(problem, fixed, uniforms, point);
    return good;
}

bool sgi_place_interior(const sgi_problem *problem, const sgi_region *region,
                        sgi_uniforms *uniforms, double *point)
{
    return draw_interior(problem, region, 0, uniforms, point);
}

/* The region's normal, or the domain's where the point lies on its boundary too: on the rim of a
 * hole it points into the hole. */
static bool try_side(const sgi_problem *problem, const sgi_face *face, sgi_uniforms *uniforms,
                     double *point, double *normal)
{
    const sgi_domain *domain = &problem->domain;
    double x[SG_MOST_AXES], out[SG_MOST_AXES], own[SG_MOST_AXES];
    bool good = sgi_region_try_side(face->region, face->side, uniforms, x, out);
    put_axes(domain, x, point);
    draw_time(problem, 0, uniforms, point);
    /* The two are in line; the one that was drawn is exact. */
    if (good && domain->region && face->region != domain->region &&
        sgi_region_touches(domain->region, x, own) && sgi_dot(out, own, domain->axes) < 0)
        for (int k = 0; k < domain->axes; k++)
            out[k] = -out[k];
    put_axes(domain, out, normal);
    return good;
}

/* The plane's own normal where the domain ends there. */
static void plane_normal(const sgi_problem *problem, const sgi_face *face, const double *point,
                         double *normal)
{
    const sgi_domain *domain = &problem->domain;
    double x[SG_MOST_AXES], at[SG_MOST_AXES];
    if (!domain->region || face->coordinate == problem->names.time) {
        normal[face->coordinate] = face->normal;
        return;
    }
    double step = 1e-6 * domain->region->size;
    bool inside[2];
    sgi_domain_axes(domain, point, x);
    for (int side = 0; side < 2; side++) {
        memcpy(at, x, sizeof at);
        for (int k = 0; k < domain->axes; k++)
            if (domain->coordinates[k] == face->coordinate)
                at[k] += side ? step : -step;
        inside[side] = sgi_region_distance(domain->region, at) < 0;
    }
    normal[face->coordinate] = inside[0] - inside[1];
}

static bool draw_plane(const sgi_problem *problem, const sgi_face *face, sgi_uniforms *uniforms,
                       double *point)
{
    unsigned fixed = 1u << face->coordinate | (face->filter ? face->filter->fixed : 0);
    bool good = true;
    if (face->coordinate == problem->names.time)
        good = draw_interior(problem, NULL, fixed, uniforms, point);
    else
        draw_anywhere(problem, fixed, uniforms, point);
    for (int k = 0; face->filter && k < problem->names.coordinate_count; k++)
        if (face->filter->fixed >> k & 1)
            point[k] = face->filter->values[k];
    point[face->coordinate] = face->value;
    return good;
}

bool sgi_place_try(const sgi_problem *problem, const sgi_face *face, bool pairs,
                   sgi_uniforms *uniforms, double *point, double *normal)
{
    memset(normal, 0, (size_t)problem->names.coordinate_count * sizeof *normal);
    if (face->interior)
        return sgi_place_interior(problem, face->region, uniforms, point) &&
               passes(face->filter, &problem->domain, point);
    if (face->region)
        return try_side(problem, face, uniforms, point, normal) &&
               passes(face->filter, &problem->domain, point);
    if (!draw_plane(problem, face, uniforms, point) ||
        !passes(face->filter, &problem->domain, point))
        return false;
    if (pairs) {
        double partner[SG_MOST_COORDINATES];
        memcpy(partner, point, sizeof partner);
        partner[face->coordinate] = problem->lower[face->coordinate];
        if (!passes(face->filter, &problem->domain, partner))
            return false;
    }
    plane_normal(problem, face, point, normal);
    return true;
}

sgi_try sgi_place_try_once(const sgi_problem *problem, const sgi_face *face, sgi_uniforms *uniforms,
                           double *point, double *normal)
{
    const sgi_domain *domain = &problem->domain;
    bool start = !face->region && !face->interior && face->coordinate == problem->names.time &&
                 !(face->filter && face->filter->fixed);
    const sgi_region *region = face->region ? face->region : domain->region;
    double x[SG_MOST_AXES];
    if (!region || !(face->interior || start))
        return sgi_place_try(problem, face, false, uniforms, point, normal) ? SG_TRY_GOOD
                                                                            : SG_TRY_FILTERED;
    memset(normal, 0, (size_t)problem->names.coordinate_count * sizeof *normal);
    if (!sgi_region_try_interior(region, uniforms, x))
        return SG_TRY_MISSED;
    put_axes(domain, x, point);
    draw_time(problem, 0, uniforms, point);
    if (start) {
        point[face->coordinate] = face->value;
        normal[face->coordinate] = face->normal;
    }
    return passes(face->filter, domain, point) ? SG_TRY_GOOD : SG_TRY_FILTERED;
}

void sgi_place_draw(const sgi_problem *problem, const sgi_face *face, bool pairs,
                    sgi_uniforms *uniforms, double *point, double *normal)
{
    for (int i = 0; i < SG_MOST_TRIES; i++)
        if (sgi_place_try(problem, face, pairs, uniforms, point, normal))
            return;
}
