/* The report of a reproduction: the tables, then the curves of each part, and links to the reports
 * of the parts, which have everything else. */
#include <math.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "report/page.h"
#include "reproduce/reproduction.h"

enum { HALF_WIDTH = 468, HALF_HEIGHT = 260 };

/* Whether arm a is drawn in the chart of a group: its own, and those that belong to every group. */
static bool belongs(const sgi_experiment_part *part, size_t a, const char *group)
{
    return a < 2 || !part->arms[a].group || !group || strcmp(part->arms[a].group, group) == 0;
}

/* The variant of an arm that was begun, or -1. */
static int variant_of(const sgi_part_result *part, const char *arm)
{
    for (size_t v = 0; v < part->runs.variant_count; v++)
        if (part->runs.variants[v].count > 0 && strcmp(part->runs.variants[v].name, arm) == 0)
            return (int)v;
    return -1;
}

static size_t group_lines(sgi_page *page, const sgi_part_result *part, const char *group,
                          const char *column, sgi_line lines[SG_PAGE_LINES])
{
    size_t count = 0;
    for (size_t a = 0; a < part->part->arm_count && count < SG_PAGE_LINES; a++) {
        int v = belongs(part->part, a, group) ? variant_of(part, part->part->arms[a].name) : -1;
        if (v < 0 || !sgi_page_line(page, (size_t)v, true, column, SG_COLUMN_LOSS, &lines[count]))
            continue;
        lines[count].colour = (int)(count % SG_SERIES_COLOURS);
        lines[count].dashed = count >= SG_SERIES_COLOURS;
        count++;
    }
    return count;
}

static void chart(sgi_page *page, const sgi_line *lines, size_t count, const char *title,
                  const char *label, bool log)
{
    sgi_chart c = {.title = title,
                   .x_label = "step",
                   .y_label = label,
                   .log_y = log,
                   .width = HALF_WIDTH,
                   .height = HALF_HEIGHT,
                   .lines = lines,
                   .line_count = count};
    sgi_chart_draw(page->out, &c);
}

/* Whether an arm of a group was begun. */
static bool any_of(const sgi_part_result *part, const char *group)
{
    for (size_t a = 0; a < part->part->arm_count; a++) {
        const sgi_arm *arm = &part->part->arms[a];
        if (arm->group && strcmp(arm->group, group) == 0 && variant_of(part, arm->name) >= 0)
            return true;
    }
    return false;
}

/* A pair of charts with one legend: the validation loss and the part's other metric. */
static void group_charts(sgi_page *page, const sgi_part_result *part, const char *group)
{
    sgi_line lines[SG_PAGE_LINES];
    const char *metric = part->part->metric ? part->part->metric : "error/all/relative_l2";
    size_t count = group_lines(page, part, group, "validation/loss", lines);
    if (count == 0 || (group && !any_of(part, group)))
        return;
    if (group) {
        sgi_text_add(page->out, "<h3>");
        sgi_text_escape(page->out, group);
        sgi_text_add(page->out, "</h3>\n");
    }
    sgi_chart_legend(page->out, lines, count);
    sgi_text_add(page->out, "<div class=\"two\">\n");
    chart(page, lines, count, "Validation loss", "loss", true);
    count = group_lines(page, part, group, metric, lines);
    if (count > 0)
        chart(page, lines, count,
              part->part->metric ? part->part->metric_title
                                 : "Relative L2 error against the reference",
              part->part->metric ? "share" : "relative L2 error", !part->part->metric);
    sgi_text_add(page->out, "</div>\n");
}

/* The next group after arm *a that no arm before has, or NULL at the end. */
static const char *next_group(const sgi_experiment_part *part, size_t *a)
{
    for (; *a < part->arm_count; ++*a) {
        const char *group = part->arms[*a].group;
        bool known = !group;
        for (size_t i = 0; i < *a && !known; i++)
            known = part->arms[i].group && strcmp(part->arms[i].group, group) == 0;
        if (!known)
            return group;
    }
    return NULL;
}

