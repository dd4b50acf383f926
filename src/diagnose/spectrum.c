/* Leading eigenvalues: see spectrum.h. */
#include "diagnose/spectrum.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "diagnose/lapack.h"

sg_status sgi_spectrum_create(sgi_spectrum *spectrum, size_t capacity,
                              const sg_allocator *allocator)
{
    *spectrum = (sgi_spectrum){.capacity = capacity};
    spectrum->values = sgi_allocate(allocator, capacity, sizeof *spectrum->values);
    spectrum->shares = sgi_allocate(allocator, capacity, sizeof *spectrum->shares);
    if (spectrum->values && spectrum->shares)
        return SG_OK;
    sgi_spectrum_release(spectrum, allocator);
    return SG_ERROR_MEMORY;
}

void sgi_spectrum_release(sgi_spectrum *spectrum, const sg_allocator *allocator)
{
    sgi_release(allocator, spectrum->values);
    sgi_release(allocator, spectrum->shares);
    *spectrum = (sgi_spectrum){.capacity = 0};
}

static double dot(const double *a, const double *b, size_t size)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add(double *to, double factor, const double *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] += factor * from[i];
}

static void scale(double *vector, double factor, size_t size)
{
    for (size_t i = 0; i < size; i++)
        vector[i] *= factor;
}

/* Appends an eigenvalue with the part of r along its vector; rounding may take one below 0. */
static void keep(sgi_spectrum *spectrum, double value, double along, double length2)
{
    if (spectrum->count == spectrum->capacity)
        return;
    spectrum->values[spectrum->count] = fmax(value, 0);
    spectrum->shares[spectrum->count++] = length2 > 0 ? along * along / length2 : 0;
}

/* ---- Dense ------------------------------------------------------------------------------------
 */

/* Memory of dsyevr. */
typedef struct dense_work {
    double *values, *vectors, *work;
    int *support, *whole;
} dense_work;

static sg_status take_apart(double *matrix, int n, const dense_work *w, int work_size,
                            int whole_size)
{
    const double none = 0;
    const int unused = 0;
    int found, info;
    dsyevr_("V", "A", "L", &n, matrix, &n, &none, &none, &unused, &unused, &none, &found, w->values,
            w->vectors, &n, w->support, w->work, &work_size, w->whole, &whole_size, &info, 1, 1, 1);
    return info == 0 && found == n ? SG_OK : SG_ERROR_STATE;
}

sg_status sgi_spectrum_dense(sgi_spectrum *spectrum, double *matrix, size_t size, const double *r,
                             const sg_allocator *allocator)
{
    if (size < 1 || size > 1 << 15) /* work_size must be an int */
        return SG_ERROR_ARGUMENT;
    for (size_t i = 0; i < size * size; i++)
        if (!isfinite(matrix[i]))
            return SG_ERROR_STATE;
    dense_work w = {.values = sgi_allocate(allocator, size, sizeof(double)),
                    .vectors = sgi_allocate(allocator, size * size, sizeof(double)),
                    .work = sgi_allocate(allocator, 64 * size, sizeof(double)),
                    .support = sgi_allocate(allocator, 2 * size, sizeof(int)),
                    .whole = sgi_allocate(allocator, 10 * size, sizeof(int))};
    sg_status status = SG_ERROR_MEMORY;
    if (w.values && w.vectors && w.work && w.support && w.whole)
        status = take_apart(matrix, (int)size, &w, 64 * (int)size, 10 * (int)size);
    spectrum->count = spectrum->products = 0;
    spectrum->error = 1e-13;
    spectrum->whole = size <= spectrum->capacity;
    for (size_t k = size; status == SG_OK && k > 0; k--)
        keep(spectrum, w.values[k - 1], dot(w.vectors + (k - 1) * size, r, size), dot(r, r, size));
    sgi_release(allocator, w.values);
    sgi_release(allocator, w.vectors);
    sgi_release(allocator, w.work);
    sgi_release(allocator, w.support);
    sgi_release(allocator, w.whole);
    return status;
}

/* ---- Lanczos ----------------------------------------------------------------------------------
 */

/* A basis of the space spanned by start, A start, A^2 start ..., in which A is tridiagonal. */
typedef struct process {
    size_t size, most, steps;
    double *basis;          /* (most + 1, size) orthonormal rows */
    double *diagonal, *off; /* (most) */
    double *vectors;        /* (most, most): of the tridiagonal matrix, one after the other */
    double *work;           /* (2 most) */
} process;

static double *row(const process *p, size_t k)
{
    return p->basis + k * p->size;
}

