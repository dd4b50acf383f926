/* Did it work: the sentences and the key numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page.h"

/* "12.4 times below" or "1.3 times above"; `lower` and `higher` name the two. */
static void add_ratio(sgi_text *out, double value, double base, const char *lower,
                      const char *higher)
{
    double ratio = value < base ? base / value : value / base;
    if (ratio < 1.05)
        sgi_text_add(out, "about the same as");
    else
        sgi_text_format(out, ratio < 100 ? "%.2g times %s" : "%.0f times %s", ratio,
                        value < base ? lower : higher);
}

/* "0.006, 5 times below AdamW’s 0.03". */
static void add_beside(sgi_text *out, const sgi_statistic *value, const sgi_report_variant *base,
                       const sgi_statistic *base_value)
{
    sgi_text_number(out, value->mean);
    sgi_text_add(out, ", ");
    add_ratio(out, value->mean, base_value->mean, "below", "above");
    sgi_text_add(out, " ");
    sgi_text_escape(out, base->label);
    sgi_text_add(out, "’s ");
    sgi_text_number(out, base_value->mean);
}

static bool comparable(const sgi_statistic *a, const sgi_statistic *b)
{
    return a->count && b->count && isfinite(a->mean) && isfinite(b->mean) && a->mean > 0 &&
           b->mean > 0;
}

/* "; at its lowest, at step 4,000, it is 0.006 (AdamW’s lowest: 0.01, at step 5,000)": nothing
 * where both end at their lowest. */
static void compare_lowest(sgi_text *out, const sgi_report_variant *v, const sgi_statistic *last,
                           const sgi_statistic *lowest, const sgi_statistic *step,
                           const sgi_report_variant *base, const sgi_statistic *base_last,
                           const sgi_statistic *base_lowest, const sgi_statistic *base_step)
{
    if (!lowest->count || !base_lowest->count ||
        (lowest->mean == last->mean && base_lowest->mean == base_last->mean))
        return;
    sgi_text_format(out, "; at its lowest, %sat step ", v->runs > 1 ? "on average " : "");
    sgi_text_count(out, step->mean);
    sgi_text_add(out, ", it is ");
    sgi_text_number(out, lowest->mean);
    sgi_text_add(out, " (");
    sgi_text_escape(out, base->label);
    sgi_text_add(out, "’s lowest: ");
    sgi_text_number(out, base_lowest->mean);
    sgi_text_add(out, ", at step ");
    sgi_text_count(out, base_step->mean);
    sgi_text_add(out, ")");
}

static void compare_medians(sgi_text *out, const char *what, const sgi_statistic *median,
                            const sgi_report_variant *base, const sgi_statistic *base_median)
{
    if (!comparable(median, base_median))
        return;
    sgi_text_format(out, " The median of the last five %s is ", what);
    add_beside(out, median, base, base_median);
    sgi_text_add(out, ".");
}

/* Where evaluations jump, the last one says little. */
static void compare_restless(sgi_text *out, const sgi_report_variant *v,
                             const sgi_report_variant *base)
{
    if (!v->restless && !base->restless)
        return;
    size_t before = out->size;
    sgi_text_add(out, " Near the end the evaluations jump up and down.");
    size_t begun = out->size;
    compare_medians(out, "validation losses", &v->median_validation, base,
                    &base->median_validation);
    compare_medians(out, "relative L2 errors", &v->median_l2, base, &base->median_l2);
    if (out->size == begun)
        sgi_text_cut(out, before);
}

static void compare_errors(sgi_text *out, const sgi_report_variant *v,
                           const sgi_report_variant *base)
{
    if (!comparable(&v->relative_l2, &base->relative_l2))
        return;
    sgi_text_add(out, " Its relative L2 error against the reference is ");
    add_beside(out, &v->relative_l2, base, &base->relative_l2);
    compare_lowest(out, v, &v->relative_l2, &v->lowest_l2, &v->lowest_l2_step, base,
                   &base->relative_l2, &base->lowest_l2, &base->lowest_l2_step);
    sgi_text_add(out, ".");
}

