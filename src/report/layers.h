/* A number of each layer over the steps, "GROUP/NAME/WHAT" of metrics.jsonl, as lines: over the
 * steps, thinned to what can be told apart, and over the depth at a few steps. Memory is the
 * page's. */
#ifndef SG_REPORT_LAYERS_H
#define SG_REPORT_LAYERS_H

#include "report/axis.h"
#include "report/page.h"

enum {
    SG_LAYERS_ALL = 16,     /* up to this many layers all are drawn */
    SG_LAYERS_EVENLY = 12,  /* of more: this many, evenly spaced, and the largest */
    SG_LAYERS_PROFILES = 5, /* first, quarter, half, last, and a peak between them */
    SG_LAYERS_POINTS = 160, /* of a line over the steps */
    SG_LAYERS_DEPTHS = 64   /* of a line over the depth */
};

typedef struct sg_layers {
    size_t count;          /* layers, in the order of the file */
    const char **names;    /* (count) */
    const double **values; /* (count, rows), only at rows that have any of them */
    const double *steps;   /* (rows) */
    size_t rows;
    size_t largest, largest_row; /* where the largest finite value is */
} sg_layers;

/* False, and *layers empty: the run has none. */
bool sg_layers_find(sg_page *page, const sg_run *run, const char *group, const char *what,
                    sg_layers *layers);

/* Lines over the steps, coloured by depth; returns how many. */
size_t sg_layers_lines(const sg_layers *layers, sg_line lines[SG_LAYERS_ALL]);

/* Lines over the depth (1 is the first layer), coloured by time. Of many layers a point is the
 * median of neighbours: a block's convolutions, gates and sums differ by decades at any time, and a
 * comb of them hides how the scale goes with the depth. */
size_t sg_layers_profiles(sg_page *page, const sg_layers *layers,
                          sg_line lines[SG_LAYERS_PROFILES]);

/* What the depth's axis is called: "layer", or with how many a point stands for. */
const char *sg_layers_depth_label(sg_page *page, const sg_layers *layers);

/* The key to lines over the steps: names when there are few layers, else the ramp. */
void sg_layers_legend(sg_page *page, const sg_layers *layers);

/* An empty range of steps for charts of these layers: logarithmic when one of them ends long before
 * another, or its lines would be a sliver. */
typedef struct sg_step_span {
    double shortest, longest; /* last steps */
} sg_step_span;
void sg_layers_span(sg_step_span *span, const sg_layers *layers);
void sg_layers_steps(sg_axis *x, const sg_step_span *span);

/* Takes the lines' values, and steps or depths, into the ranges that several charts share. */
void sg_layers_range(sg_axis *x, sg_axis *y, const sg_line *lines, size_t count);

#endif