static sg_status process_create(process *p, const sg_allocator *allocator)
{
    p->basis = sgi_allocate(allocator, (p->most + 1) * p->size, sizeof(double));
    p->diagonal = sgi_allocate(allocator, p->most, sizeof(double));
    p->off = sgi_allocate(allocator, p->most, sizeof(double));
    p->vectors = sgi_allocate(allocator, p->most * p->most, sizeof(double));
    p->work = sgi_allocate(allocator, 2 * p->most, sizeof(double));
    return p->basis && p->diagonal && p->off && p->vectors && p->work ? SG_OK : SG_ERROR_MEMORY;
}

static void process_release(process *p, const sg_allocator *allocator)
{
    sgi_release(allocator, p->basis);
    sgi_release(allocator, p->diagonal);
    sgi_release(allocator, p->off);
    sgi_release(allocator, p->vectors);
    sgi_release(allocator, p->work);
}

/* r and a random vector, each of length 1. */
static void start(process *p, const double *r)
{
    double *v = row(p, 0);
    for (size_t i = 0; i < p->size; i++)
        v[i] = sgi_random_normal(1, 0, i);
    scale(v, 1 / sqrt(dot(v, v, p->size)), p->size);
    double length = sqrt(dot(r, r, p->size));
    if (length > 0)
        add(v, 1 / length, r, p->size);
    scale(v, 1 / sqrt(dot(v, v, p->size)), p->size);
}

/* Twice is enough (Kahan and Parlett). */
static void orthogonalise(const process *p, double *vector, size_t rows)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < rows; k++)
            add(vector, -dot(row(p, k), vector, p->size), row(p, k), p->size);
}

/* One more row of the basis. The space is exhausted when nothing new is left of A times the last.
 */
static sg_status extend(process *p, sgi_multiply_function *multiply, void *context, bool *exhausted)
{
    size_t k = p->steps;
    double *next = row(p, k + 1);
    sg_status status = multiply(context, row(p, k), next);
    if (status != SG_OK)
        return status;
    double before = sqrt(dot(next, next, p->size));
    if (!isfinite(before))
        return SG_ERROR_STATE;
    p->diagonal[k] = dot(row(p, k), next, p->size);
    orthogonalise(p, next, k + 1);
    p->off[k] = sqrt(dot(next, next, p->size));
    p->steps++;
    *exhausted = p->steps == p->size || p->off[k] <= 1e-14 * before;
    if (*exhausted)
        p->off[k] = 0;
    else
        scale(next, 1 / p->off[k], p->size);
    return SG_OK;
}

/* Along which part of r the eigenvector lies that has `weights` (steps) in the basis. */
static double along(const process *p, const double *weights, const double *r)
{
    double sum = 0;
    for (size_t k = 0; k < p->steps; k++)
        sum += weights[k] * dot(row(p, k), r, p->size);
    return sum;
}

/* From the tridiagonal matrix; an eigenvalue is off by what its vector has in the last row times
 * the next off-diagonal number, at most. */
static sg_status read_off(process *p, sgi_spectrum *spectrum, const double *r)
{
    int n = (int)p->steps, info;
    size_t last = p->steps - 1;
    double beyond = p->off[last], length2 = dot(r, r, p->size);
    dstev_("V", &n, p->diagonal, p->off, p->vectors, &n, p->work, &info, 1);
    if (info != 0)
        return SG_ERROR_STATE;
    for (size_t k = p->steps; k > 0; k--) {
        const double *weights = p->vectors + (k - 1) * p->steps;
        double value = p->diagonal[k - 1], bound = fabs(beyond * weights[last]);
        if (spectrum->count == 0)
            spectrum->error = value > 0 ? bound / value : 0;
        else if (!(bound <= 1e-2 * value) && beyond > 0)
            break;
        keep(spectrum, value, along(p, weights, r), length2);
    }
    spectrum->whole = p->steps == p->size && spectrum->count == p->size;
    return SG_OK;
}

sg_status sgi_spectrum_lanczos(sgi_spectrum *spectrum, sgi_multiply_function *multiply,
                               void *context, size_t size, const double *r, size_t products,
                               const sg_allocator *allocator)
{
    if (size < 1 || products < 1)
        return SG_ERROR_ARGUMENT;
    process p = {.size = size, .most = products < size ? products : size};
    if (p.most > INT_MAX)
        return SG_ERROR_ARGUMENT;
    bool exhausted = false;
    sg_status status = process_create(&p, allocator);
    spectrum->count = 0;
    if (status == SG_OK)
        start(&p, r);
    while (status == SG_OK && p.steps < p.most && !exhausted)
        status = extend(&p, multiply, context, &exhausted);
    spectrum->products = p.steps;
    if (status == SG_OK)
        status = read_off(&p, spectrum, r);
    process_release(&p, allocator);
    return status;
}
