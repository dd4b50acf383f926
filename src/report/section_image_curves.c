/* How the training of images went: top-1 and top-5 beside chance, loss, learning rate. */
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "runs/image_run.h"

enum { WIDTH = 468, HEIGHT = 250 };

/* The largest value of the lines and their bands, at least `least`. */
static double largest(const sgi_line *lines, size_t count, double least)
{
    for (size_t l = 0; l < count; l++)
        for (size_t i = 0; i < lines[l].count; i++) {
            double top = lines[l].high ? lines[l].high[i] : lines[l].y[i];
            least = isfinite(top) ? fmax(least, top) : least;
        }
    return least;
}

/* On a log axis when a loss exploded or fell far; else a linear one reads better. */
static void draw_losses(sgi_page *page, const char *title, const sgi_line *lines, size_t count,
                        bool legend)
{
    double high = largest(lines, count, 0), low = high;
    for (size_t l = 0; l < count; l++)
        for (size_t i = 0; i < lines[l].count; i++)
            low = lines[l].y[i] > 0 ? fmin(low, lines[l].y[i]) : low;
    sgi_mark mark;
    sgi_chart chart = {.title = title,
                       .x_label = "step",
                       .y_label = "cross entropy",
                       .log_y = high > 20 * low,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .lines = lines,
                       .line_count = count,
                       .legend = legend,
                       .marks = &mark,
                       .mark_count = sgi_page_window_mark(page, &mark)};
    if (count)
        sgi_chart_draw(page->out, &chart);
}

/* Shares in percent from 0 on, with a mark where guessing is. */
static void draw_shares(sgi_page *page, const char *title, const sgi_line *lines, size_t count,
                        double chance, bool legend)
{
    sgi_mark marks[2];
    size_t mark_count = sgi_page_window_mark(page, marks);
    double high = largest(lines, count, isfinite(chance) ? 200 * chance : 1);
    if (isfinite(chance))
        marks[mark_count++] = (sgi_mark){100 * chance, false, "chance"};
    sgi_chart chart = {.title = title,
                       .x_label = "step",
                       .y_label = "percent",
                       .width = WIDTH,
                       .height = HEIGHT,
                       .y_low = 0,
                       .y_high = fmin(1.1 * high, fmax(high, 100)),
                       .lines = lines,
                       .line_count = count,
                       .legend = legend,
                       .marks = marks,
                       .mark_count = mark_count};
    if (count)
        sgi_chart_draw(page->out, &chart);
}

/* Chance of being among the first five. */
static double five_times(double chance)
{
    return fmin(5 * chance, 1);
}

/* Whether two lines agree at the steps that both have. */
static bool same_rates(const sgi_line *a, const sgi_line *b)
{
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->x[i] == b->x[k] && a->y[i] != b->y[k])
            return false;
        double at = fmin(a->x[i], b->x[k]);
        i += a->x[i] <= at;
        k += b->x[k] <= at;
    }
    return true;
}

/* One line when all variants share their schedule: the longest. */
static void rates(sgi_page *page)
{
    sgi_line lines[SG_PAGE_LINES];
    size_t count = sgi_page_lines(page, false, "rate", SG_COLUMN_LOSS, lines), longest = 0;
    bool same = count > 1;
    for (size_t l = 1; l < count; l++) {
        same = same && same_rates(&lines[0], &lines[l]);
        longest = lines[l].count > lines[longest].count ? l : longest;
    }
    for (size_t l = 0; l < count; l++)
        lines[l].low = lines[l].high = NULL;
    if (same) {
        lines[0] = lines[longest];
        lines[0].label = "all variants";
        lines[0].colour = SG_COLOUR_INK;
        count = 1;
    }
    sgi_chart chart = {.title = same ? "Learning rate of all variants" : "Learning rate",
                       .x_label = "step",
                       .y_label = "rate",
                       .width = WIDTH,
                       .height = HEIGHT,
                       .y_low = 0,
                       .y_high = 1.06 * largest(lines, count, 0),
                       .lines = lines,
                       .line_count = count};
    if (count)
        sgi_chart_draw(page->out, &chart);
}

static void compare(sgi_page *page)
{
    sgi_line lines[SG_PAGE_LINES];
    double chance = page->summary->chance;
    size_t count;
    sgi_page_legend(page);
    sgi_text_add(page->out, "<div class=\"two\">\n");
    count = sgi_page_lines(page, true, "validation/top1", SG_COLUMN_SHARE, lines);
    draw_shares(page, "Test top-1", lines, count, chance, false);
    count = sgi_page_lines(page, true, "validation/top5", SG_COLUMN_SHARE, lines);
    draw_shares(page, "Test top-5", lines, count, five_times(chance), false);
    count = sgi_page_lines(page, true, "validation/loss", SG_COLUMN_LOSS, lines);
    draw_losses(page, "Test loss", lines, count, false);
    count = sgi_page_lines(page, false, "loss", SG_COLUMN_LOSS, lines);
    draw_losses(page, "Training loss", lines, count, false);
    count = sgi_page_lines(page, false, "top1", SG_COLUMN_SHARE, lines);
    draw_shares(page, "Training top-1", lines, count, chance, false);
    rates(page);
    sgi_text_add(page->out, "</div>\n");
}

/* Test in the run's colour and training in grey, in one chart. */
static size_t test_and_training(sgi_page *page, const char *test, const char *training,
                                sgi_column_kind kind, sgi_line lines[2])
{
    size_t count = 0;
    if (sgi_page_line(page, 0, false, training, kind, &lines[count])) {
        lines[count].label = "training";
        lines[count++].colour = 5;
    }
    if (sgi_page_line(page, 0, true, test, kind, &lines[count]))
        lines[count++].label = "test";
    return count;
}

static void own(sgi_page *page)
{
    sgi_line lines[2];
    double chance = page->summary->chance;
    size_t count;
    sgi_text_add(page->out, "<div class=\"two\">\n");
    count = test_and_training(page, "validation/top1", "top1", SG_COLUMN_SHARE, lines);
    draw_shares(page, "Top-1", lines, count, chance, true);
    count = test_and_training(page, "validation/top5", "top5", SG_COLUMN_SHARE, lines);
    draw_shares(page, "Top-5", lines, count, five_times(chance), true);
    count = test_and_training(page, "validation/loss", "loss", SG_COLUMN_LOSS, lines);
    draw_losses(page, "Loss", lines, count, true);
    rates(page);
    sgi_text_add(page->out, "</div>\n");
}

void sgi_page_image_curves(sgi_page *page)
{
    double per_epoch = sgi_run_number(&page->runs->runs[0], NULL, "steps_per_epoch");
    sgi_text_add(page->out, "<section id=\"curves\">\n<h2>How the training went</h2>\n");
    if (!sgi_page_has_metrics(page))
        sgi_text_add(page->out, "<p class=\"none\">No metrics were recorded.</p>\n");
    else if (page->runs->comparison)
        compare(page);
    else
        own(page);
    if (per_epoch > 0) {
        sgi_text_add(page->out, "<p class=\"soft\">An epoch has ");
        sgi_text_count(page->out, per_epoch);
        sgi_text_add(page->out,
                     " steps. A line that ends early is a run that ended, or whose values "
                     "were no longer finite.</p>\n");
    }
    sgi_page_seeds_note(page);
    sgi_text_add(page->out, "</section>\n");
}
