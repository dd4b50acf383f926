/* What StableGrad did: gradient scales of the layers before and after, the factors by depth, the
 * reference scale beside Adam's eps, and the ratio of the largest to the smallest layer scale. The
 * sign method has gradients before it alone; other methods in its place have no reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/kind.h"
#include "report/layers.h"
#include "stablegrad/scale.h"

enum {
    PANELS_MOST = 12,
    LINES_MOST = 16,
    WIDTH = 310,
    HEIGHT = 230,
    HALF = 468,
    HALF_HEIGHT = 250,
    TITLE = 200
};

/* What was done to the gradients of variant v: the name of an sg_method. */
static const char *method_of(const sgi_page *page, size_t v)
{
    const sgi_run *run = sgi_page_run(page, v);
    const char *method = run ? sgi_run_text(run, "stablegrad", "method") : "";
    return method[0] ? method : "none";
}

static bool is_none(const char *method)
{
    return strcmp(method, "none") == 0;
}

static bool is_sign(const char *method)
{
    return strcmp(method, "sign") == 0;
}

static bool is_stablegrad(const char *method)
{
    return strcmp(method, sg_method_name(SG_METHOD_STABLEGRAD)) == 0;
}

/* How interesting a variant is to the section: StableGrad, then what takes its place, then signs,
 * which have nothing to show after them. */
static int interest(const char *method)
{
    return is_stablegrad(method) ? 3 : is_none(method) ? 0 : is_sign(method) ? 1 : 2;
}

/* The variant that the section is about, the first of the most interesting ones; variant_count when
 * no gradient was changed. */
static size_t scaled_variant(const sgi_page *page)
{
    size_t count = page->runs->variant_count, best = count;
    for (size_t v = 0; v < count; v++) {
        int here = interest(method_of(page, v));
        if (here > (best < count ? interest(method_of(page, best)) : 0))
            best = v;
    }
    return best;
}

/* ---- Gradients by layer -------------------------------------------------------------------- */

typedef struct panel {
    char title[TITLE];
    sgi_layers layers;
    sgi_line lines[SG_LAYERS_ALL];
    size_t count;
} panel;

/* One more panel of a run's layers, when it has them. */
static void add_panel(sgi_page *page, panel *panels, size_t *count, size_t v, const char *what,
                      const char *title, const char *more)
{
    const sgi_run *run = sgi_page_run(page, v);
    if (!run || *count == PANELS_MOST)
        return;
    panel *p = &panels[*count];
    if (!sgi_layers_find(page, run, "layers", what, &p->layers))
        return;
    (void)snprintf(p->title, sizeof p->title, "%.150s%s", title, more);
    p->count = sgi_layers_lines(&p->layers, p->lines);
    (*count)++;
}

/* The baseline, the scaled variant before, and after. */
static size_t problem_panels(sgi_page *page, size_t scaled, panel *panels)
{
    size_t count = 0;
    bool sign = is_sign(method_of(page, scaled));
    if (scaled > 0)
        add_panel(page, panels, &count, 0, "std", page->runs->variants[0].label, "");
    bool alone = count == 0;
    char with[TITLE];
    (void)snprintf(with, sizeof with, "With %s, ", sgi_method_title(method_of(page, scaled)));
    add_panel(page, panels, &count, scaled, "std", alone ? "" : with,
              sign    ? alone ? "Before the signs are taken" : "before the signs are taken"
              : alone ? "Before scaling"
                      : "before scaling");
    if (!sign)
        add_panel(page, panels, &count, scaled, "scaled", alone ? "" : with,
                  alone ? "After scaling" : "after scaling");
    return count;
}

/* Every variant, and after scaling those that were scaled. */
static size_t image_panels(sgi_page *page, panel *panels)
{
    size_t count = 0;
    bool compared = page->runs->comparison;
    for (size_t v = 0; v < page->runs->variant_count; v++) {
        const char *method = method_of(page, v), *label = page->runs->variants[v].label;
        add_panel(page, panels, &count, v, "std", compared ? label : "",
                  is_none(method)   ? ""
                  : is_sign(method) ? compared ? ", before" : "Before the signs are taken"
                  : compared        ? ", before"
                                    : "Before scaling");
        if (!is_none(method) && !is_sign(method))
            add_panel(page, panels, &count, v, "scaled", compared ? label : "",
                      compared ? ", after" : "After scaling");
    }
    return count;
}

