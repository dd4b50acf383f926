/* Heat maps: see maps.h. */
#include "draw/maps.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "draw/axis.h"
#include "draw/colour.h"
#include "draw/png.h"

enum {
    PAGE_WIDTH = 960,
    PANEL_MOST = 400,
    TITLE = 22,
    BOTTOM = 36,
    TICKS = 52,
    ROW_TITLE = 20,
    GAP = 28,
    BAR = 12,
    BAR_GAP = 28,
    BAR_ROOM = 92,
    COLOURS = 255
};

static double extreme_of(const double *from, size_t stride, size_t begin, size_t end)
{
    double value = from[begin * stride];
    for (size_t i = begin + 1; i < end; i++)
        if (fabs(from[i * stride]) > fabs(value))
            value = from[i * stride];
    return value;
}

static double mean_of(const double *from, size_t stride, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += from[i * stride];
    return sum / (double)(end - begin);
}

void sgi_resample(const double *from, size_t count, size_t stride, double *to, size_t to_count,
                  size_t to_stride, bool extreme)
{
    for (size_t k = 0; k < to_count; k++) {
        double *target = &to[k * to_stride];
        if (count > to_count) {
            size_t begin = k * count / to_count, end = (k + 1) * count / to_count;
            *target =
                extreme ? extreme_of(from, stride, begin, end) : mean_of(from, stride, begin, end);
            continue;
        }
        double place = ((double)k + 0.5) / (double)to_count * (double)(count - 1);
        size_t i = (size_t)place, next = i + 1 < count ? i + 1 : i;
        double share = place - (double)i;
        *target = (1 - share) * from[i * stride] + share * from[next * stride];
    }
}

static bool keeps_extremes(sgi_shade shade)
{
    return shade == SG_SHADE_ERROR || shade == SG_SHADE_LOG;
}

static sgi_colour_map map_of(sgi_shade shade)
{
    return shade == SG_SHADE_SIGNED || shade == SG_SHADE_ERROR ? SG_MAP_DIVERGING
                                                               : SG_MAP_SEQUENTIAL;
}

static unsigned char colour_index(const sgi_maps *maps, double value)
{
    if (!isfinite(value))
        return SG_PNG_CLEAR;
    double share;
    if (maps->shade == SG_SHADE_LOG)
        share = fabs(value) > maps->low ? log(fabs(value) / maps->low) / log(maps->high / maps->low)
                                        : 0;
    else
        share = (value - maps->low) / (maps->high - maps->low);
    return (unsigned char)lround((COLOURS - 1) * fmin(fmax(share, 0), 1));
}

static void add_png(sgi_text *out, const sgi_maps *maps, const unsigned char *pixels, size_t width,
                    size_t height)
{
    unsigned char palette[COLOURS][3];
    for (int i = 0; i < COLOURS; i++)
        sgi_colour_at(map_of(maps->shade), i / (COLOURS - 1.0), palette[i]);
    sgi_text_add(out, "data:image/png;base64,");
    sgi_png_base64(out, pixels, width, height, (const unsigned char(*)[3])palette);
}

/* The plane's values as pixels, upside down, because a picture's first row is its top. */
static void add_picture(sgi_text *out, const sgi_maps *maps, const sgi_plane *p, size_t width,
                        size_t height)
{
    double *narrow = sgi_allocate(&out->allocator, width * p->y_count, sizeof *narrow);
    double *small = sgi_allocate(&out->allocator, width * height, sizeof *small);
    unsigned char *pixels = sgi_allocate(&out->allocator, width * height, 1);
    if (narrow && small && pixels) {
        bool extreme = keeps_extremes(maps->shade);
        for (size_t j = 0; j < p->y_count; j++)
            sgi_resample(p->values + j * p->y_stride, p->x_count, p->x_stride, narrow + j * width,
                         width, 1, extreme);
        for (size_t i = 0; i < width; i++)
            sgi_resample(narrow + i, p->y_count, width, small + i, height, width, extreme);
        for (size_t j = 0; j < height; j++)
            for (size_t i = 0; i < width; i++)
                pixels[(height - 1 - j) * width + i] = colour_index(maps, small[j * width + i]);
        add_png(out, maps, pixels, width, height);
    } else {
        out->status = SG_ERROR_MEMORY;
    }
    sgi_release(&out->allocator, narrow);
    sgi_release(&out->allocator, small);
    sgi_release(&out->allocator, pixels);
}

typedef struct frame {
    double width, height; /* of a panel */
    double left;          /* of the first column */
    double column, row;   /* distance from one panel to the next */
    double total, full;   /* width and height of the whole */
} frame;

