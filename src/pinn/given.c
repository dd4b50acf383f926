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

/* The nearest face; NULL if the point lies on none. */
static const sgi_face *face_of(const sgi_problem *problem, const sgi_point_set *set,
                               const double *point)
{
    const sgi_face *best = NULL;
    double nearest = near_a_face;
    for (int f = 0; f < set->face_count; f++) {
        int k = set->faces[f].coordinate;
        double length = problem->upper[k] - problem->lower[k];
        double distance = fabs(point[k] - set->faces[f].value) / length;
        if (distance < nearest) {
            nearest = distance;
            best = &set->faces[f];
        }
    }
    return best;
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
        const sgi_face *face = face_of(problem, set, point);
        if (!face) {
            say_where(diagnostic, set, i, "lies on none of its faces, so it has no normal");
            return SG_ERROR_ARGUMENT;
        }
        given->normals[i * coordinates + (size_t)face->coordinate] = face->normal;
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
    split(given->points, width, first, count, type, coordinates);
}

void sgi_given_normals(const sgi_given *given, size_t first, size_t count, sg_type type,
                       int coordinates, void *const *normals)
{
    split(given->normals, (size_t)coordinates, first, count, type, normals);
}
