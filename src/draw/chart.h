/* Line charts as SVG. Colours come from CSS classes, so a chart follows light, dark and print. */
#ifndef SG_DRAW_CHART_H
#define SG_DRAW_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

/* The classes of series colours in the page's style: s0 (the baseline) to s7. */
enum { SG_SERIES_COLOURS = 8 };

/* Other values of a line's colour: that of the text, and its own two. */
enum { SG_COLOUR_INK = -1, SG_COLOUR_OWN = -2 };

typedef struct sgi_line {
    const char *label;      /* from a file: escaped when written */
    int colour;             /* class s<colour>, or one of the two above */
    char light[8], dark[8]; /* SG_COLOUR_OWN: "#rrggbb" for the light and the dark page */
    bool dashed, faint;
    const double *x, *y;      /* (count); values that cannot be drawn leave a gap */
    const double *low, *high; /* (count), a band around the line; NULL for none */
    size_t count;
} sgi_line;

/* A value drawn across the chart, with a label. */
typedef struct sgi_mark {
    double at;
    bool vertical;
    const char *label;
} sgi_mark;

typedef struct sgi_chart {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;
    int width, height;
    double x_low, x_high; /* the range; from the data when x_low >= x_high */
    double y_low, y_high;
    bool keep_x_range; /* no room left and right of the data */
    size_t points;     /* of a line, at most about; 0: 600 */
    const sgi_line *lines;
    size_t line_count;
    bool legend; /* under the title */
    const sgi_mark *marks;
    size_t mark_count;
} sgi_chart;

/* The figure: title, picture. Lines without a drawable point are left out; without any the chart
 * says that there is nothing to show. */
void sgi_chart_draw(sgi_text *out, const sgi_chart *chart);

/* The key to the lines' colours. */
void sgi_chart_legend(sgi_text *out, const sgi_line *lines, size_t count);
/* The key to lines that are coloured along a ramp: `from` [bar] `to`. */
void sgi_chart_ramp(sgi_text *out, const char *from, const char *to);
/* Colours a line by its place 0 .. 1 on that ramp. */
void sgi_chart_ramp_colour(sgi_line *line, double share);

/* At most about `most` points that keep the look of the line: of each stretch the lowest and the
 * highest value, in order. Writes their indices (at most `count`), returns how many. */
size_t sgi_chart_thin(const double *y, size_t count, size_t most, size_t *kept);

#endif
