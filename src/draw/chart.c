/* Line charts: see chart.h. One SVG: grid and labels, bands, lines, marks. */
#include "draw/chart.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "draw/axis.h"
#include "draw/colour.h"

enum { LEFT = 66, RIGHT = 12, TOP = 8, BOTTOM = 38, POINTS_MOST = 600 };

size_t sgi_chart_thin(const double *y, size_t count, size_t most, size_t *kept)
{
    size_t used = 0;
    if (count <= most || most < 4) {
        for (size_t i = 0; i < count; i++)
            kept[used++] = i;
        return used;
    }
    size_t stretches = most / 2 - 1;
    kept[used++] = 0;
    for (size_t s = 0; s < stretches; s++) {
        size_t begin = 1 + s * (count - 2) / stretches, end = 1 + (s + 1) * (count - 2) / stretches;
        size_t low = begin, high = begin;
        for (size_t i = begin; i < end; i++) {
            if (y[i] < y[low] || isnan(y[low]))
                low = i;
            if (y[i] > y[high] || isnan(y[high]))
                high = i;
        }
        kept[used++] = low < high ? low : high;
        if (low != high)
            kept[used++] = low < high ? high : low;
    }
    kept[used++] = count - 1;
    return used;
}

static bool drawable(const sgi_chart *chart, const sgi_line *line, size_t i)
{
    return isfinite(line->x[i]) && isfinite(line->y[i]) && (!chart->log_y || line->y[i] > 0) &&
           (!chart->log_x || line->x[i] > 0);
}

static bool has_points(const sgi_chart *chart, const sgi_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (drawable(chart, line, i))
            return true;
    return false;
}

/* Labels of vertical marks stand above the picture, where no line runs. */
static int top_of(const sgi_chart *chart)
{
    int rows = 0;
    for (size_t m = 0; m < chart->mark_count; m++)
        rows += chart->marks[m].vertical;
    return TOP + 14 * rows;
}

static void set_ranges(const sgi_chart *chart, sgi_axis *x, sgi_axis *y)
{
    sgi_axis_clear(x, chart->log_x);
    sgi_axis_clear(y, chart->log_y);
    for (size_t l = 0; l < chart->line_count; l++) {
        const sgi_line *line = &chart->lines[l];
        for (size_t i = 0; i < line->count; i++) {
            if (!drawable(chart, line, i))
                continue;
            sgi_axis_include(x, line->x[i]);
            sgi_axis_include(y, line->y[i]);
            if (line->low) {
                sgi_axis_include(y, line->low[i]);
                sgi_axis_include(y, line->high[i]);
            }
        }
    }
    for (size_t m = 0; m < chart->mark_count; m++)
        sgi_axis_include(chart->marks[m].vertical ? x : y, chart->marks[m].at);
    if (chart->y_low < chart->y_high) {
        y->low = chart->y_low;
        y->high = chart->y_high;
    } else {
        sgi_axis_settle(y, 0.06);
    }
    if (chart->x_low < chart->x_high) {
        x->low = chart->x_low;
        x->high = chart->x_high;
    } else {
        sgi_axis_settle(x, chart->keep_x_range ? 0 : 0.015);
    }
    x->begin = LEFT;
    x->end = chart->width - RIGHT;
    y->begin = chart->height - BOTTOM;
    y->end = top_of(chart);
}

static void draw_grid(sgi_text *out, const sgi_chart *chart, const sgi_axis *x, const sgi_axis *y)
{
    double ticks[SG_TICKS_MAX];
    size_t count = sgi_axis_ticks(y, 6, ticks);
    double step = count > 1 ? ticks[1] - ticks[0] : y->high - y->low;
    for (size_t i = 0; i < count; i++) {
        double at = sgi_axis_place(y, ticks[i]);
        sgi_text_format(out,
                        "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                        "class=\"end\">",
                        LEFT, at, chart->width - RIGHT, LEFT - 6, at + 3.5);
        sgi_axis_label(out, y, ticks[i], step);
        sgi_text_add(out, "</text>");
    }
    /* There are no halves of steps. */
    bool whole = !x->log && strcmp(chart->x_label, "step") == 0;
    int wanted = chart->width / 80;
    if (whole && x->high - x->low < wanted)
        wanted = (int)fmax(1, x->high - x->low);
    count = sgi_axis_ticks(x, wanted, ticks);
    step = count > 1 ? ticks[1] - ticks[0] : x->high - x->low;
    for (size_t i = 0; i < count; i++) {
        double at = sgi_axis_place(x, ticks[i]);
        sgi_text_format(out,
                        "<path class=\"tick\" d=\"M%.1f %dv4\"/><text x=\"%.1f\" y=\"%d\" "
                        "class=\"mid\">",
                        at, chart->height - BOTTOM, at, chart->height - BOTTOM + 16);
        sgi_axis_label(out, x, ticks[i], step);
        sgi_text_add(out, "</text>");
    }
    sgi_text_format(out, "<path class=\"axis\" d=\"M%d %dH%d\"/>", LEFT, chart->height - BOTTOM,
                    chart->width - RIGHT);
    sgi_text_format(out, "<text class=\"mid label\" x=\"%d\" y=\"%d\">",
                    (LEFT + chart->width - RIGHT) / 2, chart->height - 5);
    sgi_text_escape(out, chart->x_label);
    sgi_text_format(out,
                    "</text><text class=\"mid label\" transform=\"translate(9 %d) "
                    "rotate(-90)\">",
                    (TOP + chart->height - BOTTOM) / 2);
    sgi_text_escape(out, chart->y_label);
    sgi_text_add(out, "</text>");
}

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* A point, kept inside the picture, as "x y". */
static void draw_point(sgi_text *out, const sgi_axis *x, const sgi_axis *y, double at, double value,
                       const char *before)
{
    double low = fmin(y->begin, y->end), high = fmax(y->begin, y->end);
    sgi_text_format(out, "%s%.1f %.1f", before, sgi_axis_place(x, at),
                    clamp(sgi_axis_place(y, value), low, high));
}

