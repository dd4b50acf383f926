/* Axes: see axis.h. */
#include "draw/axis.h"

#include <math.h>

double sgi_axis_place(const sgi_axis *axis, double value)
{
    if (!isfinite(value) || (axis->log && value <= 0))
        return NAN;
    double share = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                             : (value - axis->low) / (axis->high - axis->low);
    return axis->begin + share * (axis->end - axis->begin);
}

void sgi_axis_clear(sgi_axis *axis, bool log)
{
    axis->log = log;
    axis->low = INFINITY;
    axis->high = -INFINITY;
}

void sgi_axis_include(sgi_axis *axis, double value)
{
    if (!isfinite(value) || (axis->log && value <= 0))
        return;
    axis->low = fmin(axis->low, value);
    axis->high = fmax(axis->high, value);
}

static void settle_log(sgi_axis *axis, double room)
{
    /* Far beyond what a double's smallest values would make of the ratio. */
    axis->low = fmax(axis->low, axis->high * 1e-40);
    double grow = pow(axis->high / axis->low, room);
    if (axis->high / axis->low < 3)
        grow = 1.6;
    axis->low /= grow;
    axis->high *= grow;
}

void sgi_axis_settle(sgi_axis *axis, double room)
{
    if (!(axis->low <= axis->high)) {
        axis->low = axis->log ? 0.1 : 0;
        axis->high = axis->log ? 10 : 1;
        return;
    }
    if (axis->log) {
        settle_log(axis, room);
        return;
    }
    double size = axis->high - axis->low;
    double least = 1e-9 * fmax(fabs(axis->low), fabs(axis->high));
    if (size <= least) {
        /* Around a whole number, which may be a step, to the whole numbers next to it. */
        double half = axis->low != 0 ? 0.1 * fabs(axis->low) : 1;
        if (axis->low == floor(axis->low))
            half = ceil(half);
        axis->low -= half;
        axis->high += half;
        return;
    }
    axis->low -= room * size;
    axis->high += room * size;
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` of them make `size`. */
static double round_step(double size, int wanted)
{
    double step = size / wanted, power = pow(10, floor(log10(step))), digit = step / power;
    return power * (digit <= 1.0001 ? 1 : digit <= 2.0001 ? 2 : digit <= 5.0001 ? 5 : 10);
}

static size_t linear_ticks(const sgi_axis *axis, int wanted, double ticks[SG_TICKS_MAX])
{
    double step = round_step(axis->high - axis->low, wanted);
    double first = ceil(axis->low / step - 1e-9);
    size_t count = 0;
    while (count < SG_TICKS_MAX && (first + (double)count) * step <= axis->high + 1e-9 * step) {
        ticks[count] = (first + (double)count) * step;
        count++;
    }
    return count;
}

static size_t log_ticks(const sgi_axis *axis, int wanted, double ticks[SG_TICKS_MAX])
{
    double low = log10(axis->low), high = log10(axis->high);
    static const double digits[] = {1, 2, 5};
    bool fine = high - low < 2.1; /* about two decades: 1, 2, 5 as well */
    int skip = (int)fmax(1, ceil((high - low) / wanted));
    size_t count = 0;
    for (int power = (int)floor(low); power <= high; power++)
        for (size_t i = 0; i < (fine ? 3 : 1) && count < SG_TICKS_MAX; i++) {
            double tick = digits[i] * pow(10, power);
            if (power % skip == 0 && tick >= axis->low * 0.999 && tick <= axis->high * 1.001)
                ticks[count++] = tick;
        }
    return count;
}

size_t sgi_axis_ticks(const sgi_axis *axis, int wanted, double ticks[SG_TICKS_MAX])
{
    return axis->log ? log_ticks(axis, wanted, ticks) : linear_ticks(axis, wanted, ticks);
}

/* Plain numbers on an axis that needs few digits, powers of ten on any other; never a mixture. */
static void power_label(sgi_text *out, const sgi_axis *axis, double tick)
{
    int power = (int)floor(log10(tick) + 1e-9);
    double digit = tick / pow(10, power);
    if (axis->low >= 5e-3 && axis->high <= 5e3) {
        sgi_text_format(out, "%g", tick);
        return;
    }
    if (digit > 1.5)
        sgi_text_format(out, "%.0f·", digit);
    sgi_text_format(out, "10<tspan class=\"power\" dy=\"-.45em\">%s%d</tspan>",
                    power < 0 ? "−" : "", power < 0 ? -power : power);
}

void sgi_axis_label(sgi_text *out, const sgi_axis *axis, double tick, double step)
{
    if (axis->log) {
        power_label(out, axis, tick);
        return;
    }
    if (fabs(tick) < 1e-9 * fabs(step))
        tick = 0;
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    if (tick < 0)
        sgi_text_add(out, "−");
    if (largest >= 1e6 || largest < 1e-3)
        sgi_text_format(out, "%.3g", fabs(tick));
    else if (step >= 1)
        sgi_text_count(out, fabs(tick));
    else
        sgi_text_format(out, "%.*f", (int)ceil(-log10(step) - 1e-9), fabs(tick));
}
