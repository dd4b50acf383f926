/* Points for integrals. They are spread evenly over the place of a condition, are the same in every
 * step, and each has a weight: its share of the place. In one dimension they have equal distances,
 * which is exact to second order, and on closed smooth curves far better; in more dimensions they
 * are a lattice whose error falls about as 1 / N. */
#ifndef SG_PROBLEM_QUADRATURE_H
#define SG_PROBLEM_QUADRATURE_H

#include "problem/problem.h"

/* The measure of the place: of the parts that are taken, counted to about one part in 10,000. */
double sgi_quadrature_measure(const sgi_problem *problem, const sgi_point_set *set);

/* `points` (items, coordinates), `normals` (items, coordinates) or NULL, `weights` (items), whose
 * sum is 1. */
void sgi_quadrature(const sgi_problem *problem, const sgi_point_set *set, size_t items,
                    double *points, double *normals, double *weights);

#endif
