/* A number that metrics.jsonl has for every layer, in columns "GROUP/NAME/WHAT", as lines of a
 * chart: over the steps, for as many layers as can be told apart, and over the depth, at a few
 * steps. The memory is the page's. */
#ifndef SG_REPORT_LAYERS_H
#define SG_REPORT_LAYERS_H

#include "draw/axis.h"
#include "report/page.h"

enum {
    SG_LAYERS_ALL = 16,     /* up to this many layers all are drawn */
    SG_LAYERS_EVENLY = 12,  /* with more layers: this many, evenly spaced, and the largest */
    SG_LAYERS_PROFILES = 5, /* first, quarter, half, last, and a peak between them */
    SG_LAYERS_POINTS = 160, /* of a line over the steps */
    SG_LAYERS_DEPTHS = 64   /* of a line over the depth */
};

typedef struct sgi_layers {
    size_t count;          /* layers, in the order of the file */
    const char **names;    /* (count) */
    const double **values; /* (count, rows), only at rows that have any of them */
    const double *steps;   /* (rows) */
    size_t rows;
    size_t largest, largest_row; /* where the largest finite value is */
} sgi_layers;

/* False, and *layers empty: the run has none. */
bool sgi_layers_find(sgi_page *page, const sgi_run *run, const char *group, const char *what,
                     sgi_layers *layers);

/* Lines over the steps, coloured by depth; returns how many. */
size_t sgi_layers_lines(const sgi_layers *layers, sgi_line lines[SG_LAYERS_ALL]);

/* Lines over the depth (1 is the first layer), coloured by time. Of many layers a point is the
 * median of neighbours: a block's convolutions, gates and sums differ by decades at any time, and a
 * comb of them hides how the scale goes with the depth. */
size_t sgi_layers_profiles(sgi_page *page, const sgi_layers *layers,
                           sgi_line lines[SG_LAYERS_PROFILES]);

/* What the depth's axis is called: "layer", or with how many a point stands for. */
const char *sgi_layers_depth_label(sgi_page *page, const sgi_layers *layers);

/* The key to lines over the steps: names when there are few layers, else the ramp. */
void sgi_layers_legend(sgi_page *page, const sgi_layers *layers);

/* The range of steps that charts of several runs share. It is logarithmic when one run ends long
 * before another, because its lines would otherwise be a narrow strip. */
typedef struct sgi_step_span {
    double shortest, longest; /* last steps */
} sgi_step_span;
void sgi_layers_span(sgi_step_span *span, const sgi_layers *layers);
void sgi_layers_steps(sgi_axis *x, const sgi_step_span *span);

/* Takes the lines' values, and steps or depths, into the ranges that several charts share. */
void sgi_layers_range(sgi_axis *x, sgi_axis *y, const sgi_line *lines, size_t count);

#endif