static void layer_charts(sgi_page *page, size_t scaled)
{
    panel *panels = sgi_page_memory(page, PANELS_MOST, sizeof *panels);
    if (!panels)
        return;
    size_t count = page->summary->kind->every_variant ? image_panels(page, panels)
                                                      : problem_panels(page, scaled, panels);
    if (count == 0)
        return;
    sgi_step_span span = {0, 0};
    sgi_axis steps, range;
    for (size_t p = 0; p < count && page->summary->kind->every_variant; p++)
        sgi_layers_span(&span, &panels[p].layers);
    sgi_layers_steps(&steps, &span);
    sgi_axis_clear(&range, true);
    for (size_t p = 0; p < count; p++)
        sgi_layers_range(&steps, &range, panels[p].lines, panels[p].count);
    sgi_axis_settle(&steps, 0.015);
    sgi_axis_settle(&range, 0.05);
    sgi_text_add(page->out, "<h3>Standard deviation of each layer’s gradient</h3>\n");
    sgi_layers_legend(page, &panels[count - 1].layers);
    sgi_text_add(page->out, count <= 2 ? "<div class=\"two\">\n" : "<div class=\"three\">\n");
    sgi_mark mark;
    size_t marks = sgi_page_window_mark(page, &mark);
    for (size_t p = 0; p < count; p++) {
        sgi_chart chart = {.title = panels[p].title,
                           .x_label = "step",
                           .y_label = "std of the gradient",
                           .log_x = steps.log,
                           .log_y = true,
                           .width = count <= 2 ? HALF : WIDTH,
                           .height = count <= 2 ? HALF_HEIGHT : HEIGHT,
                           .x_low = steps.low,
                           .x_high = steps.high,
                           .y_low = range.low,
                           .y_high = range.high,
                           .points = panels[p].layers.count > SG_LAYERS_ALL ? SG_LAYERS_POINTS : 0,
                           .lines = panels[p].lines,
                           .line_count = panels[p].count,
                           .marks = &mark,
                           .mark_count = p > 0 || count <= 2 ? marks : 0};
        sgi_chart_draw(page->out, &chart);
    }
    sgi_text_add(page->out, "</div>\n");
}

/* A chart on half the page, on a logarithmic axis; `chart` says the rest. */
static void half_chart(sgi_page *page, sgi_chart chart)
{
    chart.log_y = chart.legend = true;
    chart.width = HALF;
    chart.height = HALF_HEIGHT;
    if (chart.line_count)
        sgi_chart_draw(page->out, &chart);
}

/* The factors over the depth at a few steps. */
static void factor_chart(sgi_page *page, size_t scaled)
{
    sgi_layers layers;
    sgi_line lines[SG_LAYERS_PROFILES];
    if (!sgi_layers_find(page, sgi_page_run(page, scaled), "layers", "factor", &layers))
        return;
    size_t count = sgi_layers_profiles(page, &layers, lines);
    sgi_mark one = {1, false, "unchanged"};
    half_chart(page, (sgi_chart){.title = "Factor of each layer’s gradient",
                                 .x_label = sgi_layers_depth_label(page, &layers),
                                 .y_label = "factor",
                                 .lines = lines,
                                 .line_count = count,
                                 .marks = &one,
                                 .mark_count = 1});
}

/* ---- Stages ------------------------------------------------------------------------------- */

/* What was done to gradients in a run, or in one of its stages. */
typedef struct scaling {
    const sgi_run *run;
    const json_t *said;  /* "stablegrad" of run.json, or of one of its stages */
    const json_t *about; /* that stage; NULL: the whole run */
    int stage;           /* from 1; 0: the whole run */
} scaling;

/* Stage `index`, from 0, as run.json tells of it; older runs have but names there. */
static const json_t *stage_of(const sgi_run *run, size_t index)
{
    const json_t *stage = json_array_get(json_object_get(run->info, "stages"), index);
    return json_is_object(stage) ? stage : NULL;
}

static const char *said_text(const scaling *of, const char *key)
{
    const char *text = json_string_value(json_object_get(of->said, key));
    return text ? text : "";
}

