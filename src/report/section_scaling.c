/* What StableGrad did: gradient scales of the layers before and after, the reference scale beside
 * Adam's eps, and the ratio of the largest to the smallest layer scale. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/axis.h"
#include "report/colour.h"
#include "report/page.h"

enum {
    LAYERS_MOST = 64,
    LINES_MOST = 16,
    WIDTH = 310,
    HEIGHT = 230,
    HALF = 468,
    HALF_HEIGHT = 250
};

/* The first variant that was scaled; variant_count when there is none. */
static size_t scaled_variant(const sg_page *page)
{
    for (size_t v = 0; v < page->runs->variant_count; v++) {
        const sg_run *run = sg_page_run(page, v);
        const char *method = run ? sg_run_text(run, "stablegrad", "method") : "none";
        if (method[0] && strcmp(method, "none") != 0)
            return v;
    }
    return page->runs->variant_count;
}

/* The columns "layers/NAME/WHAT" of a run as lines, coloured by depth. Labels point into the
 * scratch memory. */
static size_t layer_lines(sg_page *page, const sg_run *run, const char *what,
                          sg_line lines[LAYERS_MOST])
{
    size_t count = 0, tail = strlen(what);
    for (size_t c = 0; c < run->training.count && count < LAYERS_MOST; c++) {
        const char *name = run->training.items[c].name;
        size_t length = strlen(name);
        if (strncmp(name, "layers/", 7) != 0 || length < 8 + tail ||
            strcmp(name + length - tail, what) != 0 || name[length - tail - 1] != '/')
            continue;
        char *label = sg_page_memory(page, length, 1);
        if (!label)
            return 0;
        memcpy(label, name + 7, length - tail - 8);
        lines[count++] = (sg_line){.label = label,
                                   .colour = SG_COLOUR_OWN,
                                   .x = run->training.items[0].values,
                                   .y = run->training.items[c].values,
                                   .count = run->training.rows};
    }
    for (size_t l = 0; l < count; l++) {
        double depth = count > 1 ? (double)l / (double)(count - 1) : 0.5;
        sg_colour_hex(SG_MAP_SEQUENTIAL, 0.02 + 0.7 * depth, lines[l].light);
        sg_colour_hex(SG_MAP_SEQUENTIAL, 0.4 + 0.58 * depth, lines[l].dark);
    }
    return count;
}

static void include_lines(sg_axis *axis, const sg_line *lines, size_t count)
{
    for (size_t l = 0; l < count; l++)
        for (size_t i = 0; i < lines[l].count; i++)
            sg_axis_include(axis, lines[l].y[i]);
}

typedef struct panel {
    char title[200];
    sg_line lines[LAYERS_MOST];
    size_t count;
} panel;

static void layer_charts(sg_page *page, size_t scaled)
{
    panel *panels = sg_page_memory(page, 3, sizeof *panels);
    if (!panels)
        return;
    size_t count = 0;
    const sg_run *run = sg_page_run(page, scaled), *base = sg_page_run(page, 0);
    if (scaled > 0 && base) {
        (void)snprintf(panels[count].title, sizeof panels[count].title, "%.150s",
                       page->runs->variants[0].label);
        panels[count].count = layer_lines(page, base, "std", panels[count].lines);
        count += panels[count].count > 0;
    }
    (void)snprintf(panels[count].title, sizeof panels[count].title, "%s",
                   count ? "With StableGrad, before scaling" : "Before scaling");
    panels[count].count = layer_lines(page, run, "std", panels[count].lines);
    count += panels[count].count > 0;
    (void)snprintf(panels[count].title, sizeof panels[count].title, "%s",
                   count > 1 ? "With StableGrad, after scaling" : "After scaling");
    panels[count].count = layer_lines(page, run, "scaled", panels[count].lines);
    count += panels[count].count > 0;
    if (count == 0)
        return;
    sg_axis range;
    sg_axis_clear(&range, true);
    for (size_t p = 0; p < count; p++)
        include_lines(&range, panels[p].lines, panels[p].count);
    sg_axis_settle(&range, 0.05);
    sg_text_add(page->out, "<h3>Standard deviation of each layer’s gradient</h3>\n");
    sg_chart_legend(page->out, panels[count - 1].lines, panels[count - 1].count);
    sg_text_add(page->out, count == 2 ? "<div class=\"two\">\n" : "<div class=\"three\">\n");
    sg_mark mark;
    size_t marks = sg_page_window_mark(page, &mark);
    for (size_t p = 0; p < count; p++) {
        sg_chart chart = {.title = panels[p].title,
                          .x_label = "step",
                          .y_label = "std of the gradient",
                          .log_y = true,
                          .width = count == 2 ? HALF : WIDTH,
                          .height = count == 2 ? HALF_HEIGHT : HEIGHT,
                          .y_low = range.low,
                          .y_high = range.high,
                          .lines = panels[p].lines,
                          .line_count = panels[p].count,
                          .marks = &mark,
                          .mark_count = p > 0 || count == 2 ? marks : 0};
        sg_chart_draw(page->out, &chart);
    }
    sg_text_add(page->out, "</div>\n");
}

static void reference_chart(sg_page *page)
{
    sg_line lines[LINES_MOST];
    size_t count = 0;
    double eps = NAN;
    for (size_t v = 0; v < page->runs->variant_count && count < LINES_MOST; v++) {
        const sg_run *run = sg_page_run(page, v);
        const char *method = run ? sg_run_text(run, "stablegrad", "method") : "none";
        if (strcmp(method, "none") == 0)
            continue;
        count += sg_page_line(page, v, false, "reference", &lines[count]);
        eps = sg_run_number(run, NULL, "adam_eps");
    }
    sg_mark marks[2];
    size_t mark_count = sg_page_window_mark(page, marks);
    if (eps > 0)
        marks[mark_count++] = (sg_mark){eps, false, "Adam’s eps"};
    sg_chart chart = {.title = "Reference scale c",
                      .x_label = "step",
                      .y_label = "c",
                      .log_y = true,
                      .width = HALF,
                      .height = HALF_HEIGHT,
                      .lines = lines,
                      .line_count = count,
                      .legend = true,
                      .marks = marks,
                      .mark_count = mark_count};
    if (count)
        sg_chart_draw(page->out, &chart);
}

