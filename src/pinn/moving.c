/* Points where the residual is large: see moving.h. */
#include "pinn/moving.h"

#include <string.h>

#include "base/random.h"
#include "pinn/selection.h"

enum {
    CANDIDATES = 5,      /* for each point */
    SHARE = 4,           /* a condition has one point for this many of the domain's, */
    LEAST_CONDITION = 64 /* but not fewer than this */
};

/* Of the random numbers where a selection begins; no stream of points has this number. */
static const uint64_t OFFSET_STREAM = (uint64_t)9 << 60;

struct sgi_moving {
    sg_allocator allocator;
    sg_pinn_batch *batch;
    sg_pinn_batch *candidates;
    size_t most, coordinates, components;
    double *points;    /* (most, coordinates): the caller's */
    double *tried;     /* (CANDIDATES * most, coordinates) */
    double *residuals; /* of the candidates, and a few items of each condition */
    double *weights;   /* (CANDIDATES * most) */
    size_t *indices;   /* (most) */
};

/* ---- Making -----------------------------------------------------------------------------------
 */

static sg_status create_candidates(sgi_moving *r, const sg_pinn *pinn, sg_pool *pool, sg_isa isa)
{
    size_t items[SG_MOST_SETS];
    for (size_t s = 0; s < pinn->information.set_count; s++)
        items[s] = s ? LEAST_CONDITION : CANDIDATES * r->most;
    sg_pinn_batch_config config = {
        .stream = SG_POINTS_CANDIDATES, .items = items, .pool = pool, .isa = isa};
    sg_status status =
        sg_pinn_batch_create(&r->candidates, (sg_pinn *)(uintptr_t)pinn, &config, &r->allocator);
    if (status != SG_OK)
        return status;
    r->residuals =
        sgi_allocate(&r->allocator, sg_pinn_residual_count(r->candidates), sizeof(double));
    return r->residuals ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_moving_create(sgi_moving **out, sg_pinn_batch *batch, size_t most, double *points,
                            sg_pool *pool, sg_isa isa, const sg_allocator *given)
{
    *out = NULL;
    const sg_pinn *pinn = sgi_pinn_of(batch);
    sgi_moving *r = SGI_NEW(sgi_moving, given);
    if (!r)
        return SG_ERROR_MEMORY;
    r->batch = batch;
    r->most = most;
    r->points = points;
    r->coordinates = pinn->information.coordinate_count;
    r->components = pinn->information.sets[0].components;
    r->tried = sgi_allocate(&r->allocator, CANDIDATES * most, r->coordinates * sizeof(double));
    r->weights = sgi_allocate(&r->allocator, CANDIDATES * most, sizeof(double));
    r->indices = sgi_allocate(&r->allocator, most, sizeof *r->indices);
    sg_status status = r->tried && r->weights && r->indices ? create_candidates(r, pinn, pool, isa)
                                                            : SG_ERROR_MEMORY;
    if (status == SG_OK)
        *out = r;
    else
        sgi_moving_destroy(r);
    return status;
}

void sgi_moving_destroy(sgi_moving *r)
{
    if (!r)
        return;
    sg_pinn_batch_destroy(r->candidates);
    sgi_release(&r->allocator, r->tried);
    sgi_release(&r->allocator, r->residuals);
    sgi_release(&r->allocator, r->weights);
    sgi_release(&r->allocator, r->indices);
    sgi_release(&r->allocator, r);
}

/* ---- Drawing ----------------------------------------------------------------------------------
 */

size_t sgi_moving_items(const sg_pinn *pinn, size_t set, size_t count)
{
    size_t asked = pinn->information.sets[set].items, share = count / SHARE;
    if (pinn->problem->sets[set].integral || pinn->problem->sets[set].kind == SG_SET_DATA)
        return asked;
    if (pinn->problem->sets[set].kind == SG_SET_DOMAIN) /* a region with an equation of its own */
        return count;
    share = share > LEAST_CONDITION ? share : LEAST_CONDITION;
    return asked < share ? asked : share;
}

void sgi_moving_use(sgi_moving *r, uint64_t draw, size_t count)
{
    const sg_pinn *pinn = sgi_pinn_of(r->batch);
    sgi_pinn_lend(r->batch, 0, r->points, count);
    for (size_t s = 1; s < pinn->information.set_count; s++)
        if (!pinn->problem->sets[s].integral) /* which has its own */
            sgi_pinn_resize(r->batch, s, sgi_moving_items(pinn, s, count));
    sg_pinn_draw(r->batch, draw);
}

static void weigh_by_time(sgi_moving *r, size_t count, const sgi_causal *causal)
{
    size_t time = (size_t)sgi_pinn_of(r->batch)->problem->names.time;
    for (size_t i = 0; causal && i < count; i++)
        r->weights[i] *= sgi_causal_factor(causal, r->tried[i * r->coordinates + time]);
}

void sgi_moving_draw(sgi_moving *r, uint64_t draw, size_t count, const sgi_causal *causal)
{
    uint64_t seed = sgi_pinn_of(r->batch)->information.seed;
    sgi_pinn_resize(r->candidates, 0, CANDIDATES * count);
    sg_pinn_draw(r->candidates, draw);
    sg_pinn_residuals(r->candidates, r->residuals);
    sg_pinn_points(r->candidates, 0, r->tried);
    sgi_select_sizes(r->residuals, CANDIDATES * count, r->components, r->weights);
    weigh_by_time(r, CANDIDATES * count, causal);
    sgi_select_weights(r->weights, CANDIDATES * count, 1, 1, r->weights);
    sgi_select_once(r->weights, CANDIDATES * count, count);
    sgi_select(r->weights, CANDIDATES * count, sgi_random_uniform(seed, OFFSET_STREAM, draw),
               r->indices, count);
    for (size_t i = 0; i < count; i++)
        memcpy(r->points + i * r->coordinates, r->tried + r->indices[i] * r->coordinates,
               r->coordinates * sizeof *r->points);
    sgi_moving_use(r, draw, count);
}