/* Height over width of a panel: true to scale for lengths, within reason. */
static double aspect(const sgi_plane *p)
{
    double x = p->x_high - p->x_low, y = p->y_high - p->y_low;
    if (!p->square || !(x > 0) || !(y > 0))
        return 0.66;
    return fmin(fmax(y / x, 0.4), 1.25);
}

static frame lay_out(const sgi_maps *maps)
{
    frame f;
    double gap = maps->same_axes ? GAP : TICKS + 4, columns = (double)maps->columns;
    double rows = (double)maps->rows;
    f.left = TICKS + (maps->row_titles ? ROW_TITLE : 0);
    double most = maps->rows > 1 ? 232 : PANEL_MOST;
    f.width = fmin((PAGE_WIDTH - f.left - BAR_ROOM - (columns - 1) * gap) / columns, most);
    f.height = 0;
    for (size_t i = 0; i < maps->rows * maps->columns; i++)
        if (maps->planes[i].values)
            f.height = fmax(f.height, round(f.width * aspect(&maps->planes[i])));
    f.column = f.width + gap;
    f.row = f.height + (maps->titles && maps->titles[maps->columns * (maps->rows - 1)]
                            ? TITLE + (maps->same_axes ? 4 : BOTTOM)
                        : maps->same_axes ? 18
                                          : BOTTOM + 6);
    f.total = f.left + columns * f.column - gap + BAR_ROOM;
    f.full = TITLE + (rows - 1) * f.row + f.height + BOTTOM;
    return f;
}

static void draw_ticks(sgi_text *out, const sgi_plane *p, double x, double y, const frame *f,
                       bool at_left, bool at_bottom)
{
    double ticks[SG_TICKS_MAX];
    sgi_axis across = {false, p->x_low, p->x_high, x, x + f->width};
    sgi_axis up = {false, p->y_low, p->y_high, y + f->height, y};
    size_t count = at_bottom && across.low < across.high
                       ? sgi_axis_ticks(&across, f->width > 260 ? 5 : 3, ticks)
                       : 0;
    for (size_t i = 0; i < count; i++) {
        double at = sgi_axis_place(&across, ticks[i]);
        sgi_text_format(out,
                        "<path class=\"tick\" d=\"M%.1f %.1fv4\"/><text class=\"mid\" "
                        "x=\"%.1f\" y=\"%.1f\">",
                        at, y + f->height, at, y + f->height + 15);
        sgi_axis_label(out, &across, ticks[i], count > 1 ? ticks[1] - ticks[0] : 1);
        sgi_text_add(out, "</text>");
    }
    count = at_left && up.low < up.high ? sgi_axis_ticks(&up, f->height > 200 ? 5 : 3, ticks) : 0;
    for (size_t i = 0; i < count; i++) {
        double at = sgi_axis_place(&up, ticks[i]);
        sgi_text_format(out,
                        "<path class=\"tick\" d=\"M%.1f %.1fh-4\"/><text class=\"end\" "
                        "x=\"%.1f\" y=\"%.1f\">",
                        x, at, x - 7, at + 3.5);
        sgi_axis_label(out, &up, ticks[i], count > 1 ? ticks[1] - ticks[0] : 1);
        sgi_text_add(out, "</text>");
    }
}

static void draw_names(sgi_text *out, const sgi_plane *p, double x, double y, const frame *f,
                       bool at_left, bool at_bottom)
{
    if (at_bottom) {
        sgi_text_format(out, "<text class=\"mid name\" x=\"%.1f\" y=\"%.1f\">", x + f->width / 2,
                        y + f->height + 30);
        sgi_text_escape(out, p->x_name);
        sgi_text_add(out, "</text>");
    }
    if (at_left) {
        sgi_text_format(out,
                        "<text class=\"mid name\" transform=\"translate(%.1f %.1f) "
                        "rotate(-90)\">",
                        x - TICKS + 14, y + f->height / 2);
        sgi_text_escape(out, p->y_name);
        sgi_text_add(out, "</text>");
    }
}

static void draw_dots(sgi_text *out, const sgi_maps *maps, const sgi_plane *p, double x, double y,
                      const frame *f)
{
    sgi_axis across = {false, p->x_low, p->x_high, x, x + f->width};
    sgi_axis up = {false, p->y_low, p->y_high, y + f->height, y};
    for (size_t i = 0; i < maps->dot_count; i++) {
        const sgi_dot *dot = &maps->dots[i];
        unsigned char rgb[3];
        sgi_colour_at(SG_MAP_DIVERGING, fmin(fmax(dot->share, 0), 1), rgb);
        sgi_text_format(out,
                        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#%02x%02x%02x\" "
                        "stroke=\"#%s\"%s/>",
                        sgi_axis_place(&across, dot->x), sgi_axis_place(&up, dot->y), rgb[0],
                        rgb[1], rgb[2], dot->open ? "000" : "666",
                        dot->open ? " stroke-width=\"2\"" : "");
    }
}

