/* The scaler: statistics of each block's gradient, the reference scale, the factors.
 *
 * The gradients are read once, unit by unit, on all threads; the units' moments are merged in unit
 * order, so the result does not depend on the number of threads. Over several ranks two rounds of
 * sums are reduced: first counts and sums, which give the global means, then squared deviations
 * from those means. */
#include "scale/inside.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "scale/blocks.h"
#include "scale/combine.h"

/* ---- Making ------------------------------------------------------------------------------- */

sg_scale_config sg_scale_defaults(void)
{
    return (sg_scale_config){
        .method = SG_METHOD_STABLEGRAD,
        .reference = SG_REFERENCE_OUTPUT,
        .blocks = SG_BLOCKS_LAYER,
        .constant = 1,
        .eps = 1e-8,
        .from = 0,
        .until = SG_FOREVER,
        .handover = SG_HANDOVER_CONVERT,
        .sharding = SG_GRADIENTS_REPLICATED,
        .isa = SG_ISA_AUTO,
        .threshold = 0.01,
        .floor = 1e-3,
    };
}

static bool in_list(int value, int count)
{
    return value >= 0 && value < count;
}

static bool positive(double value)
{
    return isfinite(value) && value > 0;
}

static bool config_valid(const sg_scale_config *config)
{
    return in_list((int)config->method, SG_METHOD_COUNT) &&
           in_list((int)config->reference, SG_REFERENCE_COUNT) &&
           in_list((int)config->blocks, SG_BLOCKS_COUNT) &&
           in_list((int)config->sharding, SG_SHARDING_COUNT) &&
           in_list((int)config->handover, SG_HANDOVER_COUNT) &&
           (config->reference != SG_REFERENCE_CONSTANT || positive(config->constant)) &&
           (config->method != SG_METHOD_AGC ||
            (positive(config->threshold) && positive(config->floor))) &&
           isfinite(config->eps) && config->eps >= 0 && config->from <= config->until;
}

static sg_status name_blocks(sg_scaler *scaler)
{
    size_t total = 0;
    const char *first;
    for (size_t b = 0; b < scaler->block_count; b++)
        total += 1 + sgi_blocks_name(scaler->params, scaler->config.blocks, scaler->block_of_span,
                                     b, &first);
    scaler->names = sgi_allocate(&scaler->allocator, total, 1);
    if (!scaler->names)
        return SG_ERROR_MEMORY;
    char *next = scaler->names;
    for (size_t b = 0; b < scaler->block_count; b++) {
        size_t length = sgi_blocks_name(scaler->params, scaler->config.blocks,
                                        scaler->block_of_span, b, &first);
        memcpy(next, first, length);
        scaler->block_reports[b].name = next;
        next += length + 1;
    }
    return SG_OK;
}

/* ZNorm would make 0 of a single number, and AGC measures it by its value, which may be 0. */
static bool scales_scalars(const sg_scale_config *config)
{
    return config->scalars &&
           (config->method == SG_METHOD_STABLEGRAD || config->method == SG_METHOD_SIGN);
}

static void describe_blocks(sg_scaler *scaler)
{
    for (size_t b = 0; b < scaler->block_count; b++)
        scaler->blocks[b] = (sgi_block){.largest = DBL_MAX, .smallest = DBL_MIN, .touched = true};
    for (size_t i = 0; i < scaler->params->count; i++) {
        const sg_span *span = &scaler->params->spans[i];
        sgi_block *b = &scaler->blocks[scaler->block_of_span[i]];
        if (span->type == SG_FLOAT32) {
            b->largest = FLT_MAX;
            b->smallest = FLT_MIN;
        }
        if (scaler->config.blocks == SG_BLOCKS_WEIGHT && span->role == SG_ROLE_BIAS)
            b->touched = false;
        if (span->role == SG_ROLE_SCALAR && !scales_scalars(&scaler->config))
            b->touched = false;
    }
}

