/* Cole-Hopf: see cole_hopf.h.
 *
 * The quadrature points are multiples of a step 2^-m, so that sin and cos of pi y come from one
 * table over a period; a finer step than the table's calls them. */
#include "pinn/cole_hopf.h"

#include <math.h>
#include <stdint.h>

#include "base/memory.h"

enum { TABLE_BITS = 13, TABLE = 1 << TABLE_BITS, UNIT_POINTS = 512 };

static const double pi = 3.14159265358979323846;
static const double negligible = 40; /* e^-40 is below rounding */

typedef struct quadrature {
    double nu;
    const double *x, *t;
    size_t count;
    int refine;
    double *u;
    double *sines, *cosines; /* (TABLE): of pi y at y = 2 i / TABLE */
} quadrature;

/* Points y_j = j * step and what is needed there. */
typedef struct rule {
    const quadrature *job;
    double x, t, step;
    long first, last;
    unsigned stride; /* of the table; 0: the step is finer */
} rule;

static inline double cosine(const rule *r, long j)
{
    unsigned long at = (unsigned long)j * r->stride;
    return r->stride ? r->job->cosines[at % TABLE] : cos(pi * r->step * (double)j);
}

static inline double sine(const rule *r, long j)
{
    unsigned long at = (unsigned long)j * r->stride;
    return r->stride ? r->job->sines[at % TABLE] : sin(pi * r->step * (double)j);
}

static inline double exponent(const rule *r, long j)
{
    double distance = r->x - r->step * (double)j;
    return (cosine(r, j) / (2 * pi) + distance * distance / (4 * r->t)) / r->job->nu;
}

static rule make_rule(const quadrature *job, double x, double t)
{
    rule r = {.job = job, .x = x, .t = t};
    double width = sqrt(job->nu / (pi / 2 + 1 / (2 * t)));
    int bits = (int)ceil(log2(2 * job->refine / width));
    if (bits < 4)
        bits = 4;
    r.step = ldexp(1, -bits);
    r.stride = bits + 1 <= TABLE_BITS ? 1u << (TABLE_BITS - 1 - bits) : 0;
    double reach = t + sqrt(4 * negligible * job->nu * t);
    r.first = (long)floor((x - reach) / r.step);
    r.last = (long)ceil((x + reach) / r.step);
    return r;
}

static double evaluate(const quadrature *job, double x, double t)
{
    if (t * (1 + job->nu) < 1e-14)
        return -sin(pi * x);
    rule r = make_rule(job, x, t);
    double least = INFINITY, sum = 0, moment = 0;
    for (long j = r.first; j <= r.last; j++) {
        double e = exponent(&r, j);
        least = e < least ? e : least;
    }
    for (long j = r.first; j <= r.last; j++) {
        double e = exponent(&r, j) - least;
        if (e > negligible)
            continue;
        double weight = exp(-e);
        sum += weight;
        moment += weight * sine(&r, j);
    }
    return -moment / sum;
}

static void work(void *context, size_t unit, int worker)
{
    const quadrature *job = context;
    (void)worker;
    size_t begin = unit * UNIT_POINTS, end = begin + UNIT_POINTS;
    for (size_t i = begin; i < end && i < job->count; i++)
        job->u[i] = evaluate(job, job->x[i], job->t[i]);
}

sg_status sg_cole_hopf(double nu, const double *x, const double *t, size_t count, int refine,
                       double *u, sg_pool *pool, const sg_allocator *given)
{
    if (!(nu > 0) || refine < 1)
        return SG_ERROR_ARGUMENT;
    sg_allocator allocator = sg_allocator_or_heap(given);
    double *table = sg_allocate(&allocator, 2 * TABLE, sizeof *table);
    if (!table)
        return SG_ERROR_MEMORY;
    quadrature job = {nu, x, t, count, refine, u, table, table + TABLE};
    for (int i = 0; i < TABLE; i++) {
        job.sines[i] = sin(pi * (2.0 * i / TABLE));
        job.cosines[i] = cos(pi * (2.0 * i / TABLE));
    }
    sg_pool_run(pool, (count + UNIT_POINTS - 1) / UNIT_POINTS, work, &job);
    sg_release(&allocator, table);
    return SG_OK;
}
