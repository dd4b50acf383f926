/* Cholesky's factors: see cholesky.h. */
#include "second/cholesky.h"

#include <math.h>

#include "base/memory.h"
#include "kernel/kernels.h"
#include "second/vectors.h"

enum {
    BLOCK = SGI_SOLVE_N, /* columns that are factored together */
    UNIT_ROWS = 96       /* rows of a block of columns that a thread works on at a time */
};

struct sgi_cholesky {
    sg_allocator allocator;
    sg_pool *pool;
    const sgi_kernels *kernels;
    char *scratch; /* (threads, scratch_bytes) */
    size_t scratch_bytes;
};

sg_status sgi_cholesky_create(sgi_cholesky **out, sg_pool *pool, sg_isa isa,
                              const sg_allocator *given)
{
    *out = NULL;
    isa = sg_isa_resolve(isa);
    if (isa == SG_ISA_AUTO)
        return SG_ERROR_UNSUPPORTED;
    sgi_cholesky *c = SGI_NEW(sgi_cholesky, given);
    if (!c)
        return SG_ERROR_MEMORY;
    c->pool = pool;
    c->kernels = sgi_kernels_for(isa, SG_FLOAT64);
    c->scratch_bytes = sgi_align_up(c->kernels->multiply_scratch() * sizeof(double), SG_ALIGNMENT);
    c->scratch = sgi_allocate(&c->allocator, (size_t)sg_pool_threads(pool), c->scratch_bytes);
    if (!c->scratch) {
        sgi_cholesky_destroy(c);
        return SG_ERROR_MEMORY;
    }
    *out = c;
    return SG_OK;
}

void sgi_cholesky_destroy(sgi_cholesky *c)
{
    if (!c)
        return;
    sgi_release(&c->allocator, c->scratch);
    sgi_release(&c->allocator, c);
}

/* ---- One block of columns ---------------------------------------------------------------------
 */

typedef struct block_job {
    sgi_cholesky *cholesky;
    double *matrix;
    size_t size;
    size_t first, columns; /* of the block */
    size_t rows_from;      /* the units' rows begin here */
} block_job;

/* Takes from `rows` rows of the block what the columns before it contribute. */
static void subtract(const block_job *job, size_t row, size_t rows, int worker)
{
    const sgi_cholesky *c = job->cholesky;
    sgi_multiply args = {.m = rows,
                         .n = job->columns,
                         .k = job->first,
                         .a = job->matrix + row * job->size,
                         .b = job->matrix + job->first * job->size,
                         .a_row = job->size,
                         .a_step = 1,
                         .b_row = job->size,
                         .b_step = 1,
                         .factor = -1,
                         .c = job->matrix + row * job->size + job->first,
                         .c_row = job->size};
    if (job->first > 0)
        c->kernels->multiply(&args, c->scratch + (size_t)worker * c->scratch_bytes);
}

/* The square on the diagonal. */
static bool factor_square(const block_job *job)
{
    double *square = job->matrix + job->first * job->size + job->first;
    for (size_t i = 0; i < job->columns; i++) {
        double *row = square + i * job->size;
        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - sgi_dot(row, square + j * job->size, j)) / square[j * job->size + j];
        double left = row[i] - sgi_dot(row, row, i);
        if (!(left > 0) || !isfinite(left))
            return false;
        row[i] = sqrt(left);
    }
    return true;
}

/* x L^T = row for `rows` rows. */
static void solve_rows(const block_job *job, size_t row, size_t rows)
{
    sgi_solve_rows args = {.n = job->columns,
                           .count = rows,
                           .factor = job->matrix + job->first * job->size + job->first,
                           .factor_row = job->size,
                           .rows = job->matrix + row * job->size + job->first,
                           .row = job->size};
    job->cholesky->kernels->solve(&args);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows below the square. */
static void rows_below(void *context, size_t unit, int worker)
{
    const block_job *job = context;
    size_t row = job->rows_from + unit * UNIT_ROWS, end = smaller(row + UNIT_ROWS, job->size);
    subtract(job, row, end - row, worker);
    solve_rows(job, row, end - row);
}

bool sgi_cholesky_factor(sgi_cholesky *cholesky, double *matrix, size_t size)
{
    for (size_t first = 0; first < size; first += BLOCK) {
        block_job job = {.cholesky = cholesky,
                         .matrix = matrix,
                         .size = size,
                         .first = first,
                         .columns = smaller(size - first, BLOCK)};
        subtract(&job, first, job.columns, 0);
        if (!factor_square(&job))
            return false;
        job.rows_from = first + job.columns;
        sg_pool_run(cholesky->pool, sgi_parts(size - job.rows_from, UNIT_ROWS), rows_below, &job);
    }
    return true;
}

void sgi_cholesky_solve(const double *factor, size_t size, double *vector)
{
    for (size_t i = 0; i < size; i++) {
        const double *row = factor + i * size;
        vector[i] = (vector[i] - sgi_dot(row, vector, i)) / row[i];
    }
    for (size_t i = size; i > 0; i--) {
        const double *row = factor + (i - 1) * size;
        vector[i - 1] /= row[i - 1];
        sgi_add(vector, -vector[i - 1], row, i - 1);
    }
}
