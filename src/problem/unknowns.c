/* The value of an unknown constant as a function of what is trained: see unknowns.h. */
#include "problem/unknowns.h"

#include <math.h>

/* Between two bounds: k is at x = place + stretch * p of the curve x / sqrt(1 + x^2). */
typedef struct curve {
    double half; /* (upper - lower) / 2 */
    double place, stretch;
} curve;

/* x at a value. */
static double place_of(const sgi_unknown *u, double value)
{
    double below = value - u->lower, above = u->upper - value;
    return (below - above) / (2 * sqrt(below) * sqrt(above));
}

static double curve_slope(double x)
{
    double square = 1 + x * x;
    return 1 / (square * sqrt(square));
}

static curve curve_of(const sgi_unknown *u)
{
    curve c = {.half = u->upper / 2 - u->lower / 2, .place = place_of(u, u->start)};
    c.stretch = u->scale / (c.half * curve_slope(c.place));
    return c;
}

/* Next to one bound: the distance from it, where it is `start` at p = 0 and grows with p. */
static double distance(double start, double scale, double parameter)
{
    double s = 2 * scale * parameter, root = hypot(s, 2 * start);
    return s > 0 ? (s + root) / 2 : 2 * start * (start / (root - s));
}

static double distance_slope(double start, double scale, double parameter)
{
    double root = hypot(2 * scale * parameter, 2 * start);
    return 2 * scale * distance(start, scale, parameter) / root;
}

static double between(const sgi_unknown *u, double parameter)
{
    curve c = curve_of(u);
    double x = c.place + c.stretch * parameter, root = hypot(1, x);
    return x < 0 ? u->lower + c.half / (root * (root - x))
                 : u->upper - c.half / (root * (root + x));
}

double sgi_unknown_value(const sgi_unknown *u, double parameter)
{
    bool low = isfinite(u->lower), high = isfinite(u->upper);
    double value;
    if (low && high)
        value = between(u, parameter);
    else if (low)
        value = u->lower + distance(u->start - u->lower, u->scale, parameter);
    else if (high)
        value = u->upper - distance(u->upper - u->start, u->scale, -parameter);
    else
        value = u->start + u->scale * parameter;
    /* Rounding may reach a bound. */
    if (value <= u->lower)
        return nextafter(u->lower, u->upper);
    return value >= u->upper ? nextafter(u->upper, u->lower) : value;
}

double sgi_unknown_slope(const sgi_unknown *u, double parameter)
{
    bool low = isfinite(u->lower), high = isfinite(u->upper);
    if (low && high) {
        curve c = curve_of(u);
        return c.half * c.stretch * curve_slope(c.place + c.stretch * parameter);
    }
    if (low)
        return distance_slope(u->start - u->lower, u->scale, parameter);
    if (high)
        return distance_slope(u->upper - u->start, u->scale, -parameter);
    return u->scale;
}

/* The parameter at which the distance from one bound is `value`. */
static double distance_parameter(double start, double scale, double value)
{
    return (value - start * (start / value)) / (2 * scale);
}

double sgi_unknown_parameter(const sgi_unknown *u, double value)
{
    bool low = isfinite(u->lower), high = isfinite(u->upper);
    if (low && high) {
        curve c = curve_of(u);
        return (place_of(u, value) - c.place) / c.stretch;
    }
    if (low)
        return distance_parameter(u->start - u->lower, u->scale, value - u->lower);
    if (high)
        return -distance_parameter(u->upper - u->start, u->scale, u->upper - value);
    return (value - u->start) / u->scale;
}

bool sgi_unknown_may_be(const sgi_unknown *u, double value)
{
    return isfinite(value) && value > u->lower && value < u->upper;
}
