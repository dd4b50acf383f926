/* Units: a problem whose numbers are far from 1 is trained in nondimensional form.
 *
 *     scales: auto
 *     scales: {x: 0.01, t: 10, T: {size: 80, offset: 293}}
 *
 * With the size L of each coordinate and the size S of each field, a field is offset + S N with the
 * network's output N, derivatives are those of N by x / L, and every residual is divided by its own
 * size: the largest, of the fields and derivatives that it contains, of how much it changes when
 * one of them changes by its size. Expressions, points, domains, references and results stay in the
 * user's units; the sizes come in when a set of points is compiled, and when the network is made.
 */
#ifndef SG_PROBLEM_SCALES_H
#define SG_PROBLEM_SCALES_H

#include "problem/problem.h"

/* Reads the section, if there is one, and finds the sizes that it leaves open and those of the
 * residuals. Needs equations, conditions, exact conditions and the reference. */
SG_CHECKED sg_status sgi_scales_read(sgi_problem *problem, sgi_reader *reader);

/* From expressions of the user's fields to those of the network's outputs, after the transforms
 * were put in: derivatives get the factors of their units. */
SG_CHECKED sg_status sgi_scales_apply(sgi_problem *problem, sgi_expr *roots, size_t count);

/* The expression divided by its scale, term by term. */
sgi_expr sgi_scales_divide(sgi_expressions *exprs, sgi_expr expr, double scale);

/* What a derivative is taken by: the product of the coordinates' sizes. The size of a field's
 * derivative is that of the field, divided by it. */
double sgi_scales_unit(const sgi_scales *scales, sgi_derivative derivative);
double sgi_scales_size(const sgi_scales *scales, const sgi_input *input);

/* ---- Sizes that are found (sizes.c) ------------------------------------------------------------
 */

/* Sizes as `auto` finds them: those of coordinates are their lengths. Fields with a size of 0 are
 * those that nothing tells the size of. */
SG_CHECKED sg_status sgi_scales_find(sgi_problem *problem, sgi_scales *scales);

/* The size of each residual of a set, (component_count); 0 where it is not finite. */
SG_CHECKED sg_status sgi_scales_residuals(sgi_problem *problem, const sgi_scales *scales, int set,
                                          double *sizes);

#endif
