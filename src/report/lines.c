/* Columns of the runs as lines of a chart, one colour a variant: see page.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "report/kind.h"
#include "report/page.h"
#include "runs/evaluations.h"
#include "stablegrad/scale.h"

enum { MARK_LABEL = 64 };

int sgi_page_colour(const sgi_page *page, size_t v)
{
    return page->runs->comparison ? (int)v : 1;
}

/* The value of a column at a step, or NaN: rows are in the order of their steps. */
static double value_at(const sgi_run *run, bool evaluation, const char *column, double step)
{
    const sgi_columns *columns = evaluation ? &run->evaluation : &run->training;
    const double *values = sgi_columns_find(columns, column);
    size_t low = 0, high = values ? columns->rows : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (columns->items[0].values[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return values && low < columns->rows && columns->items[0].values[low] == step ? values[low]
                                                                                  : NAN;
}

/* Mean and range over the seeds at each step of the line, into all (3, line->count): mean, lowest,
 * highest. A seed that is not finite there makes the mean so: the line ends where the first seed
 * does. */
static void fold_seeds(const sgi_page *page, size_t v, bool evaluation, const char *column,
                       sgi_column_kind kind, const sgi_line *line, double *all)
{
    const sgi_variant *variant = &page->runs->variants[v];
    double *mean = all, *low = all + line->count, *high = low + line->count;
    for (size_t r = 0; r < line->count; r++) {
        double sum = 0, seeds = 0;
        low[r] = high[r] = NAN;
        for (size_t i = 0; i < variant->count; i++) {
            double value =
                value_at(&page->runs->runs[variant->first + i], evaluation, column, line->x[r]);
            if (isnan(value))
                continue;
            sum += kind == SG_COLUMN_LOSS ? log(value) : value;
            seeds++;
            low[r] = fmin(low[r], value);
            high[r] = fmax(high[r], value);
        }
        mean[r] = kind == SG_COLUMN_LOSS ? exp(sum / seeds) : sum / seeds;
    }
}

bool sgi_page_line(sgi_page *page, size_t v, bool evaluation, const char *column,
                   sgi_column_kind kind, sgi_line *line)
{
    const sgi_variant *variant = &page->runs->variants[v];
    size_t with = 0, first = 0;
    for (size_t i = variant->count; i-- > 0;) {
        const sgi_run *run = &page->runs->runs[variant->first + i];
        if (sgi_columns_find(evaluation ? &run->evaluation : &run->training, column)) {
            first = variant->first + i;
            with++;
        }
    }
    *line = (sgi_line){.label = variant->label, .colour = sgi_page_colour(page, v)};
    if (with == 0)
        return false;
    const sgi_run *run = &page->runs->runs[first];
    const sgi_columns *columns = evaluation ? &run->evaluation : &run->training;
    line->x = columns->items[0].values;
    line->y = sgi_columns_find(columns, column);
    line->count = columns->rows;
    if (with == 1 && kind == SG_COLUMN_LOSS)
        return true;
    double *all = sgi_page_memory(page, 3 * line->count, sizeof *all);
    if (!all)
        return false;
    fold_seeds(page, v, evaluation, column, kind, line, all);
    for (size_t i = 0; kind == SG_COLUMN_SHARE && i < 3 * line->count; i++)
        all[i] *= 100;
    line->y = all;
    line->low = with > 1 ? all + line->count : NULL;
    line->high = with > 1 ? all + 2 * line->count : NULL;
    return true;
}

size_t sgi_page_lines(sgi_page *page, bool evaluation, const char *column, sgi_column_kind kind,
                      sgi_line lines[SG_PAGE_LINES])
{
    size_t count = 0;
    for (size_t v = 0; v < page->runs->variant_count && count < SG_PAGE_LINES; v++)
        count += sgi_page_line(page, v, evaluation, column, kind, &lines[count]);
    return count;
}

size_t sgi_page_medians(sgi_page *page, sgi_line lines[SG_PAGE_LINES], size_t count)
{
    size_t all = count;
    for (size_t l = 0; l < count && all < SG_PAGE_LINES; l++) {
        if (!sgi_restless(lines[l].y, lines[l].count))
            continue;
        double *median = sgi_page_memory(page, lines[l].count, sizeof *median);
        size_t size = strlen(lines[l].label) + sizeof ", median";
        char *label = sgi_page_memory(page, size, 1);
        if (!median || !label)
            return all;
        (void)snprintf(label, size, "%s, median", lines[l].label);
        for (size_t r = 0; r < lines[l].count; r++)
            median[r] = r + 1 < SG_MEDIAN_OVER ? NAN : sgi_median_ending(&lines[l].y[r]);
        lines[all] = lines[l];
        lines[all].y = median;
        lines[all].label = label;
        lines[all].low = lines[all].high = NULL;
        lines[all].dashed = true;
        all++;
    }
    return all;
}

void sgi_page_legend(sgi_page *page)
{
    sgi_line lines[SG_PAGE_LINES];
    size_t count = 0;
    for (size_t v = 0; v < page->runs->variant_count && count < SG_PAGE_LINES; v++)
        lines[count++] =
            (sgi_line){.label = page->runs->variants[v].label, .colour = sgi_page_colour(page, v)};
    sgi_chart_legend(page->out, lines, count);
}

void sgi_page_seeds_note(sgi_page *page)
{
    for (size_t v = 0; v < page->runs->variant_count; v++)
        if (page->runs->variants[v].count > 1) {
            sgi_text_format(page->out,
                            "<p class=\"soft\">Lines are geometric means over the seeds%s, bands "
                            "go from the lowest to the highest seed.</p>\n",
                            page->summary->kind->shares ? " (arithmetic ones of shares)" : "");
            return;
        }
}

bool sgi_page_has_metrics(const sgi_page *page)
{
    for (size_t r = 0; r < page->runs->run_count; r++)
        if (page->runs->runs[r].training.rows || page->runs->runs[r].evaluation.rows)
            return true;
    return false;
}

const char *sgi_method_title(const char *name)
{
    static const char *const titles[] = {SG_METHOD_LIST(SGI_LIST_TITLE)};
    for (int m = 0; m < SG_METHOD_COUNT; m++)
        if (strcmp(name, sg_method_name((sg_method)m)) == 0)
            return titles[m];
    return "an unknown method";
}

double sgi_page_window_end(const sgi_run *run)
{
    const double *handover = sgi_columns_find(&run->training, "handover");
    for (size_t r = 0; handover && r < run->training.rows; r++)
        if (isfinite(handover[r]) && handover[r] != SG_HANDOVER_TO_RESCALED)
            return run->training.items[0].values[r] - 1;
    if (sgi_run_item(run, "stages", 0)) /* `until` counts the steps of a stage */
        return NAN;
    return sgi_run_number(run, "stablegrad", "until");
}

/* What the margin ends it may begin again. */
static bool follows_margin(const sgi_run *run)
{
    return strcmp(sgi_run_text(run, "stablegrad", "until"), "margin") == 0;
}

size_t sgi_page_window_mark(sgi_page *page, sgi_mark *mark)
{
    for (size_t v = 0; v < page->runs->variant_count; v++) {
        const sgi_run *run = sgi_page_run(page, v);
        const char *method = run ? sgi_run_text(run, "stablegrad", "method") : "";
        if (!method[0] || strcmp(method, "none") == 0)
            continue;
        double until = follows_margin(run) ? (double)NAN : sgi_page_window_end(run);
        double done = sgi_run_number(run, NULL, "steps_done");
        if (until > 0 && until < done) {
            char *label = sgi_page_memory(page, 1, MARK_LABEL);
            if (!label)
                return 0;
            (void)snprintf(label, MARK_LABEL, "%.40s ends", sgi_method_title(method));
            *mark = (sgi_mark){until, true, label};
            return 1;
        }
    }
    return 0;
}
