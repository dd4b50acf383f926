/* What happened inside: the standard deviation of each layer's activations, a panel a variant on
 * shared axes, over the steps and over the depth. Without BatchNorm nothing holds it; this is where
 * an overflow is seen to come from. */
#include "report/layers.h"
#include "runs/image_run.h"

enum { PANELS_MOST = 12, MARKS_MOST = 6, WIDTH = 468, HEIGHT = 250 };

typedef struct panel {
    const char *title;
    const sgi_run *run;
    sgi_layers layers;
    sgi_line lines[SG_LAYERS_ALL], profiles[SG_LAYERS_PROFILES];
    size_t line_count, profile_count;
    sgi_mark marks[MARKS_MOST];
    size_t mark_count;
} panel;

/* A run's events as vertical marks. */
static size_t event_marks(const sgi_run *run, sgi_mark marks[MARKS_MOST])
{
    static const char *const titles[] = {SG_EVENT_LIST(SGI_LIST_TITLE)};
    size_t count = 0;
    for (size_t i = 0; i < sgi_image_run_events(run) && count < MARKS_MOST; i++) {
        sgi_event event;
        if (sgi_image_run_event(run, i, &event) && (int)event.kind < SG_EVENTS)
            marks[count++] = (sgi_mark){event.step, true, titles[event.kind]};
    }
    return count;
}

static size_t make_panels(sgi_page *page, panel *panels)
{
    size_t count = 0;
    for (size_t v = 0; v < page->runs->variant_count && count < PANELS_MOST; v++) {
        panel *p = &panels[count];
        p->run = sgi_page_run(page, v);
        if (!p->run || !sgi_layers_find(page, p->run, "activations", "std", &p->layers))
            continue;
        p->title = page->runs->comparison ? page->runs->variants[v].label : NULL;
        p->line_count = sgi_layers_lines(&p->layers, p->lines);
        p->profile_count = sgi_layers_profiles(page, &p->layers, p->profiles);
        p->mark_count = event_marks(p->run, p->marks);
        count++;
    }
    return count;
}

/* A panel on the axes that all share; `chart` says the rest. */
static void draw_panel(sgi_page *page, const sgi_axis *x, const sgi_axis *y, sgi_chart chart)
{
    chart.y_label = "std of the activations";
    chart.log_x = x->log;
    chart.log_y = true;
    chart.width = WIDTH;
    chart.height = HEIGHT;
    chart.x_low = x->low;
    chart.x_high = x->high;
    chart.y_low = y->low;
    chart.y_high = y->high;
    sgi_chart_draw(page->out, &chart);
}

static void draw_over_steps(sgi_page *page, const panel *panels, size_t count)
{
    sgi_step_span span = {0, 0};
    sgi_axis x, y;
    for (size_t p = 0; p < count; p++)
        sgi_layers_span(&span, &panels[p].layers);
    sgi_layers_steps(&x, &span);
    sgi_axis_clear(&y, true);
    for (size_t p = 0; p < count; p++) {
        sgi_layers_range(&x, &y, panels[p].lines, panels[p].line_count);
        for (size_t m = 0; m < panels[p].mark_count; m++)
            sgi_axis_include(&x, panels[p].marks[m].at);
    }
    sgi_axis_settle(&x, 0.015);
    sgi_axis_settle(&y, 0.06);
    for (size_t p = 0; p < count; p++) {
        draw_panel(page, &x, &y,
                   (sgi_chart){.title = panels[p].title ? panels[p].title : "Over the steps",
                               .x_label = "step",
                               .points = SG_LAYERS_POINTS,
                               .lines = panels[p].lines,
                               .line_count = panels[p].line_count,
                               .marks = panels[p].marks,
                               .mark_count = panels[p].mark_count});
    }
}

static void draw_over_depth(sgi_page *page, const panel *panels, size_t count)
{
    sgi_axis x, y;
    sgi_axis_clear(&x, false);
    sgi_axis_clear(&y, true);
    for (size_t p = 0; p < count; p++)
        sgi_layers_range(&x, &y, panels[p].profiles, panels[p].profile_count);
    sgi_axis_settle(&x, 0.015);
    sgi_axis_settle(&y, 0.06);
    for (size_t p = 0; p < count; p++) {
        draw_panel(page, &x, &y,
                   (sgi_chart){.title = panels[p].title ? panels[p].title
                                                        : "From the first layer to the last",
                               .x_label = sgi_layers_depth_label(page, &panels[p].layers),
                               .lines = panels[p].profiles,
                               .line_count = panels[p].profile_count,
                               .legend = true});
    }
}

/* Variants: a grid of panels for each view. One run: the two views beside each other. */
static void draw_panels(sgi_page *page, const panel *panels, size_t count)
{
    sgi_text *out = page->out;
    bool comparison = page->runs->comparison;
    if (comparison)
        sgi_text_add(out, "<h3>Over the steps</h3>\n");
    sgi_layers_legend(page, &panels[0].layers);
    sgi_text_add(out, "<div class=\"two\">\n");
    draw_over_steps(page, panels, count);
    if (comparison)
        sgi_text_add(out, "</div>\n<h3>From the first layer to the last</h3>\n"
                          "<div class=\"two\">\n");
    draw_over_depth(page, panels, count);
    sgi_text_add(out, "</div>\n");
}

/* Where each run's activations were largest, and how many layers are drawn. */
static void describe(sgi_page *page, const panel *panels, size_t count)
{
    sgi_text *out = page->out;
    sgi_text_add(out, "<p class=\"soft\">Largest activations:");
    for (size_t p = 0; p < count; p++) {
        const sgi_layers *layers = &panels[p].layers;
        sgi_text_add(out, p ? "; " : " ");
        if (panels[p].title) {
            sgi_text_escape(out, panels[p].title);
            sgi_text_add(out, " ");
        }
        sgi_text_number(out, layers->values[layers->largest][layers->largest_row]);
        sgi_text_add(out, " in <code>");
        sgi_text_escape(out, layers->names[layers->largest]);
        sgi_text_add(out, "</code> at step ");
        sgi_text_count(out, layers->steps[layers->largest_row]);
    }
    sgi_text_add(out, ".");
    const sgi_layers *first = &panels[0].layers;
    if (first->count > SG_LAYERS_ALL)
        sgi_text_format(
            out,
            " The charts over the steps show %d evenly spaced layers of %zu, and the one "
            "with the largest activations.",
            SG_LAYERS_EVENLY, first->count);
    sgi_text_add(out, "</p>\n");
}

void sgi_page_inside(sgi_page *page)
{
    sgi_text *out = page->out;
    sgi_text_add(out, "<section id=\"inside\">\n<h2>What happened inside</h2>\n");
    panel *panels = sgi_page_memory(page, PANELS_MOST, sizeof *panels);
    size_t count = panels ? make_panels(page, panels) : 0;
    if (count == 0) {
        sgi_text_add(out, "<p class=\"none\">No activations were observed.</p>\n");
    } else {
        sgi_text_add(out,
                     "<p>The standard deviation of each layer’s output. Where nothing holds it, "
                     "it can grow from layer to layer and from step to step until a number is "
                     "too large for its type.</p>\n");
        draw_panels(page, panels, count);
        describe(page, panels, count);
    }
    sgi_text_add(out, "</section>\n");
}
