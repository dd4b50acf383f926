/* How the solution agrees with measured data: a table of misfits, the points on the map, coloured
 * by their difference, and the differences along each coordinate. See page.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/scatter.h"
#include "report/field_grid.h"
#include "report/page.h"

enum { MOST_SETS = 8, MOST_OBSERVED = 16, MOST_DOTS = 600, LABEL = 160 };

/* One data set as data.npz has it; shapes are checked. */
typedef struct set {
    sgi_page *page;
    const sgi_run *run;
    size_t index, rows, width, observed;
    const char *name;
    const json_t *about;     /* of run.json */
    const double *points;    /* (rows, width) */
    const double *held_out;  /* (rows) */
    const double *values;    /* (observed, rows) */
    const double *predicted; /* (observed, rows) */
    const double *stds;      /* (observed, rows), or NULL */
} set;

static const double *find(const set *s, const char *name, size_t rows, size_t columns)
{
    char full[64];
    (void)snprintf(full, sizeof full, "%s_%zu", name, s->index);
    const sgi_array *array = sgi_arrays_find(&s->run->data, full);
    if (!array || array->rank != 2 || array->shape[0] != rows || array->shape[1] != columns)
        return NULL;
    return array->values;
}

static bool open_set(set *s)
{
    char full[64];
    (void)snprintf(full, sizeof full, "points_%zu", s->index);
    const sgi_array *points = sgi_arrays_find(&s->run->data, full);
    s->about = json_array_get(json_object_get(s->run->info, "measured"), s->index);
    s->name = sgi_run_item(s->run, "measured", s->index);
    s->observed = json_array_size(json_object_get(s->about, "observed"));
    while (sgi_run_item(s->run, "coordinates", s->width))
        s->width++;
    if (!points || !s->name || points->rank != 2 || points->shape[1] != s->width ||
        s->observed > MOST_OBSERVED)
        return false;
    s->rows = points->shape[0];
    s->points = points->values;
    s->held_out = find(s, "held_out", s->rows, 1);
    s->values = find(s, "values", s->observed, s->rows);
    s->predicted = find(s, "predicted", s->observed, s->rows);
    s->stds = find(s, "stds", s->observed, s->rows);
    return s->rows > 0 && s->held_out && s->values && s->predicted;
}

static const char *text_of(const set *s, size_t j)
{
    const char *text = json_string_value(json_array_get(json_object_get(s->about, "observed"), j));
    return text ? text : "?";
}

/* Prediction minus measurement, in standard deviations where they are known. */
static double difference(const set *s, size_t j, size_t row)
{
    size_t at = j * s->rows + row;
    return (s->predicted[at] - s->values[at]) / (s->stds ? s->stds[at] : 1);
}

/* ---- The table --------------------------------------------------------------------------------
 */

static void add_cell(sgi_text *out, double value)
{
    sgi_text_add(out, "<td>");
    if (isfinite(value))
        sgi_text_number(out, value);
    sgi_text_add(out, "</td>");
}

static double last_misfit(const sgi_run *run, const char *name, const char *part)
{
    char column[200];
    (void)snprintf(column, sizeof column, "misfit/%.100s/%s", name, part);
    const double *values = sgi_columns_find(&run->evaluation, column);
    return values && run->evaluation.rows ? values[run->evaluation.rows - 1] : NAN;
}

