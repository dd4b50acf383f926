/* Points in the plane: see scatter.h. A dot is a line of length 0 with round ends. */
#include "draw/scatter.h"

#include <math.h>

#include "draw/axis.h"

enum { LEFT = 48, RIGHT = 10, TOP = 8, BOTTOM = 34, LEAST = 120, MOST = 420 };

static int height_of(const sgi_scatter *s)
{
    double across = s->width - LEFT - RIGHT;
    double ratio = s->square ? (s->y_high - s->y_low) / (s->x_high - s->x_low) : 0.7;
    return TOP + BOTTOM + (int)fmin(fmax(across * ratio, LEAST), MOST);
}

/* Of a picture that is too high or low for its shape the other side gives way. */
static void set_axes(const sgi_scatter *s, int height, sgi_axis *x, sgi_axis *y)
{
    *x = (sgi_axis){.low = s->x_low, .high = s->x_high, .begin = LEFT, .end = s->width - RIGHT};
    *y = (sgi_axis){.low = s->y_low, .high = s->y_high, .begin = height - BOTTOM, .end = TOP};
    if (!s->square)
        return;
    double across = (x->end - x->begin) / (x->high - x->low);
    double up = (y->begin - y->end) / (y->high - y->low);
    if (across > up)
        x->end = x->begin + up * (x->high - x->low);
    else
        y->end = y->begin - across * (y->high - y->low);
}

static void draw_axes(sgi_text *out, const sgi_scatter *s, const sgi_axis *x, const sgi_axis *y)
{
    double ticks[SG_TICKS_MAX];
    size_t count = sgi_axis_ticks(y, 5, ticks);
    for (size_t i = 0; i < count; i++) {
        double at = sgi_axis_place(y, ticks[i]);
        sgi_text_format(out,
                        "<path class=\"tick\" d=\"M%d %.1fh-4\"/><text class=\"end\" x=\"%d\" "
                        "y=\"%.1f\">",
                        LEFT, at, LEFT - 7, at + 3.5);
        sgi_axis_label(out, y, ticks[i], count > 1 ? ticks[1] - ticks[0] : y->high - y->low);
        sgi_text_add(out, "</text>");
    }
    count = sgi_axis_ticks(x, (int)fmax(1, (x->end - x->begin) / 70), ticks);
    for (size_t i = 0; i < count; i++) {
        double at = sgi_axis_place(x, ticks[i]);
        sgi_text_format(out,
                        "<path class=\"tick\" d=\"M%.1f %.1fv4\"/><text class=\"mid\" x=\"%.1f\" "
                        "y=\"%.1f\">",
                        at, y->begin, at, y->begin + 16);
        sgi_axis_label(out, x, ticks[i], count > 1 ? ticks[1] - ticks[0] : x->high - x->low);
        sgi_text_add(out, "</text>");
    }
    sgi_text_format(out, "<path class=\"frame\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fZ\"/>", x->begin,
                    y->begin, x->end, y->end, x->begin);
    sgi_text_format(out, "<text class=\"name mid\" x=\"%.1f\" y=\"%.1f\">", (x->begin + x->end) / 2,
                    y->begin + 30);
    sgi_text_escape(out, s->x_label);
    sgi_text_format(out, "</text><text class=\"name mid\" x=\"10\" y=\"%.1f\">",
                    (y->begin + y->end) / 2 + 4);
    sgi_text_escape(out, s->y_label);
    sgi_text_add(out, "</text>");
}

static void draw_lines(sgi_text *out, const sgi_scatter *s, const sgi_axis *x, const sgi_axis *y)
{
    if (s->line_count == 0)
        return;
    sgi_text_add(out, "<path class=\"line ink\" d=\"");
    for (size_t i = 0; i < s->line_count; i++) {
        const double *line = s->lines + 4 * i;
        double at[4] = {sgi_axis_place(x, line[0]), sgi_axis_place(y, line[1]),
                        sgi_axis_place(x, line[2]), sgi_axis_place(y, line[3])};
        if (isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]) && isfinite(at[3]))
            sgi_text_format(out, "M%.1f %.1fL%.1f %.1f", at[0], at[1], at[2], at[3]);
    }
    sgi_text_add(out, "\"/>");
}

static void open_dots(sgi_text *out, const sgi_scatter_group *g)
{
    sgi_text_add(out, "<path class=\"line ");
    if (g->colour >= 0)
        sgi_text_format(out, "s%d", g->colour % SG_SERIES_COLOURS);
    else
        sgi_text_add(out, "ink");
    sgi_text_format(out, "\" style=\"stroke-width:%s\" d=\"",
                    g->faint ? "2;opacity:.4" : "3.4;opacity:.85");
}

static void draw_group(sgi_text *out, const sgi_scatter_group *g, const sgi_axis *x,
                       const sgi_axis *y)
{
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        const double *point = g->points + i * g->stride;
        if (g->low <= g->high && !(point[g->fixed] >= g->low && point[g->fixed] <= g->high))
            continue;
        double across = sgi_axis_place(x, point[g->x]), up = sgi_axis_place(y, point[g->y]);
        if (!isfinite(across) || !isfinite(up) || fabs(across) > 1e4 || fabs(up) > 1e4)
            continue;
        if (!any)
            open_dots(out, g);
        any = true;
        sgi_text_format(out, "M%.1f %.1fh0", across, up);
    }
    sgi_text_add(out, any ? "\"/>" : "");
}

void sgi_scatter_draw(sgi_text *out, const sgi_scatter *s)
{
    int height = height_of(s);
    sgi_axis x, y;
    set_axes(s, height, &x, &y);
    sgi_text_add(out, "<figure class=\"chart\">");
    if (s->title && s->title[0]) {
        sgi_text_add(out, "<figcaption class=\"title\">");
        sgi_text_escape(out, s->title);
        sgi_text_add(out, "</figcaption>");
    }
    sgi_text_format(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", s->width,
                    y.begin + BOTTOM);
    sgi_text_escape(out, s->title && s->title[0] ? s->title : "the domain and its points");
    sgi_text_add(out, "\">");
    draw_axes(out, s, &x, &y);
    draw_lines(out, s, &x, &y);
    for (size_t g = 0; g < s->group_count; g++)
        draw_group(out, &s->groups[g], &x, &y);
    sgi_text_add(out, "</svg></figure>\n");
}
