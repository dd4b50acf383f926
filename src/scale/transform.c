/* What a measured step does to the gradients: in memory, or inside the optimizer's pass. A factor
 * is left to the optimizer's own loops; what is no multiplication by one number is rewritten. */
#include <math.h>
#include <string.h>

#include "scale/inside.h"

static bool in_force(const sg_scaler *scaler, sg_method method)
{
    return scaler->report.outcome == SG_STEP_SCALED && scaler->config.method == method;
}

/* ---- Rewriting ---------------------------------------------------------------------------- */

static bool centred(const sg_scaler *scaler, const sgi_block *block)
{
    return in_force(scaler, SG_METHOD_ZNORM) && sgi_block_scalable(block, 1, scaler->config.eps);
}

/* A block of one element is not moved to 0: |g| stands in for its deviation. */
static double centre_of(const sgi_block *block)
{
    return block->moments.count == 1 ? 0 : block->moments.mean;
}

bool sgi_scaler_rewrites(const sg_scaler *scaler, size_t span)
{
    const sgi_block *block = &scaler->blocks[scaler->block_of_span[span]];
    return block->touched && (in_force(scaler, SG_METHOD_SIGN) || centred(scaler, block) ||
                              (in_force(scaler, SG_METHOD_AGC) && scaler->rows.clipped[span]));
}

/* Multiplies the part of each row that lies in the stretch. */
static void clip_rows(const sg_scaler *scaler, size_t span, size_t begin, size_t count, void *to)
{
    const sg_span *s = &scaler->params->spans[span];
    const sgi_rows *rows = &scaler->rows;
    size_t first = rows->first[span], length = rows->places[first].count;
    for (size_t at = begin; at < begin + count;) {
        size_t row = at / length, end = (row + 1) * length;
        size_t n = (end < begin + count ? end : begin + count) - at;
        double factor = rows->factors[first + row];
        if (factor < 1)
            scaler->kernels->multiply[s->type](sgi_element(to, s->type, at - begin), n, factor);
        at += n;
    }
}

void sgi_scaler_rewrite(const sg_scaler *scaler, size_t span, size_t begin, size_t count, void *to)
{
    const sg_span *s = &scaler->params->spans[span];
    const sgi_block *block = &scaler->blocks[scaler->block_of_span[span]];
    const void *from = sgi_element(s->gradient, s->type, begin);
    switch (scaler->config.method) {
    case SG_METHOD_SIGN:
        scaler->kernels->sign[s->type](to, from, count);
        break;
    case SG_METHOD_ZNORM:
        scaler->kernels->centre[s->type](to, from, count, centre_of(block),
                                         sgi_scaler_factor(scaler, span));
        break;
    case SG_METHOD_AGC:
        if (to != from)
            memcpy(to, from, count * sgi_type_size(s->type));
        clip_rows(scaler, span, begin, count, to);
        break;
    case SG_METHOD_STABLEGRAD:
    case SG_METHOD_NONE:
        break;
    }
}

static void apply_unit(void *context, size_t index, int worker)
{
    (void)worker;
    sg_scaler *scaler = context;
    const sgi_unit *unit = &scaler->params->units[index];
    const sg_span *span = &scaler->params->spans[unit->span];
    void *values = sgi_element(span->gradient, span->type, unit->begin);
    if (!values)
        return;
    double factor = sgi_scaler_factor(scaler, unit->span);
    if (sgi_scaler_rewrites(scaler, unit->span))
        sgi_scaler_rewrite(scaler, unit->span, unit->begin, unit->count, values);
    else if (factor != 1)
        scaler->kernels->multiply[span->type](values, unit->count, factor);
}

sg_status sg_scaler_apply(sg_scaler *scaler)
{
    if (!scaler)
        return SG_ERROR_ARGUMENT;
    if (scaler->phase != SG_PHASE_MEASURED)
        return SG_ERROR_ORDER;
    const sg_params *params = scaler->params;
    if (scaler->report.outcome == SG_STEP_SCALED)
        sg_pool_run(sgi_params_pool(params, scaler->pool), params->unit_count, apply_unit, scaler);
    scaler->phase = SG_PHASE_APPLIED;
    return SG_OK;
}

/* ---- For the optimizer -------------------------------------------------------------------- */

double sgi_scaler_factor(const sg_scaler *scaler, size_t span)
{
    if (in_force(scaler, SG_METHOD_AGC)) /* of rows; none of this span has one */
        return 1;
    return scaler->block_reports[scaler->block_of_span[span]].factor;
}

/* Signs have the root mean square 1; what is centred loses its mean. */
static double block_gain(const sg_scaler *scaler, size_t block)
{
    const sg_block_report *r = &scaler->block_reports[block];
    const sgi_block *b = &scaler->blocks[block];
    if (r->norm2 > 0 && b->touched && in_force(scaler, SG_METHOD_SIGN))
        return sqrt(b->moments.count / r->norm2);
    if (centred(scaler, b) && b->moments.count > 1)
        return r->factor * sqrt(b->moments.m2 / r->norm2);
    return r->factor;
}

double sgi_scaler_gain(const sg_scaler *scaler, size_t span)
{
    return block_gain(scaler, scaler->block_of_span[span]);
}

double sgi_scaler_norm2(const sg_scaler *scaler, size_t span)
{
    return scaler->block_reports[scaler->block_of_span[span]].norm2;
}

sgi_scaler_view sgi_scaler_look(const sg_scaler *scaler)
{
    sgi_scaler_view view = {.params = scaler->params,
                            .phase = scaler->phase,
                            .outcome = scaler->report.outcome,
                            .handover = scaler->config.handover,
                            .sign = in_force(scaler, SG_METHOD_SIGN)};
    for (size_t b = 0; b < scaler->block_count; b++) {
        double a = block_gain(scaler, b), norm2 = scaler->block_reports[b].norm2;
        view.norm2 += a * a * norm2;
        view.raw_norm2 += norm2;
    }
    return view;
}

sg_status sgi_scaler_sum(const sg_scaler *scaler, double *values, size_t count)
{
    const sg_scale_config *config = &scaler->config;
    if (!config->reduce || config->sharding != SG_GRADIENTS_SHARDED)
        return SG_OK;
    return config->reduce(config->reduce_context, values, count) == 0 ? SG_OK : SG_ERROR_REDUCE;
}

void sgi_scaler_consume(sg_scaler *scaler)
{
    scaler->phase = SG_PHASE_IDLE;
}