static void draw_colour(sgi_text *out, const sgi_line *line, const char *class_name)
{
    sgi_text_format(out, " class=\"%s%s%s", class_name, line->dashed ? " dashed" : "",
                    line->faint ? " faint" : "");
    if (line->colour >= 0)
        sgi_text_format(out, " s%d\"", line->colour % SG_SERIES_COLOURS);
    else if (line->colour == SG_COLOUR_OWN)
        sgi_text_format(out, " own\" style=\"--l:%s;--d:%s\"", line->light, line->dark);
    else
        sgi_text_add(out, " ink\"");
}

static void draw_band(sgi_text *out, const sgi_chart *chart, const sgi_line *line,
                      const sgi_axis *x, const sgi_axis *y, const size_t *kept, size_t count)
{
    sgi_text_add(out, "<path");
    draw_colour(out, line, "band");
    sgi_text_add(out, " d=\"");
    const char *before = "M";
    for (size_t k = 0; k < 2 * count; k++) {
        size_t i = kept[k < count ? k : 2 * count - 1 - k];
        double value = k < count ? line->high[i] : line->low[i];
        if (!drawable(chart, line, i) || isnan(sgi_axis_place(y, value)))
            continue;
        draw_point(out, x, y, line->x[i], value, before);
        before = "L";
    }
    sgi_text_add(out, before[0] == 'M' ? "\"/>" : "Z\"/>");
}

/* The line as a path that starts anew after each gap. A point with no neighbours gets a diamond, or
 * it would not be seen. */
static void draw_line(sgi_text *out, const sgi_chart *chart, const sgi_line *line,
                      const sgi_axis *x, const sgi_axis *y, const size_t *kept, size_t count)
{
    sgi_text_add(out, "<path");
    draw_colour(out, line, "line");
    sgi_text_add(out, " data-label=\"");
    sgi_text_escape(out, line->label);
    sgi_text_add(out, "\" d=\"");
    bool drawing = false;
    for (size_t k = 0; k < count; k++) {
        size_t i = kept[k];
        if (!drawable(chart, line, i)) {
            drawing = false;
            continue;
        }
        draw_point(out, x, y, line->x[i], line->y[i], drawing ? "L" : "M");
        bool alone = !drawing && (k + 1 == count || !drawable(chart, line, kept[k + 1]));
        if (alone)
            sgi_text_add(out, "m-3 0l3 -3l3 3l-3 3z");
        drawing = true;
    }
    sgi_text_add(out, "\"/>");
}

/* Whether line l lies on an earlier one. Such a line is dashed, so that both are seen. */
static bool covers_another(const sgi_line *lines, size_t l)
{
    for (size_t other = 0; other < l; other++) {
        const sgi_line *a = &lines[other], *b = &lines[l];
        size_t same = 0;
        if (a->count != b->count || !a->y || !b->y || a->faint)
            continue;
        while (same < a->count && (fabs(a->y[same] - b->y[same]) <= 1e-3 * fabs(b->y[same]) ||
                                   (isnan(a->y[same]) && isnan(b->y[same]))))
            same++;
        if (same == a->count && same > 0)
            return true;
    }
    return false;
}

static void draw_lines(sgi_text *out, const sgi_chart *chart, const sgi_axis *x, const sgi_axis *y)
{
    for (size_t l = 0; l < chart->line_count; l++) {
        sgi_line own = chart->lines[l], *line = &own;
        if (!has_points(chart, line))
            continue;
        line->dashed |= covers_another(chart->lines, l);
        size_t *kept = sgi_allocate(&out->allocator, line->count, sizeof *kept);
        if (!kept) {
            out->status = SG_ERROR_MEMORY;
            return;
        }
        size_t count =
            sgi_chart_thin(line->y, line->count, chart->points ? chart->points : POINTS_MOST, kept);
        if (line->low)
            draw_band(out, chart, line, x, y, kept, count);
        draw_line(out, chart, line, x, y, kept, count);
        sgi_release(&out->allocator, kept);
    }
}

