/* What the solution looks like, and where it is wrong: maps of the fields, of prediction minus
 * reference, and of the residuals; curves for one coordinate. Predictions and reference share one
 * colour range, and so do the errors of all variants, so that they can be compared by eye. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/field_grid.h"
#include "report/page.h"
#include "report/slider.h"

enum {
    SOURCES_MOST = 9, /* pictures side by side: eight variants and the reference */
    COLUMNS = 3,      /* of maps: as many as a page holds at a size that shows something */
    PLANES_MOST = SOURCES_MOST * SG_VIEW_PLANES,
    ITEMS_MOST = 8,  /* fields, and equations, that are drawn */
    BINS = 2400,     /* of the histogram that finds a percentile: enough that the end of the
                      * colours is right to half a percent */
    CUTS = 3,        /* times at which prediction and reference are drawn over each other, */
    CUT_WIDTH = 310, /* in a row of three on the page */
    CUT_HEIGHT = 210,
    LABEL = 160,
    FRAMES_IN_ALL = 24, /* of all sliders on the page */
    FRAMES_LEAST = 4
};
/* A page with many maps should stay small enough to send. All maps together have about the first
 * number of pixels, but none becomes so coarse that nothing can be seen, and none finer than a
 * screen shows. */
static const double pixels_in_all = 2.2e6, pixels_least = 2e4, pixels_most = 1.6e5;

/* One array to look at. */
typedef struct picture {
    const char *label;
    int colour;
    const double *values; /* (grid.count) */
} picture;

typedef struct gallery {
    sgi_page *page;
    sgi_field_grid grid;
    sgi_view view;
    const sgi_run *runs[SOURCES_MOST]; /* those with a field on the grid */
    size_t variants[SOURCES_MOST];     /* which variant each is */
    size_t run_count;
    const char *fields[2 * ITEMS_MOST], *equations[ITEMS_MOST];
    size_t field_count, equation_count;
    size_t shown_count; /* fields, and after them the quantities that the problem file maps */
    double pixels;      /* for each map */
} gallery;

/* A picture's values in the planes of the view, one after the other, and their number; NULL without
 * memory. Colours are chosen for what is seen, not for the rest of the field. */
static double *shown_values(const gallery *g, const picture *p, size_t *count)
{
    size_t most = 0;
    *count = 0;
    for (size_t s = 0; s < g->view.count; s++)
        most += g->view.planes[s].x_count * g->view.planes[s].y_count;
    double *shown = sgi_page_memory(g->page, most, sizeof *shown);
    for (size_t s = 0; shown && s < g->view.count; s++) {
        const sgi_plane *plane = &g->view.planes[s];
        for (size_t i = 0; i < plane->x_count; i++)
            for (size_t j = 0; j < plane->y_count; j++)
                shown[(*count)++] =
                    p->values[g->view.offset[s] + i * plane->x_stride + j * plane->y_stride];
    }
    return shown;
}

/* The smallest and largest finite values of an array. */
static void include_range(const double *values, size_t count, double *low, double *high)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            *low = fmin(*low, values[i]);
            *high = fmax(*high, values[i]);
        }
}

/* The size that a share of all values stays below, to half a percent, of those above 1e-6 of the
 * largest: counted in logarithmic bins. */
static double size_quantile(const double *values, size_t count, double largest, double share)
{
    size_t bins[BINS] = {0}, all = 0, below = 0;
    const double decades = 6;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(values[i]) / largest;
        if (!isfinite(size))
            continue;
        double place = size > 0 ? (1 + log10(size) / decades) * BINS : 0;
        bins[(size_t)fmin(fmax(place, 0), BINS - 1)]++;
        all++;
    }
    for (size_t b = 0; b < BINS; b++) {
        below += bins[b];
        if ((double)below >= share * (double)all)
            return largest * pow(10, decades * ((double)(b + 1) / BINS - 1));
    }
    return largest;
}

/* The range of values that are seen of several pictures, from the given start on. */
static void shown_range(const gallery *g, const picture *list, size_t count, double *low,
                        double *high)
{
    for (size_t p = 0; p < count; p++) {
        size_t shown;
        const double *values = shown_values(g, &list[p], &shown);
        include_range(values, shown, low, high);
    }
}

