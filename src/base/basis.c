/* See basis.h. */
#include "base/basis.h"

#include <math.h>

#include "base/memory.h"

/* What rounding may leave of a sum that is zero in exact arithmetic, relative to its terms. */
static const double ROUNDING = 1e-12;

sg_status sgi_basis_create(sgi_basis *basis, size_t columns, size_t most,
                           const sg_allocator *allocator)
{
    *basis = (sgi_basis){.columns = columns,
                         .most = most,
                         .rows = sgi_allocate(allocator, most * columns, sizeof(double)),
                         .pivots = sgi_allocate(allocator, most, sizeof(size_t)),
                         .mixes = sgi_allocate(allocator, most * most, sizeof(double)),
                         .rest = sgi_allocate(allocator, columns, sizeof(double)),
                         .size = sgi_allocate(allocator, columns, sizeof(double))};
    bool good = basis->rows && basis->pivots && basis->mixes && basis->rest && basis->size;
    return good ? SG_OK : SG_ERROR_MEMORY;
}

void sgi_basis_release(sgi_basis *basis, const sg_allocator *allocator)
{
    sgi_release(allocator, basis->rows);
    sgi_release(allocator, basis->pivots);
    sgi_release(allocator, basis->mixes);
    sgi_release(allocator, basis->rest);
    sgi_release(allocator, basis->size);
    *basis = (sgi_basis){0};
}

bool sgi_basis_express(sgi_basis *basis, const double *vector, double *coefficients)
{
    for (size_t k = 0; k < basis->columns; k++) {
        basis->rest[k] = vector[k];
        basis->size[k] = fabs(vector[k]);
    }
    for (size_t j = 0; j < basis->most; j++)
        coefficients[j] = 0;
    for (size_t i = 0; i < basis->count; i++) {
        const double *row = basis->rows + i * basis->columns;
        double factor = basis->rest[basis->pivots[i]];
        for (size_t k = 0; k < basis->columns; k++) {
            basis->rest[k] -= factor * row[k];
            basis->size[k] += fabs(factor * row[k]);
        }
        basis->rest[basis->pivots[i]] = 0;
        for (size_t j = 0; j <= i; j++)
            coefficients[j] += factor * basis->mixes[i * basis->most + j];
    }
    bool all = true;
    for (size_t k = 0; k < basis->columns; k++)
        all = all && fabs(basis->rest[k]) <= ROUNDING * basis->size[k];
    return all;
}

bool sgi_basis_add(sgi_basis *basis, const double *vector, double *coefficients)
{
    if (sgi_basis_express(basis, vector, coefficients))
        return false;
    size_t i = basis->count++, pivot = 0;
    double *row = basis->rows + i * basis->columns, *mix = basis->mixes + i * basis->most;
    for (size_t k = 0; k < basis->columns; k++)
        if (fabs(basis->rest[k]) > fabs(basis->rest[pivot]))
            pivot = k;
    double scale = basis->rest[pivot];
    basis->pivots[i] = pivot;
    for (size_t k = 0; k < basis->columns; k++)
        row[k] = basis->rest[k] / scale;
    for (size_t j = 0; j < i; j++)
        mix[j] = -coefficients[j] / scale;
    mix[i] = 1 / scale;
    return true;
}
