/* Values at points from arrays: see samples.h. */
#include "data/samples.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "text/nearest.h"

typedef struct maker {
    sgi_samples *out;
    const sgi_arrays *arrays;
    const sgi_sample_columns *columns;
    const sgi_array *coordinates[SG_SAMPLE_COORDINATES]; /* NULL: in the names of columns */
    const sgi_array *quantities[SG_SAMPLE_QUANTITIES];   /* the first, of several columns */
    size_t spread;                                       /* the coordinate that is in the names */
    const char *path;
    sg_diagnostic *diagnostic;
} maker;

__attribute__((format(printf, 2, 3))) static sg_status bad(const maker *m, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return sgi_fail_file(m->diagnostic, SG_ERROR_FORMAT, m->path, "%s", text);
}

/* ---- Finding arrays ---------------------------------------------------------------------------
 */

/* An array that nothing else is read from, as an example; or that of the same letters. */
static const char *spare(const maker *m, const char *name, bool *same)
{
    const sgi_sample_columns *c = m->columns;
    const char *found = NULL;
    for (size_t i = 0; i < m->arrays->count; i++) {
        const char *own = m->arrays->items[i].name;
        bool used = false;
        *same = strcasecmp(own, name) == 0;
        if (*same)
            return own;
        for (size_t k = 0; k < c->coordinate_count; k++)
            used |= strcmp(c->coordinates[k], own) == 0;
        for (size_t q = 0; q < c->quantity_count; q++)
            used |= strcmp(c->quantities[q], own) == 0;
        found = found || used ? found : own;
    }
    return found;
}

static sg_status missing(const maker *m, const char *name, const char *what)
{
    char list[200] = "";
    size_t used = 0;
    bool same = false;
    const char *other = spare(m, name, &same);
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, name, strlen(name));
    for (size_t i = 0; i < m->arrays->count; i++) {
        sgi_nearest_offer(&nearest, m->arrays->items[i].name);
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                     m->arrays->items[i].name);
    }
    if (used >= sizeof list)
        memcpy(list + sizeof list - 4, "...", 4);
    (void)bad(m, "there is no '%.60s' for %s; the file has %s", name, what, list);
    if (same)
        sgi_diagnostic_suggest(m->diagnostic, "did you mean '%.60s'?", other);
    else if (nearest.best[0])
        sgi_nearest_suggest(&nearest, m->diagnostic);
    else if (other)
        sgi_diagnostic_suggest(m->diagnostic, "say which it is, as in  columns: {%.60s: %.60s}",
                               name, other);
    return SG_ERROR_FORMAT;
}

static const sgi_array *find(const maker *m, const char *name, bool *twice)
{
    const sgi_array *found = NULL;
    for (size_t i = 0; i < m->arrays->count; i++)
        if (strcmp(m->arrays->items[i].name, name) == 0) {
            *twice |= found != NULL;
            found = &m->arrays->items[i];
        }
    return found;
}

/* "NAME @ COORDINATE=VALUE": the value, for a column of that quantity. */
static bool spread_value(const char *text, const char *name, const char *coordinate, double *value)
{
    size_t length = strlen(name), tail = strlen(coordinate);
    if (strncmp(text, name, length) != 0)
        return false;
    text += length;
    if (strncmp(text, " @ ", 3) != 0 || strncmp(text + 3, coordinate, tail) != 0 ||
        text[3 + tail] != '=')
        return false;
    char *end;
    *value = strtod(text + 4 + tail, &end);
    return end != text + 4 + tail && *end == 0;
}

/* The next column of quantity q behind `after`, or NULL. */
static const sgi_array *next_spread(const maker *m, size_t q, const sgi_array *after, double *value)
{
    const sgi_array *end = m->arrays->items + m->arrays->count;
    for (const sgi_array *a = after ? after + 1 : m->arrays->items; a < end; a++)
        if (spread_value(a->name, m->columns->quantities[q], m->columns->coordinates[m->spread],
                         value))
            return a;
    return NULL;
}

static sg_status find_coordinates(maker *m)
{
    const sgi_sample_columns *c = m->columns;
    m->spread = c->coordinate_count;
    for (size_t k = 0; k < c->coordinate_count; k++) {
        char what[100];
        bool twice = false;
        double value;
        snprintf(what, sizeof what, "the coordinate '%.60s'", c->names[k]);
        m->coordinates[k] = find(m, c->coordinates[k], &twice);
        if (twice)
            return bad(m, "there are two '%.60s'", c->coordinates[k]);
        if (m->coordinates[k])
            continue;
        size_t before = m->spread;
        m->spread = k;
        if (before < c->coordinate_count || !c->quantity_count || !next_spread(m, 0, NULL, &value))
            return missing(m, c->coordinates[k], what);
    }
    return SG_OK;
}

