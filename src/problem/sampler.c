/* Points: see sampler.h. */
#include "problem/sampler.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "problem/data.h"
#include "problem/place.h"

/* The share of face `face`, rounded down, and what rounding took. */
static int64_t floor_share(const sgi_point_set *set, int64_t items, int face, double *rest)
{
    double total = 0;
    for (int i = 0; i < set->face_count; i++)
        total += set->faces[i].measure;
    double share = (double)items * (set->faces[face].measure / total);
    /* Equal faces of 2048 points get exactly 512 each, whatever the division's last bit. */
    double whole = floor(share * (1 + 1e-12));
    *rest = share - whole;
    return (int64_t)whole;
}

/* Items of each face: largest remainders, then one for those that have none. */
static void divide(const sgi_point_set *set, int64_t items, int64_t counts[SG_MOST_FACES])
{
    double rests[SG_MOST_FACES] = {0};
    int64_t left = items;
    memset(counts, 0, SG_MOST_FACES * sizeof *counts);
    for (int i = 0; i < set->face_count; i++) {
        counts[i] = floor_share(set, items, i, &rests[i]);
        left -= counts[i];
    }
    for (; left > 0; left--) {
        int best = 0;
        for (int i = 1; i < set->face_count; i++)
            if (rests[i] > rests[best])
                best = i;
        counts[best]++;
        rests[best] -= 1;
    }
    for (int i = 0; i < set->face_count && items >= set->face_count; i++) {
        int most = 0;
        for (int j = 1; j < set->face_count; j++)
            if (counts[j] > counts[most])
                most = j;
        if (counts[i] == 0) {
            counts[i]++;
            counts[most]--;
        }
    }
}

int64_t sgi_face_begin(const sgi_point_set *set, int64_t items, int face)
{
    int64_t counts[SG_MOST_FACES], begin = 0;
    divide(set, items, counts);
    for (int i = 0; i < face; i++)
        begin += counts[i];
    return begin;
}

static inline void store(void *array, sg_type type, size_t i, double value)
{
    if (type == SG_FLOAT32)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* Uniform points in the box, items [first, first + count). */
static void fill_box(const sgi_problem *problem, uint64_t seed, uint64_t stream, size_t first,
                     size_t count, sg_type type, void *const *coordinates)
{
    size_t d = (size_t)problem->names.coordinate_count, calls = (d + 1) / 2;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < d; k += 2) {
            double uniform[2];
            sgi_random_uniform2(seed, stream, (first + i) * calls + k / 2, uniform);
            for (size_t j = k; j < k + 2 && j < d; j++) {
                double lower = problem->lower[j], length = problem->upper[j] - lower;
                store(coordinates[j], type, i, lower + length * uniform[j - k]);
            }
        }
    }
}

/* Overwrites the coordinate that is fixed on each face. */
static void press_to_faces(const sgi_problem *problem, const sgi_point_set *set, int64_t items,
                           size_t first, size_t count, sg_type type, void *const *coordinates)
{
    int64_t counts[SG_MOST_FACES];
    size_t d = (size_t)problem->names.coordinate_count, begin = 0;
    divide(set, items, counts);
    for (int f = 0; f < set->face_count; f++) {
        const sgi_face *face = &set->faces[f];
        size_t k = (size_t)face->coordinate, end = begin + (size_t)counts[f];
        size_t from = begin > first ? begin : first, to = end < first + count ? end : first + count;
        for (size_t i = from; i < to; i++) {
            store(coordinates[k], type, i - first, face->value);
            if (set->kind == SG_SET_PAIRS)
                store(coordinates[d + k], type, i - first, problem->lower[k]);
        }
        begin = end;
    }
}

/* The top bits keep these streams apart from those of other users of the seed. */
uint64_t sgi_draw_stream(const sgi_draw *draw, int set)
{
    return ((uint64_t)draw->stream + 1) << 60 | (uint64_t)set << 48 | draw->step;
}

/* Numbers of their own for the tries of each item. */
static sgi_uniforms uniforms_of(const sgi_draw *draw, int set, size_t item)
{
    return (sgi_uniforms){
        .seed = draw->seed, .stream = sgi_draw_stream(draw, set), .counter = (uint64_t)item << 24};
}

/* Calls back for each of items [first, first + count) with the point that is tried for it. */
typedef void put_item(void *const *columns, sg_type type, int coordinates, size_t i,
                      const double *point, const double *normal, const sgi_face *face,
                      const sgi_problem *problem);

static void put_point(void *const *columns, sg_type type, int coordinates, size_t i,
                      const double *point, const double *normal, const sgi_face *face,
                      const sgi_problem *problem)
{
    (void)normal;
    for (int k = 0; k < coordinates; k++) {
        store(columns[k], type, i, point[k]);
        if (face)
            store(columns[coordinates + k], type, i,
                  k == face->coordinate ? problem->lower[k] : point[k]);
    }
}

