/* Heat maps: a grid of planes in one SVG with shared axes, one colour range and one colour bar. The
 * values are a PNG inside it, everything around them is SVG text that follows the page's style. */
#ifndef SG_DRAW_MAPS_H
#define SG_DRAW_MAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

/* A plane through an array: the value at (i, j) is values[i * x_stride + j * y_stride]. The points
 * are taken as evenly spaced from low to high. */
typedef struct sgi_plane {
    const double *values; /* NULL: nothing is drawn */
    size_t x_count, y_count;
    size_t x_stride, y_stride;
    double x_low, x_high, y_low, y_high;
    const char *x_name, *y_name;
    bool square; /* both are lengths: drawn in proportion */
} sgi_plane;

typedef enum sgi_shade {
    SG_SHADE_PLAIN,  /* low .. high, sequential; values are averaged where pixels are fewer */
    SG_SHADE_SIGNED, /* low = -high, diverging; averaged */
    SG_SHADE_ERROR, /* low = -high, diverging; the largest in size is kept where pixels are fewer */
    SG_SHADE_LOG    /* size of the values, low .. high > 0, sequential, logarithmic; largest kept */
} sgi_shade;

/* A point on a map, coloured on the diverging scale. */
typedef struct sgi_dot {
    double x, y;
    double share; /* 0 .. 1 of the scale */
    bool open;    /* with a ring around it */
} sgi_dot;

typedef struct sgi_maps {
    size_t rows, columns;
    const sgi_plane *planes;       /* (rows, columns) */
    const char *const *titles;     /* (rows, columns) above each; NULL: none */
    const char *const *row_titles; /* (rows); NULL: none */
    bool same_axes;                /* all planes have the same axes: labels at the edge only */
    sgi_shade shade;
    double low, high;
    const char *label;       /* of the colour bar */
    const char *description; /* for those who cannot see it */
    double pixels;           /* about how many each map may have */
    const sgi_dot *dots;     /* (dot_count) on each map */
    size_t dot_count;
} sgi_maps;

void sgi_maps_draw(sgi_text *out, const sgi_maps *maps);

/* `count` values, `stride` apart, to `to_count` values `to_stride` apart, which stand for equal
 * stretches: interpolated where there are fewer values than stretches, else the mean of each
 * stretch or, with `extreme`, its value of largest size. */
void sgi_resample(const double *from, size_t count, size_t stride, double *to, size_t to_count,
                  size_t to_stride, bool extreme);

#endif
