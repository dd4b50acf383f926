/* Cole-Hopf: see cole_hopf.h.
 *
 * The quadrature points are multiples of a power of two, so cos(pi y) and sin(pi y) come from
 * tables, one for each such step; x is moved into [-1, 1] by the period first. Where a table would
 * be too fine or too short the functions are called: that happens near t = 0, where few points are
 * needed, and for t beyond about 2. */
#include "problem/cole_hopf.h"

#include <math.h>
#include <stdint.h>

#include "base/memory.h"

enum {
    LEAST_BITS = 4, /* steps 2^-4 .. 2^-12 have tables */
    MOST_BITS = 12,
    REACH = 4,             /* of the tables: |y| <= 4 */
    MOST_POINTS = 1 << 24, /* of one quadrature */
    UNIT_POINTS = 512
};

static const double pi = 3.14159265358979323846;
static const double negligible = 40; /* e^-40 is below rounding */

/* Before this time the solution is its initial value to rounding. */
#define START 1e-14

/* cos(pi y) / (2 pi) and sin(pi y) at y = (j - REACH * 2^bits) * 2^-bits. */
typedef struct table {
    double *wells, *sines; /* (2 * REACH * 2^bits + 1) */
} table;

typedef struct quadrature {
    double nu;
    const double *x, *t;
    size_t count;
    int refine;
    double *u;
    table tables[MOST_BITS + 1]; /* by bits */
    double *buffers;             /* (workers, 3, room) */
    size_t room;                 /* the most points of any quadrature */
} quadrature;

/* The points of one quadrature: y = (first + i) * step, i < count. */
typedef struct rule {
    double step;
    long first;
    int count;
    const double *wells, *sines; /* (count) */
} rule;

/* The step is 2^-bits. */
static int step_bits(const quadrature *q, double t)
{
    double width = sqrt(q->nu / (pi / 2 + 1 / (2 * t)));
    int bits = (int)ceil(log2(q->refine / (0.75 * width)));
    return bits < LEAST_BITS ? LEAST_BITS : bits;
}

/* How far from x the integrand matters. */
static double reach_of(const quadrature *q, double t)
{
    return t + sqrt(4 * negligible * q->nu * t);
}

/* Finds step and interval, and the values there: in a table, or computed into the buffer. */
static rule make_rule(const quadrature *q, double x, double t, double *buffer)
{
    rule r;
    double reach = reach_of(q, t);
    int bits = step_bits(q, t);
    r.step = ldexp(1, -bits);
    r.first = (long)floor((x - reach) / r.step);
    double last = ceil((x + reach) / r.step);
    r.count = (int)(last - (double)r.first) + 1;
    long offset = r.first + ((long)REACH << (bits <= MOST_BITS ? bits : 0));
    if (bits <= MOST_BITS && offset >= 0 && last <= (double)((long)REACH << bits)) {
        r.wells = q->tables[bits].wells + offset;
        r.sines = q->tables[bits].sines + offset;
        return r;
    }
    for (int i = 0; i < r.count; i++) {
        double angle = pi * (r.step * (double)(r.first + i));
        buffer[i] = cos(angle) / (2 * pi);
        buffer[q->room + (size_t)i] = sin(angle);
    }
    r.wells = buffer;
    r.sines = buffer + q->room;
    return r;
}

/* The exponents G(y) / nu, and the least of them. Four minima at a time keep the loop in vectors.
 */