static sg_status find_quantities(maker *m)
{
    const sgi_sample_columns *c = m->columns;
    for (size_t q = 0; q < c->quantity_count; q++) {
        bool twice = false;
        double value;
        m->quantities[q] = m->spread < c->coordinate_count ? next_spread(m, q, NULL, &value)
                                                           : find(m, c->quantities[q], &twice);
        if (twice)
            return bad(m, "there are two '%.60s'", c->quantities[q]);
        if (!m->quantities[q])
            return missing(m, c->quantities[q], "a quantity");
    }
    return SG_OK;
}

/* ---- Scattered points -------------------------------------------------------------------------
 */

static sg_status take_room(maker *m, size_t count)
{
    sgi_samples *s = m->out;
    s->count = count;
    s->points = sgi_allocate(&s->allocator, count, s->coordinate_count * sizeof(double));
    s->values = sgi_allocate(&s->allocator, count, s->quantity_count * sizeof(double));
    if (s->points && s->values)
        return SG_OK;
    return sgi_fail_file(m->diagnostic, SG_ERROR_MEMORY, m->path, "out of memory");
}

static sg_status same_count(const maker *m, const sgi_array *array, const sgi_array *first)
{
    if (!array || !first) /* cannot be: each was found */
        return SG_ERROR_ARGUMENT;
    if (array->count == first->count)
        return SG_OK;
    return bad(m, "'%.60s' has %zu values, and '%.60s' has %zu", first->name, first->count,
               array->name, array->count);
}

static sg_status take_scattered(maker *m)
{
    sgi_samples *s = m->out;
    sg_status status = take_room(m, m->coordinates[0]->count);
    for (size_t k = 0; k < s->coordinate_count && status == SG_OK; k++) {
        status = same_count(m, m->coordinates[k], m->coordinates[0]);
        for (size_t i = 0; i < s->count && status == SG_OK; i++)
            s->points[i * s->coordinate_count + k] = m->coordinates[k]->values[i];
    }
    for (size_t q = 0; q < s->quantity_count && status == SG_OK; q++) {
        status = same_count(m, m->quantities[q], m->coordinates[0]);
        if (status == SG_OK && s->count)
            memcpy(s->values + q * s->count, m->quantities[q]->values, s->count * sizeof(double));
    }
    return status;
}

/* ---- Grids ------------------------------------------------------------------------------------
 */

/* A quantity's dimensions, those of length 1 left out where the coordinate has more values. */
typedef struct dimensions {
    size_t count, lengths[SG_ARRAY_RANK];
} dimensions;

/* The orders of coordinates that fit the lengths, tried one after the other. */
typedef struct orders {
    size_t place[SG_SAMPLE_COORDINATES]; /* the dimension of each coordinate */
    size_t found[SG_SAMPLE_COORDINATES];
    size_t count; /* of orders that fit */
} orders;

static void try_orders(const maker *m, const dimensions *d, size_t k, unsigned used, orders *o)
{
    if (k == m->columns->coordinate_count) {
        if (o->count++ == 0)
            memcpy(o->found, o->place, sizeof o->found);
        return;
    }
    for (size_t i = 0; i < d->count && o->count < 2; i++)
        if (!(used >> i & 1) && d->lengths[i] == m->coordinates[k]->count) {
            o->place[k] = i;
            try_orders(m, d, k + 1, used | 1u << i, o);
        }
}

/* Dimensions of length 1 are left out as long as there are more than coordinates: MATLAB's vectors
 * have two, and so has a table of one row. */
static dimensions dimensions_of(const sgi_array *array, size_t coordinates)
{
    dimensions d = {0};
    size_t spare = array->rank > coordinates ? array->rank - coordinates : 0;
    for (size_t i = 0; i < array->rank; i++)
        if (array->shape[i] == 1 && spare)
            spare--;
        else
            d.lengths[d.count++] = array->shape[i];
    return d;
}

static sg_status no_order(const maker *m, const sgi_array *array)
{
    char shape[200] = "", axes[200] = "";
    size_t used = 0, count = m->columns->coordinate_count;
    for (size_t i = 0; i < array->rank; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%zu", i ? " x " : "",
                                 array->shape[i]);
    used = 0;
    for (size_t k = 0; k < count && used < sizeof axes; k++)
        used += (size_t)snprintf(axes + used, sizeof axes - used, "%s%zu of '%.20s'",
                                 k ? k + 1 < count ? ", " : " and " : "", m->coordinates[k]->count,
                                 m->columns->coordinates[k]);
    return bad(m, "'%.60s' has %s values, which does not fit %s", array->name, shape, axes);
}