/* The step at which the baseline reaches its own final loss; its last one when that is a mean over
 * seeds which some never reach. */
static double when_there(const sgi_report_variant *base)
{
    return base->reached.count == base->runs ? base->reached.mean : base->steps.mean;
}

static void compare_speed(sgi_text *out, const sgi_report_variant *v,
                          const sgi_report_variant *base)
{
    if (!v->reached.count || !base->reached.count || !isfinite(base->validation.mean))
        return;
    double there = when_there(base), here = v->reached.mean;
    sgi_text_add(out, " It reaches ");
    sgi_text_escape(out, base->label);
    sgi_text_add(out, "’s final validation loss at step ");
    sgi_text_count(out, here);
    if (v->reached.count < v->runs)
        sgi_text_format(out, " (%zu of %zu seeds)", v->reached.count, v->runs);
    if (here > 0 && here < 0.995 * there)
        sgi_text_format(out, ", %.2g times sooner than ", there / here);
    else
        sgi_text_add(out, here > 1.005 * there ? ", later than " : ", like ");
    sgi_text_escape(out, base->label);
    sgi_text_add(out, fabs(here / there - 1) > 0.005 ? " itself, at step " : " itself");
    if (fabs(here / there - 1) > 0.005)
        sgi_text_count(out, there);
    sgi_text_add(out, ".");
}

static void compare_with_baseline(sgi_text *out, const sgi_report_variant *v,
                                  const sgi_report_variant *base)
{
    sgi_text_add(out, "<p class=\"lead\"><strong>");
    sgi_text_escape(out, v->label);
    if (comparable(&v->validation, &base->validation)) {
        sgi_text_add(out, " ends with a validation loss of ");
        add_beside(out, &v->validation, base, &base->validation);
        compare_lowest(out, v, &v->validation, &v->lowest_validation, &v->lowest_validation_step,
                       base, &base->validation, &base->lowest_validation,
                       &base->lowest_validation_step);
    } else if (v->validation.count && isinf(v->validation.mean)) {
        sgi_text_add(out, " ends with a validation loss that is not finite");
    } else if (v->validation.count) {
        sgi_text_add(out, " ends with a validation loss of ");
        sgi_text_number(out, v->validation.mean);
    } else {
        sgi_text_add(out, " has no validation loss yet");
    }
    sgi_text_add(out, ".</strong>");
    compare_speed(out, v, base);
    compare_errors(out, v, base);
    compare_restless(out, v, base);
    sgi_text_add(out, "</p>\n");
}

static void describe_lowest(sgi_text *out, const sgi_report_variant *v)
{
    if (v->lowest_l2.mean == v->relative_l2.mean || !v->lowest_l2.count)
        return;
    sgi_text_add(out, " The relative L2 error was lowest at step ");
    sgi_text_count(out, v->lowest_l2_step.mean);
    sgi_text_add(out, ": ");
    sgi_text_number(out, v->lowest_l2.mean);
    if (v->restless && v->median_l2.count) {
        sgi_text_add(out, ". Near the end the evaluations jump up and down; the median of the last "
                          "five errors is ");
        sgi_text_number(out, v->median_l2.mean);
    }
    sgi_text_add(out, ".");
}

static void describe_run(sgi_text *out, const sgi_report_variant *v)
{
    sgi_text_add(out, "<p class=\"lead\"><strong>After ");
    sgi_text_count(out, v->steps.mean);
    sgi_text_add(out, v->steps.mean == 1 ? " step in " : " steps in ");
    sgi_text_duration(out, v->seconds.mean);
    if (v->relative_l2.count && isfinite(v->relative_l2.mean)) {
        sgi_text_add(out, " the relative L2 error against the reference is ");
        sgi_text_number(out, v->relative_l2.mean);
        sgi_text_add(out, ".</strong> The largest error is ");
        sgi_text_number(out, v->max_error.mean);
        sgi_text_add(out, ".");
        describe_lowest(out, v);
    } else if (v->validation.count) {
        sgi_text_add(out, " the validation loss is ");
        sgi_text_number(out, v->validation.mean);
        sgi_text_add(out, ".</strong>");
        if (!v->relative_l2.count)
            sgi_text_add(out, " There is no reference solution to compare with.");
    } else {
        sgi_text_add(out, " the run has not been evaluated.</strong>");
    }
    sgi_text_add(out, "</p>\n");
}