static void table(sgi_page *page, const sgi_run *first)
{
    sgi_text *out = page->out;
    const char *name;
    sgi_text_add(out, "<div class=\"scroll\"><table><thead><tr><th>data set</th>"
                      "<th>rows trained on</th><th>held out</th><th>values missing</th>");
    for (size_t v = 0; v < page->runs->variant_count; v++) {
        const char *label = page->runs->comparison ? page->runs->variants[v].label : "";
        sgi_text_add(out, "<th>");
        sgi_text_escape(out, label);
        sgi_text_add(out, " misfit</th><th>held out</th>");
    }
    sgi_text_add(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; (name = sgi_run_item(first, "measured", i)); i++) {
        static const char *const counts[] = {"trained", "held_out", "missing"};
        const json_t *about = json_array_get(json_object_get(first->info, "measured"), i);
        sgi_text_add(out, "<tr><td>");
        sgi_text_escape(out, name);
        sgi_text_add(out, "</td>");
        for (size_t k = 0; k < 3; k++) {
            sgi_text_add(out, "<td>");
            sgi_text_count(out, json_number_value(json_object_get(about, counts[k])));
            sgi_text_add(out, "</td>");
        }
        for (size_t v = 0; v < page->runs->variant_count; v++) {
            const sgi_run *run = sgi_page_run(page, v);
            add_cell(out, run ? last_misfit(run, name, "trained") : NAN);
            add_cell(out, run ? last_misfit(run, name, "held_out") : NAN);
        }
        sgi_text_add(out, "</tr>\n");
    }
    sgi_text_add(out, "</tbody></table></div>\n");
}

/* ---- The map ----------------------------------------------------------------------------------
 */

/* The points over the map of what was observed, for two coordinates and an observed field. */
static void map(const set *s, size_t j)
{
    sgi_field_grid grid;
    sgi_text *out = s->page->out;
    const char *field = text_of(s, j);
    if (s->width != 2 || !sgi_field_grid_of(&grid, s->run) || grid.rank != 2)
        return;
    const double *values = sgi_field_grid_values(&grid, s->run, field, "");
    double low = INFINITY, high = -INFINITY, largest = 0;
    size_t step = s->rows / MOST_DOTS + 1, count = 0;
    sgi_dot *dots = sgi_page_memory(s->page, s->rows, sizeof *dots);
    if (!values || !dots)
        return;
    for (size_t i = 0; i < grid.count; i++)
        if (isfinite(values[i])) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    for (size_t i = 0; i < s->rows; i++)
        if (isfinite(difference(s, j, i)))
            largest = fmax(largest, fabs(difference(s, j, i)));
    sgi_view view;
    sgi_view_choose(&view, &grid, values);
    view.planes[0].values = values;
    size_t x = grid.time == 1 ? 1 : 0;
    for (size_t i = 0; i < s->rows; i += step)
        if (isfinite(difference(s, j, i)) && isfinite(s->points[2 * i]) &&
            isfinite(s->points[2 * i + 1]))
            dots[count++] =
                (sgi_dot){.x = s->points[i * 2 + x],
                          .y = s->points[i * 2 + 1 - x],
                          .share = 0.5 + 0.5 * difference(s, j, i) / (largest > 0 ? largest : 1),
                          .open = s->held_out[i] != 0};
    if (!(low < high) || count == 0)
        return;
    char description[LABEL];
    (void)snprintf(description, sizeof description, "Map of %.60s with the points of %.60s", field,
                   s->name);
    sgi_maps maps = {.rows = 1,
                     .columns = 1,
                     .planes = view.planes,
                     .same_axes = true,
                     .shade = SG_SHADE_PLAIN,
                     .low = low,
                     .high = high,
                     .label = field,
                     .description = description,
                     .pixels = 1e5,
                     .dots = dots,
                     .dot_count = count};
    sgi_text_add(out, "<figure><div class=\"wide\">");
    sgi_maps_draw(out, &maps);
    sgi_text_add(out, "</div><figcaption>The points of <em>");
    sgi_text_escape(out, s->name);
    sgi_text_add(out, "</em> on the map of <em>");
    sgi_text_escape(out, field);
    sgi_text_add(out,
                 "</em>: blue where the solution lies below the measurement, red where it lies "
                 "above, white where they agree; colours end at ");
    sgi_text_number(out, largest);
    sgi_text_add(out, s->stds ? " standard deviations" : "");
    sgi_text_add(out, ". Points that are held out have a ring.</figcaption></figure>\n");
}

/* ---- Differences ------------------------------------------------------------------------------
 */

