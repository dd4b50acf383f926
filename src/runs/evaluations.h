/* A run's evaluations beyond the last one, which may happen to be a spike: the lowest, and the
 * median of the last few. Of a run in windows in time, those of the last window. */
#ifndef SG_RUNS_EVALUATIONS_H
#define SG_RUNS_EVALUATIONS_H

#include "runs/runs.h"

/* How many evaluations a median is over. */
enum { SG_MEDIAN_OVER = 5 };

/* The first row of the last window in time, 0 without windows: in an earlier one the loss was that
 * of another network. */
size_t sgi_evaluations_first(const sgi_run *run);

/* The lowest or highest finite value of a column, and the step where it was first met; both NaN
 * without one. */
typedef struct sgi_best {
    double value, step;
} sgi_best;
sgi_best sgi_evaluations_best(const sgi_run *run, const char *column, bool highest);

/* The median of the last SG_MEDIAN_OVER values of a column; NaN when there are fewer, infinite when
 * most of them are not finite. */
double sgi_evaluations_median(const sgi_run *run, const char *column);

/* The median of the SG_MEDIAN_OVER values that end at `last`. */
double sgi_median_ending(const double *last);

/* Whether the last SG_MEDIAN_OVER of `count` values jump: one is half as large again as one before
 * it. A curve that only falls does not. */
bool sgi_restless(const double *values, size_t count);

#endif
