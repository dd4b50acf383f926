/* How well against the baseline: loss, validation loss, error and every loss term over the steps.
 */
#include <math.h>
#include <stdio.h>

#include "report/page.h"

enum { HALF_WIDTH = 468, HALF_HEIGHT = 260, THIRD_WIDTH = 310, THIRD_HEIGHT = 210 };

/* A chart of one column of every variant; nothing when no run has it. Returns whether it has dashed
 * medians. */
static bool column_chart(sgi_page *page, const char *title, const char *label, bool evaluation,
                         const char *column, bool large)
{
    sgi_line lines[SG_PAGE_LINES];
    size_t count = sgi_page_lines(page, evaluation, column, SG_COLUMN_LOSS, lines);
    if (count == 0)
        return false;
    size_t curves = count;
    if (evaluation)
        count = sgi_page_medians(page, lines, count);
    sgi_mark mark;
    sgi_chart chart = {.title = title,
                       .x_label = "step",
                       .y_label = label,
                       .log_y = true,
                       .width = large ? HALF_WIDTH : THIRD_WIDTH,
                       .height = large ? HALF_HEIGHT : THIRD_HEIGHT,
                       .lines = lines,
                       .line_count = count,
                       .marks = &mark,
                       .mark_count = large ? sgi_page_window_mark(page, &mark) : 0};
    sgi_chart_draw(page->out, &chart);
    return count > curves;
}

/* The name of loss term i, or NULL: from run.json, where all variants agree. */
static const char *term_name(const sgi_page *page, size_t i)
{
    return sgi_run_item(&page->runs->runs[0], "terms", i);
}

/* Whether the lines of a term are only rounding errors, as for a condition that the form of the
 * network fulfils by itself: below 1e-12 and a thousandth of the lowest loss. */
static bool is_noise(sgi_page *page, const sgi_line *lines, size_t count)
{
    const double rounding = 1e-12, share = 1e-3;
    sgi_line loss[SG_PAGE_LINES];
    size_t losses = sgi_page_lines(page, false, "loss", SG_COLUMN_LOSS, loss);
    double highest = 0, lowest = INFINITY;
    for (size_t l = 0; l < count; l++)
        for (size_t r = 0; r < lines[l].count; r++)
            highest = fmax(highest, isnan(lines[l].y[r]) ? 0 : lines[l].y[r]);
    for (size_t l = 0; l < losses; l++)
        for (size_t r = 0; r < loss[l].count; r++)
            lowest = fmin(lowest, loss[l].y[r]);
    return highest < rounding && highest < share * lowest;
}

static void say_noise(sgi_page *page, const char *name)
{
    sgi_text_add(page->out, "<p class=\"soft\">The term <em>");
    sgi_text_escape(page->out, name);
    sgi_text_add(page->out, "</em> is not drawn: the network fulfils it up to rounding.</p>\n");
}

static void say_noisy_terms(sgi_page *page)
{
    char column[300];
    for (size_t i = 0; i < SG_PAGE_LINES && term_name(page, i); i++) {
        sgi_line lines[SG_PAGE_LINES];
        (void)snprintf(column, sizeof column, "terms/%s", term_name(page, i));
        size_t count = sgi_page_lines(page, false, column, SG_COLUMN_LOSS, lines);
        if (count && is_noise(page, lines, count))
            say_noise(page, term_name(page, i));
    }
}

static void compare_terms(sgi_page *page)
{
    char column[300];
    bool any = false;
    for (size_t i = 0; i < SG_PAGE_LINES && term_name(page, i); i++) {
        sgi_line lines[SG_PAGE_LINES];
        (void)snprintf(column, sizeof column, "terms/%s", term_name(page, i));
        size_t count = sgi_page_lines(page, false, column, SG_COLUMN_LOSS, lines);
        if (count == 0 || is_noise(page, lines, count))
            continue;
        if (!any)
            sgi_text_add(page->out, "<h3>Loss by term</h3>\n<div class=\"three\">\n");
        any = true;
        column_chart(page, term_name(page, i), "mean square", false, column, false);
    }
    if (any)
        sgi_text_add(page->out, "</div>\n");
    say_noisy_terms(page);
}

