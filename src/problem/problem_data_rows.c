/* Reading measured data: its rows. See data.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "problem/data_reading.h"
#include "problem/remarks.h"

/* Of the choice of rows that are held out; no stream of points has this number. */
static const uint64_t HOLD_STREAM = (uint64_t)11 << 60;

/* What becomes of the samples of a file. */
typedef struct table {
    sgi_data_reading *r;
    const sgi_samples *samples;
    double *points;    /* (samples, coordinates): in the problem's units */
    double *values;    /* (observed, samples): NaN where nothing is to be learnt */
    uint8_t *kept;     /* (samples) */
    size_t *order;     /* (kept): trained on, then held out */
    uint64_t *homes;   /* (observed) */
    size_t kept_count; /* rows */
} table;

/* Where values come from, for messages: the file, or the key. */
static const sgi_yaml *place_of(const sgi_data_reading *r)
{
    const sgi_yaml *file = sgi_yaml_get(r->name->next, "file");
    return file ? file : sgi_yaml_get(r->name->next, "values");
}

static const char *source_of(const sgi_data_reading *r)
{
    const sgi_yaml *file = sgi_yaml_get(r->name->next, "file");
    return file ? file->text : "values";
}

static sg_status outside(const table *t, size_t row, const char *where)
{
    const sgi_data_reading *r = t->r;
    char point[200];
    size_t d = t->samples->coordinate_count;
    return sgi_refuse(r->reader, place_of(r),
                      "outside: skip  leaves such rows out; 'factors' changes the units of "
                      "coordinates",
                      "%.120s: row %zu, %s, lies outside %s", source_of(r), row + 1,
                      sgi_problem_point(r->problem, t->points + row * d, point, sizeof point),
                      where);
}

/* Takes out what lies outside, and counts. */
static sg_status choose_rows(table *t)
{
    sgi_data *data = t->r->data;
    const sgi_problem *problem = t->r->problem;
    size_t count = t->samples->count, d = t->samples->coordinate_count;
    for (size_t i = 0; i < count; i++) {
        const double *point = t->points + i * d;
        bool some = false;
        if (!sgi_problem_covers(problem, point)) {
            if (!data->settings.skip_outside)
                return outside(t, i, "the domain");
            data->outside++;
            continue;
        }
        for (int j = 0; j < data->observed; j++) {
            double *value = &t->values[(size_t)j * count + i];
            char where[128];
            bool home = !t->homes[j] || sgi_problem_has(problem, t->homes[j], point);
            snprintf(where, sizeof where, "the region of '%.60s'", data->texts[j]);
            if (!home && !isnan(*value) && !data->settings.skip_outside)
                return outside(t, i, where);
            if (!home)
                *value = NAN;
            some = some || !isnan(*value);
        }
        for (int j = 0; j < data->observed && some; j++)
            data->missing += isnan(t->values[(size_t)j * count + i]) ? 1 : 0;
        data->empty += !some;
        t->kept[i] = some;
        t->kept_count += some;
    }
    return SG_OK;
}

/* How many rows are held out. */
static sg_status count_held(const table *t, size_t *held)
{
    const sgi_data_reading *r = t->r;
    double asked = r->data->settings.hold_out;
    const sgi_yaml *node = sgi_yaml_get(r->name->next, "hold_out");
    if (asked >= 1 && asked != floor(asked))
        return sgi_refuse(r->reader, node, "as in  hold_out: 0.2",
                          "'hold_out' is a part of the rows, below 1, or a number of them");
    *held = (size_t)(asked < 1 ? round(asked * (double)t->kept_count) : fmin(asked, 1e15));
    if (t->kept_count == 0)
        return sgi_refuse(r->reader, place_of(r), NULL, "%.120s: no row is of use: %zu %s",
                          source_of(r), r->data->outside ? r->data->outside : r->data->empty,
                          r->data->outside ? "lie outside the domain" : "have no value");
    if (*held >= t->kept_count)
        return sgi_refuse(r->reader, node ? node : r->name, NULL,
                          "%s has %zu rows, and %zu of them are held out: none is left to train on",
                          r->what, t->kept_count, *held);
    return SG_OK;
}

/* Lists rows that are trained on, then those that are held out: by a permutation of the seed. */
static void split(table *t, size_t held)
{
    const sgi_problem *problem = t->r->problem;
    uint32_t bits[4];
    size_t number = 0, trained = 0, last = t->kept_count - held;
    sgi_random_bits((uint64_t)problem->settings.training.seed,
                    HOLD_STREAM | (uint64_t)(t->r->data - problem->data), 0, bits);
    uint64_t key = (uint64_t)bits[0] << 32 | bits[1];
    for (size_t i = 0; i < t->samples->count; i++) {
        if (!t->kept[i])
            continue;
        bool hold = sgi_random_permute(number++, t->kept_count, key) < held;
        t->order[hold ? last++ : trained++] = i;
    }
    t->r->data->trained = trained;
}