/* The lowest and the highest of the pictures' own quantiles of size. */
static void shown_quantiles(const gallery *g, const picture *list, size_t count, double largest,
                            double share, double *lowest, double *highest)
{
    *lowest = INFINITY;
    *highest = 0;
    for (size_t p = 0; p < count && largest > 0; p++) {
        size_t shown;
        const double *values = shown_values(g, &list[p], &shown);
        double quantile = size_quantile(values, shown, largest, share);
        *lowest = fmin(*lowest, quantile);
        *highest = fmax(*highest, quantile);
    }
}

/* --- what there is to show --- */

static void find_runs(gallery *g)
{
    for (size_t v = 0; v < g->page->runs->variant_count && g->run_count < SOURCES_MOST - 1; v++) {
        const sgi_run *run = sgi_page_run(g->page, v);
        sgi_field_grid grid;
        if (!run || run->field.count == 0 || !sgi_field_grid_of(&grid, run))
            continue;
        if (g->run_count == 0)
            g->grid = grid;
        else if (grid.rank != g->grid.rank ||
                 memcmp(grid.shape, g->grid.shape, sizeof grid.shape) != 0)
            continue;
        g->variants[g->run_count] = v;
        g->runs[g->run_count++] = run;
    }
}

static void find_items(gallery *g)
{
    const sgi_run *run = g->runs[0];
    const char *name;
    for (size_t i = 0; g->field_count < ITEMS_MOST && (name = sgi_run_item(run, "fields", i)); i++)
        if (sgi_field_grid_values(&g->grid, run, name, ""))
            g->fields[g->field_count++] = name;
    g->shown_count = g->field_count;
    for (size_t i = 0; g->field_count && g->shown_count < g->field_count + ITEMS_MOST &&
                       (name = sgi_run_item(run, "maps", i));
         i++)
        if (sgi_field_grid_values(&g->grid, run, name, ""))
            g->fields[g->shown_count++] = name;
    for (size_t i = 0; i < run->field.count && g->equation_count < ITEMS_MOST; i++) {
        name = run->field.items[i].name;
        if (strncmp(name, "residual_", 9) == 0 && sgi_field_grid_values(&g->grid, run, name, ""))
            g->equations[g->equation_count++] = name + 9;
    }
    size_t others = g->shown_count - g->field_count + g->equation_count;
    size_t maps = (g->field_count * (2 * g->run_count + 1) + others * g->run_count) *
                  (g->grid.rank > 2 ? SG_VIEW_PLANES : 1);
    g->pixels = fmin(fmax(pixels_in_all / (double)(maps + 1), pixels_least), pixels_most);
}

/* The reference of a field, from whichever run has it. */
static const double *reference_of(const gallery *g, const char *field)
{
    for (size_t r = 0; r < g->run_count; r++) {
        const double *values = sgi_field_grid_values(&g->grid, g->runs[r], field, "_reference");
        if (values)
            return values;
    }
    return NULL;
}

static picture picture_of(const gallery *g, size_t r, const double *values)
{
    const sgi_variant *variant = &g->page->runs->variants[g->variants[r]];
    return (picture){variant->label, sgi_page_colour(g->page, g->variants[r]), values};
}

/* Reference first, then every run that has the field. */
static size_t field_pictures(const gallery *g, const char *field, picture list[SOURCES_MOST])
{
    size_t count = 0;
    const double *reference = reference_of(g, field);
    if (reference)
        list[count++] = (picture){"Reference", SG_COLOUR_INK, reference};
    for (size_t r = 0; r < g->run_count; r++) {
        const double *values = sgi_field_grid_values(&g->grid, g->runs[r], field, "");
        if (values)
            list[count++] = picture_of(g, r, values);
    }
    return count;
}

/* The error of a field that a run has written down: where its reference is known at the points of a
 * file. */
static const double *written_error(const gallery *g, size_t r, const char *field)
{
    return sgi_field_grid_values(&g->grid, g->runs[r], field, "_error");
}

/* Prediction minus reference; NULL when the run has not the field. */
static const double *error_of(const gallery *g, size_t r, const char *field,
                              const double *reference)
{
    const double *written = written_error(g, r, field);
    const double *values = sgi_field_grid_values(&g->grid, g->runs[r], field, "");
    if (written || !values)
        return written;
    double *error = sgi_page_memory(g->page, g->grid.count, sizeof *error);
    for (size_t i = 0; error && i < g->grid.count; i++)
        error[i] = values[i] - reference[i];
    return error;
}

