/* The problem or task file, and how to repeat the run. */
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
        sg_text_format(page->out, "<details><summary>The %s file",
                       page->runs->images ? "task" : "problem");
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

static void data_row(sg_text *out, const sg_run *run)
{
    const char *kind = sg_run_text(run, "data", "kind");
    if (!kind[0])
        return;
    sg_text_add(out, "<tr><th>data</th><td>");
    sg_text_escape(out, kind);
    sg_text_add(out, ": ");
    sg_text_count(out, sg_run_number(run, "data", "train_images"));
    sg_text_add(out, " training and ");
    sg_text_count(out, sg_run_number(run, "data", "test_images"));
    sg_text_add(out, " test images of ");
    sg_text_count(out, sg_run_number(run, "data", "classes"));
    sg_text_add(out, " classes, ");
    sg_text_count(out, sg_run_number(run, "data", "size"));
    sg_text_add(out, " px");
    double unread = sg_run_number(run, NULL, "unread_images");
    if (unread > 0) {
        sg_text_add(out, "; ");
        sg_text_count(out, unread);
        sg_text_add(out, " images could not be read");
    }
    sg_text_add(out, "</td></tr>\n");
}

static void image_rows(sg_page *page)
{
    sg_text *out = page->out;
    const sg_run *run = &page->runs->runs[0];
    data_row(out, run);
    text_row(out, "model", sg_run_text(run, NULL, "model"));
    if (!page->runs->comparison)
        text_row(out, "norm", sg_run_text(run, NULL, "norm"));
    text_row(out, "precision", sg_run_text(run, NULL, "precision"));
    /* With a norm weights are not calibrated: variants may start differently. */
    if (!page->runs->comparison)
        text_row(out, "start", sg_run_text(run, NULL, "start"));
    number_row(out, "images per step", sg_run_number(run, NULL, "batch"));
    number_row(out, "epochs", sg_run_number(run, NULL, "epochs"));
}

void sg_page_repeat(sg_page *page)
{
    sg_text *out = page->out;
    const sg_run *run = &page->runs->runs[0];
    bool images = page->runs->images;
    sg_text_add(out, images ? "<section id=\"task\">\n<h2>The task</h2>\n"
                            : "<section id=\"problem\">\n<h2>The problem</h2>\n");
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
    if (images)
        image_rows(page);
    seeds_row(page);
    number_row(out, "threads", sg_run_number(run, NULL, "threads"));
    text_row(out, "version", sg_run_text(run, NULL, "version"));
    text_row(out, "kernels", sg_run_text(run, NULL, "kernels"));
    text_row(out, "machine", sg_run_text(run, NULL, "machine"));
    text_row(out, "started", sg_run_text(run, NULL, "started"));
    time_row(page);
    sg_text_add(out, "</tbody></table>\n</section>\n");
}
