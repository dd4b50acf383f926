/* Adaptive gradient clipping: see rows.h. */
#include "scale/rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "scale/inside.h"

/* ---- Making ------------------------------------------------------------------------------- */

static size_t rows_of(const sg_span *span)
{
    return span->rows > 0 ? span->rows : 1;
}

static sg_status allocate_parts(sgi_rows *rows, const sg_params *params, const sg_allocator *a)
{
    rows->first = sgi_allocate(a, params->count + 1, sizeof *rows->first);
    rows->places = sgi_allocate(a, rows->count, sizeof *rows->places);
    rows->sums = sgi_allocate(a, rows->count, sizeof *rows->sums);
    rows->factors = sgi_allocate(a, rows->count, sizeof *rows->factors);
    rows->clipped = sgi_allocate(a, params->count, sizeof *rows->clipped);
    rows->reduced = sgi_allocate(a, 2 * params->count, sizeof *rows->reduced);
    bool all = rows->first && rows->places && rows->sums && rows->factors && rows->clipped &&
               rows->reduced;
    return all ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_rows_create(sgi_rows *rows, const sg_params *params, const sg_allocator *allocator)
{
    for (size_t i = 0; i < params->count; i++) {
        if (!params->spans[i].value)
            return SG_ERROR_ARGUMENT;
        rows->count += rows_of(&params->spans[i]);
    }
    sg_status status = allocate_parts(rows, params, allocator);
    if (status != SG_OK)
        return status;
    size_t next = 0;
    for (size_t i = 0; i < params->count; i++) {
        const sg_span *span = &params->spans[i];
        size_t length = span->count / rows_of(span);
        rows->first[i] = next;
        for (size_t r = 0; r < rows_of(span); r++)
            rows->places[next++] = (sgi_unit){i, r * length, length};
    }
    rows->first[params->count] = next;
    return SG_OK;
}

void sgi_rows_destroy(sgi_rows *rows, const sg_allocator *allocator)
{
    sgi_release(allocator, rows->reduced);
    sgi_release(allocator, rows->clipped);
    sgi_release(allocator, rows->factors);
    sgi_release(allocator, rows->sums);
    sgi_release(allocator, rows->places);
    sgi_release(allocator, rows->first);
}

/* ---- A step ------------------------------------------------------------------------------- */

static double squares(const sg_scaler *scaler, void *values, const sgi_unit *row, sg_type type)
{
    if (!values)
        return 0;
    sg_moments m =
        scaler->kernels->moments[type](sgi_element(values, type, row->begin), row->count);
    return m.m2 + m.count * m.mean * m.mean;
}

static void measure_row(void *context, size_t index, int worker)
{
    (void)worker;
    sg_scaler *scaler = context;
    const sgi_unit *row = &scaler->rows.places[index];
    const sg_span *span = &scaler->params->spans[row->span];
    scaler->rows.sums[index][0] = squares(scaler, span->value, row, span->type);
    scaler->rows.sums[index][1] = squares(scaler, span->gradient, row, span->type);
}

/* A rank that holds a part of the tensors holds whole rows of them; a tensor without rows is summed
 * over the ranks. */
static sg_status reduce_tensors(sg_scaler *scaler)
{
    sgi_rows *rows = &scaler->rows;
    const sg_params *params = scaler->params;
    for (size_t i = 0; i < params->count; i++)
        for (size_t k = 0; k < 2; k++)
            rows->reduced[2 * i + k] = params->spans[i].rows ? 0 : rows->sums[rows->first[i]][k];
    return sgi_scaler_sum(scaler, rows->reduced, 2 * params->count);
}

/* 1 as well where the values are not finite, which no clipping mends. */
static double factor_of(const double sums[2], const sg_scale_config *config)
{
    double most = config->threshold * fmax(sqrt(sums[0]), config->floor), norm = sqrt(sums[1]);
    return isfinite(sums[0]) && norm > most ? most / norm : 1;
}

static sg_status reduce_blocks(sg_scaler *scaler)
{
    double *left = scaler->rows.reduced; /* there are at most as many blocks as spans */
    for (size_t b = 0; b < scaler->block_count; b++)
        left[b] = scaler->blocks[b].clipped2;
    sg_status status = sgi_scaler_sum(scaler, left, scaler->block_count);
    for (size_t b = 0; b < scaler->block_count && status == SG_OK; b++)
        scaler->blocks[b].clipped2 = left[b];
    return status;
}

sg_status sgi_rows_measure(sg_scaler *scaler)
{
    sgi_rows *rows = &scaler->rows;
    sg_pool_run(sgi_params_pool(scaler->params, scaler->pool), rows->count, measure_row, scaler);
    sg_status status = reduce_tensors(scaler);
    if (status != SG_OK)
        return status;
    memset(rows->clipped, 0, scaler->params->count * sizeof *rows->clipped);
    for (size_t b = 0; b < scaler->block_count; b++)
        scaler->blocks[b].clipped2 = 0;
    for (size_t r = 0; r < rows->count; r++) {
        size_t span = rows->places[r].span;
        bool whole = scaler->params->spans[span].rows == 0;
        double a = factor_of(whole ? &rows->reduced[2 * span] : rows->sums[r], &scaler->config);
        rows->factors[r] = a;
        rows->clipped[span] = rows->clipped[span] || a < 1;
        /* What is left of the block: every rank adds its own elements, once. */
        scaler->blocks[scaler->block_of_span[span]].clipped2 += a * a * rows->sums[r][1];
    }
    return reduce_blocks(scaler);
}
