/* The covariance of parameters: see uncertainty.h. */
#include "pinn/uncertainty.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "second/cholesky.h"

/* What is added to the diagonal, relative to it: as little as rounding allows. */
static const double LEAST = 1e-13, MOST = 1e-6;

struct sgi_uncertainty {
    sg_allocator allocator;
    size_t parameters, unknowns;
    double *factor;     /* of the scaled matrix */
    double *scale;      /* (parameters): 1 / length of the column */
    double *directions; /* (unknowns, parameters): a_j */
    double added;
};

/* The lower triangle of the scaled matrix, with what is added. */
static void scale_matrix(sgi_uncertainty *u, const double *matrix)
{
    size_t n = u->parameters;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            u->factor[i * n + j] = matrix[i * n + j] * u->scale[i] * u->scale[j];
        u->factor[i * n + i] = 1 + u->added;
    }
}

static sg_status factor(sgi_uncertainty *u, const double *matrix, sgi_cholesky *cholesky)
{
    for (u->added = LEAST; u->added <= MOST; u->added *= 10) {
        scale_matrix(u, matrix);
        if (sgi_cholesky_factor(cholesky, u->factor, u->parameters))
            return SG_OK;
    }
    return SG_ERROR_UNSUPPORTED;
}

/* vector <- G^-1 vector */
static void solve(const sgi_uncertainty *u, double *vector)
{
    for (size_t i = 0; i < u->parameters; i++)
        vector[i] *= u->scale[i];
    sgi_cholesky_solve(u->factor, u->parameters, vector);
    for (size_t i = 0; i < u->parameters; i++)
        vector[i] *= u->scale[i];
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static sg_status prepare(sgi_uncertainty *u, const double *matrix, sg_pool *pool, sg_isa isa)
{
    size_t n = u->parameters;
    sgi_cholesky *cholesky;
    u->factor = sgi_allocate(&u->allocator, n * n, sizeof *u->factor);
    u->scale = sgi_allocate(&u->allocator, n, sizeof *u->scale);
    u->directions = sgi_allocate(&u->allocator, u->unknowns * n, sizeof *u->directions);
    if (!u->factor || !u->scale || !u->directions)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        double square = matrix[i * n + i];
        if (!isfinite(square))
            return SG_ERROR_UNSUPPORTED;
        u->scale[i] = square > 0 ? 1 / sqrt(square) : 1;
    }
    sg_status status = sgi_cholesky_create(&cholesky, pool, isa, &u->allocator);
    if (status == SG_OK)
        status = factor(u, matrix, cholesky);
    sgi_cholesky_destroy(cholesky);
    for (size_t j = 0; j < u->unknowns && status == SG_OK; j++) {
        u->directions[j * n + n - u->unknowns + j] = 1;
        solve(u, u->directions + j * n);
    }
    return status;
}

sg_status sgi_uncertainty_create(sgi_uncertainty **out, const double *matrix, size_t parameters,
                                 size_t unknowns, sg_pool *pool, sg_isa isa,
                                 const sg_allocator *given)
{
    *out = NULL;
    sgi_uncertainty *u = SGI_NEW(sgi_uncertainty, given);
    if (!u)
        return SG_ERROR_MEMORY;
    u->parameters = parameters;
    u->unknowns = unknowns;
    sg_status status = prepare(u, matrix, pool, isa);
    if (status == SG_OK)
        *out = u;
    else
        sgi_uncertainty_destroy(u);
    return status;
}

void sgi_uncertainty_destroy(sgi_uncertainty *u)
{
    if (!u)
        return;
    sgi_release(&u->allocator, u->factor);
    sgi_release(&u->allocator, u->scale);
    sgi_release(&u->allocator, u->directions);
    sgi_release(&u->allocator, u);
}

void sgi_uncertainty_add(const sgi_uncertainty *u, const double *rows, size_t count,
                         double variance, double *covariance)
{
    size_t n = u->parameters, m = u->unknowns;
    for (size_t r = 0; r < count; r++)
        for (size_t j = 0; j < m; j++) {
            double moved = variance * dot(rows + r * n, u->directions + j * n, n);
            for (size_t k = 0; k < m; k++)
                covariance[j * m + k] += moved * dot(rows + r * n, u->directions + k * n, n);
        }
}

double sgi_uncertainty_leverage(const sgi_uncertainty *u, const double *row, double *scratch)
{
    memcpy(scratch, row, u->parameters * sizeof *scratch);
    solve(u, scratch);
    return dot(row, scratch, u->parameters);
}

void sgi_uncertainty_moves(const sgi_uncertainty *u, const double *gradient, double *moves)
{
    for (size_t j = 0; j < u->unknowns; j++)
        moves[j] = -dot(u->directions + j * u->parameters, gradient, u->parameters);
}

double sgi_uncertainty_freedom(const sgi_uncertainty *u, const double *coefficients,
                               double *scratch)
{
    size_t n = u->parameters;
    double all = 0, held = 0;
    memset(scratch, 0, n * sizeof *scratch);
    for (size_t j = 0; j < u->unknowns; j++)
        for (size_t i = 0; i < n; i++)
            scratch[i] += coefficients[j] * u->directions[j * n + i];
    for (size_t j = 0; j < u->unknowns; j++)
        all += coefficients[j] * scratch[n - u->unknowns + j];
    for (size_t i = 0; i < n; i++)
        held += scratch[i] / u->scale[i] * (scratch[i] / u->scale[i]);
    return all > 0 ? u->added * held / all : 1;
}

void sgi_uncertainty_block(const sgi_uncertainty *u, double *block)
{
    size_t m = u->unknowns, n = u->parameters;
    for (size_t j = 0; j < m; j++)
        for (size_t k = 0; k < m; k++)
            block[j * m + k] =
                (u->directions[j * n + n - m + k] + u->directions[k * n + n - m + j]) / 2;
}

/* ---- Small matrices ---------------------------------------------------------------------------
 */

/* Rotates rows and columns p and q so that the element between them becomes 0. */
static void rotate(double *a, double *vectors, size_t n, size_t p, size_t q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / hypot(t, 1), s = t * c;
    for (size_t k = 0; k < n; k++) {
        double kp = a[k * n + p], kq = a[k * n + q];
        a[k * n + p] = c * kp - s * kq;
        a[k * n + q] = s * kp + c * kq;
    }
    for (size_t k = 0; k < n; k++) {
        double pk = a[p * n + k], qk = a[q * n + k];
        double pv = vectors[p * n + k], qv = vectors[q * n + k];
        a[p * n + k] = c * pk - s * qk;
        a[q * n + k] = s * pk + c * qk;
        vectors[p * n + k] = c * pv - s * qv;
        vectors[q * n + k] = s * pv + c * qv;
    }
    a[p * n + q] = a[q * n + p] = 0;
}

static void swap_rows(double *values, double *vectors, size_t n, size_t i, size_t j)
{
    double value = values[i];
    values[i] = values[j];
    values[j] = value;
    for (size_t k = 0; k < n; k++) {
        double element = vectors[i * n + k];
        vectors[i * n + k] = vectors[j * n + k];
        vectors[j * n + k] = element;
    }
}

void sgi_small_eigen(double *matrix, size_t n, double *values, double *vectors)
{
    for (size_t i = 0; i < n * n; i++)
        vectors[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (matrix[p * n + q] != 0)
                    rotate(matrix, vectors, n, p, q);
    for (size_t i = 0; i < n; i++)
        values[i] = matrix[i * n + i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (values[j] < values[i])
                swap_rows(values, vectors, n, i, j);
}
