/* Metrics of damped steps: see metric.h. */
#include "second/metric.h"

#include <math.h>

static const double COLUMN_FLOOR = 1e-4; /* of c / mean c */

void sgi_metric_columns(double *columns, size_t count)
{
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += columns[i];
    mean /= (double)count;
    for (size_t i = 0; i < count; i++)
        columns[i] = mean > 0 ? 1 / sqrt(columns[i] / mean + COLUMN_FLOOR) : 1;
}

/* The standard deviation of the gradient of tensors [from, to); of a single number its size. */
static double deviation(const sgi_parameter_span *tensors, size_t from, size_t to,
                        const double *gradient, double *elements)
{
    double sum = 0, square = 0;
    *elements = 0;
    for (size_t t = from; t < to; t++)
        for (size_t i = 0; i < tensors[t].count; i++)
            sum += gradient[tensors[t].begin + i];
    for (size_t t = from; t < to; t++)
        *elements += (double)tensors[t].count;
    if (*elements == 1)
        return fabs(sum);
    for (size_t t = from; t < to; t++)
        for (size_t i = 0; i < tensors[t].count; i++) {
            double x = gradient[tensors[t].begin + i] - sum / *elements;
            square += x * x;
        }
    return sqrt(square / *elements);
}

void sgi_metric_blocks(const sgi_parameter_span *tensors, size_t count, const double *gradient,
                       double *weights)
{
    double sum = 0, all = 0;
    for (size_t from = 0, to; from < count; from = to) {
        double elements;
        to = from + 1;
        while (to < count && tensors[to].layer == tensors[from].layer)
            to++;
        double weight = 1 / deviation(tensors, from, to, gradient, &elements);
        if (!isfinite(weight))
            weight = 0; /* to be told apart below */
        sum += elements * weight;
        all += weight > 0 ? elements : 0;
        for (size_t t = from; t < to; t++)
            weights[t] = weight;
    }
    for (size_t t = 0; t < count; t++)
        weights[t] = weights[t] > 0 && isfinite(sum) ? weights[t] * all / sum : 1;
}