static void say_medians(sgi_page *page, bool medians)
{
    if (medians)
        sgi_text_add(page->out, "<p class=\"soft\">Dashed: the median of each evaluation and the "
                                "four before it, where a curve jumps near its end.</p>\n");
}

static void compare(sgi_page *page)
{
    sgi_page_legend(page);
    sgi_text_add(page->out, "<div class=\"two\">\n");
    bool medians = column_chart(page, "Validation loss", "loss", true, "validation/loss", true);
    medians |= column_chart(page, "Relative L2 error against the reference", "relative L2 error",
                            true, "error/all/relative_l2", true);
    column_chart(page, "Training loss", "loss", false, "loss", true);
    medians |= column_chart(page, "Largest error against the reference", "largest error", true,
                            "error/all/max", true);
    sgi_text_add(page->out, "</div>\n");
    say_medians(page, medians);
    compare_terms(page);
}

/* One run: its loss and terms in one chart, each with a colour of its own. */
static void own_terms(sgi_page *page)
{
    sgi_line lines[SG_PAGE_LINES];
    sgi_mark mark;
    char column[300];
    size_t count = 0;
    for (size_t i = 0; count + 1 < SG_PAGE_LINES && term_name(page, i); i++) {
        (void)snprintf(column, sizeof column, "terms/%s", term_name(page, i));
        if (!sgi_page_line(page, 0, false, column, SG_COLUMN_LOSS, &lines[count]) ||
            is_noise(page, &lines[count], 1))
            continue;
        lines[count].label = term_name(page, i);
        /* Blue stays with the run's own curves elsewhere. */
        lines[count].colour = (int)((count + 2) % SG_SERIES_COLOURS);
        lines[count].dashed = count >= SG_SERIES_COLOURS;
        count++;
    }
    if (sgi_page_line(page, 0, false, "loss", SG_COLUMN_LOSS, &lines[count])) {
        lines[count].label = "loss (weighted sum)";
        lines[count].colour = SG_COLOUR_INK;
        count++;
    }
    sgi_chart chart = {.title = "Training loss by term",
                       .x_label = "step",
                       .y_label = "mean square",
                       .log_y = true,
                       .width = 2 * HALF_WIDTH,
                       .height = 320,
                       .lines = lines,
                       .line_count = count,
                       .marks = &mark,
                       .mark_count = sgi_page_window_mark(page, &mark)};
    sgi_chart_legend(page->out, lines, count);
    sgi_chart_draw(page->out, &chart);
    say_noisy_terms(page);
}

static void own_curves(sgi_page *page)
{
    own_terms(page);
    sgi_text_add(page->out, "<div class=\"two\">\n");
    bool medians = column_chart(page, "Validation loss", "loss", true, "validation/loss", true);
    medians |= column_chart(page, "Relative L2 error against the reference", "relative L2 error",
                            true, "error/all/relative_l2", true);
    sgi_text_add(page->out, "</div>\n");
    say_medians(page, medians);
}

void sgi_page_curves(sgi_page *page)
{
    sgi_text_add(page->out, "<section id=\"curves\">\n<h2>");
    sgi_text_add(page->out,
                 page->runs->comparison ? "Against the baseline" : "How the training went");
    sgi_text_add(page->out, "</h2>\n");
    if (!sgi_page_has_metrics(page))
        sgi_text_add(page->out, "<p class=\"none\">No metrics were recorded.</p>\n");
    else if (page->runs->comparison)
        compare(page);
    else
        own_curves(page);
    sgi_page_seeds_note(page);
    sgi_text_add(page->out, "</section>\n");
}
