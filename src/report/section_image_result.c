/* Did it work, for image runs: a sentence a variant with its top-1 beside chance, what went wrong
 * and when, and the key numbers. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "runs/image_run.h"

static bool all_at_chance(const sgi_report_variant *v)
{
    return v->runs > 0 && v->at_chance == v->runs;
}

/* "(top-5 70.1%, loss 2.31)" */
static void add_details(sgi_text *out, const sgi_report_variant *v)
{
    sgi_text_add(out, " (top-5 ");
    sgi_text_percent(out, v->top5.mean);
    sgi_text_add(out, ", loss ");
    sgi_text_number(out, v->validation.mean);
    sgi_text_add(out, ")");
}

static bool best_differs(const sgi_report_variant *v)
{
    return v->best_top1.count && v->best_top1.mean >= v->top1.mean + 0.0005;
}

static void add_best(sgi_text *out, const sgi_report_variant *v)
{
    if (!best_differs(v) || all_at_chance(v))
        return;
    sgi_text_add(out, " Its best was ");
    sgi_text_percent(out, v->best_top1.mean);
    sgi_text_add(out, " at step ");
    sgi_text_count(out, v->best_step.mean);
    sgi_text_add(out, ".");
}

/* How far from the baseline in points of a percent, and when it reached the baseline's end. */
static void compare_with(sgi_text *out, const sgi_report_variant *v, const sgi_report_variant *base)
{
    double points = 100 * (v->top1.mean - base->top1.mean);
    if (!isfinite(points) || all_at_chance(base) || all_at_chance(v))
        return;
    if (fabs(points) < 0.05)
        sgi_text_add(out, " That is the same as ");
    else
        sgi_text_format(out, " That is %.1f points %s ", fabs(points),
                        points > 0 ? "above" : "below");
    sgi_text_escape(out, base->label);
    if (v->reached.count) {
        sgi_text_add(out, ", whose final top-1 it reaches at step ");
        sgi_text_count(out, v->reached.mean);
        if (v->reached.count < v->runs)
            sgi_text_format(out, " (%zu of %zu seeds)", v->reached.count, v->runs);
    }
    sgi_text_add(out, ".");
}

/* A label at the start of a sentence. */
static void begin_with(sgi_text *out, const char *label)
{
    char first = (char)toupper((unsigned char)label[0]);
    sgi_text_format(out, "%c", first);
    sgi_text_escape(out, label + 1);
}

static void describe_variant(sgi_text *out, const sgi_report_variant *v,
                             const sgi_report_variant *base)
{
    sgi_text_add(out, "<p class=\"lead\"><strong>");
    begin_with(out, v->label);
    if (!v->top1.count) {
        sgi_text_add(out, " has not been evaluated.</strong></p>\n");
        return;
    }
    sgi_text_add(out, " ends at ");
    sgi_text_percent(out, v->top1.mean);
    sgi_text_add(out, all_at_chance(v) ? " top-1, no better than guessing" : " top-1");
    sgi_text_add(out, "</strong>");
    add_details(out, v);
    sgi_text_add(out, ".");
    add_best(out, v);
    if (v != base)
        compare_with(out, v, base);
    sgi_text_add(out, "</p>\n");
}

static void describe_run(sgi_text *out, const sgi_report_variant *v)
{
    sgi_text_add(out, "<p class=\"lead\"><strong>After ");
    if (v->epochs.count && isfinite(v->epochs.mean))
        sgi_text_format(out, v->epochs.mean == 1 ? "%.3g epoch (" : "%.3g epochs (",
                        v->epochs.mean);
    sgi_text_count(out, v->steps.mean);
    sgi_text_add(out, v->steps.mean == 1 ? " step" : " steps");
    sgi_text_add(out, v->epochs.count ? ") in " : " in ");
    sgi_text_duration(out, v->seconds.mean);
    if (!v->top1.count) {
        sgi_text_add(out, " the run has not been evaluated.</strong></p>\n");
        return;
    }
    sgi_text_add(out, ", ");
    sgi_text_percent(out, v->top1.mean);
    sgi_text_add(out, " of the test images get the right class");
    sgi_text_add(out, all_at_chance(v) ? ", no better than guessing.</strong>" : ".</strong>");
    if (v->top5.count) {
        sgi_text_add(out, " The right class is among the first five for ");
        sgi_text_percent(out, v->top5.mean);
        sgi_text_add(out, ".");
    }
    add_best(out, v);
    sgi_text_add(out, "</p>\n");
}