bool sgi_page_ending(sgi_text *out, const sgi_run *run)
{
    const char *status = sgi_run_text(run, NULL, "status"),
               *reason = sgi_run_text(run, NULL, "reason");
    const char *how = strcmp(status, "failed") == 0        ? "failed"
                      : strcmp(status, "running") == 0     ? "had not ended"
                      : strcmp(status, "interrupted") == 0 ? "was interrupted"
                                                           : NULL;
    if (!how)
        return false;
    sgi_text_format(out, "%s at step ", how);
    sgi_text_count(out, sgi_run_number(run, NULL, "steps_done"));
    sgi_text_add(out, " of ");
    sgi_text_count(out, sgi_run_number(run, NULL, "steps"));
    char step[40];
    (void)snprintf(step, sizeof step, "step %.0f: ", sgi_run_number(run, NULL, "steps_done"));
    if (strncmp(reason, step, strlen(step)) == 0)
        reason += strlen(step); /* just said */
    if (reason[0]) {
        sgi_text_add(out, ": ");
        sgi_text_escape(out, reason);
    } else if (strcmp(status, "running") == 0) {
        sgi_text_add(out, " when this page was written: it was still running, or was killed");
    }
    size_t length = strlen(reason);
    sgi_text_add(out, length && reason[length - 1] == '.' ? "" : ".");
    return true;
}

/* A run that did not end as it should is said at the top. */
static void warn_about(sgi_text *out, const sgi_run *run)
{
    size_t before = out->size;
    sgi_text_add(out, "<p class=\"bad\">");
    if (run->folder[0]) {
        sgi_text_add(out, "<code>");
        sgi_text_escape(out, run->folder);
        sgi_text_add(out, "</code> ");
    } else {
        sgi_text_add(out, "This run ");
    }
    if (sgi_page_ending(out, run))
        sgi_text_add(out, "</p>\n");
    else
        sgi_text_cut(out, before);
}

/* Errors against a reference that does not solve the problem, or is not everywhere, mean less: said
 * once. */
static void warn_of_reference(sgi_page *page)
{
    if (page->runs->run_count == 0)
        return;
    const char *left_out = sgi_run_text(&page->runs->runs[0], NULL, "reference_left_out");
    if (left_out[0]) {
        sgi_text_add(page->out, "<p class=\"soft\">Note: ");
        sgi_text_escape(page->out, left_out);
        sgi_text_add(page->out, ".</p>\n");
    }
    const char *misfit = sgi_run_text(&page->runs->runs[0], NULL, "reference_misfit");
    if (!misfit[0])
        return;
    static const char subject[] = "the reference ";
    bool named = strncmp(misfit, subject, sizeof subject - 1) == 0;
    sgi_text_add(page->out, "<p class=\"bad\">The reference does not solve the problem: ");
    sgi_text_add(page->out, named ? "it " : "");
    sgi_text_escape(page->out, misfit + (named ? sizeof subject - 1 : 0));
    sgi_text_add(page->out, page->summary->variants[0].validation.count
                                ? ". The errors below are against it all the same.</p>\n"
                                : ".</p>\n");
}

/* By hand, or by damage: the numbers are not those of the run. */
static void tell_change(sgi_text *out, const sgi_run *run, const char *name, bool changed)
{
    if (!changed)
        return;
    sgi_text_add(out, "<p class=\"bad\">");
    sgi_text_escape(out, run->folder);
    sgi_text_format(out, "%s%s was changed after the run wrote it.</p>\n",
                    run->folder[0] ? "/" : "", name);
}