/* The errors of every run that has the field; none without a reference. */
static size_t error_pictures(const gallery *g, const char *field, picture list[SOURCES_MOST])
{
    size_t count = 0;
    const double *reference = reference_of(g, field);
    for (size_t r = 0; reference && r < g->run_count; r++) {
        const double *error = error_of(g, r, field, reference);
        if (error)
            list[count++] = picture_of(g, r, error);
    }
    return count;
}

static size_t residual_pictures(const gallery *g, const char *equation, picture list[SOURCES_MOST])
{
    size_t count = 0;
    for (size_t r = 0; r < g->run_count; r++) {
        const double *values = sgi_field_grid_values(&g->grid, g->runs[r], "residual_", equation);
        if (values)
            list[count++] = picture_of(g, r, values);
    }
    return count;
}

/* --- maps --- */

/* One plane: the pictures side by side. Several: a row for each picture. */
static void draw_maps(const gallery *g, const picture *list, size_t count, sgi_maps maps)
{
    sgi_plane planes[PLANES_MOST] = {{0}};
    const char *titles[PLANES_MOST] = {0}, *rows[SOURCES_MOST];
    size_t slices = g->view.count;
    maps.columns = slices > 1 ? slices : count < COLUMNS ? count : COLUMNS;
    maps.rows = slices > 1 ? count : sgi_parts(count, COLUMNS);
    for (size_t p = 0; p < count; p++) {
        rows[p] = list[p].label;
        for (size_t s = 0; s < slices; s++) {
            size_t at = slices > 1 ? p * slices + s : p;
            planes[at] = g->view.planes[s];
            planes[at].values = list[p].values + g->view.offset[s];
            titles[at] = slices == 1 ? list[p].label : p == 0 ? g->view.titles[s] : NULL;
        }
    }
    maps.planes = planes;
    maps.titles = titles;
    maps.row_titles = slices > 1 && count > 1 ? rows : NULL;
    maps.same_axes = g->view.same_axes;
    maps.pixels = g->pixels;
    sgi_text_add(g->page->out, "<div class=\"wide\">");
    sgi_maps_draw(g->page->out, &maps);
    sgi_text_add(g->page->out, "</div>");
}

/* The maps and the beginning of their caption, `caption` and the name; the caller says the rest. */
static void begin_figure(const gallery *g, const picture *list, size_t count, sgi_maps maps,
                         const char *of, const char *caption, const char *name)
{
    char description[LABEL];
    (void)snprintf(description, sizeof description, "Maps of %s %.80s", of, name);
    maps.description = description;
    sgi_text_add(g->page->out, "<figure>");
    draw_maps(g, list, count, maps);
    sgi_text_format(g->page->out, "<figcaption>%s <em>", caption);
    sgi_text_escape(g->page->out, name);
    sgi_text_add(g->page->out, "</em>");
}

static void end_figure(const gallery *g)
{
    sgi_text_add(g->page->out, "</figcaption></figure>\n");
}

/* Whether the field itself has both signs: a reference tells, and without one a dip of a network
 * that is a tenth as deep as the field is high does not count. */
static bool has_both_signs(const gallery *g, const picture *list, size_t count, double size)
{
    double low = INFINITY, high = -INFINITY;
    bool reference = count > 0 && list[0].colour == SG_COLOUR_INK;
    shown_range(g, list, reference ? 1 : count, &low, &high);
    double least = (reference ? 0.02 : 0.1) * size;
    return low < -least && high > least;
}

/* Sliders along the coordinates that the row of maps shows at three values: see slider.h. */
static void add_sliders(const gallery *g, const picture *list, size_t count, const sgi_maps *maps,
                        const char *of, const char *name)
{
    size_t along[SG_VIEW_PLANES], sliders;
    char description[LABEL];
    sgi_slider slider = {.grid = &g->grid, .view = &g->view, .count = count, .maps = *maps};
    if (g->grid.rank < 3 || count > SG_SLIDER_PICTURES)
        return;
    sliders = sgi_slider_coordinates(&g->grid, &g->view, along);
    size_t maps_with = g->shown_count + g->field_count, most = maps_with > 2 ? 1 : 2;
    sliders = sliders < most ? sliders : most;
    size_t figures = sliders * maps_with;
    slider.frames = FRAMES_IN_ALL / (figures ? figures : 1);
    if (slider.frames > SG_SLIDER_FRAMES)
        slider.frames = SG_SLIDER_FRAMES;
    if (slider.frames < FRAMES_LEAST)
        slider.frames = FRAMES_LEAST;
    (void)snprintf(description, sizeof description, "Maps of %s %.80s, one at a time", of, name);
    slider.maps.description = description;
    slider.maps.pixels = pixels_least;
    for (size_t p = 0; p < count; p++) {
        slider.values[p] = list[p].values;
        slider.labels[p] = list[p].label;
    }
    for (size_t k = 0; k < sliders; k++)
        sgi_slider_draw(g->page, &slider, along[k]);
}

