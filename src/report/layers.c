/* Layers as lines: see layers.h. */
#include "report/layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The length of NAME when the column is GROUP/NAME/WHAT, else 0. */
static size_t layer_name(const char *column, const char *group, const char *what)
{
    size_t length = strlen(column), head = strlen(group), tail = strlen(what);
    if (length < head + tail + 3 || strncmp(column, group, head) != 0 || column[head] != '/' ||
        column[length - tail - 1] != '/' || strcmp(column + length - tail, what) != 0)
        return 0;
    return length - head - tail - 2;
}

static size_t count_layers(const sgi_columns *columns, const char *group, const char *what)
{
    size_t count = 0;
    for (size_t c = 0; c < columns->count; c++)
        count += layer_name(columns->items[c].name, group, what) > 0;
    return count;
}

/* Keeps the rows that have a value of any layer (kept[r] is the place among them, or -1). */
static size_t keep_rows(const sgi_columns *columns, const double *const *values, size_t count,
                        long *kept)
{
    size_t rows = 0;
    for (size_t r = 0; r < columns->rows; r++) {
        bool any = false;
        for (size_t l = 0; l < count && !any; l++)
            any = !isnan(values[l][r]);
        kept[r] = any ? (long)rows++ : -1;
    }
    return rows;
}

/* A copy of a column's kept rows; NULL without memory. */
static const double *gather(sgi_page *page, const double *values, const long *kept, size_t all,
                            size_t rows)
{
    double *some = sgi_page_memory(page, rows, sizeof *some);
    for (size_t r = 0; some && r < all; r++)
        if (kept[r] >= 0)
            some[kept[r]] = values[r];
    return some;
}

static void find_largest(sgi_layers *layers)
{
    double largest = -INFINITY;
    for (size_t l = 0; l < layers->count; l++)
        for (size_t r = 0; r < layers->rows; r++)
            if (isfinite(layers->values[l][r]) && layers->values[l][r] > largest) {
                largest = layers->values[l][r];
                layers->largest = l;
                layers->largest_row = r;
            }
}

/* Names and whole columns of the layers; false without memory. */
static bool collect(sgi_page *page, const sgi_columns *columns, const char *group, const char *what,
                    sgi_layers *layers)
{
    for (size_t c = 0; c < columns->count; c++) {
        const char *column = columns->items[c].name;
        size_t length = layer_name(column, group, what);
        if (length == 0)
            continue;
        char *name = sgi_page_memory(page, length + 1, 1);
        if (!name)
            return false;
        memcpy(name, column + strlen(group) + 1, length);
        layers->names[layers->count] = name;
        layers->values[layers->count++] = columns->items[c].values;
    }
    return true;
}

bool sgi_layers_find(sgi_page *page, const sgi_run *run, const char *group, const char *what,
                     sgi_layers *layers)
{
    const sgi_columns *columns = &run->training;
    size_t count = count_layers(columns, group, what);
    *layers = (sgi_layers){0};
    if (count == 0 || columns->rows == 0)
        return false;
    layers->names = sgi_page_memory(page, count, sizeof *layers->names);
    layers->values = sgi_page_memory(page, count, sizeof *layers->values);
    long *kept = sgi_page_memory(page, columns->rows, sizeof *kept);
    if (!layers->names || !layers->values || !kept || !collect(page, columns, group, what, layers))
        return false;
    layers->rows = keep_rows(columns, layers->values, count, kept);
    layers->steps = gather(page, columns->items[0].values, kept, columns->rows, layers->rows);
    for (size_t l = 0; layers->steps && l < count; l++) {
        layers->values[l] = gather(page, layers->values[l], kept, columns->rows, layers->rows);
        if (!layers->values[l])
            return false;
    }
    if (!layers->steps || layers->rows == 0)
        return false;
    find_largest(layers);
    return true;
}

size_t sgi_layers_lines(const sgi_layers *layers, sgi_line lines[SG_LAYERS_ALL])
{
    size_t count = 0, all = layers->count;
    for (size_t l = 0, next = 0; l < all; l++) {
        /* The next of the evenly spaced ones, from the first layer to the last. */
        size_t even = (next * (all - 1) + (SG_LAYERS_EVENLY - 1) / 2) / (SG_LAYERS_EVENLY - 1);
        bool taken = all <= SG_LAYERS_ALL || l == even;
        next += l == even;
        if (!taken && l != layers->largest)
            continue;
        lines[count] = (sgi_line){.label = layers->names[l],
                                  .x = layers->steps,
                                  .y = layers->values[l],
                                  .count = layers->rows};
        sgi_chart_ramp_colour(&lines[count++], all > 1 ? (double)l / (double)(all - 1) : 0.5);
    }
    return count;
}

