/* See gain.h. */
#include "base/gain.h"

#include <math.h>

/* The integral over [-12, 12] by the trapezoidal rule, which is exact to rounding for such
 * integrands (ReLU's kink lies on a node). */
double sgi_gain(double (*f)(const void *context, double z), const void *context)
{
    const double step = 1.0 / 64;
    double sum = 0;
    for (int i = -12 * 64; i <= 12 * 64; i++) {
        double z = i * step, y = f(context, z);
        sum += y * y * exp(-z * z / 2);
    }
    return sum > 0 ? 1 / sqrt(sum * step / sqrt(2 * acos(-1))) : 1;
}