static void field_maps(const gallery *g, const char *field, bool own)
{
    picture list[SOURCES_MOST];
    size_t count = field_pictures(g, field, list);
    double low = INFINITY, high = -INFINITY;
    shown_range(g, list, count, &low, &high);
    if (!(low <= high))
        low = high = 0;
    double size = fmax(fabs(low), fabs(high));
    bool both_signs = has_both_signs(g, list, count, size);
    if (both_signs) {
        low = -size;
        high = size;
    } else if (high - low <= 1e-12 * size) {
        low -= 0.5;
        high += 0.5;
    }
    sgi_maps maps = {.shade = both_signs ? SG_SHADE_SIGNED : SG_SHADE_PLAIN,
                     .low = low,
                     .high = high,
                     .label = field};
    begin_figure(g, list, count, maps, own ? "the field" : "the quantity",
                 own ? "The field" : "The quantity", field);
    sgi_text_add(g->page->out, count > 1 ? ", all on one colour range." : ".");
    end_figure(g);
    add_sliders(g, list, count, &maps, own ? "the field" : "the quantity", field);
}

static void error_maps(const gallery *g, const char *field)
{
    picture list[SOURCES_MOST];
    size_t count = error_pictures(g, field, list);
    double low = 0, high = 0, least, most;
    shown_range(g, list, count, &low, &high);
    double largest = fmax(-low, high), range = largest;
    shown_quantiles(g, list, count, largest, 0.995, &least, &most);
    bool cut = largest > 0 && most < 0.4 * largest;
    if (cut)
        range = most;
    if (count == 0)
        return;
    sgi_maps maps = {.shade = SG_SHADE_ERROR,
                     .low = range > 0 ? -range : -1,
                     .high = range > 0 ? range : 1,
                     .label = "error"};
    begin_figure(g, list, count, maps, "the error of", "Prediction minus reference of", field);
    sgi_text_add(g->page->out, ", centred on zero");
    if (written_error(g, 0, field))
        sgi_text_add(g->page->out, "; it is known at the points of the reference's file, and "
                                   "interpolated between them");
    if (cut) {
        sgi_text_add(g->page->out, "; colours end at the 99.5th percentile, the largest is ");
        sgi_text_number(g->page->out, largest);
    }
    sgi_text_add(g->page->out, ".");
    end_figure(g);
    add_sliders(g, list, count, &maps, "the error of", field);
}

static void residual_maps(const gallery *g, const char *equation)
{
    picture list[SOURCES_MOST];
    size_t count = residual_pictures(g, equation, list);
    double low = 0, high = 0, least, most;
    shown_range(g, list, count, &low, &high);
    double largest = fmax(-low, high);
    shown_quantiles(g, list, count, largest, 0.02, &least, &most);
    if (count == 0)
        return;
    sgi_maps maps = {.shade = SG_SHADE_LOG,
                     .low = largest > 0 ? fmin(least, largest / 10) : 0.1,
                     .high = largest > 0 ? largest : 1,
                     .label = "|residual|"};
    begin_figure(g, list, count, maps, "the residual of", "Size of the residual of the equation",
                 equation);
    sgi_text_add(g->page->out, ", on a logarithmic scale.");
    end_figure(g);
}

/* --- curves --- */

/* Lines along coordinate d through all pictures, from element `offset` on. */
static size_t lines_along(const gallery *g, size_t d, size_t offset, const picture *list,
                          size_t count, bool sizes, sgi_line lines[SOURCES_MOST])
{
    size_t n = g->grid.shape[d], made = 0;
    for (size_t p = 0; p < count; p++) {
        double *y = sgi_page_memory(g->page, n, sizeof *y);
        if (!y)
            return made;
        for (size_t i = 0; i < n; i++) {
            double value = list[p].values[offset + i * g->grid.stride[d]];
            y[i] = sizes ? fabs(value) : value;
        }
        bool reference = list[p].colour == SG_COLOUR_INK;
        lines[made++] = (sgi_line){.label = list[p].label,
                                   .colour = list[p].colour,
                                   .faint = reference,
                                   .x = g->grid.axes[d],
                                   .y = y,
                                   .count = n};
    }
    return made;
}

