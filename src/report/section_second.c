/* What steps of second order did: damping, gain or length of the steps, points and draws, and what
 * loss and error came to in how many seconds. */
#include <math.h>
#include <stdio.h>

#include "report/page.h"

enum { WIDTH = 468, HEIGHT = 240, MOST_MARKS = 16, MARK_LABEL = 64 };

static bool has_second(const sgi_run *run)
{
    return run && sgi_columns_find(&run->training, "second/points");
}

/* ---- Stages -----------------------------------------------------------------------------------
 */

static const char *stage_label(sgi_page *page, const sgi_run *run, double stage)
{
    const char *optimizer = sgi_run_item(run, "stages", (size_t)stage - 1);
    char *label = sgi_page_memory(page, 1, MARK_LABEL);
    if (!label)
        return "";
    (void)snprintf(label, MARK_LABEL, "%.50s", optimizer ? optimizer : "next stage");
    return label;
}

/* Where the stages of a single run begin, the first left out, by a column of its lines: "step" or
 * "seconds". Returns their number. */
static size_t stage_marks(sgi_page *page, const char *column, sgi_mark marks[MOST_MARKS])
{
    const sgi_run *run = sgi_page_run(page, 0);
    const double *stages = run ? sgi_columns_find(&run->training, "stage") : NULL;
    const double *at = run ? sgi_columns_find(&run->training, column) : NULL;
    size_t count = 0;
    if (page->runs->comparison || !stages || !at)
        return 0;
    for (size_t r = 1; r < run->training.rows && count < MOST_MARKS; r++)
        if (stages[r] >= 1 && stages[r] != stages[r - 1])
            marks[count++] = (sgi_mark){at[r], true, stage_label(page, run, stages[r])};
    return count;
}

/* ---- Charts -----------------------------------------------------------------------------------
 */

typedef struct panel {
    const char *title, *label, *column;
    sgi_column_kind kind;
    bool log;
} panel;

static bool drawable(const sgi_line *line)
{
    for (size_t r = 0; r < line->count; r++)
        if (isfinite(line->y[r]))
            return true;
    return false;
}

static void draw(sgi_page *page, const panel *p, const char *x, const char *x_label,
                 const sgi_line *curves, size_t count)
{
    sgi_mark marks[MOST_MARKS];
    sgi_chart chart = {.title = p->title,
                       .x_label = x_label,
                       .y_label = p->label,
                       .log_y = p->log,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .lines = curves,
                       .line_count = count,
                       .marks = marks,
                       .mark_count = stage_marks(page, x, marks)};
    sgi_chart_draw(page->out, &chart);
}

/* A column of the steps; nothing when no method of a run has it. */
static void over_steps(sgi_page *page, const panel *p)
{
    sgi_line all[SG_PAGE_LINES], curves[SG_PAGE_LINES];
    size_t count = 0, found = sgi_page_lines(page, false, p->column, p->kind, all);
    for (size_t l = 0; l < found; l++)
        if (drawable(&all[l]))
            curves[count++] = all[l];
    if (count > 0)
        draw(page, p, "step", "step", curves, count);
}

/* A column of the evaluations over the seconds, of each variant's first run: seeds take different
 * times, so that they have no mean. */
static void over_seconds(sgi_page *page, const panel *p)
{
    sgi_line curves[SG_PAGE_LINES];
    size_t count = 0;
    for (size_t v = 0; v < page->runs->variant_count && count < SG_PAGE_LINES; v++) {
        const sgi_run *run = sgi_page_run(page, v);
        const double *x = run ? sgi_columns_find(&run->evaluation, "seconds") : NULL;
        const double *y = run ? sgi_columns_find(&run->evaluation, p->column) : NULL;
        if (x && y)
            curves[count++] = (sgi_line){.label = page->runs->variants[v].label,
                                         .colour = sgi_page_colour(page, v),
                                         .x = x,
                                         .y = y,
                                         .count = run->evaluation.rows};
    }
    if (count > 0)
        draw(page, p, "seconds", "seconds", curves, count);
}

/* ---- Sentences --------------------------------------------------------------------------------
 */

/* The lines of a run that are of second order, all of them or those of one stage. */
typedef struct lines {
    const sgi_run *run;
    const double *points, *stages; /* columns; the second NULL: there are no stages */
    double stage;
} lines;

static bool belongs(const lines *of, size_t r)
{
    return isfinite(of->points[r]) && (!of->stages || of->stages[r] == of->stage);
}

/* The first and the last finite value of a column; false without one. */
static bool ends_of(const lines *of, const char *column, double *first, double *last)
{
    const double *values = sgi_columns_find(&of->run->training, column);
    *first = *last = NAN;
    for (size_t r = 0; values && r < of->run->training.rows; r++)
        if (belongs(of, r) && isfinite(values[r])) {
            *first = isnan(*first) ? values[r] : *first;
            *last = values[r];
        }
    return !isnan(*first);
}

static double value_at(const double *column, size_t r)
{
    return column ? column[r] : (double)NAN;
}

