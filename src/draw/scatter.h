/* Points in the plane, in groups of their own colour, and lines under them, as SVG. */
#ifndef SG_DRAW_SCATTER_H
#define SG_DRAW_SCATTER_H

#include <stdbool.h>

#include "draw/chart.h"

typedef struct sgi_scatter_group {
    int colour;           /* as of sgi_line */
    bool faint;           /* smaller and paler dots */
    const double *points; /* (count, stride) */
    size_t count, stride;
    size_t x, y;      /* which numbers of a point are drawn */
    size_t fixed;     /* points are drawn whose number `fixed` lies in [low, high]; */
    double low, high; /* low > high: all of them */
} sgi_scatter_group;

typedef struct sgi_scatter {
    const char *title, *x_label, *y_label; /* `title` may be empty */
    int width;                             /* of the picture, whose height follows */
    double x_low, x_high, y_low, y_high;
    bool square;         /* a unit is as long across as upwards */
    const double *lines; /* (line_count, 4): x and y of both ends */
    size_t line_count;
    const sgi_scatter_group *groups; /* the first is drawn first */
    size_t group_count;
} sgi_scatter;

void sgi_scatter_draw(sgi_text *out, const sgi_scatter *scatter);

#endif
