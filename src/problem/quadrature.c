/* Points for integrals: see quadrature.h. */
#include "problem/quadrature.h"

#include <math.h>
#include <string.h>

#include "problem/place.h"
#include "problem/sampler.h"

enum { MEASURE_TRIES = 1 << 16, MOST_ROUNDS = 20 };

/* A lattice of `total` points in the numbers that a try at a face takes. */
typedef struct lattice {
    const sgi_problem *problem;
    const sgi_face *face;
    double strides[SG_MOST_COORDINATES + 1];
    int numbers;
    int64_t total;
} lattice;

/* A try at a face takes no more numbers than there are coordinates, but where a shape tries by
 * itself; those after them are random. */
static lattice begin(const sgi_problem *problem, const sgi_face *face, int64_t total)
{
    lattice l = {problem, face, {0}, problem->names.coordinate_count, total};
    sgi_quasi_strides(l.numbers - 1, l.strides);
    return l;
}

/* Try i of the lattice. On a plane all coordinates are drawn, and its own is overwritten: the
 * lattice runs through the others. */
static sgi_try attempt(const lattice *l, int64_t i, double *point, double *normal)
{
    double first[SG_MOST_COORDINATES + 1] = {0}, even = ((double)i + 0.5) / (double)l->total;
    const sgi_face *face = l->face;
    bool plane = !face->region && !face->interior;
    int k = 0;
    sgi_quasi_random(l->strides, l->numbers - 1, (int)i, first + 1);
    while (plane && k + 1 < l->numbers &&
           (k == face->coordinate || (face->filter && face->filter->fixed >> k & 1)))
        k++;
    first[0] = first[k]; /* the evenly spaced number goes to the first that counts */
    first[k] = even;
    sgi_uniforms uniforms = {
        .stream = 6, .counter = (uint64_t)i << 24, .first = first, .first_count = l->numbers};
    return sgi_place_try_once(l->problem, face, &uniforms, point, normal);
}

/* Good tries, and in `reached` those that did not miss. */
static int64_t count_good(const lattice *l, int64_t *reached)
{
    double point[SG_MOST_COORDINATES] = {0}, normal[SG_MOST_COORDINATES];
    int64_t good = 0;
    *reached = 0;
    for (int64_t i = 0; i < l->total; i++) {
        sgi_try result = attempt(l, i, point, normal);
        *reached += result != SG_TRY_MISSED;
        good += result == SG_TRY_GOOD;
    }
    return good;
}

static double face_measure(const sgi_problem *problem, const sgi_face *face)
{
    if (!face->filter)
        return face->measure;
    lattice l = begin(problem, face, MEASURE_TRIES);
    int64_t reached, good = count_good(&l, &reached);
    return reached > 0 ? face->whole * (double)good / (double)reached : 0;
}

double sgi_quadrature_measure(const sgi_problem *problem, const sgi_point_set *set)
{
    double sum = 0;
    for (int f = 0; f < set->face_count; f++)
        sum += face_measure(problem, &set->faces[f]);
    return sum;
}

/* Whether number k of `all` is among the `taken` that are picked at even distances. */
static bool is_picked(int64_t k, int64_t all, int64_t taken)
{
    return (k + 1) * taken / all > k * taken / all;
}

/* `count` good points of the face: of a lattice that has a few more of them, some are passed over,
 * at even distances. */
static void fill_face(const sgi_problem *problem, const sgi_face *face, int64_t count,
                      double *points, double *normals)
{
    size_t d = (size_t)problem->names.coordinate_count;
    lattice l = begin(problem, face, count);
    int64_t reached, good = count_good(&l, &reached), seen = 0, taken = 0;
    for (int round = 0; good < count && round < MOST_ROUNDS; round++) {
        double share = good > 0 ? (double)good / (double)l.total : 1e-3;
        l = begin(problem, face, (int64_t)ceil((double)count / share * (1 + 0.01 * round)) + 1);
        good = count_good(&l, &reached);
    }
    for (int64_t i = 0; taken < count; i++) {
        double point[SG_MOST_COORDINATES] = {0}, normal[SG_MOST_COORDINATES] = {0};
        bool is_good = i < l.total && attempt(&l, i, point, normal) == SG_TRY_GOOD;
        if (i >= l.total) { /* it never came to enough */
            sgi_uniforms uniforms = {.stream = 7, .counter = (uint64_t)i << 24};
            sgi_place_draw(problem, face, false, &uniforms, point, normal);
        } else if (!is_good || !is_picked(seen++, good, count)) {
            continue;
        }
        memcpy(points + (size_t)taken * d, point, d * sizeof *point);
        if (normals)
            memcpy(normals + (size_t)taken * d, normal, d * sizeof *normal);
        taken++;
    }
}

void sgi_quadrature(const sgi_problem *problem, const sgi_point_set *set, size_t items,
                    double *points, double *normals, double *weights)
{
    size_t d = (size_t)problem->names.coordinate_count;
    double sum = 0;
    for (int f = 0; f < set->face_count; f++) {
        size_t first = (size_t)sgi_face_begin(set, (int64_t)items, f);
        size_t end = (size_t)sgi_face_begin(set, (int64_t)items, f + 1);
        double measure = face_measure(problem, &set->faces[f]);
        if (end == first)
            continue;
        fill_face(problem, &set->faces[f], (int64_t)(end - first), points + first * d,
                  normals ? normals + first * d : NULL);
        for (size_t i = first; i < end; i++)
            weights[i] = measure / (double)(end - first);
        sum += measure;
    }
    for (size_t i = 0; i < items; i++)
        weights[i] /= sum;
}
