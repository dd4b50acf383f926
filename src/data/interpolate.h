/* Samples as functions of the coordinates.
 *
 * Where the points are all points of a grid, whatever their order, values between them are
 * multilinear, and outside of the grid there are none (NaN). Otherwise they are those of a plane
 * through the nearest points, by least squares that weigh near points more; distances are measured
 * in parts of the points' extent. A missing value (NaN) counts as a hole on a grid, and is left out
 * among scattered points. At a sample's own point the value is the sample's. */
#ifndef SG_DATA_INTERPOLATE_H
#define SG_DATA_INTERPOLATE_H

#include "data/samples.h"

typedef struct sgi_interpolant sgi_interpolant;

/* `samples` must outlive it. */
SG_CHECKED sg_status sgi_interpolant_create(sgi_interpolant **interpolant,
                                            const sgi_samples *samples,
                                            const sg_allocator *allocator);
void sgi_interpolant_destroy(sgi_interpolant *interpolant); /* NULL is allowed */

/* Whether the points are those of a grid; lengths (coordinates) if it is not NULL. */
bool sgi_interpolant_grid(const sgi_interpolant *interpolant, size_t *lengths);

/* At a point, what has `values` (count) at the samples: a quantity of theirs, or anything else that
 * is known there. May be called from several threads. */
double sgi_interpolant_at(const sgi_interpolant *interpolant, const double *values,
                          const double *point);

#endif
