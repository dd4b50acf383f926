/* Did it work: the sentences and the key numbers. */
#include <math.h>
#include <string.h>

#include "report/page.h"

/* "12.4 times below" or "1.3 times above"; `lower` and `higher` name the two. */
static void add_ratio(sg_text *out, double value, double base, const char *lower,
                      const char *higher)
{
    double ratio = value < base ? base / value : value / base;
    if (ratio < 1.05)
        sg_text_add(out, "about the same as");
    else
        sg_text_format(out, ratio < 100 ? "%.2g times %s" : "%.0f times %s", ratio,
                       value < base ? lower : higher);
}

static bool comparable(const sg_statistic *a, const sg_statistic *b)
{
    return a->count && b->count && isfinite(a->mean) && isfinite(b->mean) && a->mean > 0 &&
           b->mean > 0;
}

static void compare_errors(sg_text *out, const sg_report_variant *v, const sg_report_variant *base)
{
    if (!comparable(&v->relative_l2, &base->relative_l2))
        return;
    sg_text_add(out, " Its relative L2 error against the reference is ");
    sg_text_number(out, v->relative_l2.mean);
    sg_text_add(out, ", ");
    add_ratio(out, v->relative_l2.mean, base->relative_l2.mean, "below", "above");
    sg_text_add(out, " ");
    sg_text_escape(out, base->label);
    sg_text_add(out, "’s ");
    sg_text_number(out, base->relative_l2.mean);
    sg_text_add(out, ".");
}

static void compare_speed(sg_text *out, const sg_report_variant *v, const sg_report_variant *base)
{
    if (!v->reached.count || !base->reached.count || !isfinite(base->validation.mean))
        return;
    sg_text_add(out, " It reaches ");
    sg_text_escape(out, base->label);
    sg_text_add(out, "’s final validation loss at step ");
    sg_text_count(out, v->reached.mean);
    if (v->reached.mean > 0 && v->reached.mean < 0.995 * base->reached.mean)
        sg_text_format(out, ", %.2g times sooner", base->reached.mean / v->reached.mean);
    if (v->reached.count < v->runs)
        sg_text_format(out, " (%zu of %zu seeds)", v->reached.count, v->runs);
    sg_text_add(out, ".");
}

static void compare_with_baseline(sg_text *out, const sg_report_variant *v,
                                  const sg_report_variant *base)
{
    sg_text_add(out, "<p class=\"lead\"><strong>");
    sg_text_escape(out, v->label);
    if (comparable(&v->validation, &base->validation)) {
        sg_text_add(out, " ends with a validation loss of ");
        sg_text_number(out, v->validation.mean);
        sg_text_add(out, ", ");
        add_ratio(out, v->validation.mean, base->validation.mean, "below", "above");
        sg_text_add(out, " ");
        sg_text_escape(out, base->label);
        sg_text_add(out, "’s ");
        sg_text_number(out, base->validation.mean);
    } else if (v->validation.count && isinf(v->validation.mean)) {
        sg_text_add(out, " ends with a validation loss that is not finite");
    } else if (v->validation.count) {
        sg_text_add(out, " ends with a validation loss of ");
        sg_text_number(out, v->validation.mean);
    } else {
        sg_text_add(out, " has no validation loss yet");
    }
    sg_text_add(out, ".</strong>");
    compare_errors(out, v, base);
    compare_speed(out, v, base);
    sg_text_add(out, "</p>\n");
}

static void describe_run(sg_text *out, const sg_report_variant *v)
{
    sg_text_add(out, "<p class=\"lead\"><strong>After ");
    sg_text_count(out, v->steps.mean);
    sg_text_add(out, " steps in ");
    sg_text_duration(out, v->seconds.mean);
    if (v->relative_l2.count && isfinite(v->relative_l2.mean)) {
        sg_text_add(out, " the relative L2 error against the reference is ");
        sg_text_number(out, v->relative_l2.mean);
        sg_text_add(out, ".</strong> The largest error is ");
        sg_text_number(out, v->max_error.mean);
        sg_text_add(out, ".");
    } else if (v->validation.count) {
        sg_text_add(out, " the validation loss is ");
        sg_text_number(out, v->validation.mean);
        sg_text_add(out, ".</strong>");
        if (!v->relative_l2.count)
            sg_text_add(out, " There is no reference solution to compare with.");
    } else {
        sg_text_add(out, " the run has not been evaluated.</strong>");
    }
    sg_text_add(out, "</p>\n");
}