static void curve(const gallery *g, const picture *list, size_t count, const char *title,
                  const char *label, bool log_sizes)
{
    sgi_line lines[SOURCES_MOST];
    size_t made = lines_along(g, 0, 0, list, count, log_sizes, lines);
    sgi_chart chart = {.title = title,
                       .x_label = g->grid.names[0],
                       .y_label = label,
                       .log_y = log_sizes,
                       .width = 468,
                       .height = 270,
                       .keep_x_range = true,
                       .lines = lines,
                       .line_count = made};
    if (made)
        sgi_chart_draw(g->page->out, &chart);
}

static void legend_of(const gallery *g, const picture *list, size_t count)
{
    sgi_line lines[SOURCES_MOST];
    for (size_t p = 0; p < count; p++)
        lines[p] = (sgi_line){.label = list[p].label,
                              .colour = list[p].colour,
                              .faint = list[p].colour == SG_COLOUR_INK};
    sgi_chart_legend(g->page->out, lines, count);
}

/* For x and t: the field over x at a quarter, half and all of the time. */
static void cuts(const gallery *g, const char *field)
{
    static const double at[CUTS] = {0.25, 0.5, 1};
    picture list[SOURCES_MOST];
    size_t count = field_pictures(g, field, list), time = g->grid.time, space = 1 - time;
    double low = INFINITY, high = -INFINITY;
    for (size_t p = 0; p < count; p++)
        include_range(list[p].values, g->grid.count, &low, &high);
    double room = low < high ? 0.06 * (high - low) : 0;
    legend_of(g, list, count);
    sgi_text_add(g->page->out, "<div class=\"three\">\n");
    for (size_t c = 0; c < CUTS; c++) {
        size_t i = (size_t)lround(at[c] * (double)(g->grid.shape[time] - 1));
        char title[64];
        (void)snprintf(title, sizeof title, "t = %.3g", g->grid.axes[time][i]);
        sgi_line lines[SOURCES_MOST];
        size_t made = lines_along(g, space, i * g->grid.stride[time], list, count, false, lines);
        sgi_chart chart = {.title = title,
                           .x_label = g->grid.names[space],
                           .y_label = field,
                           .width = CUT_WIDTH,
                           .height = CUT_HEIGHT,
                           .y_low = low - room,
                           .y_high = high + room,
                           .keep_x_range = true,
                           .lines = lines,
                           .line_count = made};
        sgi_chart_draw(g->page->out, &chart);
    }
    sgi_text_add(g->page->out, "</div>\n");
}

/* --- the two sections --- */

/* Chooses the planes for a field: near the middle, where it is not about zero. */
static void look_at(gallery *g, const char *field)
{
    const double *guide = reference_of(g, field);
    if (!guide)
        guide = sgi_field_grid_values(&g->grid, g->runs[0], field, "");
    if (g->grid.rank > 1)
        sgi_view_choose(&g->view, &g->grid, guide);
}

/* Figures of the same sort share a place: tabs, which need no script, and print one below the
 * other. The parts follow, each between open_part and close_part. */
static void open_tabs(const gallery *g, const char *group, const char *const *names, size_t count)
{
    sgi_text *out = g->page->out;
    if (count < 2)
        return;
    sgi_text_add(out, "<div class=\"tabs\">\n");
    for (size_t i = 0; i < count; i++) {
        sgi_text_format(out, "<input type=\"radio\" name=\"%s\" id=\"%s-%zu\"%s>", group, group, i,
                        i == 0 ? " checked=\"checked\"" : "");
        sgi_text_format(out, "<label for=\"%s-%zu\">", group, i);
        sgi_text_escape(out, names[i]);
        sgi_text_add(out, "</label>\n");
    }
}

static void open_part(const gallery *g, size_t count)
{
    sgi_text_add(g->page->out, count < 2 ? "" : "<div>\n");
}

static void close_part(const gallery *g, size_t count, bool last)
{
    sgi_text_add(g->page->out, count < 2 ? "" : last ? "</div>\n</div>\n" : "</div>\n");
}