/* Labels of vertical marks stand one below the other: marks may lie close together. */
static void draw_marks(sgi_text *out, const sgi_chart *chart, const sgi_axis *x, const sgi_axis *y)
{
    int row = 0;
    for (size_t m = 0; m < chart->mark_count; m++) {
        const sgi_mark *mark = &chart->marks[m];
        double at = sgi_axis_place(mark->vertical ? x : y, mark->at);
        if (isnan(at))
            continue;
        if (mark->vertical) {
            bool left = at > 0.6 * chart->width;
            sgi_text_format(out,
                            "<path class=\"mark\" d=\"M%.1f %dV%d\"/><text class=\"note%s\" "
                            "x=\"%.1f\" y=\"%d\">",
                            at, TOP + 14 * row, chart->height - BOTTOM, left ? " end" : "",
                            at + (left ? -4 : 4), TOP + 9 + 14 * row);
        } else {
            sgi_text_format(out,
                            "<path class=\"mark\" d=\"M%d %.1fH%d\"/><text class=\"note end\" "
                            "x=\"%d\" y=\"%.1f\">",
                            LEFT, at, chart->width - RIGHT, chart->width - RIGHT - 2, at - 4);
        }
        row += mark->vertical;
        sgi_text_escape(out, mark->label);
        sgi_text_add(out, "</text>");
    }
}

void sgi_chart_draw(sgi_text *out, const sgi_chart *chart)
{
    sgi_text_add(out, "<figure class=\"chart\">");
    if (chart->title && chart->title[0]) {
        sgi_text_add(out, "<figcaption class=\"title\">");
        sgi_text_escape(out, chart->title);
        sgi_text_add(out, "</figcaption>");
    }
    bool any = false;
    for (size_t l = 0; l < chart->line_count; l++)
        any |= has_points(chart, &chart->lines[l]);
    if (!any) {
        sgi_text_add(out, "<p class=\"none\">No values to show.</p></figure>\n");
        return;
    }
    if (chart->legend)
        sgi_chart_legend(out, chart->lines, chart->line_count);
    sgi_axis x, y;
    set_ranges(chart, &x, &y);
    sgi_text_format(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", chart->width,
                    chart->height);
    sgi_text_escape(out, chart->title ? chart->title : chart->y_label);
    sgi_text_format(out,
                    "\" data-x=\"%.9g %.9g %.9g %.9g %d\" data-y=\"%.9g %.9g %.9g %.9g %d\" "
                    "data-name=\"",
                    x.low, x.high, x.begin, x.end, x.log, y.low, y.high, y.begin, y.end, y.log);
    sgi_text_escape(out, chart->x_label);
    sgi_text_add(out, "\">");
    draw_grid(out, chart, &x, &y);
    draw_lines(out, chart, &x, &y);
    draw_marks(out, chart, &x, &y);
    sgi_text_add(out, "</svg></figure>\n");
}

void sgi_chart_legend(sgi_text *out, const sgi_line *lines, size_t count)
{
    sgi_text_add(out, "<p class=\"legend\">");
    for (size_t l = 0; l < count; l++) {
        sgi_text_add(out, "<span><svg viewBox=\"0 0 22 10\"><path");
        sgi_line line = lines[l];
        line.dashed |= covers_another(lines, l);
        draw_colour(out, &line, "line");
        sgi_text_add(out, " d=\"M1 5H21\"/></svg>");
        sgi_text_escape(out, lines[l].label);
        sgi_text_add(out, "</span> ");
    }
    sgi_text_add(out, "</p>\n");
}

void sgi_chart_ramp_colour(sgi_line *line, double share)
{
    line->colour = SG_COLOUR_OWN;
    sgi_colour_hex(SG_MAP_SEQUENTIAL, 0.02 + 0.7 * share, line->light);
    sgi_colour_hex(SG_MAP_SEQUENTIAL, 0.4 + 0.58 * share, line->dark);
}

void sgi_chart_ramp(sgi_text *out, const char *from, const char *to)
{
    enum { PIECES = 28 };
    sgi_text_add(out, "<p class=\"legend\"><span>");
    sgi_text_escape(out, from);
    sgi_text_format(out, "<svg class=\"ramp\" viewBox=\"0 0 %d 10\">", 5 * PIECES);
    for (int i = 0; i < PIECES; i++) {
        sgi_line piece = {0};
        sgi_chart_ramp_colour(&piece, (double)i / (PIECES - 1));
        sgi_text_add(out, "<path");
        draw_colour(out, &piece, "line");
        sgi_text_format(out, " d=\"M%d 5h5.4\"/>", 5 * i);
    }
    sgi_text_add(out, "</svg>");
    sgi_text_escape(out, to);
    sgi_text_add(out, "</span></p>\n");
}