static void put_normal(void *const *columns, sg_type type, int coordinates, size_t i,
                       const double *point, const double *normal, const sgi_face *face,
                       const sgi_problem *problem)
{
    (void)point;
    (void)face;
    (void)problem;
    for (int k = 0; k < coordinates; k++)
        if (columns[k])
            store(columns[k], type, i, normal[k]);
}

static void try_items(const sgi_problem *problem, int index, int64_t items, const sgi_draw *draw,
                      size_t first, size_t count, sg_type type, void *const *columns, put_item *put)
{
    const sgi_point_set *set = &problem->sets[index];
    bool pairs = set->kind == SG_SET_PAIRS;
    int64_t counts[SG_MOST_FACES];
    int face = 0, coordinates = problem->names.coordinate_count;
    divide(set, items, counts);
    size_t end = (size_t)counts[0];
    for (size_t i = first; i < first + count; i++) {
        double point[SG_MOST_COORDINATES] = {0}, normal[SG_MOST_COORDINATES] = {0};
        sgi_uniforms uniforms = uniforms_of(draw, index, i);
        while (i >= end && face + 1 < set->face_count)
            end += (size_t)counts[++face];
        sgi_place_draw(problem, &set->faces[face], pairs, &uniforms, point, normal);
        put(columns, type, coordinates, i - first, point, normal, pairs ? &set->faces[face] : NULL,
            problem);
    }
}

/* Points of a region, or of a domain that is no box. */
static void fill_domain(const sgi_problem *problem, int index, const sgi_draw *draw, size_t first,
                        size_t count, sg_type type, void *const *coordinates)
{
    for (size_t i = 0; i < count; i++) {
        double point[SG_MOST_COORDINATES];
        sgi_uniforms uniforms = uniforms_of(draw, index, first + i);
        (void)sgi_place_interior(problem, problem->sets[index].region, &uniforms, point);
        put_point(coordinates, type, problem->names.coordinate_count, i, point, NULL, NULL, NULL);
    }
}

/* Points of measured data. */
static void fill_rows(const sgi_problem *problem, int index, int64_t items, const sgi_draw *draw,
                      size_t first, size_t count, sg_type type, void *const *coordinates)
{
    const sgi_data *data = problem->sets[index].data;
    int d = problem->names.coordinate_count;
    for (size_t i = 0; i < count; i++) {
        size_t row = sgi_data_row(problem, index, items, draw, first + i);
        put_point(coordinates, type, d, i, data->points + row * (size_t)d, NULL, NULL, NULL);
    }
}

void sgi_sample(const sgi_problem *problem, int index, int64_t items, const sgi_draw *draw,
                size_t first, size_t count, sg_type type, void *const *coordinates)
{
    const sgi_point_set *set = &problem->sets[index];
    size_t d = (size_t)problem->names.coordinate_count;
    if (set->kind == SG_SET_DATA) {
        fill_rows(problem, index, items, draw, first, count, type, coordinates);
        return;
    }
    if (set->kind == SG_SET_DOMAIN && (set->region || problem->domain.region)) {
        fill_domain(problem, index, draw, first, count, type, coordinates);
        return;
    }
    if (set->curved) {
        try_items(problem, index, items, draw, first, count, type, coordinates, put_point);
        return;
    }
    uint64_t stream = sgi_draw_stream(draw, index);
    fill_box(problem, draw->seed, stream, first, count, type, coordinates);
    if (set->kind == SG_SET_PAIRS)
        fill_box(problem, draw->seed, stream, first, count, type, coordinates + d);
    if (set->kind != SG_SET_DOMAIN)
        press_to_faces(problem, set, items, first, count, type, coordinates);
}

void sgi_sample_normals(const sgi_problem *problem, int index, int64_t items, const sgi_draw *draw,
                        size_t first, size_t count, sg_type type, void *const *normals)
{
    const sgi_point_set *set = &problem->sets[index];
    int64_t counts[SG_MOST_FACES];
    if (set->curved) {
        try_items(problem, index, items, draw, first, count, type, normals, put_normal);
        return;
    }
    for (int k = 0; k < problem->names.coordinate_count; k++)
        for (size_t i = 0; normals[k] && i < count; i++)
            store(normals[k], type, i, 0);
    if (set->kind == SG_SET_DOMAIN || set->kind == SG_SET_DATA)
        return;
    divide(set, items, counts);
    size_t begin = 0;
    for (int f = 0; f < set->face_count; f++) {
        void *normal = normals[set->faces[f].coordinate];
        size_t end = begin + (size_t)counts[f];
        size_t from = begin > first ? begin : first, to = end < first + count ? end : first + count;
        for (size_t i = from; normal && i < to; i++)
            store(normal, type, i - first, set->faces[f].normal);
        begin = end;
    }
}