static void show_fields(gallery *g)
{
    picture list[SOURCES_MOST];
    if (g->grid.rank == 1) {
        legend_of(g, list, field_pictures(g, g->fields[0], list));
        sgi_text_add(g->page->out, "<div class=\"two\">\n");
    }
    if (g->grid.rank > 1)
        open_tabs(g, "field", g->fields, g->shown_count);
    for (size_t f = 0; f < g->shown_count; f++) {
        if (g->grid.rank == 1) {
            size_t count = field_pictures(g, g->fields[f], list);
            curve(g, list, count, g->fields[f], g->fields[f], false);
            continue;
        }
        open_part(g, g->shown_count);
        look_at(g, g->fields[f]);
        field_maps(g, g->fields[f], f < g->field_count);
        if (g->grid.rank == 2 && g->grid.time < 2)
            cuts(g, g->fields[f]);
        close_part(g, g->shown_count, f + 1 == g->shown_count);
    }
    if (g->grid.rank == 1)
        sgi_text_add(g->page->out, "</div>\n");
}

static void show_error_curves(const gallery *g)
{
    picture list[SOURCES_MOST];
    char title[LABEL];
    sgi_text_add(g->page->out, "<div class=\"two\">\n");
    for (size_t f = 0; f < g->field_count; f++) {
        size_t count = error_pictures(g, g->fields[f], list);
        (void)snprintf(title, sizeof title, "Prediction minus reference of %.80s", g->fields[f]);
        curve(g, list, count, title, "error", false);
    }
    for (size_t e = 0; e < g->equation_count; e++) {
        size_t count = residual_pictures(g, g->equations[e], list);
        (void)snprintf(title, sizeof title, "Size of the residual of %.80s", g->equations[e]);
        curve(g, list, count, title, "|residual|", true);
    }
    sgi_text_add(g->page->out, "</div>\n");
}

static void show_errors(gallery *g)
{
    if (!reference_of(g, g->fields[0]))
        sgi_text_add(g->page->out,
                     "<p class=\"soft\">There is no reference solution; the residuals "
                     "say how well the equations hold.</p>\n");
    if (g->grid.rank == 1) {
        show_error_curves(g);
        return;
    }
    size_t errors = reference_of(g, g->fields[0]) ? g->field_count : 0;
    open_tabs(g, "error", g->fields, errors);
    for (size_t f = 0; f < errors; f++) {
        open_part(g, errors);
        look_at(g, g->fields[f]);
        error_maps(g, g->fields[f]);
        close_part(g, errors, f + 1 == errors);
    }
    look_at(g, g->fields[0]);
    open_tabs(g, "residual", g->equations, g->equation_count);
    for (size_t e = 0; e < g->equation_count; e++) {
        open_part(g, g->equation_count);
        residual_maps(g, g->equations[e]);
        close_part(g, g->equation_count, e + 1 == g->equation_count);
    }
}

static void say_why_nothing(sgi_page *page)
{
    sgi_text_add(page->out, "<p class=\"none\">No field to show");
    for (size_t r = 0; r < page->runs->run_count; r++)
        if (page->runs->runs[r].field_note) {
            sgi_text_add(page->out, ": ");
            sgi_text_escape(page->out, page->runs->runs[r].field_note);
            if (strcmp(sgi_run_text(&page->runs->runs[r], NULL, "status"), "complete") != 0)
                sgi_text_add(page->out, ", which is written at the end of a run");
            break;
        }
    sgi_text_add(page->out, ".</p>\n</section>\n");
}

void sgi_page_solution(sgi_page *page)
{
    gallery *g = sgi_page_memory(page, 1, sizeof *g);
    if (!g)
        return;
    g->page = page;
    sgi_text_add(page->out, "<section id=\"solution\">\n<h2>The solution</h2>\n");
    find_runs(g);
    if (g->run_count)
        find_items(g);
    if (g->field_count == 0) {
        say_why_nothing(page);
        return;
    }
    if (page->runs->comparison && page->runs->run_count > page->runs->variant_count)
        sgi_text_add(page->out, "<p class=\"soft\">Of each variant, its first seed.</p>\n");
    show_fields(g);
    sgi_text_add(page->out, "</section>\n<section id=\"errors\">\n<h2>Where it is wrong</h2>\n");
    show_errors(g);
    sgi_text_add(page->out, "</section>\n");
}
