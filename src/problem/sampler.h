/* Points: item i of set k at step s is a pure function of (seed, stream, s, k, i).
 *
 * Points are uniform in the domain or a region of it, or on the faces of a condition. Items of a
 * condition are divided over its faces in proportion to their measure (largest remainders; every
 * face gets one as long as there are enough), in the order of the faces: the first part of the
 * items lies on the first face, and so on. */
#ifndef SG_PROBLEM_SAMPLER_H
#define SG_PROBLEM_SAMPLER_H

#include "problem/problem.h"
#include "stablegrad/pinn.h"

typedef struct sgi_draw {
    uint64_t seed;
    sg_pinn_stream stream;
    uint64_t step; /* below 2^40 */
} sgi_draw;

/* The stream of random numbers of a set's points. */
uint64_t sgi_draw_stream(const sgi_draw *draw, int set);

/* Fills items [first, first + count) of `items` in all of set `set`: coordinates[p * C + c] is an
 * array of `count` elements of `type`; p = 1 is the lower face's point of a pair, p = 0 the
 * upper's.
 */
void sgi_sample(const sgi_problem *problem, int set, int64_t items, const sgi_draw *draw,
                size_t first, size_t count, sg_type type, void *const *coordinates);

/* Fills the outward normals of those items: normals[c] is an array of `count` elements, NULL for a
 * component that nobody reads. */
void sgi_sample_normals(const sgi_problem *problem, int set, int64_t items, const sgi_draw *draw,
                        size_t first, size_t count, sg_type type, void *const *normals);

/* The number of items on the faces before face `face`, of `items` in all. */
int64_t sgi_face_begin(const sgi_point_set *set, int64_t items, int face);

#endif