static sg_status ambiguous(const maker *m, const sgi_array *array)
{
    char list[200] = "";
    size_t used = 0;
    for (size_t k = 0; k < m->columns->coordinate_count && used < sizeof list; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.20s", k ? ", " : "",
                                 m->columns->names[k]);
    (void)bad(m, "'%.60s' has dimensions of equal length, so that its coordinates could be swapped",
              array->name);
    sgi_diagnostic_suggest(m->diagnostic,
                           "say which dimension is which coordinate, as in  order: [%s]", list);
    return SG_ERROR_FORMAT;
}

static sg_status find_order(const maker *m, const sgi_array *array, size_t *place)
{
    const sgi_sample_columns *c = m->columns;
    dimensions d = dimensions_of(array, c->coordinate_count);
    orders o = {.count = 0};
    if (d.count != c->coordinate_count)
        return no_order(m, array);
    for (size_t i = 0; i < c->order_count; i++) {
        if (d.lengths[i] != m->coordinates[c->order[i]]->count)
            return no_order(m, array);
        place[c->order[i]] = i;
    }
    if (c->order_count)
        return SG_OK;
    try_orders(m, &d, 0, 0, &o);
    memcpy(place, o.found, sizeof o.found);
    return o.count == 1 ? SG_OK : o.count ? ambiguous(m, array) : no_order(m, array);
}

/* Points with the last coordinate fastest; `place` says where the quantity has each coordinate. */
static sg_status take_grid_values(maker *m, size_t q)
{
    sgi_samples *s = m->out;
    const sgi_array *array = m->quantities[q];
    size_t place[SG_SAMPLE_COORDINATES], stride[SG_SAMPLE_COORDINATES], step[SG_SAMPLE_COORDINATES];
    size_t index[SG_SAMPLE_COORDINATES] = {0}, at = 0, d = s->coordinate_count;
    sg_status status = find_order(m, array, place);
    if (status != SG_OK)
        return status;
    for (size_t k = 0; k < d; k++)
        step[place[k]] = m->coordinates[k]->count;
    for (size_t i = d, next = 1; i-- > 0; next *= step[i])
        stride[i] = next;
    for (size_t i = 0; i < s->count; i++) {
        s->values[q * s->count + i] = array->values[at];
        for (size_t k = d; k-- > 0;) {
            at += stride[place[k]];
            if (++index[k] < m->coordinates[k]->count)
                break;
            at -= stride[place[k]] * m->coordinates[k]->count;
            index[k] = 0;
        }
    }
    return SG_OK;
}

static void take_grid_points(maker *m)
{
    sgi_samples *s = m->out;
    size_t run = s->count;
    for (size_t k = 0; k < s->coordinate_count; k++) {
        size_t length = m->coordinates[k]->count;
        run /= length;
        for (size_t i = 0; i < s->count; i++)
            s->points[i * s->coordinate_count + k] = m->coordinates[k]->values[i / run % length];
    }
}

static sg_status take_grid(maker *m, size_t count)
{
    sg_status status = take_room(m, count);
    if (status == SG_OK && count)
        take_grid_points(m);
    for (size_t q = 0; q < m->out->quantity_count && status == SG_OK; q++)
        status = take_grid_values(m, q);
    return status;
}

/* ---- Columns for the values of a coordinate ---------------------------------------------------
 */

