/* The table of final metrics: a row a number, a column a variant. The rows are a list for each kind
 * of run; a row that no variant has is left out. */
#include <math.h>
#include <stddef.h>

#include "report/page.h"

typedef enum kind { NUMBER, COUNT, DURATION, SHARE, MEMORY, RATE } kind;
typedef enum best { NONE, LOWEST, HIGHEST } best; /* which value is set off */

typedef struct row {
    const char *name;
    size_t offset; /* of the statistic in sgi_report_variant */
    kind kind;
    best best;
    bool compared; /* only with several variants */
} row;

static const row problem_rows[] = {
    {"validation loss", offsetof(sgi_report_variant, validation), NUMBER, LOWEST, false},
    {"relative L2 error", offsetof(sgi_report_variant, relative_l2), NUMBER, LOWEST, false},
    {"largest error", offsetof(sgi_report_variant, max_error), NUMBER, LOWEST, false},
    {"baseline’s final loss reached at step", offsetof(sgi_report_variant, reached), COUNT, LOWEST,
     true},
    {"steps", offsetof(sgi_report_variant, steps), COUNT, NONE, false},
    {"time", offsetof(sgi_report_variant, seconds), DURATION, NONE, false},
};

static const row image_rows[] = {
    {"test top-1", offsetof(sgi_report_variant, top1), SHARE, HIGHEST, false},
    {"test top-5", offsetof(sgi_report_variant, top5), SHARE, HIGHEST, false},
    {"best test top-1", offsetof(sgi_report_variant, best_top1), SHARE, HIGHEST, false},
    {"at step", offsetof(sgi_report_variant, best_step), COUNT, NONE, false},
    {"test loss", offsetof(sgi_report_variant, validation), NUMBER, LOWEST, false},
    {"baseline’s final top-1 reached at step", offsetof(sgi_report_variant, reached), COUNT, NONE,
     true},
    {"collapsed at step", offsetof(sgi_report_variant, collapsed), COUNT, NONE, false},
    {"skipped steps", offsetof(sgi_report_variant, skipped), COUNT, NONE, false},
    {"steps", offsetof(sgi_report_variant, steps), COUNT, NONE, false},
    {"epochs", offsetof(sgi_report_variant, epochs), RATE, NONE, false},
    {"time", offsetof(sgi_report_variant, seconds), DURATION, NONE, false},
    {"images per second", offsetof(sgi_report_variant, images_per_second), RATE, NONE, false},
    {"memory", offsetof(sgi_report_variant, memory), MEMORY, NONE, false},
};

static const sgi_statistic *statistic(const sgi_report_variant *v, const row *r)
{
    return (const void *)((const char *)v + r->offset);
}

static void add_value(sgi_text *out, kind k, double value)
{
    if (k == NUMBER || !isfinite(value))
        sgi_text_number(out, value);
    else if (k == COUNT)
        sgi_text_count(out, value);
    else if (k == SHARE)
        sgi_text_percent(out, value);
    else if (k == MEMORY)
        sgi_text_memory(out, value);
    else if (k == RATE)
        sgi_text_format(out, value < 100 ? "%.3g" : "%.0f", value);
    else
        sgi_text_duration(out, value);
}

/* The best finite mean of a row, or NaN. */
static double best_of(const sgi_report_summary *s, const row *r)
{
    double found = NAN;
    for (size_t v = 0; v < s->count && r->best != NONE && s->count > 1; v++) {
        double x = statistic(&s->variants[v], r)->mean;
        if (isfinite(x))
            found = r->best == LOWEST ? fmin(found, x) : fmax(found, x);
    }
    return found;
}

static void table_row(sgi_page *page, const row *r)
{
    const sgi_report_summary *s = page->summary;
    sgi_text *out = page->out;
    size_t have = 0;
    for (size_t v = 0; v < s->count; v++)
        have += statistic(&s->variants[v], r)->count > 0;
    if (!have || (r->compared && s->count < 2))
        return;
    double top = best_of(s, r);
    sgi_text_format(out, "<tr><td>%s</td>", r->name);
    for (size_t v = 0; v < s->count; v++) {
        const sgi_statistic *x = statistic(&s->variants[v], r);
        sgi_text_add(out, x->mean == top ? "<td class=\"best\">" : "<td>");
        add_value(out, r->kind, x->mean);
        if (!isnan(x->spread)) {
            sgi_text_add(out, " <small>± ");
            add_value(out, r->kind, x->spread);
            sgi_text_add(out, "</small>");
        }
        if (x->count && x->count < s->variants[v].runs)
            sgi_text_format(out, " <small>(%zu of %zu)</small>", x->count, s->variants[v].runs);
        sgi_text_add(out, "</td>");
    }
    sgi_text_add(out, "</tr>\n");
}

void sgi_page_table(sgi_page *page)
{
    sgi_text *out = page->out;
    const sgi_report_summary *s = page->summary;
    const row *rows = s->images ? image_rows : problem_rows;
    size_t count =
        s->images ? sizeof image_rows / sizeof *rows : sizeof problem_rows / sizeof *rows;
    size_t seeds = 0;
    sgi_text_add(out, "<section id=\"numbers\">\n<h2>Final numbers</h2>\n<div class=\"scroll\">"
                      "<table>\n<thead><tr><th></th>");
    for (size_t v = 0; v < s->count; v++) {
        sgi_text_add(out, "<th>");
        sgi_text_escape(out, s->variants[v].label);
        sgi_text_add(out, "</th>");
        seeds = s->variants[v].runs > seeds ? s->variants[v].runs : seeds;
    }
    sgi_text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < count; r++)
        table_row(page, &rows[r]);
    sgi_text_add(out, "</tbody></table></div>\n");
    if (seeds > 1)
        sgi_text_format(out, "<p class=\"soft\">Mean ± standard deviation over %zu seeds.</p>\n",
                        seeds);
    if (isfinite(s->chance)) {
        sgi_text_add(out, "<p class=\"soft\">Chance, the top-1 of guessing: ");
        sgi_text_percent(out, s->chance);
        sgi_text_add(out, ".</p>\n");
    }
    sgi_text_add(out, "</section>\n");
}
