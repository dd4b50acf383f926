/* Errors at times: see seconds.h. */
#include "reproduce/seconds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"

#define ERROR "error/all/relative_l2"

enum { TIMES = 3, MOST_SEEDS = 64, MOST_ARMS = 16 };
static const double times[TIMES] = {10, 60, 300};
static const char *const time_names[TIMES] = {"10 s", "60 s", "300 s"};

/* Of the time of a column, what a run must have computed to have a value there. */
static const double SHARE = 0.9;

/* ---- Values ---------------------------------------------------------------------------------- */

/* The time of evaluation r: what the process has computed over its threads, or, of a run that did
 * not record it, the seconds of the clock. */
static double time_at(const sgi_run *run, size_t r)
{
    const double *computed = sgi_columns_find(&run->evaluation, "cpu_seconds");
    const double *clock = sgi_columns_find(&run->evaluation, "seconds");
    double threads = sgi_run_number(run, NULL, "threads");
    if (computed && threads >= 1)
        return computed[r] / threads;
    return clock ? clock[r] : (double)NAN;
}

static double last_time(const sgi_run *run)
{
    return run->evaluation.rows ? time_at(run, run->evaluation.rows - 1) : 0;
}

/* The error of the last evaluation within `time`; NaN when the run was too short for it. */
static double error_at(const sgi_run *run, double time)
{
    const double *errors = sgi_columns_find(&run->evaluation, ERROR);
    double error = NAN;
    if (!errors || !(last_time(run) >= SHARE * time))
        return NAN;
    for (size_t r = 0; r < run->evaluation.rows && time_at(run, r) <= time; r++)
        error = errors[r];
    return error;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the seeds that have a value, NaN without one; of an even number the upper one. */
static double median_at(const sgi_part_result *part, const sgi_variant *variant, double time)
{
    double values[MOST_SEEDS];
    size_t count = 0;
    for (size_t i = 0; i < variant->count && count < MOST_SEEDS; i++) {
        double value = error_at(&part->runs.runs[variant->first + i], time);
        if (!isnan(value))
            values[count++] = value;
    }
    qsort(values, count, sizeof *values, ascending);
    return count ? values[count / 2] : (double)NAN;
}

/* ---- Tables and charts ------------------------------------------------------------------------
 */

/* How many of the columns some run is long enough for; at least the first is shown. */
static size_t reached(const sgi_results *results)
{
    double longest = 0;
    size_t count = 1;
    for (size_t p = 0; p < results->experiment->part_count; p++)
        for (size_t r = 0; results->parts[p].there && r < results->parts[p].runs.run_count; r++)
            longest = fmax(longest, last_time(&results->parts[p].runs.runs[r]));
    while (count < TIMES && longest >= SHARE * times[count])
        count++;
    return count;
}

/* A table whose columns are `before`, the times, and `after`; both lists end with NULL. */
static void begin_table(sgi_tables *tables, const char *title, const char *const *before,
                        size_t time_count, const char *const *after)
{
    const char *columns[TIMES + 8];
    size_t count = 0;
    for (; *before; before++)
        columns[count++] = *before;
    for (size_t t = 0; t < time_count; t++)
        columns[count++] = time_names[t];
    for (; *after; after++)
        columns[count++] = *after;
    columns[count] = NULL;
    sgi_table_begin(tables, title, columns);
}

/* Calls `row` for every arm with a run. */
typedef void add_row(const sgi_part_result *part, const sgi_arm *arm, const sgi_variant *variant,
                     size_t time_count, sgi_published *published, sgi_tables *tables);

static void each_arm(const sgi_results *results, add_row *row, size_t time_count,
                     sgi_published *published, sgi_tables *tables)
{
    for (size_t p = 0; p < results->experiment->part_count; p++) {
        const sgi_part_result *part = &results->parts[p];
        for (size_t a = 0; part->there && a < part->part->arm_count; a++) {
            const sgi_arm *arm = &part->part->arms[a];
            const sgi_variant *variant = sgi_arm_variant(part, arm->name);
            if (variant)
                row(part, arm, variant, time_count, published, tables);
        }
    }
}

static void median_row(const sgi_part_result *part, const sgi_arm *arm, const sgi_variant *variant,
                       size_t time_count, sgi_published *published, sgi_tables *tables)
{
    sgi_table_row(tables);
    sgi_table_text(tables, part->part->name);
    sgi_table_text(tables, arm->label);
    for (size_t t = 0; t < time_count; t++)
        sgi_table_number(tables, median_at(part, variant, times[t]));
    sgi_table_number(tables, last_time(&part->runs.runs[variant->first]));
    sgi_table_format(tables, "%zu", variant->count);
    if (published)
        sgi_table_text(tables, published(part->part->name));
}

static void seed_rows(const sgi_part_result *part, const sgi_arm *arm, const sgi_variant *variant,
                      size_t time_count, sgi_published *published, sgi_tables *tables)
{
    (void)published;
    for (size_t i = 0; i < variant->count; i++) {
        const sgi_run *run = &part->runs.runs[variant->first + i];
        sgi_table_row(tables);
        sgi_table_text(tables, part->part->name);
        sgi_table_text(tables, arm->label);
        sgi_table_format(tables, "%.0f", sgi_run_number(run, NULL, "seed"));
        for (size_t t = 0; t < time_count; t++)
            sgi_table_number(tables, error_at(run, times[t]));
    }
}

static bool has_seeds(const sgi_results *results)
{
    for (size_t p = 0; p < results->experiment->part_count; p++)
        for (size_t v = 0; results->parts[p].there && v < results->parts[p].runs.variant_count; v++)
            if (results->parts[p].runs.variants[v].count > 1)
                return true;
    return false;
}

void sgi_seconds_tables(const sgi_results *results, sgi_published *published, sgi_tables *tables)
{
    size_t count = reached(results);
    begin_table(tables, "Relative L2 error", (const char *const[]){"problem", "method", NULL},
                count,
                (const char *const[]){"all s", "seeds", published ? "published best" : NULL, NULL});
    each_arm(results, median_row, count, published, tables);
    sgi_table_note(tables, "Seconds are those that the process has computed over its threads, "
                           "evaluations included: what it takes on cores with nothing else to do.");
    sgi_table_note(tables,
                   "Each number is the median over the seeds of the last evaluation within "
                   "the time. A run that computed for less than nine tenths of it has none.");
    if (published)
        sgi_table_note(tables,
                       "What is published was computed on GPUs, with other networks and times.");
    if (!has_seeds(results))
        return;
    begin_table(tables, "Every seed", (const char *const[]){"problem", "method", "seed", NULL},
                count, (const char *const[]){NULL});
    each_arm(results, seed_rows, count, NULL, tables);
}

/* The curve of an arm's first seed; false when it has none. */
static bool curve(sgi_page *page, const sgi_run *run, sgi_line *line)
{
    const double *errors = sgi_columns_find(&run->evaluation, ERROR);
    size_t rows = run->evaluation.rows;
    double *x = errors ? sgi_page_memory(page, rows, sizeof *x) : NULL;
    if (!x)
        return false;
    for (size_t r = 0; r < rows; r++)
        x[r] = time_at(run, r);
    line->x = x;
    line->y = errors;
    line->count = rows;
    return true;
}

static void draw_part(const sgi_part_result *part, sgi_text *out, bool legend)
{
    enum { WIDTH = 468, HEIGHT = 280 };
    sgi_page page = {out, &part->runs, &part->summary, NULL, false};
    sgi_line lines[MOST_ARMS];
    size_t count = 0;
    for (size_t a = 0; a < part->part->arm_count && count < MOST_ARMS; a++) {
        const sgi_run *run = sgi_arm_run(part, part->part->arms[a].name);
        lines[count] = (sgi_line){.label = part->part->arms[a].label, .colour = (int)a};
        count += run && curve(&page, run, &lines[count]);
    }
    sgi_chart chart = {.title = part->part->title,
                       .x_label = "seconds computed, over the threads",
                       .y_label = "relative L2 error",
                       .log_x = true,
                       .log_y = true,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .lines = lines,
                       .line_count = count};
    if (legend)
        sgi_chart_legend(out, lines, count);
    else if (count > 0)
        sgi_chart_draw(out, &chart);
    sgi_page_release(&page);
}

void sgi_seconds_draw(const sgi_results *results, sgi_text *out)
{
    const sgi_part_result *most = NULL; /* has curves of most methods: its key is that of all */
    for (size_t p = 0; p < results->experiment->part_count; p++) {
        const sgi_part_result *part = &results->parts[p];
        if (part->there && (!most || part->runs.run_count > most->runs.run_count))
            most = part;
    }
    if (!most)
        return;
    sgi_text_add(out, "<section id=\"times\">\n<h2>Error against seconds</h2>\n");
    draw_part(most, out, true);
    sgi_text_add(out, "<div class=\"two\">\n");
    for (size_t p = 0; p < results->experiment->part_count; p++)
        if (results->parts[p].there)
            draw_part(&results->parts[p], out, false);
    sgi_text_add(out, "</div>\n</section>\n");
}