static bool is_in_vain(double damping, double gain, double length)
{
    return isfinite(damping) ? !isfinite(gain) : !(isfinite(length) && length > 0);
}

/* How many there are, and how many of them lowered no loss: without a gain where there is a
 * damping, and of a line search those of length 0. The losses do not tell it: they are written with
 * nine digits, and late steps lower them by less. */
static size_t count_lines(const lines *of, size_t *in_vain)
{
    const sgi_columns *columns = &of->run->training;
    const double *damping = sgi_columns_find(columns, "second/damping");
    const double *gain = sgi_columns_find(columns, "second/gain");
    const double *length = sgi_columns_find(columns, "second/length");
    size_t count = 0;
    *in_vain = 0;
    for (size_t r = 0; r < columns->rows; r++)
        if (belongs(of, r)) {
            count++;
            *in_vain += is_in_vain(value_at(damping, r), value_at(gain, r), value_at(length, r));
        }
    return count;
}

static void say_points(sgi_text *out, const lines *of)
{
    double first, last;
    if (!ends_of(of, "second/draws", &first, &last))
        return;
    sgi_text_add(out, "Points were drawn ");
    sgi_text_count(out, last);
    sgi_text_add(out, last == 1 ? " time; there were " : " times; there were ");
    (void)ends_of(of, "second/points", &first, &last);
    sgi_text_count(out, first);
    if (first == last) {
        sgi_text_add(out, " in the domain throughout. ");
        return;
    }
    sgi_text_add(out, " in the domain at first and ");
    sgi_text_count(out, last);
    sgi_text_add(out, " at the end. ");
}

static void describe(sgi_page *page, const lines *of)
{
    sgi_text *out = page->out;
    double first, last;
    size_t in_vain, count = count_lines(of, &in_vain);
    bool drawn_anew = ends_of(of, "second/draws", &first, &last) && last > first;
    if (count == 0)
        return;
    sgi_text_add(out, "<p>");
    if (of->stages) {
        sgi_text_add(out, "<b>");
        sgi_text_escape(out, stage_label(page, of->run, of->stage));
        sgi_text_add(out, ".</b> ");
    }
    say_points(out, of);
    if (ends_of(of, "second/damping", &first, &last)) {
        sgi_text_add(out, "The damping went from ");
        sgi_text_number(out, first);
        sgi_text_add(out, " to ");
        sgi_text_number(out, last);
        sgi_text_add(out, ". ");
    }
    if (in_vain > 0)
        sgi_text_format(out, "Of %zu recorded steps %zu found no lower loss%s.</p>\n", count,
                        in_vain, drawn_anew ? ", after which points were drawn anew" : "");
    else
        sgi_text_format(out, "Each of %zu recorded steps lowered the loss.</p>\n", count);
}

static void describe_stages(sgi_page *page, const sgi_run *run)
{
    lines of = {.run = run,
                .points = sgi_columns_find(&run->training, "second/points"),
                .stages = sgi_columns_find(&run->training, "stage"),
                .stage = 1};
    describe(page, &of);
    for (of.stage = 2; of.stages && sgi_run_item(run, "stages", (size_t)of.stage - 1); of.stage++)
        describe(page, &of);
}

static void say_meanings(sgi_page *page)
{
    sgi_text_add(page->out,
                 "<p class=\"soft\">The gain is what the loss fell by over what the damped model "
                 "promised: near 1 the damping falls, near 0 it grows. The length of a step of a "
                 "quasi-Newton method is 1 where the first one that was tried was taken. Seconds "
                 "are those of the whole run, evaluations included.</p>\n");
}

void sgi_page_second(sgi_page *page)
{
    static const panel steps[] = {
        {"Damping", "lambda", "second/damping", SG_COLUMN_LOSS, true},
        {"Gain", "gain", "second/gain", SG_COLUMN_NUMBER, false},
        {"Length of the step", "length", "second/length", SG_COLUMN_LOSS, true},
        {"Points in the domain", "points", "second/points", SG_COLUMN_NUMBER, false},
        {"Causal weight of the last times", "weight", "causal", SG_COLUMN_NUMBER, false},
    };
    static const panel seconds[] = {
        {"Validation loss over time", "loss", "validation/loss", SG_COLUMN_LOSS, true},
        {"Relative L2 error over time", "relative L2 error", "error/all/relative_l2",
         SG_COLUMN_LOSS, true},
    };
    bool any = false;
    for (size_t v = 0; v < page->runs->variant_count; v++)
        any = any || has_second(sgi_page_run(page, v));
    if (!any)
        return;
    sgi_text_add(page->out, "<section id=\"second\">\n<h2>Steps of second order</h2>\n");
    if (page->runs->comparison)
        sgi_page_legend(page);
    else
        describe_stages(page, sgi_page_run(page, 0));
    sgi_text_add(page->out, "<div class=\"two\">\n");
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++)
        over_seconds(page, &seconds[i]);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        over_steps(page, &steps[i]);
    sgi_text_add(page->out, "</div>\n");
    say_meanings(page);
    sgi_text_add(page->out, "</section>\n");
}