static bool changes_gradients(const scaling *of)
{
    const char *method = said_text(of, "method");
    return method[0] && !is_none(method);
}

/* The next stage that changed gradients, after of->stage; of a run without stages, the run. */
static bool next_scaling(scaling *of)
{
    if (!stage_of(of->run, 0)) {
        const json_t *said = of->said ? NULL : json_object_get(of->run->info, "stablegrad");
        of->said = said ? said : of->said;
        return said != NULL;
    }
    while ((of->about = stage_of(of->run, (size_t)of->stage))) {
        of->said = json_object_get(of->about, "stablegrad");
        of->stage++;
        if (changes_gradients(of))
            return true;
    }
    return false;
}

/* Whether a row of the metrics belongs to it. */
static bool in_scaling(const scaling *of, size_t r)
{
    const double *stages = of->stage ? sgi_columns_find(&of->run->training, "stage") : NULL;
    return !stages || stages[r] == of->stage;
}

/* Adam's eps in the first of them; NaN when its optimizer has none. */
static double eps_of(const sgi_run *run)
{
    scaling of = {.run = run};
    if (!run || !next_scaling(&of))
        return NAN;
    const json_t *eps = json_object_get(of.about ? of.about : run->info, "adam_eps");
    return json_is_number(eps) ? json_number_value(eps) : NAN;
}

/* ---- Scales over the steps ----------------------------------------------------------------- */

static void reference_chart(sgi_page *page)
{
    sgi_line lines[LINES_MOST];
    size_t count = 0;
    double eps = NAN;
    for (size_t v = 0; v < page->runs->variant_count && count < LINES_MOST; v++) {
        const char *method = method_of(page, v);
        if (!is_stablegrad(method))
            continue;
        count += sgi_page_line(page, v, false, "reference", SG_COLUMN_LOSS, &lines[count]);
        eps = eps_of(sgi_page_run(page, v));
    }
    sgi_mark marks[2];
    size_t mark_count = sgi_page_window_mark(page, marks);
    if (eps > 0)
        marks[mark_count++] = (sgi_mark){eps, false, "Adam’s eps"};
    half_chart(page, (sgi_chart){.title = "Reference scale c",
                                 .x_label = "step",
                                 .y_label = "c",
                                 .lines = lines,
                                 .line_count = count,
                                 .marks = marks,
                                 .mark_count = mark_count});
}