/* Rows of one part as (width + 1) numbers, the last the difference. */
static sgi_scatter_group part_of(const set *s, size_t j, bool held, double *largest)
{
    size_t stride = s->width + 1, count = 0;
    double *rows = sgi_page_memory(s->page, s->rows, stride * sizeof *rows);
    for (size_t i = 0; rows && i < s->rows; i++) {
        double value = difference(s, j, i);
        if ((s->held_out[i] != 0) != held || !isfinite(value))
            continue;
        memcpy(rows + count * stride, s->points + i * s->width, s->width * sizeof *rows);
        rows[count++ * stride + s->width] = value;
        *largest = fmax(*largest, fabs(value));
    }
    size_t thin = count / 3000 + 1; /* a page should stay small */
    return (sgi_scatter_group){.colour = held ? 0 : 1,
                               .points = rows,
                               .count = rows ? count / thin : 0,
                               .stride = stride * thin,
                               .y = s->width,
                               .low = 1};
}

static void differences(const set *s, size_t j)
{
    double largest = 0;
    sgi_scatter_group groups[2] = {part_of(s, j, false, &largest), part_of(s, j, true, &largest)};
    sgi_line legend[2] = {{.label = "trained on", .colour = 1}, {.label = "held out", .colour = 0}};
    sgi_text *out = s->page->out;
    if (!(largest > 0))
        return;
    sgi_text_add(out, "<h3>Solution minus measurement of <em>");
    sgi_text_escape(out, text_of(s, j));
    sgi_text_format(out, "</em>%s</h3>\n", s->stds ? ", in standard deviations" : "");
    sgi_chart_legend(out, legend, groups[1].count ? 2 : 1);
    sgi_text_add(out, "<div class=\"two\">\n");
    for (size_t c = 0; c < s->width && c < 4; c++) {
        double low = INFINITY, high = -INFINITY;
        char title[LABEL];
        const char *name = sgi_run_item(s->run, "coordinates", c);
        for (size_t i = 0; i < s->rows; i++) {
            low = fmin(low, s->points[i * s->width + c]);
            high = fmax(high, s->points[i * s->width + c]);
        }
        if (!(low < high))
            continue;
        (void)snprintf(title, sizeof title, "Differences along %.60s", name);
        groups[0].x = groups[1].x = c;
        const double zero[4] = {low, 0, high, 0};
        sgi_scatter scatter = {.title = title,
                               .x_label = name,
                               .y_label = "",
                               .width = 468,
                               .x_low = low,
                               .x_high = high,
                               .y_low = -1.05 * largest,
                               .y_high = 1.05 * largest,
                               .lines = zero,
                               .line_count = 1,
                               .groups = groups,
                               .group_count = 2};
        sgi_scatter_draw(out, &scatter);
    }
    sgi_text_add(out, "</div>\n");
}

void sgi_page_data(sgi_page *page)
{
    const sgi_run *run = sgi_page_run(page, 0);
    if (!run || !sgi_run_item(run, "measured", 0))
        return;
    sgi_text_add(
        page->out,
        "<section id=\"data\">\n<h2>The measured data</h2>\n<p class=\"soft\">The misfit is "
        "the root mean square of solution minus measurement, in standard deviations where "
        "they are known: about 1 is agreement within the noise.</p>\n");
    table(page, run);
    for (size_t v = page->runs->variant_count; v-- > 0;) /* the last one that has data is drawn */
        if (sgi_page_run(page, v) && sgi_page_run(page, v)->data.count > 0) {
            run = sgi_page_run(page, v);
            break;
        }
    for (size_t i = 0; i < MOST_SETS && sgi_run_item(run, "measured", i); i++) {
        set *s = sgi_page_memory(page, 1, sizeof *s);
        if (!s)
            return;
        *s = (set){.page = page, .run = run, .index = i};
        if (!open_set(s))
            continue;
        sgi_text_add(page->out, "<h3>");
        sgi_text_escape(page->out, s->name);
        sgi_text_add(page->out, "</h3>\n");
        for (size_t j = 0; j < s->observed; j++) {
            map(s, j);
            differences(s, j);
        }
    }
    sgi_text_add(page->out, "</section>\n");
}
