/* Points that a caller gives for a set, in place of sampled ones. */
#ifndef SG_PINN_GIVEN_H
#define SG_PINN_GIVEN_H

#include "problem/problem.h"

typedef struct sgi_given {
    double *points;     /* (count, points_per_item, coordinates); NULL: none were given */
    double *normals;    /* (count, coordinates), or NULL where nobody reads them */
    const double *lent; /* as `points`, but the caller's: not released */
    size_t count;
} sgi_given;

/* Whether there are points. */
static inline bool sgi_is_given(const sgi_given *given)
{
    return given->points || given->lent;
}

/* Copies the points; with `normals`, finds for each the face of the set that it lies on.
 * SG_ERROR_ARGUMENT, with a diagnostic, for a coordinate that is not finite or a point on no face.
 * On failure `given` is unchanged. */
SG_CHECKED sg_status sgi_given_copy(sgi_given *given, const sgi_problem *problem, int set,
                                    const double *points, size_t count, bool normals,
                                    const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_given_release(sgi_given *given, const sg_allocator *allocator);

/* As sgi_sample and sgi_sample_normals. */
void sgi_given_points(const sgi_given *given, size_t width, size_t first, size_t count,
                      sg_type type, void *const *coordinates);
void sgi_given_normals(const sgi_given *given, size_t first, size_t count, sg_type type,
                       int coordinates, void *const *normals);

#endif
