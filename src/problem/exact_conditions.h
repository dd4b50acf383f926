/* Conditions that hold exactly: the network's output N becomes u = g + d N, where d is 0 on the
 * places of the conditions and g has their values there. The rest of the program sees u as before:
 * wherever the engine is asked for derivatives of u, it is asked for those of N that they are made
 * of. */
#ifndef SG_PROBLEM_EXACT_CONDITIONS_H
#define SG_PROBLEM_EXACT_CONDITIONS_H

#include "problem/problem.h"

struct sgi_exact {
    const sgi_yaml *key; /* the condition's name */
    int field;
    sgi_expr value, distance;
    bool has_slope; /* a start in time that says what u_t is there */
    sgi_expr slope;
    sgi_point_set place; /* faces and kind */
};

/* Adds `field: value` of the condition `key`, which holds on the faces; `distance` (0: none) is the
 * user's own d. */
SG_CHECKED sg_status sgi_exact_add(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *key,
                                   int field, sgi_expr value, sgi_expr distance,
                                   const sgi_point_set *place);

/* Adds `u_t: slope` to the value that condition `key` gives the field at its only plane of t: the
 * field is then value + (t - t0) slope + (t - t0)^2 ... */
SG_CHECKED sg_status sgi_exact_slope(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *key,
                                     int field, sgi_expr slope);

/* Makes the transform of every field that has such conditions, and tries it at points of their
 * places. SG_ERROR_FORMAT with a diagnostic when a condition is not met, or cannot be. */
SG_CHECKED sg_status sgi_exact_finish(sgi_problem *problem, sgi_reader *reader);

/* The largest difference between a reference that is given by expressions and the value of
 * condition i, at points of its place. */
SG_CHECKED sg_status sgi_exact_misfit(const sgi_problem *problem, int i, double *largest);

/* Rewrites the roots, each input by `map`. */
typedef sgi_expr sgi_map_input(sgi_problem *problem, sgi_expr node, const sgi_input *input);
SG_CHECKED sg_status sgi_exact_rebuild(sgi_problem *problem, sgi_expr *roots, size_t count,
                                       sgi_map_input *map);

/* Puts the transforms into expressions. */
SG_CHECKED sg_status sgi_exact_apply(sgi_problem *problem, sgi_expr *roots, size_t count);

#endif
