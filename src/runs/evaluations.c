/* Evaluations of a run: see evaluations.h. */
#include "runs/evaluations.h"

#include <math.h>

size_t sgi_evaluations_first(const sgi_run *run)
{
    const double *windows = sgi_columns_find(&run->evaluation, "window");
    size_t first = 0;
    for (size_t r = 1; windows && r < run->evaluation.rows; r++)
        if (windows[r] != windows[r - 1])
            first = r;
    return first;
}

sgi_best sgi_evaluations_best(const sgi_run *run, const char *column, bool highest)
{
    const double *values = sgi_columns_find(&run->evaluation, column);
    sgi_best best = {NAN, NAN};
    for (size_t r = sgi_evaluations_first(run); values && r < run->evaluation.rows; r++) {
        bool behind = highest ? values[r] <= best.value : values[r] >= best.value;
        if (isfinite(values[r]) && !behind)
            best = (sgi_best){values[r], run->evaluation.items[0].values[r]};
    }
    return best;
}

double sgi_median_ending(const double *last)
{
    double sorted[SG_MEDIAN_OVER];
    for (int i = 0; i < SG_MEDIAN_OVER; i++) {
        int place = i;
        for (; place > 0 && sorted[place - 1] > last[-i]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = last[-i];
    }
    return sorted[SG_MEDIAN_OVER / 2];
}

double sgi_evaluations_median(const sgi_run *run, const char *column)
{
    const double *values = sgi_columns_find(&run->evaluation, column);
    size_t rows = run->evaluation.rows;
    if (!values || rows - sgi_evaluations_first(run) < SG_MEDIAN_OVER)
        return NAN;
    for (size_t r = rows - SG_MEDIAN_OVER; r < rows; r++)
        if (isnan(values[r]))
            return NAN;
    return sgi_median_ending(&values[rows - 1]);
}

bool sgi_restless(const double *values, size_t count)
{
    const double jump = 1.5;
    if (count < SG_MEDIAN_OVER)
        return false;
    double lowest = INFINITY;
    for (size_t r = count - SG_MEDIAN_OVER; r < count; r++) {
        if (values[r] > jump * lowest)
            return true;
        lowest = fmin(lowest, values[r]);
    }
    return false;
}