static void draw_panel(sgi_text *out, const sgi_maps *maps, size_t row, size_t column,
                       const frame *f)
{
    size_t index = row * maps->columns + column;
    const sgi_plane *p = &maps->planes[index];
    double x = f->left + (double)column * f->column, y = TITLE + (double)row * f->row;
    if (!p->values)
        return;
    if (maps->titles && maps->titles[index]) {
        sgi_text_format(out, "<text class=\"mid head\" x=\"%.1f\" y=\"%.1f\">", x + f->width / 2,
                        y - 8);
        sgi_text_escape(out, maps->titles[index]);
        sgi_text_add(out, "</text>");
    }
    double scale = fmin(fmax(sqrt(maps->pixels / (f->width * f->height)), 0.5), 2);
    sgi_text_format(out,
                    "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "preserveAspectRatio=\"none\" href=\"",
                    x, y, f->width, f->height);
    add_picture(out, maps, p, (size_t)(f->width * scale), (size_t)(f->height * scale));
    sgi_text_format(out,
                    "\"/><rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                    "height=\"%.1f\"/>",
                    x, y, f->width, f->height);
    bool below_is_empty = row + 1 == maps->rows || !maps->planes[index + maps->columns].values;
    bool at_left = column == 0 || !maps->same_axes, at_bottom = below_is_empty || !maps->same_axes;
    draw_dots(out, maps, p, x, y, f);
    draw_ticks(out, p, x, y, f, at_left, at_bottom);
    draw_names(out, p, x, y, f, at_left, at_bottom);
}

static void draw_bar(sgi_text *out, const sgi_maps *maps, const frame *f)
{
    unsigned char column[COLOURS];
    for (int i = 0; i < COLOURS; i++)
        column[i] = (unsigned char)(COLOURS - 1 - i);
    double height = fmin(f->full - TITLE - BOTTOM, 300), x = f->total - BAR_ROOM + BAR_GAP;
    double y = TITLE;
    sgi_text_format(out,
                    "<image x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" "
                    "preserveAspectRatio=\"none\" href=\"",
                    x, y, BAR, height);
    add_png(out, maps, column, 1, COLOURS);
    sgi_text_format(out,
                    "\"/><rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" "
                    "height=\"%.1f\"/>",
                    x, y, BAR, height);
    double ticks[SG_TICKS_MAX];
    sgi_axis axis = {maps->shade == SG_SHADE_LOG, maps->low, maps->high, y + height, y};
    size_t count = sgi_axis_ticks(&axis, 5, ticks);
    for (size_t i = 0; i < count; i++) {
        double at = sgi_axis_place(&axis, ticks[i]);
        sgi_text_format(out,
                        "<path class=\"tick\" d=\"M%.1f %.1fh3\"/><text x=\"%.1f\" "
                        "y=\"%.1f\">",
                        x + BAR, at, x + BAR + 6, at + 3.5);
        sgi_axis_label(out, &axis, ticks[i], count > 1 ? ticks[1] - ticks[0] : 1);
        sgi_text_add(out, "</text>");
    }
    sgi_text_format(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x, y - 8);
    sgi_text_escape(out, maps->label);
    sgi_text_add(out, "</text>");
}

void sgi_maps_draw(sgi_text *out, const sgi_maps *maps)
{
    frame f = lay_out(maps);
    sgi_text_format(out,
                    "<svg class=\"maps\" viewBox=\"0 0 %.0f %.0f\" style=\"max-width:%.0fpx\" "
                    "role=\"img\" aria-label=\"",
                    f.total, f.full, f.total);
    sgi_text_escape(out, maps->description);
    sgi_text_add(out, "\">");
    for (size_t row = 0; row < maps->rows; row++) {
        if (maps->row_titles) {
            double letters = 7.4; /* wide, of the class "head" */
            double fits = f.row / (letters * (double)strlen(maps->row_titles[row]));
            sgi_text_format(out,
                            "<text class=\"mid head\" transform=\"translate(12 %.1f) "
                            "rotate(-90) scale(%.2f)\">",
                            TITLE + (double)row * f.row + f.height / 2, fmin(fits, 1));
            sgi_text_escape(out, maps->row_titles[row]);
            sgi_text_add(out, "</text>");
        }
        for (size_t column = 0; column < maps->columns; column++)
            draw_panel(out, maps, row, column, &f);
    }
    draw_bar(out, maps, &f);
    sgi_text_add(out, "</svg>\n");
}
