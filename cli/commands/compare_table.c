/* The results of a comparison: see compare_table.h. */
#include "commands/compare_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "printable.h"
#include "report/kind.h"

static const sgi_statistic *statistic(const sgi_report_summary *summary, size_t v,
                                      const sgi_report_row *row)
{
    return sgi_report_value(&summary->variants[v], row->offset);
}

/* How a row shows its numbers: "%.2e", or a share as "%.2f %%". */
static void format_cell(sgi_unit unit, double value, char *text, size_t size)
{
    if (unit == SG_UNIT_SHARE)
        snprintf(text, size, "%.2f %%", 100 * value);
    else if (unit == SG_UNIT_NUMBER)
        snprintf(text, size, "%.2e", value);
    else
        snprintf(text, size, "%.*f", unit == SG_UNIT_COUNT ? 0 : 1, value);
}

static void print_cell(const sgi_statistic *s, const sgi_report_row *row)
{
    char text[64] = "-";
    if (s->count > 0 && isfinite(s->mean)) {
        format_cell(row->unit, s->mean, text, sizeof text);
        size_t used = strlen(text);
        if (s->count > 1 && isfinite(s->spread) && row->unit == SG_UNIT_SHARE)
            snprintf(text + used, sizeof text - used, " +- %.1f", 100 * s->spread);
        else if (s->count > 1 && isfinite(s->spread))
            snprintf(text + used, sizeof text - used, " +- %.0e", s->spread);
    } else if (s->count > 0) {
        snprintf(text, sizeof text, "not finite");
    }
    printf("  %-16s", text);
}

static void print_row(const sgi_report_summary *summary, const sgi_report_row *row)
{
    bool any = false;
    for (size_t v = 0; v < summary->count && row->terminal; v++)
        any = any || statistic(summary, v, row)->count > 0;
    if (!any)
        return;
    printf("%-18s", row->terminal);
    for (size_t v = 0; v < summary->count; v++)
        print_cell(statistic(summary, v, row), row);
    if (row->ratio && summary->count == 2) {
        double r = statistic(summary, 0, row)->mean / statistic(summary, 1, row)->mean;
        if (isfinite(r) && r >= 1)
            printf("  %.1f x lower", r);
        else if (isfinite(r) && r > 0)
            printf("  %.1f x higher", 1 / r);
    }
    printf("\n");
}

static void print_sooner(const sgi_report_summary *summary)
{
    for (size_t v = 1; v < summary->count; v++) {
        const sgi_report_variant *it = &summary->variants[v], *base = &summary->variants[0];
        if (it->reached.count < it->runs || !(it->reached.mean > 0))
            continue;
        char target[64];
        format_cell(summary->kind->target_unit, sgi_report_value(base, summary->kind->target)->mean,
                    target, sizeof target);
        char names[2][64];
        printf("\n%s reaches %s, where %s ends, at step %.0f: %.1f x sooner",
               printable(it->name, names[0], sizeof names[0]), target,
               printable(base->name, names[1], sizeof names[1]), it->reached.mean,
               base->steps.mean / it->reached.mean);
    }
}

void print_comparison(const char *folder, bool reported)
{
    char shown[64];
    sg_diagnostic diagnostic = {0};
    sgi_report_summary summary;
    if (sgi_report_summarise(&summary, folder, NULL, &diagnostic) != SG_OK) {
        tell(&diagnostic);
        sgi_report_summary_release(&summary);
        return;
    }
    printf("\n%-18s", "");
    for (size_t v = 0; v < summary.count; v++)
        printf("  %-16s", printable(summary.variants[v].name, shown, sizeof shown));
    printf("\n");
    for (size_t i = 0; i < summary.kind->row_count; i++)
        print_row(&summary, &summary.kind->rows[i]);
    print_sooner(&summary);
    if (isfinite(summary.chance))
        printf("\nguessing: %.2f %%", 100 * summary.chance);
    printf("\n\n");
    if (reported)
        printf("report  %s/report.html\n", folder);
    if (summary.kind->next)
        printf("next    %s\n", summary.kind->next);
    sgi_report_summary_release(&summary);
}