static void ratio_chart(sgi_page *page, size_t scaled)
{
    sgi_line lines[2];
    size_t count = 0;
    bool sign = is_sign(method_of(page, scaled));
    count += sgi_page_line(page, scaled, false, "ratio_raw", SG_COLUMN_LOSS, &lines[count]);
    if (count) {
        lines[0].label = sign ? "before the signs are taken" : "before scaling";
        lines[0].colour = 5;
    }
    /* Signs are as large in every layer: the ratio that is recorded for them is the raw one. */
    if (!sign && sgi_page_line(page, scaled, false, "ratio_scaled", SG_COLUMN_LOSS, &lines[count]))
        lines[count++].label = "after scaling";
    sgi_mark mark;
    half_chart(page, (sgi_chart){.title = "Largest over smallest layer scale, R_std",
                                 .x_label = "step",
                                 .y_label = "R_std",
                                 .lines = lines,
                                 .line_count = count,
                                 .marks = &mark,
                                 .mark_count = sgi_page_window_mark(page, &mark)});
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of a column over the steps that were scaled; NaN when there are none. */
static double median_while_scaled(sgi_page *page, const scaling *of, const char *column)
{
    const sgi_run *run = of->run;
    const double *values = sgi_columns_find(&run->training, column);
    const double *outcome = sgi_columns_find(&run->training, "outcome");
    if (!values || !outcome)
        return NAN;
    double *kept = sgi_page_memory(page, run->training.rows, sizeof *kept);
    size_t count = 0;
    for (size_t r = 0; kept && r < run->training.rows; r++)
        if (in_scaling(of, r) && outcome[r] == SG_STEP_SCALED && isfinite(values[r]))
            kept[count++] = values[r];
    if (count == 0)
        return NAN;
    qsort(kept, count, sizeof *kept, by_size);
    return kept[count / 2];
}

/* Steps are counted from 1 here, as everywhere on the page; `from` is the number before the first.
 */
static void describe_window(sgi_text *out, const sgi_run *run)
{
    double until = sgi_page_window_end(run), from = sgi_run_number(run, "stablegrad", "from");
    double steps = sgi_run_number(run, NULL, "steps");
    double done = sgi_run_number(run, NULL, "steps_done");
    from = isfinite(from) ? from : 0;
    bool ends = isfinite(until) && until < steps;
    if (strcmp(sgi_run_text(run, "stablegrad", "until"), "margin") == 0) {
        sgi_text_add(out, "Active as long as the margin of the theorem was positive");
    } else if ((ends && until <= from) || done <= from) {
        sgi_text_add(out, "It was active in no step");
    } else if (ends && until > done) {
        sgi_text_add(out, from > 0 ? "Active from step " : "Active in all steps so far");
        if (from > 0)
            sgi_text_count(out, from + 1);
        sgi_text_add(out, from > 0 ? " on, and to be off after step " : ", to be off after step ");
        sgi_text_count(out, until);
    } else if (ends) {
        sgi_text_add(out, from > 0 ? "Active from step " : "Active in the first ");
        sgi_text_count(out, from > 0 ? from + 1 : until);
        sgi_text_add(out, from > 0 ? " to step " : until == 1 ? " step" : " steps");
        if (from > 0)
            sgi_text_count(out, until);
        sgi_text_add(out, ", off after that");
    } else if (from > 0) {
        sgi_text_add(out, "Active from step ");
        sgi_text_count(out, from + 1);
        sgi_text_add(out, " on");
    } else {
        sgi_text_add(out, "Active during the whole run");
    }
}

/* A stage has steps of its own, which its `from` counts; where a stage begins the lines of the
 * metrics tell about. */
static void describe_stage(sgi_text *out, const scaling *of)
{
    const double *outcome = sgi_columns_find(&of->run->training, "outcome");
    const double *handover = sgi_columns_find(&of->run->training, "handover");
    const char *name = sgi_run_item(of->run, "stages", (size_t)of->stage - 1);
    double from = json_number_value(json_object_get(of->said, "from")), end = NAN;
    bool active = false;
    for (size_t r = 0; r < of->run->training.rows; r++) {
        if (!in_scaling(of, r))
            continue;
        active = active || (outcome && outcome[r] == SG_STEP_SCALED);
        if (handover && isfinite(handover[r]) && handover[r] != SG_HANDOVER_TO_RESCALED)
            end = of->run->training.items[0].values[r] - 1;
    }
    sgi_text_add(out, active ? "Active in stage " : "It was active in no recorded step of stage ");
    sgi_text_count(out, of->stage);
    sgi_text_add(out, ", ");
    sgi_text_escape(out, name ? name : "");
    if (active && from > 0) {
        sgi_text_add(out, ", from its step ");
        sgi_text_count(out, from + 1);
        sgi_text_add(out, " on");
    }
    if (active && strcmp(said_text(of, "until"), "margin") == 0) {
        sgi_text_add(out, ", as long as the margin of the theorem was positive");
    } else if (active && isfinite(end)) {
        sgi_text_add(out, ", to step ");
        sgi_text_count(out, end);
        sgi_text_add(out, " of the run");
    }
}

static void describe_scaling(sgi_page *page, const scaling *of)
{
    sgi_text *out = page->out;
    const char *method = said_text(of, "method");
    if (is_stablegrad(method)) {
        sgi_text_add(out, "; reference scale <em>");
        sgi_text_escape(out, said_text(of, "reference"));
        sgi_text_add(out, "</em>, blocks <em>");
    } else {
        sgi_text_add(out, strcmp(method, sg_method_name(SG_METHOD_ZNORM)) == 0
                              ? ": each block’s gradient loses its mean and is divided by its "
                                "standard deviation"
                              : ": the gradient of each output’s weights is clipped to a share of "
                                "their norm");
        sgi_text_add(out, "; there is no reference scale; blocks <em>");
    }
    sgi_text_escape(out, said_text(of, "blocks"));
    sgi_text_add(out, "</em>.");
    double raw = median_while_scaled(page, of, "ratio_raw");
    double after = median_while_scaled(page, of, "ratio_scaled");
    if (isfinite(raw) && isfinite(after)) {
        sgi_text_add(out, " While it was active the largest layer scale was ");
        sgi_text_number(out, raw);
        sgi_text_add(out, " times the smallest before scaling and ");
        sgi_text_number(out, after);
        sgi_text_add(out, " times after it (medians).");
    }
}

/* What was done in a run or in one of its stages, as sentences. */
static void describe_one(sgi_page *page, const scaling *of)
{
    if (of->stage)
        describe_stage(page->out, of);
    else
        describe_window(page->out, of->run);
    if (is_sign(said_text(of, "method")))
        sgi_text_add(page->out,
                     ": each entry of a gradient is replaced by its sign, so that the gradients of "
                     "all layers are equally large. There is no reference scale.");
    else
        describe_scaling(page, of);
}

/* `named`: the variant's name comes first. */
static void describe(sgi_page *page, size_t v, bool named)
{
    sgi_text *out = page->out;
    const sgi_run *run = sgi_page_run(page, v);
    scaling of = {.run = run};
    sgi_text_add(out, "<p>");
    if (named) {
        sgi_text_add(out, "<strong>");
        sgi_text_escape(out, page->runs->variants[v].label);
        sgi_text_add(out, ".</strong> ");
    }
    for (int i = 0; next_scaling(&of); i++) {
        sgi_text_add(out, i ? "</p>\n<p>" : "");
        describe_one(page, &of);
    }
    double skipped = sgi_columns_last(&run->training, "skipped");
    if (skipped > 0 && isfinite(skipped)) {
        sgi_text_add(out, " ");
        sgi_text_count(out, skipped);
        sgi_text_add(out, skipped == 1 ? " step was skipped because a gradient was not finite."
                                       : " steps were skipped because a gradient was not finite.");
    }
    sgi_text_add(out, "</p>\n");
    sgi_page_handover(page, run);
}

/* When c falls below Adam's eps the optimizer's step shrinks by itself; the reader should know. */
static void note_small_reference(sgi_page *page, const sgi_run *run)
{
    const double *c = sgi_columns_find(&run->training, "reference");
    const double *outcome = sgi_columns_find(&run->training, "outcome");
    double eps = eps_of(run);
    for (size_t r = 0; c && outcome && r < run->training.rows; r++)
        if (outcome[r] == SG_STEP_SCALED && c[r] < eps) {
            sgi_text_add(page->out, "<p class=\"soft\">From step ");
            sgi_text_count(page->out, run->training.items[0].values[r]);
            sgi_text_add(page->out,
                         " on c has been below Adam’s eps at times: the scaled gradients are "
                         "then no larger than eps, and Adam’s step shrinks by itself.</p>\n");
            return;
        }
}

/* The variant that is drawn; of images every one whose gradients were changed. */
static void describe_all(sgi_page *page, size_t scaled)
{
    size_t count = 0;
    for (size_t v = 0; v < page->runs->variant_count; v++)
        count += !is_none(method_of(page, v));
    for (size_t v = 0; v < page->runs->variant_count; v++)
        if (v == scaled || (page->summary->kind->every_variant && !is_none(method_of(page, v))))
            describe(page, v, page->summary->kind->every_variant && count > 1);
}

void sgi_page_scaling(sgi_page *page)
{
    size_t scaled = scaled_variant(page);
    bool none = scaled == page->runs->variant_count;
    bool sign = !none && is_sign(method_of(page, scaled));
    sgi_text_format(page->out, "<section id=\"scaling\">\n<h2>What %s did</h2>\n",
                    none   ? "StableGrad"
                    : sign ? "the sign method"
                           : sgi_method_title(method_of(page, scaled)));
    if (none) {
        sgi_text_add(page->out, "<p class=\"none\">Nothing: it was off in this run.</p>\n");
    } else {
        describe_all(page, scaled);
        layer_charts(page, scaled);
        sgi_text_add(page->out, "<div class=\"two\">\n");
        if (page->summary->kind->every_variant && !sign)
            factor_chart(page, scaled);
        reference_chart(page);
        ratio_chart(page, scaled);
        sgi_text_add(page->out, "</div>\n");
        if (is_stablegrad(method_of(page, scaled)))
            note_small_reference(page, sgi_page_run(page, scaled));
    }
    sgi_text_add(page->out, "</section>\n");
}