static sg_status allocate_parts(sg_scaler *scaler)
{
    const sg_params *params = scaler->params;
    const sg_allocator *a = &scaler->allocator;
    scaler->block_of_span = sgi_allocate(a, params->count, sizeof *scaler->block_of_span);
    if (!scaler->block_of_span)
        return SG_ERROR_MEMORY;
    scaler->block_count = sgi_blocks_assign(params, scaler->config.blocks, scaler->block_of_span);
    scaler->unit_moments = sgi_allocate(a, params->unit_count, sizeof *scaler->unit_moments);
    scaler->blocks = sgi_allocate(a, scaler->block_count, sizeof *scaler->blocks);
    scaler->block_reports = sgi_allocate(a, scaler->block_count, sizeof *scaler->block_reports);
    scaler->sums = sgi_allocate(a, 3 * scaler->block_count + 4, sizeof *scaler->sums);
    if (!scaler->unit_moments || !scaler->blocks || !scaler->block_reports || !scaler->sums)
        return SG_ERROR_MEMORY;
    sg_status status = name_blocks(scaler);
    if (status == SG_OK && scaler->config.method == SG_METHOD_AGC)
        status = sgi_rows_create(&scaler->rows, params, a);
    return status;
}

sg_status sg_scaler_create(sg_scaler **out, sg_params *params, const sg_scale_config *config,
                           sg_pool *pool, const sg_allocator *given)
{
    if (!out || !params)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    sg_scale_config settings = config ? *config : sg_scale_defaults();
    if (!config_valid(&settings))
        return SG_ERROR_ARGUMENT;
    sg_isa isa;
    sg_status status = sgi_params_open(params, settings.isa, &isa);
    if (status != SG_OK)
        return status;
    sg_scaler *scaler = SGI_NEW(sg_scaler, given);
    if (!scaler)
        return SG_ERROR_MEMORY;
    scaler->params = params;
    scaler->pool = pool;
    scaler->config = settings;
    scaler->kernels = sgi_scale_kernels_for(isa);
    status = allocate_parts(scaler);
    if (status != SG_OK) {
        sg_scaler_destroy(scaler);
        return status;
    }
    describe_blocks(scaler);
    scaler->report.blocks = scaler->block_reports;
    scaler->report.block_count = scaler->block_count;
    *out = scaler;
    return SG_OK;
}

void sg_scaler_destroy(sg_scaler *scaler)
{
    if (!scaler)
        return;
    sgi_rows_destroy(&scaler->rows, &scaler->allocator);
    sgi_release(&scaler->allocator, scaler->names);
    sgi_release(&scaler->allocator, scaler->sums);
    sgi_release(&scaler->allocator, scaler->block_reports);
    sgi_release(&scaler->allocator, scaler->blocks);
    sgi_release(&scaler->allocator, scaler->unit_moments);
    sgi_release(&scaler->allocator, scaler->block_of_span);
    sgi_release(&scaler->allocator, scaler);
}

/* ---- Observing the signal ----------------------------------------------------------------- */

sg_status sg_scaler_observe(sg_scaler *scaler, const void *values, sg_type type, size_t count,
                            double factor)
{
    if (!scaler || (!values && count) || !in_list((int)type, SG_TYPE_COUNT) || !isfinite(factor))
        return SG_ERROR_ARGUMENT;
    sg_moments_add(&scaler->signal, values, type, count, factor);
    return SG_OK;
}

sg_status sg_scaler_observe_moments(sg_scaler *scaler, const sg_moments *moments)
{
    if (!scaler || !moments || !(moments->count >= 0))
        return SG_ERROR_ARGUMENT;
    sgi_moments_combine(&scaler->signal, moments);
    return SG_OK;
}

sg_status sg_scaler_observe_scale(sg_scaler *scaler, double scale)
{
    if (!scaler || !isfinite(scale) || scale < 0)
        return SG_ERROR_ARGUMENT;
    scaler->scale_given = true;
    scaler->given_scale = scale;
    return SG_OK;
}

/* ---- Statistics --------------------------------------------------------------------------- */

static void measure_unit(void *context, size_t index, int worker)
{
    (void)worker;
    sg_scaler *scaler = context;
    const sgi_unit *unit = &scaler->params->units[index];
    const sg_span *span = &scaler->params->spans[unit->span];
    const void *values = sgi_element(span->gradient, span->type, unit->begin);
    scaler->unit_moments[index] =
        values ? scaler->kernels->moments[span->type](values, unit->count) : (sg_moments){0, 0, 0};
}

static void measure_blocks(sg_scaler *scaler)
{
    const sg_params *params = scaler->params;
    sg_pool_run(sgi_params_pool(params, scaler->pool), params->unit_count, measure_unit, scaler);
    for (size_t b = 0; b < scaler->block_count; b++)
        scaler->blocks[b].moments = (sg_moments){0, 0, 0};
    for (size_t u = 0; u < params->unit_count; u++) {
        sgi_block *b = &scaler->blocks[scaler->block_of_span[params->units[u].span]];
        sgi_moments_combine(&b->moments, &scaler->unit_moments[u]);
    }
    for (size_t b = 0; b < scaler->block_count; b++)
        scaler->blocks[b].local_count = (size_t)scaler->blocks[b].moments.count;
}