static void ratio_chart(sg_page *page, size_t scaled)
{
    sg_line lines[2];
    size_t count = 0;
    count += sg_page_line(page, scaled, false, "ratio_raw", &lines[count]);
    if (count) {
        lines[0].label = "before scaling";
        lines[0].colour = 5;
    }
    if (sg_page_line(page, scaled, false, "ratio_scaled", &lines[count]))
        lines[count++].label = "after scaling";
    sg_mark mark;
    sg_chart chart = {.title = "Largest over smallest layer scale, R_std",
                      .x_label = "step",
                      .y_label = "R_std",
                      .log_y = true,
                      .width = HALF,
                      .height = HALF_HEIGHT,
                      .lines = lines,
                      .line_count = count,
                      .legend = true,
                      .marks = &mark,
                      .mark_count = sg_page_window_mark(page, &mark)};
    if (count)
        sg_chart_draw(page->out, &chart);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of a column over the steps that were scaled; NaN when there are none. */
static double median_while_scaled(sg_page *page, const sg_run *run, const char *column)
{
    const double *values = sg_columns_find(&run->training, column);
    const double *outcome = sg_columns_find(&run->training, "outcome");
    if (!values || !outcome)
        return NAN;
    double *kept = sg_page_memory(page, run->training.rows, sizeof *kept);
    size_t count = 0;
    for (size_t r = 0; kept && r < run->training.rows; r++)
        if (outcome[r] == SG_OUTCOME_SCALED && isfinite(values[r]))
            kept[count++] = values[r];
    if (count == 0)
        return NAN;
    qsort(kept, count, sizeof *kept, by_size);
    return kept[count / 2];
}

static void describe(sg_page *page, const sg_run *run)
{
    sg_text *out = page->out;
    double until = sg_run_number(run, "stablegrad", "until");
    double from = sg_run_number(run, "stablegrad", "from");
    double steps = sg_run_number(run, NULL, "steps");
    sg_text_add(out, "<p>Active ");
    if (isfinite(until) && until < steps) {
        sg_text_add(out, "from step ");
        sg_text_count(out, isfinite(from) ? from : 0);
        sg_text_add(out, " to step ");
        sg_text_count(out, until);
        sg_text_add(out, ", off after that");
    } else if (from > 0) {
        sg_text_add(out, "from step ");
        sg_text_count(out, from);
        sg_text_add(out, " on");
    } else {
        sg_text_add(out, "during the whole run");
    }
    sg_text_add(out, "; reference scale <em>");
    sg_text_escape(out, sg_run_text(run, "stablegrad", "reference"));
    sg_text_add(out, "</em>, blocks <em>");
    sg_text_escape(out, sg_run_text(run, "stablegrad", "blocks"));
    sg_text_add(out, "</em>.");
    double raw = median_while_scaled(page, run, "ratio_raw");
    double after = median_while_scaled(page, run, "ratio_scaled");
    if (isfinite(raw) && isfinite(after)) {
        sg_text_add(out, " While it was active the largest layer scale was ");
        sg_text_number(out, raw);
        sg_text_add(out, " times the smallest before scaling and ");
        sg_text_number(out, after);
        sg_text_add(out, " times after it (medians).");
    }
    double skipped = sg_columns_last(&run->training, "skipped");
    if (skipped > 0 && isfinite(skipped)) {
        sg_text_add(out, " ");
        sg_text_count(out, skipped);
        sg_text_add(out, " steps were skipped because a gradient was not finite.");
    }
    sg_text_add(out, "</p>\n");
}

/* When c falls below Adam's eps the optimizer's step shrinks by itself; the reader should know. */
static void note_small_reference(sg_page *page, const sg_run *run)
{
    const double *c = sg_columns_find(&run->training, "reference");
    const double *outcome = sg_columns_find(&run->training, "outcome");
    double eps = sg_run_number(run, NULL, "adam_eps");
    for (size_t r = 0; c && outcome && r < run->training.rows; r++)
        if (outcome[r] == SG_OUTCOME_SCALED && c[r] < eps) {
            sg_text_add(page->out, "<p class=\"soft\">From step ");
            sg_text_count(page->out, run->training.items[0].values[r]);
            sg_text_add(page->out,
                        " on c has been below Adam’s eps at times: the scaled gradients are "
                        "then no larger than eps, and Adam’s step shrinks by itself.</p>\n");
            return;
        }
}

void sg_page_scaling(sg_page *page)
{
    size_t scaled = scaled_variant(page);
    sg_text_add(page->out, "<section id=\"scaling\">\n<h2>What StableGrad did</h2>\n");
    if (scaled == page->runs->variant_count) {
        sg_text_add(page->out, "<p class=\"none\">Nothing: it was off in this run.</p>\n");
    } else {
        const sg_run *run = sg_page_run(page, scaled);
        describe(page, run);
        layer_charts(page, scaled);
        sg_text_add(page->out, "<div class=\"two\">\n");
        reference_chart(page);
        ratio_chart(page, scaled);
        sg_text_add(page->out, "</div>\n");
        note_small_reference(page, run);
    }
    sg_text_add(page->out, "</section>\n");
}
