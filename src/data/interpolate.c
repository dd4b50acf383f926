/* Values between samples: see interpolate.h. */
#include "data/interpolate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LEAF = 8, DEPTH = 64, MOST_NEAR = 2 * (SG_SAMPLE_COORDINATES + 1) };

struct sgi_interpolant {
    sg_allocator allocator;
    const sgi_samples *samples;
    size_t d;
    double lower[SG_SAMPLE_COORDINATES], scale[SG_SAMPLE_COORDINATES]; /* 1 / extent */
    /* a grid: */
    size_t lengths[SG_SAMPLE_COORDINATES];
    double *axes[SG_SAMPLE_COORDINATES]; /* (lengths), ascending; NULL: no grid */
    /* `order` has the sample of each point of the grid, the last coordinate fastest; or the points
     * of the tree: a range is halved by coordinate `level % d` until it is a leaf. */
    size_t *order; /* (count) */
    double *split; /* (count): of a tree, where the range with that middle was halved */
};

/* ---- Grids ------------------------------------------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The different values of a coordinate, ascending; values within 1e-12 of the extent are one. */
static sg_status find_axis(sgi_interpolant *p, size_t k, double *work)
{
    size_t n = p->samples->count, length = 0;
    for (size_t i = 0; i < n; i++)
        work[i] = p->samples->points[i * p->d + k];
    qsort(work, n, sizeof *work, compare);
    p->lower[k] = work[0];
    double extent = work[n - 1] - work[0], apart = 1e-12 * extent;
    p->scale[k] = extent > 0 ? 1 / extent : 1;
    for (size_t i = 0; i < n; i++)
        if (length == 0 || work[i] - work[length - 1] > apart)
            work[length++] = work[i];
    p->lengths[k] = length;
    p->axes[k] = sgi_allocate(&p->allocator, length, sizeof(double));
    if (!p->axes[k])
        return SG_ERROR_MEMORY;
    memcpy(p->axes[k], work, length * sizeof(double));
    return SG_OK;
}