/* The columns of one value of that coordinate, one for each quantity, behind those `at`. */
static sg_status next_columns(const maker *m, const sgi_array **at, double *value)
{
    for (size_t q = 0; q < m->columns->quantity_count; q++) {
        double own = NAN;
        at[q] = next_spread(m, q, at[q], &own);
        if (q == 0)
            *value = own;
        if (!at[q] || own != *value)
            return bad(m, "'%.60s' is not given at the same %.60s as '%.60s'",
                       m->columns->quantities[q], m->columns->coordinates[m->spread],
                       m->columns->quantities[0]);
        sg_status status = same_count(m, at[q], m->quantities[0]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static void take_columns(maker *m, const sgi_array *const *at, size_t first, double value)
{
    sgi_samples *s = m->out;
    size_t rows = m->quantities[0]->count, d = s->coordinate_count;
    for (size_t q = 0; q < s->quantity_count; q++)
        for (size_t i = 0; at[q] && i < rows; i++)
            s->values[q * s->count + first + i] = at[q]->values[i];
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < rows; i++)
            s->points[(first + i) * d + k] =
                k == m->spread || !m->coordinates[k] ? value : m->coordinates[k]->values[i];
}

static sg_status take_spread(maker *m)
{
    size_t rows = m->quantities[0]->count, times = 0, total;
    const sgi_array *at[SG_SAMPLE_QUANTITIES] = {NULL};
    double value;
    for (const sgi_array *a = NULL; (a = next_spread(m, 0, a, &value));)
        times++;
    if (__builtin_mul_overflow(rows, times, &total))
        return bad(m, "it has too many values");
    sg_status status = take_room(m, total);
    for (size_t k = 0; k < m->columns->coordinate_count && status == SG_OK; k++)
        if (k != m->spread)
            status = same_count(m, m->coordinates[k], m->quantities[0]);
    for (size_t j = 0; j < times && status == SG_OK; j++) {
        status = next_columns(m, at, &value);
        if (status == SG_OK)
            take_columns(m, at, j * rows, value);
    }
    return status;
}

/* ---- All --------------------------------------------------------------------------------------
 */

static sg_status check_values(const maker *m)
{
    const sgi_samples *s = m->out;
    if (s->count == 0)
        return bad(m, "it has no points");
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->coordinate_count; k++)
            if (!isfinite(s->points[i * s->coordinate_count + k]))
                return bad(m, "'%.60s' is not a finite number at point %zu",
                           m->columns->coordinates[k], i + 1);
    for (size_t q = 0; q < s->quantity_count; q++)
        for (size_t i = 0; i < s->count; i++)
            if (isinf(s->values[q * s->count + i]))
                return bad(m, "'%.60s' is infinite at point %zu", m->columns->quantities[q], i + 1);
    return SG_OK;
}

static sg_status take(maker *m)
{
    size_t product = 1, d = m->columns->coordinate_count;
    bool overflow = false;
    if (m->spread < d)
        return take_spread(m);
    for (size_t k = 0; k < d; k++) {
        if (!m->coordinates[k])
            return SG_ERROR_ARGUMENT; /* cannot be: each was found */
        overflow |= __builtin_mul_overflow(product, m->coordinates[k]->count, &product);
    }
    const sgi_array *first = m->coordinates[0];
    const sgi_array *quantity = m->columns->quantity_count ? m->quantities[0] : first;
    if (!first || !quantity)
        return SG_ERROR_ARGUMENT;
    size_t wanted = quantity->count;
    bool scattered = first->count == wanted;
    return scattered || overflow || product != wanted ? take_scattered(m) : take_grid(m, product);
}

/* A table without names: its columns in the order of coordinates and quantities. */
static sg_status take_unnamed(sgi_sample_columns *c, maker *m, char (*numbers)[24])
{
    size_t count = c->coordinate_count + c->quantity_count;
    for (size_t i = 0; i < count; i++) {
        const char **name =
            i < c->coordinate_count ? &c->coordinates[i] : &c->quantities[i - c->coordinate_count];
        char *end;
        (void)strtoul(*name, &end, 10);
        if (end != *name && *end == 0)
            continue; /* the number of a column */
        if (m->arrays->count != count)
            return bad(m,
                       "the columns have no names, and there are %zu of them for %zu coordinates "
                       "and %zu quantities: say which is which, as in  columns: {%.40s: 1}",
                       m->arrays->count, c->coordinate_count, c->quantity_count, *name);
        snprintf(numbers[i], sizeof *numbers, "%zu", i + 1);
        *name = numbers[i];
    }
    return SG_OK;
}

sg_status sgi_samples_make(sgi_samples *samples, const sgi_arrays *arrays, bool named,
                           const sgi_sample_columns *columns, const char *path,
                           const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    char numbers[SG_SAMPLE_COORDINATES + SG_SAMPLE_QUANTITIES][24];
    sgi_sample_columns c = *columns;
    maker m = {
        .out = samples, .arrays = arrays, .columns = &c, .path = path, .diagnostic = diagnostic};
    *samples = (sgi_samples){.allocator = sgi_allocator_or_heap(allocator),
                             .coordinate_count = c.coordinate_count,
                             .quantity_count = c.quantity_count};
    sg_status status = named ? SG_OK : take_unnamed(&c, &m, numbers);
    if (status == SG_OK)
        status = find_coordinates(&m);
    if (status == SG_OK)
        status = find_quantities(&m);
    if (status == SG_OK)
        status = take(&m);
    if (status == SG_OK)
        status = check_values(&m);
    if (status != SG_OK)
        sgi_samples_release(samples);
    return status;
}

void sgi_samples_release(sgi_samples *s)
{
    sgi_release(&s->allocator, s->points);
    sgi_release(&s->allocator, s->values);
    s->points = s->values = NULL;
    s->count = 0;
}