/* The part that is `alone` shows its kernels here; of several each has them in its own report. */
static void part_section(sgi_text *out, const sgi_part_result *part, bool alone)
{
    sgi_page page = {out, &part->runs, &part->summary, NULL, false};
    sgi_text_format(out, "<section id=\"%s\">\n<h2>", part->part->name);
    sgi_text_escape(out, part->part->title);
    sgi_text_format(out, "</h2>\n<p><a href=\"%s/report.html\">The report of these runs</a></p>\n",
                    part->part->name);
    size_t a = 0;
    const char *group = next_group(part->part, &a);
    if (!group)
        group_charts(&page, part, NULL);
    for (; group; a++, group = next_group(part->part, &a))
        group_charts(&page, part, group);
    sgi_text_add(out, "</section>\n");
    if (alone)
        sgi_page_diagnosis(&page);
    sgi_page_release(&page);
}

static void add_row(sgi_text *out, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    sgi_text_format(out, "<tr><th>%s</th><td>", name);
    sgi_text_escape(out, value);
    sgi_text_add(out, "</td></tr>\n");
}

static void repeat_section(sgi_text *out, const sgi_results *results, const json_t *index)
{
    const sgi_run *run = NULL;
    for (size_t p = 0; p < results->experiment->part_count && !run; p++)
        if (results->parts[p].there)
            run = &results->parts[p].runs.runs[0];
    sgi_text_add(out, "<section id=\"repeat\">\n<h2>How to repeat it</h2>\n<pre><code>");
    const char *command = json_string_value(json_object_get(index, "command"));
    sgi_text_escape(out, command ? command : "");
    sgi_text_add(out, "</code></pre>\n<table class=\"facts\"><tbody>\n");
    add_row(out, "in the paper", results->experiment->source);
    if (run) {
        add_row(out, "machine", sgi_run_text(run, NULL, "machine"));
        add_row(out, "version", sgi_run_text(run, NULL, "version"));
        add_row(out, "kernels", sgi_run_text(run, NULL, "kernels"));
        add_row(out, "started", sgi_run_text(run, NULL, "started"));
    }
    sgi_text_add(out, "</tbody></table>\n</section>\n");
}

static void write_body(sgi_text *body, const sgi_results *results, const json_t *index,
                       const json_t *tables)
{
    sgi_text_add(body, "<section id=\"tables\">\n<h2>Beside the paper</h2>\n");
    for (size_t t = 0; t < json_array_size(tables); t++)
        sgi_table_html(body, json_array_get(tables, t));
    sgi_text_add(body, "</section>\n");
    if (results->experiment->draw)
        results->experiment->draw(results, body);
    for (size_t p = 0; p < results->experiment->part_count; p++)
        if (results->parts[p].there)
            part_section(body, &results->parts[p], results->experiment->part_count == 1);
    repeat_section(body, results, index);
}

sg_status sgi_reproduction_report(const sgi_results *results, const json_t *index,
                                  const json_t *tables, sg_diagnostic *diagnostic)
{
    sgi_text out, body;
    sgi_text_begin(&out, &results->allocator);
    sgi_text_begin(&body, &results->allocator);
    write_body(&body, results, index, tables);
    sgi_page_frame(&out, results->experiment->name, "reproduction", false);
    sgi_text_escape(&out, results->experiment->summary);
    sgi_text_add(&out, "</p>\n</header>\n");
    if (body.status == SG_OK) {
        sgi_page_contents(&out, &body);
        sgi_text_bytes(&out, body.data, body.size);
    }
    sgi_page_end(&out, false);
    sg_status status = body.status == SG_OK ? out.status : body.status;
    char *path = sgi_path_join(&results->allocator, results->folder, "report.html");
    if (status != SG_OK || !path)
        status = sgi_fail_file(diagnostic, SG_ERROR_MEMORY, results->folder, "out of memory");
    else
        status = sgi_file_write(path, out.data, out.size, &results->allocator, diagnostic);
    sgi_release(&results->allocator, path);
    sgi_text_release(&body);
    sgi_text_release(&out);
    return status;
}