/* The moments that are reduced: the signal's, then those of the blocks if they are sharded. */
static sg_moments *reduced(sg_scaler *scaler, size_t i)
{
    return i == 0 ? &scaler->signal : &scaler->blocks[i - 1].moments;
}

static double deviations_from(const sg_moments *m, double mean)
{
    double d = m->mean - mean;
    return m->count == 0 ? 0 : m->m2 + m->count * d * d;
}

static bool blocks_finite(const sg_scaler *scaler)
{
    for (size_t b = 0; b < scaler->block_count; b++)
        if (!isfinite(scaler->blocks[b].moments.m2))
            return false;
    return true;
}

/* Replaces this rank's moments by those of all ranks. `finite` tells whether the gradients are
 * finite, and becomes false on every rank when it is false on one. */
static sg_status reduce_moments(sg_scaler *scaler, bool *finite)
{
    const sg_scale_config *config = &scaler->config;
    if (!config->reduce)
        return SG_OK;
    size_t count = 1 + (config->sharding == SG_GRADIENTS_SHARDED ? scaler->block_count : 0);
    double *sums = scaler->sums, *squares = sums + 2 * count; /* count + 1, the guard last */
    for (size_t i = 0; i < count; i++) {
        const sg_moments *m = reduced(scaler, i);
        sums[2 * i] = m->count;
        sums[2 * i + 1] = m->count * m->mean;
    }
    if (config->reduce(config->reduce_context, sums, 2 * count) != 0)
        return SG_ERROR_REDUCE;
    for (size_t i = 0; i < count; i++) {
        sums[2 * i + 1] = sums[2 * i] > 0 ? sums[2 * i + 1] / sums[2 * i] : 0;
        squares[i] = deviations_from(reduced(scaler, i), sums[2 * i + 1]);
    }
    squares[count] = *finite ? 0 : 1;
    if (config->reduce(config->reduce_context, squares, count + 1) != 0)
        return SG_ERROR_REDUCE;
    for (size_t i = 0; i < count; i++)
        *reduced(scaler, i) = (sg_moments){sums[2 * i], sums[2 * i + 1], squares[i]};
    *finite = squares[count] == 0;
    return SG_OK;
}

/* ---- The step ----------------------------------------------------------------------------- */

static bool active(const sg_scale_config *config, uint64_t step)
{
    return config->method != SG_METHOD_NONE && step >= config->from && step < config->until;
}

static bool needs_signal(const sg_scaler *scaler)
{
    const sg_scale_config *config = &scaler->config;
    return config->method == SG_METHOD_STABLEGRAD && !scaler->scale_given &&
           sgi_reference_is_observed(config->reference);
}

static double reference_scale(const sg_scaler *scaler)
{
    const sg_scale_config *config = &scaler->config;
    if (config->reference == SG_REFERENCE_CONSTANT)
        return config->constant;
    if (!sgi_reference_is_observed(config->reference))
        return sgi_reference_from_blocks(config->reference, scaler->blocks, scaler->block_count,
                                         config->eps);
    return scaler->scale_given ? scaler->given_scale : sg_moments_std(&scaler->signal);
}

/* Decides what becomes of the step; sets the report's reference. */
static sg_outcome decide(sg_scaler *scaler, uint64_t step, bool finite)
{
    sg_scale_report *report = &scaler->report;
    report->reference = 0;
    report->signal_finite = isfinite(scaler->signal.m2);
    if (!finite)
        return SG_STEP_NOT_FINITE;
    if (!active(&scaler->config, step))
        return SG_STEP_INACTIVE;
    if (scaler->config.method != SG_METHOD_STABLEGRAD) /* the others have no reference */
        return SG_STEP_SCALED;
    if (needs_signal(scaler) && !report->signal_finite)
        return SG_STEP_NOT_FINITE;
    report->reference = reference_scale(scaler);
    if (!isfinite(report->reference))
        return SG_STEP_NOT_FINITE;
    return report->reference > 0 ? SG_STEP_SCALED : SG_STEP_NO_REFERENCE;
}