/* ---- What happened ------------------------------------------------------------------------- */

static void tell_layer(sgi_text *out, const sgi_event *event, const char *before)
{
    if (!event->layer[0])
        return;
    sgi_text_add(out, before);
    sgi_text_add(out, "<code>");
    sgi_text_escape(out, event->layer);
    sgi_text_add(out, "</code>");
    if (isfinite(event->value)) {
        sgi_text_add(out, " (std ");
        sgi_text_number(out, event->value);
        sgi_text_add(out, ")");
    }
}

/* One sentence for an event; kinds that are not known here are told in their own words. */
static void tell_event(sgi_text *out, const sgi_run *run, const sgi_event *event)
{
    double classes = sgi_run_number(run, "data", "classes");
    if (event->kind == SG_EVENT_EXPLODED) {
        sgi_text_add(out, "the training loss exploded");
        tell_layer(out, event, ", with the largest activations in ");
    } else if (event->kind == SG_EVENT_NOT_FINITE && event->layer[0]) {
        bool backward = strcmp(event->pass, "backward") == 0;
        tell_layer(out, event, "");
        sgi_text_add(out, backward ? " was the first layer whose gradient was not finite"
                                   : " was the first layer whose output was not finite");
    } else if (event->kind == SG_EVENT_NOT_FINITE) {
        sgi_text_add(out, "the loss or a gradient was not finite");
    } else if (event->kind == SG_EVENT_CONSTANT) {
        sgi_text_add(out, "every test image got the same class");
        if (isfinite(event->class_index))
            sgi_text_format(out, " (number %.0f)", event->class_index);
        if (event->layer[0]) {
            sgi_text_add(out, "; from <code>");
            sgi_text_escape(out, event->layer);
            sgi_text_add(out, "</code> on the outputs did not depend on the image");
        }
    } else if (event->kind == SG_EVENT_RECOVERED) {
        sgi_text_add(out, "it recovered");
        if (classes > 1)
            sgi_text_format(out, ": the loss came back below that of guessing, %.2f", log(classes));
    } else {
        sgi_text_escape(out, event->text[0] ? event->text : event->word);
    }
}

static bool tell_events(sgi_text *out, const sgi_run *run)
{
    bool any = false;
    for (size_t i = 0; i < sgi_image_run_events(run); i++) {
        sgi_event event;
        if (!sgi_image_run_event(run, i, &event))
            continue;
        sgi_text_add(out, any ? "<br>" : "");
        sgi_text_add(out, "Step ");
        sgi_text_count(out, event.step);
        sgi_text_add(out, ": ");
        tell_event(out, run, &event);
        sgi_text_add(out, ".");
        any = true;
    }
    return any;
}

/* What happened to the runs of a variant and how they ended, where there is something to tell. */
static void tell(sgi_page *page, size_t v)
{
    const sgi_variant *variant = &page->runs->variants[v];
    sgi_text *out = page->out;
    for (size_t i = 0; i < variant->count; i++) {
        const sgi_run *run = &page->runs->runs[variant->first + i];
        size_t before = out->size;
        const char *status = sgi_run_text(run, NULL, "status");
        bool completed = strcmp(status, "complete") == 0 || strcmp(status, "finishing") == 0;
        sgi_text_format(out, "<p class=\"%s\">",
                        completed && isnan(sgi_image_collapsed(run)) ? "told" : "bad");
        if (variant->count > 1) {
            sgi_text_add(out, "<code>");
            sgi_text_escape(out, run->folder);
            sgi_text_add(out, "</code><br>");
        }
        bool events = tell_events(out, run);
        size_t ending = out->size;
        sgi_text_add(out, events ? "<br>The run " : "The run ");
        bool ended = sgi_page_ending(out, run);
        if (!ended)
            sgi_text_cut(out, ending);
        if (events || ended)
            sgi_text_add(out, "</p>\n");
        else
            sgi_text_cut(out, before);
    }
}

