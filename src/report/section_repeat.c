/* The problem file, and how to repeat the run. */
#include <math.h>

#include "report/page.h"

static void text_row(sg_text *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    sg_text_format(out, "<tr><th>%s</th><td>", name);
    sg_text_escape(out, value);
    sg_text_add(out, "</td></tr>\n");
}

static void number_row(sg_text *out, const char *name, double value)
{
    if (!isfinite(value))
        return;
    sg_text_format(out, "<tr><th>%s</th><td>%.15g</td></tr>\n", name, value);
}

static void seeds_row(sg_page *page)
{
    sg_text *out = page->out;
    bool any = false;
    for (size_t v = 0; v < page->runs->variant_count && !any; v++) {
        const sg_variant *variant = &page->runs->variants[v];
        for (size_t i = 0; i < variant->count; i++) {
            double seed = sg_run_number(&page->runs->runs[variant->first + i], NULL, "seed");
            sg_text_add(out, any ? ", " : "<tr><th>seed</th><td>");
            sg_text_format(out, "%.15g", seed);
            any = true;
        }
    }
    if (any)
        sg_text_add(out, "</td></tr>\n");
}

static void time_row(sg_page *page)
{
    double seconds = 0;
    for (size_t r = 0; r < page->runs->run_count; r++)
        seconds += fmax(sg_run_number(&page->runs->runs[r], NULL, "seconds"), 0);
    sg_text_add(page->out, "<tr><th>training time</th><td>");
    sg_text_duration(page->out, seconds);
    if (page->runs->run_count > 1)
        sg_text_format(page->out, " for all %zu runs", page->runs->run_count);
    sg_text_add(page->out, "</td></tr>\n");
}

static void problem(sg_page *page)
{
    for (size_t r = 0; r < page->runs->run_count; r++) {
        const sg_run *run = &page->runs->runs[r];
        if (!run->problem)
            continue;
        sg_text_add(page->out, "<details><summary>The problem file");
        if (page->runs->comparison) {
            sg_text_add(page->out, " of <code>");
            sg_text_escape(page->out, run->folder);
            sg_text_add(page->out, "</code>");
        }
        sg_text_add(page->out, "</summary>\n<pre><code>");
        sg_text_escape(page->out, run->problem);
        sg_text_add(page->out, "</code></pre></details>\n");
    }
}

void sg_page_repeat(sg_page *page)
{
    sg_text *out = page->out;
    const sg_run *run = &page->runs->runs[0];
    sg_text_add(out, "<section id=\"problem\">\n<h2>The problem</h2>\n");
    size_t before = out->size;
    problem(page);
    if (out->size == before)
        sg_text_add(out, "<p class=\"none\">There is no problem.yaml in the folder.</p>\n");
    sg_text_add(out, "</section>\n<section id=\"repeat\">\n<h2>How to repeat it</h2>\n");
    const char *command = sg_run_text(run, NULL, "command");
    if (command[0]) {
        sg_text_add(out, "<pre><code>");
        sg_text_escape(out, command);
        sg_text_add(out, "</code></pre>\n");
    }
    sg_text_add(out, "<table class=\"facts\"><tbody>\n");
    seeds_row(page);
    number_row(out, "threads", sg_run_number(run, NULL, "threads"));
    text_row(out, "version", sg_run_text(run, NULL, "version"));
    text_row(out, "kernels", sg_run_text(run, NULL, "kernels"));
    text_row(out, "machine", sg_run_text(run, NULL, "machine"));
    text_row(out, "started", sg_run_text(run, NULL, "started"));
    time_row(page);
    sg_text_add(out, "</tbody></table>\n</section>\n");
}
