/* Points of places that are no plain boxes and planes: tried one after the other until one lies
 * where it should. Point i of a step is a pure function of the same numbers as any other, see
 * sampler.h: the tries of an item have counters of their own. */
#ifndef SG_PROBLEM_PLACE_H
#define SG_PROBLEM_PLACE_H

#include "problem/problem.h"

/* Tries after which the last one is taken. Places of which fewer than one try in a thousand is good
 * are refused when a file is read, so that it does not come to this. */
enum { SG_MOST_TRIES = 1 << 16 };

/* Draws a point of all coordinates in the region; NULL: in the domain. Numbers of a sequence are
 * tried once; whether that was good. */
bool sgi_place_interior(const sgi_problem *problem, const sgi_region *region,
                        sgi_uniforms *uniforms, double *point);

/* One try at a point of a face, with the outward normal there (0 where there is none); whether it
 * is good. `partner` is the point on the opposite face when `pairs`. */
bool sgi_place_try(const sgi_problem *problem, const sgi_face *face, bool pairs,
                   sgi_uniforms *uniforms, double *point, double *normal);

/* The same where points that miss the inside of a region are not tried again, which spoils evenly
 * spaced ones. */
typedef enum sgi_try { SG_TRY_MISSED, SG_TRY_FILTERED, SG_TRY_GOOD } sgi_try;
sgi_try sgi_place_try_once(const sgi_problem *problem, const sgi_face *face, sgi_uniforms *uniforms,
                           double *point, double *normal);

/* Tries until it is good. */
void sgi_place_draw(const sgi_problem *problem, const sgi_face *face, bool pairs,
                    sgi_uniforms *uniforms, double *point, double *normal);

#endif
