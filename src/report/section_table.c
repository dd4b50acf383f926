/* The table of final metrics: a row a number, a column a variant. The rows are the
 * kind's; a row that no variant has is left out. */
#include <math.h>

#include "report/kind.h"
#include "report/page.h"

static void add_value(sgi_text *out, sgi_unit unit, double value)
{
    if (unit == SG_UNIT_NUMBER || !isfinite(value))
        sgi_text_number(out, value);
    else if (unit == SG_UNIT_COUNT)
        sgi_text_count(out, value);
    else if (unit == SG_UNIT_SHARE)
        sgi_text_percent(out, value);
    else if (unit == SG_UNIT_MEMORY)
        sgi_text_memory(out, value);
    else if (unit == SG_UNIT_RATE)
        sgi_text_rate(out, value);
    else
        sgi_text_duration(out, value);
}

/* The best finite mean of a row, or NaN. */
static double best_of(const sgi_report_summary *s, const sgi_report_row *r)
{
    double found = NAN;
    for (size_t v = 0; v < s->count && r->better != SG_BETTER_NEITHER && s->count > 1; v++) {
        double x = sgi_report_value(&s->variants[v], r->offset)->mean;
        if (isfinite(x))
            found = r->better == SG_BETTER_LOWER ? fmin(found, x) : fmax(found, x);
    }
    return found;
}

static void table_row(sgi_page *page, const sgi_report_row *r)
{
    const sgi_report_summary *s = page->summary;
    sgi_text *out = page->out;
    size_t have = 0;
    for (size_t v = 0; v < s->count; v++)
        have += sgi_report_value(&s->variants[v], r->offset)->count > 0;
    if (!have || (r->compared && s->count < 2))
        return;
    double top = best_of(s, r);
    sgi_text_format(out, "<tr><td>%s</td>", r->name);
    for (size_t v = 0; v < s->count; v++) {
        const sgi_statistic *x = sgi_report_value(&s->variants[v], r->offset);
        sgi_text_add(out, x->mean == top ? "<td class=\"best\">" : "<td>");
        add_value(out, r->unit, x->mean);
        if (!isnan(x->spread) && x->spread != 0) {
            sgi_text_add(out, " <small>± ");
            add_value(out, r->unit, x->spread);
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
    for (size_t r = 0; r < s->kind->row_count; r++)
        table_row(page, &s->kind->rows[r]);
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
