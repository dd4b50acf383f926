/* Student's t: see student.h. */
#include "pinn/student.h"

#include <math.h>

/* The continued fraction of the incomplete beta function by Lentz's method. */
static double fraction(double x, double a, double b)
{
    static const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double result = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double terms[] = {even, odd}, change = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + terms[k] * d;
            c = 1 + terms[k] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            result *= change;
        }
        if (fabs(change - 1) < 1e-15)
            break;
    }
    return result;
}

/* The regularised incomplete beta function. */
static double beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * fraction(x, a, b) / a
                                     : 1 - front * fraction(1 - x, b, a) / b;
}

/* The fraction above t >= 0. */
static double above(double t, double degrees)
{
    if (isinf(degrees))
        return 0.5 * erfc(t / sqrt(2));
    return 0.5 * beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

double sgi_student(double probability, double degrees)
{
    double low = 0, high = 1;
    while (above(high, degrees) > 1 - probability && high < 1e150)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        double middle = (low + high) / 2;
        if (above(middle, degrees) > 1 - probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