void sgi_page_gaps(sgi_page *page)
{
    sgi_text *out = page->out;
    for (size_t r = 0; r < page->runs->run_count; r++) {
        const sgi_run *run = &page->runs->runs[r];
        tell_change(out, run, "run.json", run->record_changed);
        tell_change(out, run, "metrics.jsonl", run->metrics_changed);
        tell_change(out, run, "problem.yaml", run->problem_changed);
        if (run->unread == 0)
            continue;
        sgi_text_add(out, "<p class=\"soft\">");
        sgi_text_format(out, "%zu line%s of ", run->unread, run->unread == 1 ? "" : "s");
        sgi_text_escape(out, run->folder);
        sgi_text_add(out, run->folder[0] ? "/metrics.jsonl" : "metrics.jsonl");
        sgi_text_format(out, " could not be read and %s left out.</p>\n",
                        run->unread == 1 ? "was" : "were");
    }
    if (page->runs->missing) {
        sgi_text_add(out, "<p class=\"bad\">Not run yet: ");
        sgi_text_escape(out, page->runs->missing);
        sgi_text_add(out, ".</p>\n");
    }
}

typedef const sgi_statistic *(*statistic_of)(const sgi_report_variant *v);

static const sgi_statistic *validation(const sgi_report_variant *v)
{
    return &v->validation;
}

static const sgi_statistic *relative_l2(const sgi_report_variant *v)
{
    return &v->relative_l2;
}

static const sgi_statistic *max_error(const sgi_report_variant *v)
{
    return &v->max_error;
}

static void key_number(sgi_page *page, const char *name, statistic_of value)
{
    sgi_text *out = page->out;
    const sgi_report_summary *s = page->summary;
    size_t shown = s->count > 1 ? 1 : 0;
    const sgi_statistic *x = value(&s->variants[shown]), *base = value(&s->variants[0]);
    if (!x->count)
        return;
    sgi_text_format(out, "<div><dt>%s</dt><dd>", name);
    sgi_text_number(out, x->mean);
    if (shown && base->count) {
        sgi_text_add(out, "<small>");
        sgi_text_escape(out, s->variants[0].label);
        sgi_text_add(out, " ");
        sgi_text_number(out, base->mean);
        sgi_text_add(out, "</small>");
    }
    sgi_text_add(out, "</dd></div>");
}

static void key_numbers(sgi_page *page)
{
    const sgi_report_summary *s = page->summary;
    sgi_text *out = page->out;
    sgi_text_add(out, "<dl class=\"keys\">");
    key_number(page, "validation loss", validation);
    key_number(page, "relative L2 error", relative_l2);
    key_number(page, "largest error", max_error);
    const sgi_report_variant *v = &s->variants[s->count > 1 ? 1 : 0];
    if (s->count > 1 && v->reached.count && s->variants[0].reached.count) {
        sgi_text_add(out, "<div><dt>baseline’s final loss at step</dt><dd>");
        sgi_text_count(out, v->reached.mean);
        sgi_text_add(out, "<small>");
        sgi_text_escape(out, s->variants[0].label);
        sgi_text_add(out, " ");
        sgi_text_count(out, when_there(&s->variants[0]));
        sgi_text_add(out, "</small></dd></div>");
    }
    sgi_text_add(out, "</dl>\n");
}

void sgi_page_result(sgi_page *page)
{
    const sgi_report_summary *s = page->summary;
    sgi_text_add(page->out, "<section id=\"result\">\n");
    for (size_t v = 1; v < s->count; v++)
        compare_with_baseline(page->out, &s->variants[v], &s->variants[0]);
    if (s->count == 1)
        describe_run(page->out, &s->variants[0]);
    for (size_t r = 0; r < page->runs->run_count; r++)
        warn_about(page->out, &page->runs->runs[r]);
    warn_of_reference(page);
    sgi_page_gaps(page);
    key_numbers(page);
    sgi_text_add(page->out, "</section>\n");
}