/* What the block's gradient is multiplied by; for SG_METHOD_AGC in the root mean square. */
static double factor_of(const sg_scaler *scaler, size_t block)
{
    const sgi_block *b = &scaler->blocks[block];
    if (scaler->report.outcome != SG_STEP_SCALED)
        return 1;
    switch (scaler->config.method) {
    case SG_METHOD_STABLEGRAD:
        return sgi_block_factor(b, scaler->report.reference, scaler->config.eps);
    case SG_METHOD_ZNORM:
        return sgi_block_factor(b, 1, scaler->config.eps);
    case SG_METHOD_AGC:
        return b->touched && b->clipped2 < sgi_block_norm2(b)
                   ? sqrt(b->clipped2 / sgi_block_norm2(b))
                   : 1;
    case SG_METHOD_SIGN:
    case SG_METHOD_NONE:
        break;
    }
    return 1;
}

static void report_blocks(sg_scaler *scaler)
{
    sg_scale_report *report = &scaler->report;
    for (size_t i = 0; i < scaler->block_count; i++) {
        const sgi_block *b = &scaler->blocks[i];
        sg_block_report *out = &scaler->block_reports[i];
        out->count = b->local_count;
        out->std = sg_moments_std(&b->moments);
        out->norm2 = sgi_block_norm2(b);
        out->factor = factor_of(scaler, i);
        out->scaled_std = out->factor * out->std;
        out->finite = isfinite(b->moments.m2);
    }
    report->ratio_raw = sgi_std_ratio(scaler->blocks, report->blocks, report->block_count, false);
    report->ratio_scaled = sgi_std_ratio(scaler->blocks, report->blocks, report->block_count, true);
}

static void count_outcome(sg_scale_report *report)
{
    switch (report->outcome) {
    case SG_STEP_SCALED:
        report->steps_scaled++;
        break;
    case SG_STEP_INACTIVE:
        report->steps_inactive++;
        break;
    case SG_STEP_NO_REFERENCE:
        report->steps_no_reference++;
        break;
    case SG_STEP_NOT_FINITE:
        report->steps_not_finite++;
        break;
    }
}

static sg_status measure(sg_scaler *scaler, uint64_t step)
{
    measure_blocks(scaler);
    bool finite = blocks_finite(scaler);
    sg_status status = reduce_moments(scaler, &finite);
    if (status != SG_OK)
        return status;
    if (finite && active(&scaler->config, step) && needs_signal(scaler) &&
        scaler->signal.count == 0)
        return SG_ERROR_NO_SIGNAL;
    scaler->report.step = step;
    scaler->report.outcome = decide(scaler, step, finite);
    if (scaler->config.method == SG_METHOD_AGC && scaler->report.outcome == SG_STEP_SCALED) {
        status = sgi_rows_measure(scaler);
        if (status != SG_OK)
            return status;
    }
    report_blocks(scaler);
    count_outcome(&scaler->report);
    scaler->phase = SG_PHASE_MEASURED;
    return SG_OK;
}

sg_status sg_scaler_measure(sg_scaler *scaler, uint64_t step)
{
    if (!scaler)
        return SG_ERROR_ARGUMENT;
    scaler->phase = SG_PHASE_IDLE;
    sg_status status = measure(scaler, step);
    scaler->signal = (sg_moments){0, 0, 0};
    scaler->scale_given = false;
    return status;
}

/* ---- Looking ------------------------------------------------------------------------------ */

const sg_scale_report *sg_scaler_report(const sg_scaler *scaler)
{
    return scaler ? &scaler->report : NULL;
}

const sg_scale_config *sg_scaler_config(const sg_scaler *scaler)
{
    return scaler ? &scaler->config : NULL;
}

sg_status sg_scaler_set_window(sg_scaler *scaler, uint64_t from, uint64_t until)
{
    if (!scaler || from > until)
        return SG_ERROR_ARGUMENT;
    scaler->config.from = from;
    scaler->config.until = until;
    return SG_OK;
}

void sg_scaler_set_counters(sg_scaler *scaler, const uint64_t counters[SG_OUTCOME_COUNT])
{
    if (!scaler || !counters)
        return;
    scaler->report.steps_scaled = counters[SG_STEP_SCALED];
    scaler->report.steps_inactive = counters[SG_STEP_INACTIVE];
    scaler->report.steps_no_reference = counters[SG_STEP_NO_REFERENCE];
    scaler->report.steps_not_finite = counters[SG_STEP_NOT_FINITE];
}
