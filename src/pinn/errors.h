/* Errors against the reference: on the evaluation grid, or, where the reference comes from files,
 * at their own points. The reference is computed once. */
#ifndef SG_PINN_ERRORS_H
#define SG_PINN_ERRORS_H

#include "pinn/quantities.h"
#include "stablegrad/pinn.h"

/* Values that are compared at most, over all fields: 128 MB each for reference and prediction. */
enum { SG_ERROR_VALUES = 1 << 24 };

/* A grid of more coordinates than these that has too many points is not thinned, which would leave
 * two or three along each coordinate: that many points of the domain are drawn in its place. */
enum { SG_ERROR_AXES = 4, SG_ERROR_DRAWN = 1 << 16 };

typedef struct sgi_errors {
    sg_allocator allocator;
    const sgi_problem *problem;
    sgi_box_grid grid; /* the problem's, thinned where it asks for more than SG_ERROR_VALUES */
    bool thinned;
    double *points;       /* (count, coordinates): in place of the grid; NULL: the grid */
    bool of_files;        /* these are the points of the reference's files, and not drawn */
    size_t count;         /* of the points */
    sgi_point_set values; /* the fields themselves */
    double **reference;   /* [field] (count) */
    double **prediction;  /* [field] (count) */
    size_t inside;        /* points that lie in the domain */
    size_t left_out;      /* of those, where the reference is not finite: errors leave them out */
    double first_left_out[SG_MOST_COORDINATES];
    bool nothing;          /* it has no finite value but 0: there is nothing to be relative to */
    sg_pinn_error *fields; /* (field_count): each field, then all of them together */
    size_t field_count;    /* one more than the problem has fields */
} sgi_errors;

/* Evaluates the reference. A problem without one gives *errors = NULL and SG_OK. */
SG_CHECKED sg_status sgi_errors_create(sgi_errors **errors, sgi_problem *problem, sg_pool *pool,
                                       const sg_allocator *allocator);
void sgi_errors_destroy(sgi_errors *errors); /* NULL is allowed */

/* "the reference is not finite at 1 of 121 points of the evaluation grid, ..."; "" if it is. Of
 * files: how many of their points lie outside the domain or have no value. */
const char *sgi_errors_sentence(const sgi_errors *errors, char *text, size_t size);

/* Relative L2 and largest error of each field; rewrites errors->fields. */
SG_CHECKED sg_status sgi_errors_measure(sgi_errors *errors, sg_jet_network *network, sg_pool *pool);

/* Prediction minus reference at the places, as last measured, where the reference is known at the
 * points of its files: between these the errors are interpolated, and not the reference, whose own
 * shape between its points is not known so well. outputs[f] (count) for field f; NaN where there is
 * none. Of other references SG_ERROR_UNSUPPORTED. */
SG_CHECKED sg_status sgi_errors_between(const sgi_errors *errors, const sgi_places *places,
                                        double *const *outputs, sg_pool *pool);

#endif
