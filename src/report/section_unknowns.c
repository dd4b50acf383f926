/* The unknown constants: their values, with their intervals where there are data, over the steps.
 */
#include <math.h>
#include <stdio.h>

#include "report/page.h"

enum { WIDTH = 468, HEIGHT = 240 };

/* Member `key` of constant i of the run's record, NaN where it has none. */
static double member(const sgi_run *run, size_t i, const char *key)
{
    const json_t *constant = json_array_get(json_object_get(run->info, "unknowns"), i);
    const json_t *value = json_object_get(constant, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void number_cell(sgi_text *out, double value)
{
    if (isfinite(value))
        sgi_text_format(out, "<td>%.6g</td>", value);
    else
        sgi_text_add(out, "<td>–</td>");
}

static void range_cell(sgi_text *out, double low, double high)
{
    if (!isfinite(low) && !isfinite(high)) {
        sgi_text_add(out, "<td>–</td>");
        return;
    }
    sgi_text_add(out, "<td>");
    if (isfinite(low))
        sgi_text_format(out, "%.6g", low);
    else
        sgi_text_add(out, "−∞");
    sgi_text_add(out, " to ");
    if (isfinite(high))
        sgi_text_format(out, "%.6g", high);
    else
        sgi_text_add(out, "∞");
    sgi_text_add(out, "</td>");
}

static void table(sgi_page *page, const sgi_run *run)
{
    sgi_text *out = page->out;
    sgi_text_add(out, "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>value</th>"
                      "<th>95 % interval</th><th>standard deviation</th><th>start</th>"
                      "<th>bounds</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; sgi_run_item(run, "unknowns", i); i++) {
        sgi_text_add(out, "<tr><th>");
        sgi_text_escape(out, sgi_run_item(run, "unknowns", i));
        sgi_text_add(out, "</th>");
        number_cell(out, member(run, i, "value"));
        range_cell(out, member(run, i, "low"), member(run, i, "high"));
        number_cell(out, member(run, i, "std"));
        number_cell(out, member(run, i, "start"));
        range_cell(out, member(run, i, "lower"), member(run, i, "upper"));
        sgi_text_add(out, "</tr>\n");
    }
    sgi_text_add(out, "</tbody></table></div>\n");
}

/* What there is to know of the intervals. */
static void notes(sgi_page *page, const sgi_run *run)
{
    for (size_t i = 0; sgi_run_item(run, "unknown_notes", i); i++) {
        sgi_text_add(page->out, "<p>");
        sgi_text_escape(page->out, sgi_run_item(run, "unknown_notes", i));
        sgi_text_add(page->out, ".</p>\n");
    }
}

/* The interval of the single run's constant, as a band over all steps. */
static bool interval_line(sgi_page *page, const sgi_run *run, size_t i, const sgi_line *of,
                          sgi_line *line)
{
    double low = member(run, i, "low"), high = member(run, i, "high");
    double *numbers = sgi_page_memory(page, 8, sizeof *numbers);
    if (!numbers || page->runs->comparison || of->count == 0 || !isfinite(low) || !isfinite(high))
        return false;
    for (int end = 0; end < 2; end++) {
        numbers[end] = of->x[end ? of->count - 1 : 0];
        numbers[2 + end] = member(run, i, "value");
        numbers[4 + end] = low;
        numbers[6 + end] = high;
    }
    *line = (sgi_line){.label = "95 % interval",
                       .colour = 3,
                       .faint = true,
                       .x = numbers,
                       .y = numbers + 2,
                       .low = numbers + 4,
                       .high = numbers + 6,
                       .count = 2};
    return true;
}

static void chart(sgi_page *page, const sgi_run *run, size_t i)
{
    const char *name = sgi_run_item(run, "unknowns", i);
    sgi_line lines[SG_PAGE_LINES + 1];
    char column[300];
    (void)snprintf(column, sizeof column, "unknowns/%s", name);
    size_t count = sgi_page_lines(page, false, column, SG_COLUMN_NUMBER, lines);
    if (count == 0)
        return;
    count += interval_line(page, run, i, &lines[0], &lines[count]);
    sgi_chart of = {.title = name,
                    .x_label = "step",
                    .y_label = "value",
                    .width = WIDTH,
                    .height = HEIGHT,
                    .lines = lines,
                    .line_count = count};
    sgi_chart_draw(page->out, &of);
}

void sgi_page_unknowns(sgi_page *page)
{
    const sgi_run *run = page->runs->run_count > 0 ? &page->runs->runs[0] : NULL;
    if (!run || !sgi_run_item(run, "unknowns", 0))
        return;
    sgi_text_add(page->out, "<section id=\"unknowns\">\n<h2>Unknown constants</h2>\n");
    if (page->runs->comparison) {
        sgi_page_legend(page);
    } else {
        table(page, run);
        notes(page, run);
    }
    sgi_text_add(page->out, "<div class=\"two\">\n");
    for (size_t i = 0; sgi_run_item(run, "unknowns", i); i++)
        chart(page, run, i);
    sgi_text_add(page->out, "</div>\n</section>\n");
}