/* The last value of the axis that is not above x; 0 when all are. */
static size_t interval(const sgi_interpolant *p, size_t k, double x)
{
    size_t low = 0, high = p->lengths[k];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->axes[k][middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t nearest_of_axis(const sgi_interpolant *p, size_t k, double x)
{
    size_t i = interval(p, k, x);
    return i + 1 < p->lengths[k] && p->axes[k][i + 1] - x < x - p->axes[k][i] ? i + 1 : i;
}

/* Fills `order`; false when the points are not each point of the grid once. */
static bool order_grid(sgi_interpolant *p)
{
    size_t n = p->samples->count, product = 1;
    for (size_t k = 0; k < p->d; k++)
        if (__builtin_mul_overflow(product, p->lengths[k], &product) || product > n)
            return false;
    if (product != n)
        return false;
    for (size_t i = 0; i < n; i++)
        p->order[i] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        for (size_t k = 0; k < p->d; k++)
            at = at * p->lengths[k] + nearest_of_axis(p, k, p->samples->points[i * p->d + k]);
        if (p->order[at] != SIZE_MAX)
            return false;
        p->order[at] = i;
    }
    return true;
}

static double grid_value(const sgi_interpolant *p, const double *values, const double *point)
{
    size_t low[SG_SAMPLE_COORDINATES];
    double part[SG_SAMPLE_COORDINATES], sum = 0;
    for (size_t k = 0; k < p->d; k++) {
        const double *axis = p->axes[k];
        size_t last = p->lengths[k] - 1;
        double slack = 1e-9 / p->scale[k], x = point[k];
        if (!(x >= axis[0] - slack) || !(x <= axis[last] + slack))
            return NAN;
        low[k] = interval(p, k, x);
        if (low[k] == last && last > 0)
            low[k]--;
        part[k] = last == 0 ? 0 : (x - axis[low[k]]) / (axis[low[k] + 1] - axis[low[k]]);
        part[k] = fabs(part[k]) < 1e-9 ? 0 : fabs(part[k] - 1) < 1e-9 ? 1 : part[k];
    }
    for (size_t corner = 0; corner < (size_t)1 << p->d; corner++) {
        double weight = 1;
        size_t at = 0;
        for (size_t k = 0; k < p->d; k++) {
            bool high = corner >> k & 1;
            weight *= high ? part[k] : 1 - part[k];
            at = at * p->lengths[k] + low[k] + (high && p->lengths[k] > 1);
        }
        if (weight != 0)
            sum += weight * values[p->order[at]];
    }
    return sum;
}

/* ---- Scattered points -------------------------------------------------------------------------
 */

static double coordinate(const sgi_interpolant *p, size_t i, size_t k)
{
    return p->samples->points[p->order[i] * p->d + k];
}

/* Moves the lesser half of a range before its middle, by coordinate k. */
static void halve(sgi_interpolant *p, size_t begin, size_t end, size_t k)
{
    size_t middle = begin + (end - begin) / 2;
    while (end - begin > 1) {
        double pivot = coordinate(p, begin + (end - begin - 1) / 2, k); /* never the last */
        size_t i = begin, j = end - 1;
        for (;;) {
            while (coordinate(p, i, k) < pivot)
                i++;
            while (coordinate(p, j, k) > pivot)
                j--;
            if (i >= j)
                break;
            size_t swap = p->order[i];
            p->order[i++] = p->order[j];
            p->order[j--] = swap;
        }
        if (middle <= j)
            end = j + 1;
        else
            begin = j + 1;
    }
}

typedef struct range {
    size_t begin, end, level;
} range;

static void build_tree(sgi_interpolant *p)
{
    range stack[DEPTH] = {{0, p->samples->count, 0}};
    for (size_t i = 0; i < p->samples->count; i++)
        p->order[i] = i;
    for (size_t n = 1; n > 0;) {
        range r = stack[--n];
        if (r.end - r.begin <= LEAF)
            continue;
        size_t middle = r.begin + (r.end - r.begin) / 2;
        halve(p, r.begin, r.end, r.level % p->d);
        p->split[middle] = coordinate(p, middle, r.level % p->d);
        stack[n++] = (range){r.begin, middle, r.level + 1};
        stack[n++] = (range){middle, r.end, r.level + 1};
    }
}

/* The nearest points so far, the farthest first being thrown out. */
typedef struct near_points {
    size_t wanted, count;
    size_t sample[MOST_NEAR];
    double square[MOST_NEAR]; /* ascending */
} near_points;

static void offer(const sgi_interpolant *p, const double *values, const double *point, size_t i,
                  near_points *n)
{
    double square = 0;
    size_t sample = p->order[i];
    if (isnan(values[sample]))
        return;
    for (size_t k = 0; k < p->d; k++) {
        double x = (p->samples->points[sample * p->d + k] - point[k]) * p->scale[k];
        square += x * x;
    }
    if (n->count == n->wanted && square >= n->square[n->count - 1])
        return;
    size_t at = n->count < n->wanted ? n->count++ : n->count - 1;
    for (; at > 0 && n->square[at - 1] > square; at--) {
        n->square[at] = n->square[at - 1];
        n->sample[at] = n->sample[at - 1];
    }
    n->square[at] = square;
    n->sample[at] = sample;
}

static void search(const sgi_interpolant *p, const double *values, const double *point,
                   near_points *n)
{
    struct {
        range r;
        double square; /* no point of the range is nearer */
    } stack[DEPTH] = {{{0, p->samples->count, 0}, 0}};
    for (size_t top = 1; top > 0;) {
        range r = stack[--top].r;
        if (n->count == n->wanted && stack[top].square >= n->square[n->count - 1])
            continue;
        if (r.end - r.begin <= LEAF) {
            for (size_t i = r.begin; i < r.end; i++)
                offer(p, values, point, i, n);
            continue;
        }
        size_t k = r.level % p->d, middle = r.begin + (r.end - r.begin) / 2;
        double side = (point[k] - p->split[middle]) * p->scale[k];
        double square = stack[top].square > side * side ? stack[top].square : side * side;
        range lower = {r.begin, middle, r.level + 1}, upper = {middle, r.end, r.level + 1};
        stack[top].r = side < 0 ? upper : lower; /* the far side first: it comes last */
        stack[top].square = square;
        top++;
        stack[top].r = side < 0 ? lower : upper;
        stack[top].square = 0;
        top++;
    }
}

/* Solves the symmetric system in place; false when it is not positive definite. */
static bool solve(size_t n, double a[SG_SAMPLE_COORDINATES + 1][SG_SAMPLE_COORDINATES + 1],
                  double *b)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            double sum = a[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 1e-10 * a[0][0]))
                return false;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
        for (size_t k = 0; k < j; k++)
            b[j] -= a[j][k] * b[k];
        b[j] /= a[j][j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t k = j + 1; k < n; k++)
            b[j] -= a[k][j] * b[k];
        b[j] /= a[j][j];
    }
    return true;
}

