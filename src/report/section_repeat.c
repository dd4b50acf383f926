/* The problem or task file, and how to repeat the run. */
#include <math.h>

#include "report/kind.h"
#include "report/page.h"

static void text_row(sgi_text *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    sgi_text_format(out, "<tr><th>%s</th><td>", name);
    sgi_text_escape(out, value);
    sgi_text_add(out, "</td></tr>\n");
}

static void number_row(sgi_text *out, const char *name, double value)
{
    if (!isfinite(value))
        return;
    sgi_text_format(out, "<tr><th>%s</th><td>%.15g</td></tr>\n", name, value);
}

static void seeds_row(sgi_page *page)
{
    sgi_text *out = page->out;
    bool any = false;
    for (size_t v = 0; v < page->runs->variant_count && !any; v++) {
        const sgi_variant *variant = &page->runs->variants[v];
        for (size_t i = 0; i < variant->count; i++) {
            double seed = sgi_run_number(&page->runs->runs[variant->first + i], NULL, "seed");
            sgi_text_add(out, any ? ", " : "<tr><th>seed</th><td>");
            sgi_text_format(out, "%.15g", seed);
            any = true;
        }
    }
    if (any)
        sgi_text_add(out, "</td></tr>\n");
}

static void time_row(sgi_page *page)
{
    double seconds = 0;
    for (size_t r = 0; r < page->runs->run_count; r++)
        seconds += fmax(sgi_run_number(&page->runs->runs[r], NULL, "seconds"), 0);
    sgi_text_add(page->out, "<tr><th>training time</th><td>");
    sgi_text_duration(page->out, seconds);
    if (page->runs->run_count > 1)
        sgi_text_format(page->out, " for all %zu runs", page->runs->run_count);
    sgi_text_add(page->out, "</td></tr>\n");
}

static void problem(sgi_page *page)
{
    for (size_t r = 0; r < page->runs->run_count; r++) {
        const sgi_run *run = &page->runs->runs[r];
        if (!run->problem)
            continue;
        sgi_text_format(page->out, "<details><summary>The %s file", page->summary->kind->noun);
        if (page->runs->comparison) {
            sgi_text_add(page->out, " of <code>");
            sgi_text_escape(page->out, run->folder);
            sgi_text_add(page->out, "</code>");
        }
        sgi_text_add(page->out, "</summary>\n<pre><code>");
        sgi_text_escape(page->out, run->problem);
        sgi_text_add(page->out, "</code></pre></details>\n");
    }
}

static void data_row(sgi_text *out, const sgi_run *run)
{
    const char *kind = sgi_run_text(run, "data", "kind");
    if (!kind[0])
        return;
    sgi_text_add(out, "<tr><th>data</th><td>");
    sgi_text_escape(out, kind);
    sgi_text_add(out, ": ");
    sgi_text_count(out, sgi_run_number(run, "data", "train_images"));
    sgi_text_add(out, " training and ");
    sgi_text_count(out, sgi_run_number(run, "data", "test_images"));
    sgi_text_add(out, " test images of ");
    sgi_text_count(out, sgi_run_number(run, "data", "classes"));
    sgi_text_add(out, " classes, ");
    sgi_text_count(out, sgi_run_number(run, "data", "size"));
    sgi_text_add(out, " px");
    double unread = sgi_run_number(run, NULL, "unread_images");
    if (unread > 0) {
        sgi_text_add(out, "; ");
        sgi_text_count(out, unread);
        sgi_text_add(out, " images could not be read");
    }
    sgi_text_add(out, "</td></tr>\n");
}

void sgi_page_image_repeat(sgi_page *page)
{
    sgi_text *out = page->out;
    const sgi_run *run = &page->runs->runs[0];
    data_row(out, run);
    text_row(out, "model", sgi_run_text(run, NULL, "model"));
    if (!page->runs->comparison)
        text_row(out, "norm", sgi_run_text(run, NULL, "norm"));
    text_row(out, "precision", sgi_run_text(run, NULL, "precision"));
    /* With a norm weights are not calibrated: variants may start differently. */
    if (!page->runs->comparison)
        text_row(out, "start", sgi_run_text(run, NULL, "start"));
    number_row(out, "images per step", sgi_run_number(run, NULL, "batch"));
    number_row(out, "epochs", sgi_run_number(run, NULL, "epochs"));
}

void sgi_page_repeat(sgi_page *page)
{
    sgi_text *out = page->out;
    const sgi_run *run = &page->runs->runs[0];
    const sgi_report_kind *kind = page->summary->kind;
    sgi_text_format(out, "<section id=\"%s\">\n<h2>The %s file</h2>\n", kind->noun, kind->noun);
    size_t before = out->size;
    problem(page);
    if (out->size == before)
        sgi_text_add(out, "<p class=\"none\">There is no problem.yaml in the folder.</p>\n");
    sgi_text_add(out, "</section>\n<section id=\"repeat\">\n<h2>How to repeat it</h2>\n");
    const char *command = sgi_run_text(run, NULL, "command");
    if (command[0]) {
        sgi_text_add(out, "<pre><code>");
        sgi_text_escape(out, command);
        sgi_text_add(out, "</code></pre>\n");
    }
    sgi_text_add(out, "<table class=\"facts\"><tbody>\n");
    if (kind->repeat_rows)
        kind->repeat_rows(page);
    seeds_row(page);
    number_row(out, "threads", sgi_run_number(run, NULL, "threads"));
    text_row(out, "version", sgi_run_text(run, NULL, "version"));
    text_row(out, "kernels", sgi_run_text(run, NULL, "kernels"));
    text_row(out, "machine", sgi_run_text(run, NULL, "machine"));
    text_row(out, "started", sgi_run_text(run, NULL, "started"));
    time_row(page);
    sgi_text_add(out, "</tbody></table>\n</section>\n");
}
