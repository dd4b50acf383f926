/* An axis: a range of values on a stretch of the picture, linear or logarithmic, and its ticks. */
#ifndef SG_DRAW_AXIS_H
#define SG_DRAW_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

enum { SG_TICKS_MAX = 32 };

typedef struct sgi_axis {
    bool log;
    double low, high;  /* the range; on a log axis both positive */
    double begin, end; /* where they lie in the picture */
} sgi_axis;

/* Where a value lies; NaN when it is not finite, or not positive on a log axis. */
double sgi_axis_place(const sgi_axis *axis, double value);

/* Starts an empty range, takes values in, and makes it usable: a little room at the ends, whole
 * steps for a log axis, something sensible when there was no value or only one. */
void sgi_axis_clear(sgi_axis *axis, bool log);
void sgi_axis_include(sgi_axis *axis, double value);
void sgi_axis_settle(sgi_axis *axis, double room);

/* At most `wanted` + 1 ticks or so, at round values, in increasing order. */
size_t sgi_axis_ticks(const sgi_axis *axis, int wanted, double ticks[SG_TICKS_MAX]);

/* The tick's label as SVG text content; `step` is the distance to the next tick. */
void sgi_axis_label(sgi_text *out, const sgi_axis *axis, double tick, double step);

#endif