/* A plane through the points near by, of which the value at `point` is the constant; where they do
 * not span one, their weighted mean. */
static double plane_value(const sgi_interpolant *p, const double *values, const double *point,
                          const near_points *n)
{
    double a[SG_SAMPLE_COORDINATES + 1][SG_SAMPLE_COORDINATES + 1] = {{0}};
    double b[SG_SAMPLE_COORDINATES + 1] = {0}, row[SG_SAMPLE_COORDINATES + 1];
    double far = n->square[n->count - 1];
    for (size_t i = 0; i < n->count; i++) {
        double weight = 1 / (n->square[i] / far + 1e-6), value = values[n->sample[i]];
        row[0] = 1;
        for (size_t k = 0; k < p->d; k++)
            row[k + 1] =
                (p->samples->points[n->sample[i] * p->d + k] - point[k]) * p->scale[k] / sqrt(far);
        for (size_t r = 0; r <= p->d; r++) {
            b[r] += weight * row[r] * value;
            for (size_t c = 0; c <= r; c++)
                a[r][c] += weight * row[r] * row[c];
        }
    }
    double mean = b[0] / a[0][0];
    return solve(p->d + 1, a, b) ? b[0] : mean;
}

static double scattered_value(const sgi_interpolant *p, const double *values, const double *point)
{
    near_points n = {.wanted = 2 * (p->d + 1)};
    search(p, values, point, &n);
    if (n.count == 0)
        return NAN;
    if (n.square[0] <= 1e-24 || n.count == 1)
        return values[n.sample[0]];
    return plane_value(p, values, point, &n);
}

/* ---- Handle -----------------------------------------------------------------------------------
 */

static sg_status prepare(sgi_interpolant *p)
{
    size_t n = p->samples->count;
    double *work = sgi_allocate(&p->allocator, n, sizeof *work);
    p->order = sgi_allocate(&p->allocator, n, sizeof *p->order);
    sg_status status = work && p->order ? SG_OK : SG_ERROR_MEMORY;
    for (size_t k = 0; k < p->d && status == SG_OK; k++)
        status = find_axis(p, k, work);
    sgi_release(&p->allocator, work);
    if (status != SG_OK || order_grid(p))
        return status;
    p->split = sgi_allocate(&p->allocator, n, sizeof *p->split);
    if (!p->split)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < p->d; k++) {
        sgi_release(&p->allocator, p->axes[k]);
        p->axes[k] = NULL;
    }
    build_tree(p);
    return SG_OK;
}

sg_status sgi_interpolant_create(sgi_interpolant **out, const sgi_samples *samples,
                                 const sg_allocator *given)
{
    *out = NULL;
    sgi_interpolant *p = SGI_NEW(sgi_interpolant, given);
    if (!p)
        return SG_ERROR_MEMORY;
    p->samples = samples;
    p->d = samples->coordinate_count;
    sg_status status = samples->count && p->d ? prepare(p) : SG_ERROR_ARGUMENT;
    if (status != SG_OK) {
        sgi_interpolant_destroy(p);
        return status;
    }
    *out = p;
    return SG_OK;
}

void sgi_interpolant_destroy(sgi_interpolant *p)
{
    if (!p)
        return;
    for (size_t k = 0; k < SG_SAMPLE_COORDINATES; k++)
        sgi_release(&p->allocator, p->axes[k]);
    sgi_release(&p->allocator, p->order);
    sgi_release(&p->allocator, p->split);
    sgi_release(&p->allocator, p);
}

bool sgi_interpolant_grid(const sgi_interpolant *p, size_t *lengths)
{
    if (lengths && p->axes[0])
        memcpy(lengths, p->lengths, p->d * sizeof *lengths);
    return p->axes[0] != NULL;
}

double sgi_interpolant_at(const sgi_interpolant *p, const double *values, const double *point)
{
    return p->axes[0] ? grid_value(p, values, point) : scattered_value(p, values, point);
}
