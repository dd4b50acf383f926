/* Causal weights: see causal.h. */
#include "pinn/causal.h"

#include <math.h>
#include <string.h>

struct sgi_causal {
    sg_allocator allocator;
    sg_pinn_batch *batch;
    double eps;
    sgi_time_factors table;
    double *factors;   /* (chunks): the caller's */
    double *losses;    /* (2, chunks): sums of squares, and points */
    double *residuals; /* of the whole batch */
    double *points;    /* (items, coordinates) */
    size_t coordinates, components;
    size_t items, rows; /* that there is room for: of the equations, and residuals of all sets */
};

size_t sgi_causal_chunks(const sgi_training_settings *training)
{
    return training->causal_eps > 0 ? (size_t)training->causal_chunks : 0;
}

sg_status sgi_causal_create(sgi_causal **out, sg_pinn_batch *batch,
                            const sgi_training_settings *training, double *factors,
                            const sg_allocator *given)
{
    *out = NULL;
    size_t chunks = sgi_causal_chunks(training);
    if (chunks == 0)
        return SG_OK;
    const sg_pinn *pinn = sgi_pinn_of(batch);
    int time = pinn->problem->names.time;
    if (time < 0)
        return SG_ERROR_ARGUMENT;
    sgi_causal *c = SGI_NEW(sgi_causal, given);
    if (!c)
        return SG_ERROR_MEMORY;
    c->batch = batch;
    c->eps = training->causal_eps;
    c->coordinates = pinn->information.coordinate_count;
    c->components = pinn->information.sets[0].components;
    c->factors = factors;
    for (size_t k = 0; k < chunks; k++)
        factors[k] = 1;
    c->table = (sgi_time_factors){.time = time,
                                  .begin = pinn->problem->lower[time],
                                  .end = pinn->problem->upper[time],
                                  .count = chunks,
                                  .values = factors};
    c->items = sg_pinn_items(batch, 0);
    c->rows = sg_pinn_residual_count(batch);
    c->losses = sgi_allocate(&c->allocator, 2 * chunks, sizeof *c->losses);
    c->residuals = sgi_allocate(&c->allocator, c->rows, sizeof *c->residuals);
    c->points = sgi_allocate(&c->allocator, c->items * c->coordinates, sizeof *c->points);
    if (!c->losses || !c->residuals || !c->points) {
        sgi_causal_destroy(c);
        return SG_ERROR_MEMORY;
    }
    *out = c;
    return SG_OK;
}

void sgi_causal_destroy(sgi_causal *c)
{
    if (!c)
        return;
    sgi_release(&c->allocator, c->losses);
    sgi_release(&c->allocator, c->residuals);
    sgi_release(&c->allocator, c->points);
    sgi_release(&c->allocator, c);
}

/* The loss of each chunk: the residual vector has sqrt(2 w / N) r. */
static void add_losses(sgi_causal *c, size_t items)
{
    double *squares = c->losses, *counts = c->losses + c->table.count;
    memset(c->losses, 0, 2 * c->table.count * sizeof *c->losses);
    for (size_t i = 0; i < items; i++) {
        const double *r = c->residuals + i * c->components;
        size_t k = sgi_time_chunk(&c->table, c->points[i * c->coordinates + (size_t)c->table.time]);
        for (size_t j = 0; j < c->components; j++)
            squares[k] += 0.5 * (double)items * r[j] * r[j];
        counts[k] += 1;
    }
    for (size_t k = 0; k < c->table.count; k++)
        squares[k] = counts[k] > 0 ? squares[k] / counts[k] : 0;
}

void sgi_causal_use(const sgi_causal *c)
{
    sgi_residual_weigh_time(sgi_pinn_residual(c->batch), 0, &c->table);
}

sg_status sgi_causal_measure(sgi_causal *c)
{
    double before = 0;
    if (sg_pinn_items(c->batch, 0) > c->items || sg_pinn_residual_count(c->batch) > c->rows)
        return SG_ERROR_ARGUMENT;
    sgi_residual_weigh_time(sgi_pinn_residual(c->batch), 0, NULL);
    sgi_pinn_point_residuals(c->batch, c->residuals);
    sgi_causal_use(c);
    sg_pinn_points(c->batch, 0, c->points);
    add_losses(c, sg_pinn_items(c->batch, 0));
    for (size_t k = 0; k < c->table.count; k++) {
        double factor = exp(-0.5 * c->eps * before);
        c->factors[k] = factor > 0 ? factor : 0; /* after a loss that is not finite, too */
        before += c->losses[k];
    }
    return SG_OK;
}

double sgi_causal_factor(const sgi_causal *c, double t)
{
    return c->factors[sgi_time_chunk(&c->table, t)];
}

double sgi_causal_least(const sgi_causal *c)
{
    return c ? c->factors[c->table.count - 1] * c->factors[c->table.count - 1] : (double)NAN;
}
