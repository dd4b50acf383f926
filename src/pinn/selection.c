/* Choosing points by the size of their residual: see selection.h. */
#include "pinn/selection.h"

#include <math.h>

void sgi_select_sizes(const double *residuals, size_t count, size_t components, double *sizes)
{
    for (size_t i = 0; i < count; i++) {
        double size = 0;
        for (size_t j = 0; j < components; j++)
            size = hypot(size, residuals[i * components + j]);
        sizes[i] = isfinite(size) ? size : 0;
    }
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : 0;
}

void sgi_select_weights(const double *sizes, size_t count, double power, double floor,
                        double *weights)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, sizes[i]);
    if (!(largest > 0)) {
        for (size_t i = 0; i < count; i++)
            weights[i] = 1;
        return;
    }
    /* Relative to the largest, no power overflows. */
    for (size_t i = 0; i < count; i++)
        weights[i] = pow(sizes[i] / largest, power);
    double mean = mean_of(weights, count);
    for (size_t i = 0; i < count; i++)
        weights[i] = weights[i] / mean + floor;
}

void sgi_select_once(double *weights, size_t count, size_t wanted)
{
    double rest = mean_of(weights, count) * (double)count, left = (double)wanted;
    size_t certain = 0, before;
    if (!(rest > 0) || wanted > count)
        return;
    /* What is chosen for certain leaves the others larger shares, so that more of them are. */
    do {
        double limit = rest / left;
        before = certain;
        rest = 0;
        for (size_t i = 0; i < count; i++) {
            if (isfinite(weights[i]) && weights[i] >= limit) {
                weights[i] = INFINITY;
                certain++;
            }
            rest += isfinite(weights[i]) ? weights[i] : 0;
        }
        left = (double)wanted - (double)certain;
    } while (certain > before && left > 0 && rest > 0);
    for (size_t i = 0; i < count; i++)
        weights[i] = !isfinite(weights[i]) ? 1 : left > 0 ? weights[i] * (left / rest) : 0;
}

void sgi_select(const double *weights, size_t count, double offset, size_t *chosen, size_t wanted)
{
    double total = mean_of(weights, count) * (double)count, passed = 0;
    size_t i = 0;
    if (count == 0)
        return;
    for (size_t j = 0; j < wanted; j++) {
        double at = total * (((double)j + offset) / (double)wanted);
        while (i + 1 < count && passed + weights[i] <= at)
            passed += weights[i++];
        chosen[j] = i;
    }
    /* Rounding may step past the last item with a weight. */
    for (size_t j = wanted; j > 0 && !(weights[chosen[j - 1]] > 0) && total > 0; j--)
        while (chosen[j - 1] > 0 && !(weights[chosen[j - 1]] > 0))
            chosen[j - 1]--;
}

size_t sgi_select_above_mean(const double *sizes, size_t count, size_t *chosen)
{
    double mean = mean_of(sizes, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (sizes[i] > mean)
            chosen[kept++] = i;
    return kept;
}