static sg_status make_arrays(table *t)
{
    sgi_data *data = t->r->data;
    sgi_arena *arena = &t->r->problem->arena;
    size_t n = t->kept_count, d = t->samples->coordinate_count, all = (size_t)data->observed * n;
    data->count = n;
    data->rows = sgi_arena_allocate(arena, n, sizeof *data->rows);
    data->points = sgi_arena_allocate(arena, n, d * sizeof *data->points);
    data->values = sgi_arena_allocate(arena, all, sizeof *data->values);
    data->factors = sgi_arena_allocate(arena, all, sizeof *data->factors);
    if (t->r->deviations)
        data->stds = sgi_arena_allocate(arena, all, sizeof *data->stds);
    if (!data->rows || !data->points || !data->values || !data->factors ||
        (t->r->deviations && !data->stds))
        return SG_ERROR_MEMORY;
    return SG_OK;
}

/* The standard deviation of a value that is there. */
static sg_status take_deviation(const table *t, int j, size_t row, double *std)
{
    const sgi_data_reading *r = t->r;
    const char *column = r->std_columns[j];
    *std =
        column ? t->samples->values[r->std_places[j] * t->samples->count + row] : r->std_numbers[j];
    if (*std > 0)
        return SG_OK;
    if (isnan(*std))
        return sgi_refuse(r->reader, place_of(r), NULL,
                          "%.120s: row %zu has a value of '%.60s', and no standard deviation in "
                          "'%.60s'",
                          source_of(r), row + 1, r->data->texts[j], column);
    return sgi_refuse(r->reader, place_of(r), "a standard deviation is above 0",
                      "%.120s: '%.60s' is %g at row %zu", source_of(r), column, *std, row + 1);
}

static sg_status fill(table *t)
{
    sgi_data *data = t->r->data;
    size_t d = t->samples->coordinate_count;
    sg_status status = SG_OK;
    for (size_t i = 0; i < data->count && status == SG_OK; i++) {
        size_t row = t->order[i];
        data->rows[i] = row + 1;
        memcpy(data->points + i * d, t->points + row * d, d * sizeof *data->points);
        for (int j = 0; j < data->observed && status == SG_OK; j++) {
            size_t at = (size_t)j * data->count + i;
            double std = 1;
            data->values[at] = t->values[(size_t)j * t->samples->count + row];
            if (data->stds)
                data->stds[at] = NAN;
            if (isnan(data->values[at]))
                continue;
            if (data->stds) {
                status = take_deviation(t, j, row, &std);
                data->stds[at] = std;
            }
            data->factors[at] = 1 / std;
        }
    }
    return status;
}

/* The spread, which makes the factors' mean square 1. */
static sg_status weigh(const table *t)
{
    const sgi_data_reading *r = t->r;
    sgi_data *data = r->data;
    double sum = 0;
    for (int j = 0; j < data->observed; j++) {
        size_t before = data->measured;
        for (size_t i = 0; i < data->trained; i++) {
            double factor = data->factors[(size_t)j * data->count + i];
            sum += factor * factor;
            data->measured += factor > 0;
        }
        if (data->measured == before)
            return sgi_refuse(r->reader, r->places[j], NULL,
                              "%.120s has no value of '%.60s' to train on", source_of(r),
                              data->texts[j]);
    }
    data->spread = data->stds ? sqrt((double)data->measured / sum) : 1;
    if (!isfinite(data->spread) || !(data->spread > 0))
        return sgi_refuse(r->reader, r->name, NULL,
                          "the standard deviations of %s are too large or too small", r->what);
    for (size_t i = 0; i < (size_t)data->observed * data->count; i++)
        data->factors[i] *= data->spread;
    return SG_OK;
}

static sg_status prepare(table *t)
{
    const sgi_data_reading *r = t->r;
    sgi_problem *problem = r->problem;
    size_t n = t->samples->count, d = t->samples->coordinate_count;
    size_t observed = (size_t)r->data->observed;
    const sg_allocator *a = &problem->allocator;
    uint8_t *reached = sgi_allocate(a, problem->exprs->count, 1);
    t->points = sgi_allocate(a, n, d * sizeof *t->points);
    t->values = sgi_allocate(a, n, observed * sizeof *t->values);
    t->kept = sgi_allocate(a, n, 1);
    t->order = sgi_allocate(a, n, sizeof *t->order);
    t->homes = sgi_allocate(a, observed, sizeof *t->homes);
    bool there = reached && t->points && t->values && t->kept && t->order && t->homes;
    for (size_t i = 0; there && i < n * d; i++)
        t->points[i] = t->samples->points[i] * r->coordinate_factors[i % d];
    for (size_t j = 0; there && j < observed; j++) {
        memcpy(t->values + j * n, t->samples->values + j * n, n * sizeof *t->values);
        t->homes[j] = sgi_problem_home_of(problem, r->data->exprs[j], reached);
    }
    sgi_release(a, reached);
    return there ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_data_take_rows(sgi_data_reading *r, const sgi_samples *samples)
{
    const sg_allocator *a = &r->problem->allocator;
    table t = {.r = r, .samples = samples};
    size_t held = 0;
    sg_status status = prepare(&t);
    if (status == SG_OK)
        status = choose_rows(&t);
    if (status == SG_OK)
        status = count_held(&t, &held);
    if (status == SG_OK) {
        split(&t, held);
        status = make_arrays(&t);
    }
    if (status == SG_OK)
        status = fill(&t);
    if (status == SG_OK)
        status = weigh(&t);
    sgi_release(a, t.points);
    sgi_release(a, t.values);
    sgi_release(a, t.kept);
    sgi_release(a, t.order);
    sgi_release(a, t.homes);
    return status;
}
