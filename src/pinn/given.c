/* Given points: see given.h. */
#include "pinn/given.h"

#include <math.h>
#include <string.h>

#include "base/diagnostic.h"

/* How far from a face a point may lie, in lengths of the domain: points are often kept in float. */
static const double near_a_face = 1e-6;

static void say_where(sg_diagnostic *diagnostic, const sgi_point_set *set, size_t item,
                      const char *what)
{
    sgi_diagnostic_file(diagnostic, set->name);
    sgi_diagnostic_say(diagnostic, "item %zu of the points given for '%s' %s", item, set->name,
                       what);
}

static bool all_finite(const double *values, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++)
        finite = finite && isfinite(values[i]);
    return finite;
}

/* How far the point is from the face, in lengths of the domain, and the outward normal there. */
static double face_distance(const sgi_problem *problem, const sgi_face *face, const double *point,
                            double *normal)
{
    const sgi_domain *domain = &problem->domain;
    double x[SG_MOST_AXES], out[SG_MOST_AXES];
    memset(normal, 0, SG_MOST_COORDINATES * sizeof *normal);
    if (face->interior)
        return 0;
    if (!face->region) {
        int k = face->coordinate;
        normal[k] = face->normal;
        return fabs(point[k] - face->value) / (problem->upper[k] - problem->lower[k]);
    }
    sgi_domain_axes(domain, point, x);
    const sgi_region *ends = domain->region && sgi_region_touches(domain->region, x, out)
                                 ? domain->region
                                 : face->region;
    if (!sgi_region_touches(ends, x, out))
        return INFINITY;
    for (int k = 0; k < domain->axes; k++)
        normal[domain->coordinates[k]] = out[k];
    return fabs(sgi_shape_distance(face->region->sides[face->side].shape, x)) / face->region->size;
}

/* The normal of the nearest face; false if the point lies on none. */
static bool find_normal(const sgi_problem *problem, const sgi_point_set *set, const double *point,
                        double *normal)
{
    double nearest = near_a_face, candidate[SG_MOST_COORDINATES];
    bool found = false;
    for (int f = 0; f < set->face_count; f++) {
        double distance = face_distance(problem, &set->faces[f], point, candidate);
        if (distance < nearest) {
            nearest = distance;
            found = true;
            memcpy(normal, candidate, (size_t)problem->names.coordinate_count * sizeof *normal);
        }
    }
    return found;
}

static sg_status fill(sgi_given *given, const sgi_problem *problem, const sgi_point_set *set,
                      const double *points, sg_diagnostic *diagnostic)
{
    size_t coordinates = (size_t)problem->names.coordinate_count;
    size_t width = (size_t)set->points_per_item * coordinates;
    memcpy(given->points, points, given->count * width * sizeof *points);
    for (size_t i = 0; i < given->count; i++) {
        const double *point = points + i * width;
        if (!all_finite(point, width)) {
            say_where(diagnostic, set, i, "is not finite");
            return SG_ERROR_ARGUMENT;
        }
        if (!given->normals)
            continue;
        if (!find_normal(problem, set, point, given->normals + i * coordinates)) {
            say_where(diagnostic, set, i, "lies on none of its faces, so it has no normal");
            return SG_ERROR_ARGUMENT;
        }
    }
    return SG_OK;
}

sg_status sgi_given_copy(sgi_given *given, const sgi_problem *problem, int index,
                         const double *points, size_t count, bool normals,
                         const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    const sgi_point_set *set = &problem->sets[index];
    size_t coordinates = (size_t)problem->names.coordinate_count;
    size_t width = (size_t)set->points_per_item * coordinates;
    sgi_given copy = {.count = count,
                      .points = sgi_allocate(allocator, count, width * sizeof(double))};
    if (normals)
        copy.normals = sgi_allocate(allocator, count, coordinates * sizeof(double));
    sg_status status = copy.points && (copy.normals || !normals)
                           ? fill(&copy, problem, set, points, diagnostic)
                           : SG_ERROR_MEMORY;
    if (status != SG_OK) {
        sgi_given_release(&copy, allocator);
        return status;
    }
    sgi_given_release(given, allocator);
    *given = copy;
    return SG_OK;
}

void sgi_given_release(sgi_given *given, const sg_allocator *allocator)
{
    sgi_release(allocator, given->points);
    sgi_release(allocator, given->normals);
    *given = (sgi_given){0};
}

/* Columns of rows [first, first + count) of `from` (count, width). */
static void split(const double *from, size_t width, size_t first, size_t count, sg_type type,
                  void *const *columns)
{
    for (size_t k = 0; k < width; k++)
        for (size_t i = 0; columns[k] && i < count; i++) {
            double value = from[(first + i) * width + k];
            if (type == SG_FLOAT32)
                ((float *)columns[k])[i] = (float)value;
            else
                ((double *)columns[k])[i] = value;
        }
}

void sgi_given_points(const sgi_given *given, size_t width, size_t first, size_t count,
                      sg_type type, void *const *coordinates)
{
    split(given->lent ? given->lent : given->points, width, first, count, type, coordinates);
}

void sgi_given_normals(const sgi_given *given, size_t first, size_t count, sg_type type,
                       int coordinates, void *const *normals)
{
    split(given->normals, (size_t)coordinates, first, count, type, normals);
}