static double exponents(const rule *r, double nu, double x, double t, double *e)
{
    double quarter = 1 / (4 * t * nu), inverse = 1 / nu, least = INFINITY;
    double start = r->step * (double)r->first - x;
    for (int i = 0; i < r->count; i++) {
        double distance = start + r->step * i;
        e[i] = r->wells[i] * inverse + distance * distance * quarter;
    }
    double lanes[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    int i = 0;
    for (; i + 4 <= r->count; i += 4)
        for (int k = 0; k < 4; k++)
            lanes[k] = e[i + k] < lanes[k] ? e[i + k] : lanes[k];
    for (; i < r->count; i++)
        least = e[i] < least ? e[i] : least;
    for (int k = 0; k < 4; k++)
        least = lanes[k] < least ? lanes[k] : least;
    return least;
}

static double evaluate(const quadrature *q, double x, double t, double *buffer)
{
    if (!isfinite(x) || !isfinite(t)) /* of a definition, as log(s) at s = 0 */
        return NAN;
    if (t < START)
        return -sin(pi * x);
    x -= 2 * rint(x / 2);
    rule r = make_rule(q, x, t, buffer);
    double *e = buffer + 2 * q->room, sum = 0, moment = 0;
    double least = exponents(&r, q->nu, x, t, e);
    for (int i = 0; i < r.count; i++) {
        if (e[i] - least > negligible)
            continue;
        double weight = exp(least - e[i]);
        sum += weight;
        moment += weight * r.sines[i];
    }
    return -moment / sum;
}

static void work(void *context, size_t unit, int worker)
{
    const quadrature *q = context;
    double *buffer = q->buffers + (size_t)worker * 3 * q->room;
    size_t begin = unit * UNIT_POINTS, end = begin + UNIT_POINTS;
    for (size_t i = begin; i < end && i < q->count; i++)
        q->u[i] = evaluate(q, q->x[i], q->t[i], buffer);
}

static size_t table_size(int bits)
{
    return 2 * ((size_t)REACH << bits) + 1;
}

/* Computes the finest table and picks the others from it. */
static void fill_tables(quadrature *q, double *memory)
{
    for (int bits = MOST_BITS; bits >= LEAST_BITS; bits--) {
        table *own = &q->tables[bits];
        size_t size = table_size(bits), stride = (size_t)1 << (MOST_BITS - bits);
        own->wells = memory;
        own->sines = memory + size;
        memory += 2 * size;
        for (size_t j = 0; j < size; j++) {
            const table *finest = &q->tables[MOST_BITS];
            double angle = pi * (ldexp((double)j, -bits) - REACH);
            own->wells[j] = bits == MOST_BITS ? cos(angle) / (2 * pi) : finest->wells[j * stride];
            own->sines[j] = bits == MOST_BITS ? sin(angle) : finest->sines[j * stride];
        }
    }
}

static size_t most_points(const quadrature *q)
{
    double most = 0;
    for (size_t i = 0; i < q->count; i++) {
        double t = q->t[i];
        if (t >= START)
            most = fmax(most, 2 * ldexp(reach_of(q, t), step_bits(q, t)) + 4);
    }
    return most < 1e18 ? (size_t)most : SIZE_MAX;
}

sg_status sgi_cole_hopf(double nu, const double *x, const double *t, size_t count, int refine,
                        double *u, sg_pool *pool, const sg_allocator *given)
{
    if (!(nu > 0) || refine < 1)
        return SG_ERROR_ARGUMENT;
    sg_allocator allocator = sgi_allocator_or_heap(given);
    quadrature q = {.nu = nu, .x = x, .t = t, .count = count, .refine = refine, .u = u};
    q.room = most_points(&q);
    if (q.room > MOST_POINTS)
        return SG_ERROR_UNSUPPORTED;
    size_t tables = 0, buffers = 3 * q.room * (size_t)sg_pool_threads(pool);
    for (int bits = LEAST_BITS; bits <= MOST_BITS; bits++)
        tables += 2 * table_size(bits);
    double *memory = sgi_allocate(&allocator, tables + buffers, sizeof *memory);
    if (!memory)
        return SG_ERROR_MEMORY;
    q.buffers = memory + tables;
    fill_tables(&q, memory);
    sg_pool_run(pool, sgi_parts(count, UNIT_POINTS), work, &q);
    sgi_release(&allocator, memory);
    return SG_OK;
}