bool sg_page_ending(sg_text *out, const sg_run *run)
{
    const char *status = sg_run_text(run, NULL, "status"),
               *reason = sg_run_text(run, NULL, "reason");
    const char *how = strcmp(status, "failed") == 0        ? "failed"
                      : strcmp(status, "running") == 0     ? "was still running"
                      : strcmp(status, "interrupted") == 0 ? "was interrupted"
                                                           : NULL;
    if (!how)
        return false;
    sg_text_format(out, "%s at step ", how);
    sg_text_count(out, sg_run_number(run, NULL, "steps_done"));
    sg_text_add(out, " of ");
    sg_text_count(out, sg_run_number(run, NULL, "steps"));
    if (reason[0]) {
        sg_text_add(out, ": ");
        sg_text_escape(out, reason);
    }
    sg_text_add(out, ".");
    return true;
}

/* A run that did not end as it should is said at the top. */
static void warn_about(sg_text *out, const sg_run *run)
{
    size_t before = out->size;
    sg_text_add(out, "<p class=\"bad\">");
    if (run->folder[0]) {
        sg_text_add(out, "<code>");
        sg_text_escape(out, run->folder);
        sg_text_add(out, "</code> ");
    } else {
        sg_text_add(out, "This run ");
    }
    if (sg_page_ending(out, run))
        sg_text_add(out, "</p>\n");
    else
        sg_text_cut(out, before);
}

void sg_page_gaps(sg_page *page)
{
    sg_text *out = page->out;
    for (size_t r = 0; r < page->runs->run_count; r++) {
        const sg_run *run = &page->runs->runs[r];
        if (run->unread == 0)
            continue;
        sg_text_add(out, "<p class=\"soft\">");
        sg_text_format(out, "%zu line%s of ", run->unread, run->unread == 1 ? "" : "s");
        sg_text_escape(out, run->folder);
        sg_text_add(out, run->folder[0] ? "/metrics.jsonl" : "metrics.jsonl");
        sg_text_add(out, " could not be read and left out.</p>\n");
    }
    if (page->runs->missing) {
        sg_text_add(out, "<p class=\"bad\">Not run yet: ");
        sg_text_escape(out, page->runs->missing);
        sg_text_add(out, ".</p>\n");
    }
}

typedef const sg_statistic *(*statistic_of)(const sg_report_variant *v);

static const sg_statistic *validation(const sg_report_variant *v)
{
    return &v->validation;
}

static const sg_statistic *relative_l2(const sg_report_variant *v)
{
    return &v->relative_l2;
}

static const sg_statistic *max_error(const sg_report_variant *v)
{
    return &v->max_error;
}

static void key_number(sg_page *page, const char *name, statistic_of value)
{
    sg_text *out = page->out;
    const sg_report_summary *s = page->summary;
    size_t shown = s->count > 1 ? 1 : 0;
    const sg_statistic *x = value(&s->variants[shown]), *base = value(&s->variants[0]);
    if (!x->count)
        return;
    sg_text_format(out, "<div><dt>%s</dt><dd>", name);
    sg_text_number(out, x->mean);
    if (shown && base->count) {
        sg_text_add(out, "<small>");
        sg_text_escape(out, s->variants[0].label);
        sg_text_add(out, " ");
        sg_text_number(out, base->mean);
        sg_text_add(out, "</small>");
    }
    sg_text_add(out, "</dd></div>");
}

static void key_numbers(sg_page *page)
{
    const sg_report_summary *s = page->summary;
    sg_text *out = page->out;
    sg_text_add(out, "<dl class=\"keys\">");
    key_number(page, "validation loss", validation);
    key_number(page, "relative L2 error", relative_l2);
    key_number(page, "largest error", max_error);
    const sg_report_variant *v = &s->variants[s->count > 1 ? 1 : 0];
    if (s->count > 1 && v->reached.count && s->variants[0].reached.count) {
        sg_text_add(out, "<div><dt>baseline’s loss at step</dt><dd>");
        sg_text_count(out, v->reached.mean);
        sg_text_add(out, "<small>");
        sg_text_escape(out, s->variants[0].label);
        sg_text_add(out, " ");
        sg_text_count(out, s->variants[0].reached.mean);
        sg_text_add(out, "</small></dd></div>");
    }
    sg_text_add(out, "</dl>\n");
}

void sg_page_result(sg_page *page)
{
    const sg_report_summary *s = page->summary;
    sg_text_add(page->out, "<section id=\"result\">\n");
    for (size_t v = 1; v < s->count; v++)
        compare_with_baseline(page->out, &s->variants[v], &s->variants[0]);
    if (s->count == 1)
        describe_run(page->out, &s->variants[0]);
    for (size_t r = 0; r < page->runs->run_count; r++)
        warn_about(page->out, &page->runs->runs[r]);
    sg_page_gaps(page);
    key_numbers(page);
    sg_text_add(page->out, "</section>\n");
}
