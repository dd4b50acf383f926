/* The paper's section 4: see theorem.h. */
#include "diagnose/theorem.h"

sgi_theorem sgi_theorem_of(const sg_block_report *blocks, size_t count, double residual2,
                           double rate, double largest, double largest_scaled)
{
    sgi_theorem t = {.rate = rate, .largest = largest, .largest_scaled = largest_scaled};
    for (size_t b = 0; b < count && residual2 > 0; b++) {
        t.rho += blocks[b].norm2 / residual2;
        t.rho_scaled += blocks[b].factor * blocks[b].norm2 / residual2;
    }
    t.ratio = largest > 0 ? largest_scaled / largest : 1;
    t.stability = rate * largest_scaled;
    t.margin = t.rho_scaled * (1 - t.stability / 2) - t.rho;
    t.holds = t.stability < 2 && t.margin > 0;
    return t;
}

double sgi_linear_decrease(const double *r, const double *product, size_t size, double rate)
{
    double length2 = 0, first = 0, second = 0;
    for (size_t i = 0; i < size; i++) {
        length2 += r[i] * r[i];
        first += r[i] * product[i];
        second += product[i] * product[i];
    }
    return length2 > 0 ? (2 * rate * first - rate * rate * second) / length2 : 0;
}