/* The largest finite value of a row, or NaN. */
static double largest_of(const sgi_layers *layers, size_t row)
{
    double largest = NAN;
    for (size_t l = 0; l < layers->count; l++)
        if (isfinite(layers->values[l][row]))
            largest = fmax(largest, layers->values[l][row]);
    return largest;
}

/* How many neighbours a point over the depth stands for. */
static size_t group_size(const sgi_layers *layers)
{
    return layers->count ? sgi_parts(layers->count, SG_LAYERS_DEPTHS) : 1;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the values that are there, or NaN. Infinities are the largest. */
static double median(double *values, size_t count)
{
    size_t have = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[have++] = values[i];
    qsort(values, have, sizeof *values, by_size);
    return have ? values[have / 2] : NAN;
}

static sgi_line profile(sgi_page *page, const sgi_layers *layers, size_t row)
{
    enum { LABEL = 32 };
    size_t group = group_size(layers), points = sgi_parts(layers->count, group);
    double *x = sgi_page_memory(page, 2 * points + group, sizeof *x);
    char *label = sgi_page_memory(page, LABEL, 1);
    if (!x || !label)
        return (sgi_line){.label = ""};
    double *y = x + points, *some = y + points;
    for (size_t p = 0; p < points; p++) {
        size_t first = p * group, count = 0;
        while (count < group && first + count < layers->count) {
            some[count] = layers->values[first + count][row];
            count++;
        }
        x[p] = (double)first + 0.5 * (double)(count + 1);
        y[p] = median(some, count);
    }
    (void)snprintf(label, LABEL, "step %.0f", layers->steps[row]);
    return (sgi_line){.label = label, .x = x, .y = y, .count = points};
}

const char *sgi_layers_depth_label(sgi_page *page, const sgi_layers *layers)
{
    enum { LABEL = 64 };
    size_t group = group_size(layers);
    char *label = group > 1 ? sgi_page_memory(page, LABEL, 1) : NULL;
    if (!label)
        return "layer";
    (void)snprintf(label, LABEL, "layer (medians of %zu)", group);
    return label;
}

size_t sgi_layers_profiles(sgi_page *page, const sgi_layers *layers,
                           sgi_line lines[SG_LAYERS_PROFILES])
{
    size_t last = layers->rows - 1, count = 0;
    while (last > 0 && isnan(largest_of(layers, last)))
        last--;
    bool *chosen = sgi_page_memory(page, layers->rows, sizeof *chosen);
    if (!chosen)
        return 0;
    chosen[0] = chosen[last / 4] = chosen[last / 2] = chosen[last] = true;
    double shown = 0;
    for (size_t r = 0; r < layers->rows; r++)
        if (chosen[r])
            shown = fmax(shown, largest_of(layers, r));
    if (largest_of(layers, layers->largest_row) > 2 * shown)
        chosen[layers->largest_row] = true;
    for (size_t r = 0; r < layers->rows; r++)
        if (chosen[r])
            lines[count++] = profile(page, layers, r);
    for (size_t l = 0; l < count; l++)
        sgi_chart_ramp_colour(&lines[l], count > 1 ? (double)l / (double)(count - 1) : 0.5);
    return count;
}

void sgi_layers_legend(sgi_page *page, const sgi_layers *layers)
{
    sgi_line lines[SG_LAYERS_ALL];
    if (layers->count > SG_LAYERS_ALL)
        sgi_chart_ramp(page->out, "first layer", "last layer");
    else
        sgi_chart_legend(page->out, lines, sgi_layers_lines(layers, lines));
}

void sgi_layers_span(sgi_step_span *span, const sgi_layers *layers)
{
    double last = layers->steps[layers->rows - 1];
    span->shortest = span->longest > 0 ? fmin(span->shortest, last) : last;
    span->longest = fmax(span->longest, last);
}

void sgi_layers_steps(sgi_axis *x, const sgi_step_span *span)
{
    sgi_axis_clear(x, span->shortest > 0 && span->shortest < 0.2 * span->longest);
}

void sgi_layers_range(sgi_axis *x, sgi_axis *y, const sgi_line *lines, size_t count)
{
    for (size_t l = 0; l < count; l++)
        for (size_t i = 0; i < lines[l].count; i++) {
            sgi_axis_include(x, lines[l].x[i]);
            sgi_axis_include(y, lines[l].y[i]);
        }
}