/* ---- Key numbers --------------------------------------------------------------------------- */

static void begin_key(sgi_text *out, const char *name)
{
    sgi_text_add(out, "<div><dt>");
    sgi_text_escape(out, name);
    sgi_text_add(out, "</dt><dd>");
}

static void end_key(sgi_text *out)
{
    sgi_text_add(out, "</dd></div>");
}

/* Top-1, and below it whether that is chance, else the best when it was another. */
static void key_top1(sgi_text *out, const char *name, const sgi_report_variant *v)
{
    begin_key(out, name);
    sgi_text_percent(out, v->top1.mean);
    sgi_text_add(out, "<small>");
    if (!v->top1.count) {
        sgi_text_add(out, "not evaluated");
    } else if (all_at_chance(v)) {
        sgi_text_add(out, "chance");
    } else {
        sgi_text_add(out, best_differs(v) ? "top-1, best " : "top-1");
        if (best_differs(v))
            sgi_text_percent(out, v->best_top1.mean);
    }
    sgi_text_add(out, "</small>");
    end_key(out);
}

static void key_pace(sgi_text *out, const sgi_report_variant *v)
{
    begin_key(out, "time");
    sgi_text_duration(out, v->seconds.mean);
    if (v->images_per_second.count) {
        sgi_text_add(out, "<small>");
        sgi_text_rate(out, v->images_per_second.mean);
        sgi_text_add(out, " images a second</small>");
    }
    end_key(out);
    if (v->memory.count) {
        begin_key(out, "memory");
        sgi_text_memory(out, v->memory.mean);
        end_key(out);
    }
}

static void run_keys(sgi_text *out, const sgi_report_variant *v)
{
    key_top1(out, "test top-1", v);
    if (v->top5.count) {
        begin_key(out, "test top-5");
        sgi_text_percent(out, v->top5.mean);
        end_key(out);
    }
    if (v->validation.count) {
        begin_key(out, "test loss");
        sgi_text_number(out, v->validation.mean);
        end_key(out);
    }
    if (v->epochs.count) {
        begin_key(out, "epochs");
        sgi_text_format(out, "%.3g<small>", v->epochs.mean);
        sgi_text_count(out, v->steps.mean);
        sgi_text_add(out, " steps</small>");
        end_key(out);
    }
    key_pace(out, v);
}

static void explain_chance(sgi_page *page)
{
    double chance = page->summary->chance;
    if (!isfinite(chance))
        return;
    sgi_text_add(page->out,
                 "<p class=\"soft\">Top-1: the share of test images whose highest score is "
                 "their class. Guessing among ");
    sgi_text_count(page->out, 1 / chance);
    sgi_text_add(page->out, " classes is right for ");
    sgi_text_percent(page->out, chance);
    sgi_text_add(page->out, ": chance.</p>\n");
}

static void key_numbers(sgi_page *page)
{
    const sgi_report_summary *s = page->summary;
    sgi_text_add(page->out, "<dl class=\"keys\">");
    for (size_t v = 0; v < s->count; v++) {
        if (page->runs->comparison)
            key_top1(page->out, s->variants[v].label, &s->variants[v]);
        else
            run_keys(page->out, &s->variants[v]);
    }
    sgi_text_add(page->out, "</dl>\n");
}

void sgi_page_image_result(sgi_page *page)
{
    const sgi_report_summary *s = page->summary;
    bool comparison = page->runs->comparison;
    sgi_text_add(page->out, "<section id=\"result\">\n");
    if (comparison)
        key_numbers(page);
    for (size_t v = 0; v < s->count; v++) {
        if (comparison)
            describe_variant(page->out, &s->variants[v], &s->variants[0]);
        else
            describe_run(page->out, &s->variants[v]);
        tell(page, v);
    }
    sgi_page_gaps(page);
    if (!comparison)
        key_numbers(page);
    explain_chance(page);
    sgi_text_add(page->out, "</section>\n");
}
