/* The optimizers: one pass over the parameters that applies StableGrad's factor, clipping, weight
 * decay and the update together.
 *
 * The state is one flat block: a header, a step count for each span, then the moment buffers, each
 * starting on a cache line. It is what sg_optim_state hands out and sg_optim_restore takes back. */
#include "stablegrad/optim.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "optim/kernels.h"
#include "scale/moments.h"
#include "scale/scaler.h"

typedef struct state_header {
    uint64_t magic;  /* also tells the byte order */
    uint64_t layout; /* hash of kind and spans */
    uint64_t steps;
    uint64_t skipped;
} state_header;

enum { SIGN_STRETCH = 2048 };

static const uint64_t state_magic = 0x0031304450545347u; /* "GSTPD01" */

struct sg_optim {
    sg_allocator allocator;
    sg_params *params;
    sg_pool *pool;
    sg_optim_config config;
    sg_schedule_term *schedule;
    const sgi_optim_kernels *kernels;
    const sgi_scale_kernels *scale_kernels;
    double *rate_factors; /* one for each span */
    double *unit_norms;   /* |g|^2 of each unit, for clipping without a scaler */
    size_t *buffers;      /* offset in the state of each span's first buffer */
    unsigned char *state;
    size_t state_size;
};

/* What a unit needs to know of the step. */
typedef struct step_pass {
    sg_optim *optim;
    const sg_scaler *scaler; /* NULL: gradients as they are */
    double rate;
    double clip;
} step_pass;

const char *sg_optim_name(sg_optim_kind kind)
{
    switch (kind) {
    case SG_OPTIM_ADAMW:
        return "adamw";
    case SG_OPTIM_ADAM:
        return "adam";
    case SG_OPTIM_SGD:
        return "sgd";
    }
    return "unknown";
}

sg_optim_config sg_optim_defaults(sg_optim_kind kind)
{
    return (sg_optim_config){
        .kind = kind,
        .rate = 1e-3,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8,
        .decay = kind == SG_OPTIM_ADAMW ? 1e-2 : 0,
        .isa = SG_ISA_AUTO,
    };
}

static bool not_negative(double value)
{
    return isfinite(value) && value >= 0;
}

static bool fraction(double value)
{
    return value >= 0 && value < 1;
}

static bool config_valid(const sg_optim_config *c)
{
    if ((int)c->kind < 0 || c->kind > SG_OPTIM_SGD || !not_negative(c->rate) ||
        !not_negative(c->decay) || !not_negative(c->clip_norm))
        return false;
    if (c->schedule_count > 0 && !c->schedule)
        return false;
    if (!sg_schedule_valid(c->schedule, c->schedule_count))
        return false;
    if (c->kind != SG_OPTIM_SGD)
        return fraction(c->beta1) && fraction(c->beta2) && not_negative(c->eps);
    return not_negative(c->momentum) && isfinite(c->dampening) &&
           (!c->nesterov || (c->momentum > 0 && c->dampening == 0));
}

/* ---- The state ---------------------------------------------------------------------------- */

static state_header *header(const sg_optim *optim)
{
    return (state_header *)(void *)optim->state;
}

static uint64_t *span_steps(const sg_optim *optim)
{
    return (uint64_t *)(void *)(optim->state + sizeof(state_header));
}

static size_t buffers_per_span(const sg_optim_config *config)
{
    if (config->kind == SG_OPTIM_SGD)
        return config->momentum > 0 ? 1 : 0;
    return 2;
}

static size_t round_up(size_t bytes)
{
    return (bytes + SG_ALIGNMENT - 1) / SG_ALIGNMENT * SG_ALIGNMENT;
}

static size_t buffer_bytes(const sg_span *span)
{
    return round_up(span->count * sgi_type_size(span->type));
}

/* FNV-1a. */
static uint64_t hash(uint64_t h, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

static uint64_t layout_hash(const sg_optim *optim)
{
    uint64_t kind = (uint64_t)optim->config.kind * 4 + buffers_per_span(&optim->config);
    uint64_t h = hash(14695981039346656037u, &kind, sizeof kind);
    for (size_t i = 0; i < optim->params->count; i++) {
        const sg_span *span = &optim->params->spans[i];
        uint64_t shape[2] = {(uint64_t)span->type, (uint64_t)span->count};
        h = hash(h, span->name, strlen(span->name) + 1);
        h = hash(h, shape, sizeof shape);
    }
    return h;
}

/* Lays the buffers out; returns the size of the state, or 0 if it does not fit in memory. */
static size_t lay_out(const sg_params *params, size_t per_span, size_t *buffers)
{
    size_t size = round_up(sizeof(state_header) + params->count * sizeof(uint64_t));
    for (size_t i = 0; i < params->count; i++) {
        size_t bytes = buffer_bytes(&params->spans[i]);
        if (bytes > (SIZE_MAX - SG_ALIGNMENT - size) / 2)
            return 0;
        buffers[i] = size;
        size += per_span * bytes;
    }
    return size;
}

const void *sg_optim_state(const sg_optim *optim, size_t *size)
{
    *size = optim->state_size;
    return optim->state;
}

sg_status sg_optim_restore(sg_optim *optim, const void *state, size_t size)
{
    if (!optim || !state)
        return SG_ERROR_ARGUMENT;
    state_header saved;
    if (size != optim->state_size)
        return SG_ERROR_STATE;
    memcpy(&saved, state, sizeof saved);
    if (saved.magic != state_magic || saved.layout != header(optim)->layout ||
        saved.skipped > saved.steps)
        return SG_ERROR_STATE;
    memcpy(optim->state, state, size);
    return SG_OK;
}

/* ---- Making ------------------------------------------------------------------------------- */

static sg_status allocate_parts(sg_optim *optim)
{
    const sg_params *params = optim->params;
    const sg_allocator *a = &optim->allocator;
    size_t terms = optim->config.schedule_count;
    optim->schedule = sgi_allocate(a, terms, sizeof *optim->schedule);
    optim->rate_factors = sgi_allocate(a, params->count, sizeof *optim->rate_factors);
    optim->unit_norms = sgi_allocate(a, params->unit_count, sizeof *optim->unit_norms);
    optim->buffers = sgi_allocate(a, params->count, sizeof *optim->buffers);
    if (!optim->schedule || !optim->rate_factors || !optim->unit_norms || !optim->buffers)
        return SG_ERROR_MEMORY;
    optim->state_size = lay_out(params, buffers_per_span(&optim->config), optim->buffers);
    if (optim->state_size == 0)
        return SG_ERROR_MEMORY;
    optim->state = sgi_allocate(a, optim->state_size, 1);
    if (!optim->state)
        return SG_ERROR_MEMORY;
    if (terms)
        memcpy(optim->schedule, optim->config.schedule, terms * sizeof *optim->schedule);
    optim->config.schedule = optim->schedule;
    for (size_t i = 0; i < params->count; i++)
        optim->rate_factors[i] = 1;
    *header(optim) = (state_header){.magic = state_magic, .layout = layout_hash(optim)};
    return SG_OK;
}

static bool all_have_values(const sg_params *params)
{
    for (size_t i = 0; i < params->count; i++)
        if (!params->spans[i].value)
            return false;
    return true;
}

sg_status sg_optim_create(sg_optim **out, sg_params *params, const sg_optim_config *config,
                          sg_pool *pool, const sg_allocator *given)
{
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (!params || !config || !config_valid(config) || !all_have_values(params))
        return SG_ERROR_ARGUMENT;
    sg_isa isa = sg_isa_resolve(config->isa);
    if (isa == SG_ISA_AUTO)
        return SG_ERROR_UNSUPPORTED;
    sg_status status = sgi_params_seal(params);
    if (status != SG_OK)
        return status;
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sg_optim *optim = sgi_allocate(&allocator, 1, sizeof *optim);
    if (!optim)
        return SG_ERROR_MEMORY;
    optim->allocator = allocator;
    optim->params = params;
    optim->pool = pool;
    optim->config = *config;
    optim->kernels = sgi_optim_kernels_for(isa);
    optim->scale_kernels = sgi_scale_kernels_for(isa);
    status = allocate_parts(optim);
    if (status != SG_OK) {
        sg_optim_destroy(optim);
        return status;
    }
    *out = optim;
    return SG_OK;
}

void sg_optim_destroy(sg_optim *optim)
{
    if (!optim)
        return;
    sg_allocator allocator = optim->allocator;
    sgi_release(&allocator, optim->state);
    sgi_release(&allocator, optim->buffers);
    sgi_release(&allocator, optim->unit_norms);
    sgi_release(&allocator, optim->rate_factors);
    sgi_release(&allocator, optim->schedule);
    sgi_release(&allocator, optim);
}

/* ---- The step ----------------------------------------------------------------------------- */

static void update(const step_pass *pass, size_t index, void *p, const void *g,
                   const sgi_unit *unit, double factor)
{
    sg_optim *optim = pass->optim;
    const sg_optim_config *c = &optim->config;
    const sg_span *span = &optim->params->spans[index];
    double rate = pass->rate * optim->rate_factors[index];
    uint64_t past = span_steps(optim)[index];
    unsigned char *buffer = optim->state + optim->buffers[index];
    void *first = sgi_element(buffer, span->type, unit->begin);
    if (c->kind == SG_OPTIM_SGD) {
        sgi_sgd_step step = {factor, c->decay,    c->momentum, c->dampening,
                             rate,   c->nesterov, past == 0};
        optim->kernels->sgd[span->type](p, g, c->momentum > 0 ? first : NULL, unit->count, &step);
        return;
    }
    void *second = sgi_element(buffer + buffer_bytes(span), span->type, unit->begin);
    double t = (double)past + 1;
    bool decoupled = c->kind == SG_OPTIM_ADAMW;
    sgi_adam_step step = {
        .factor = factor,
        .keep = decoupled ? 1 - rate * c->decay : 1,
        .l2 = decoupled ? 0 : c->decay,
        .beta1 = c->beta1,
        .beta2 = c->beta2,
        .root_correction = sqrt(1 - pow(c->beta2, t)),
        .eps = c->eps,
        .rate = rate / (1 - pow(c->beta1, t)),
    };
    optim->kernels->adam[span->type](p, g, first, second, unit->count, &step);
}

/* Signs do not fit in a factor: they are written to a small buffer, stretch by stretch. */
static void update_by_signs(const step_pass *pass, size_t index, const sgi_unit *unit)
{
    const sg_span *span = &pass->optim->params->spans[index];
    double signs[SIGN_STRETCH];
    size_t end = unit->begin + unit->count;
    for (size_t begin = unit->begin; begin < end; begin += SIGN_STRETCH) {
        sgi_unit part = {index, begin, end - begin < SIGN_STRETCH ? end - begin : SIGN_STRETCH};
        const void *g = sgi_element(span->gradient, span->type, begin);
        pass->optim->scale_kernels->sign[span->type](signs, g, part.count);
        update(pass, index, sgi_element(span->value, span->type, begin), signs, &part, pass->clip);
    }
}

static void step_unit(void *context, size_t index, int worker)
{
    (void)worker;
    const step_pass *pass = context;
    const sgi_unit *unit = &pass->optim->params->units[index];
    const sg_span *span = &pass->optim->params->spans[unit->span];
    if (!span->gradient || pass->optim->rate_factors[unit->span] == 0)
        return;
    if (pass->scaler && sgi_scaler_signs(pass->scaler, unit->span)) {
        update_by_signs(pass, unit->span, unit);
        return;
    }
    double factor = pass->scaler ? sgi_scaler_factor(pass->scaler, unit->span) : 1;
    update(pass, unit->span, sgi_element(span->value, span->type, unit->begin),
           sgi_element(span->gradient, span->type, unit->begin), unit, factor * pass->clip);
}

static double elements_not_zero(const void *values, sg_type type, size_t count)
{
    double n = 0;
    for (size_t i = 0; i < count; i++)
        n +=
            type == SG_FLOAT32 ? ((const float *)values)[i] != 0 : ((const double *)values)[i] != 0;
    return n;
}

static void norm_unit(void *context, size_t index, int worker)
{
    (void)worker;
    const step_pass *pass = context;
    sg_optim *optim = pass->optim;
    const sgi_unit *unit = &optim->params->units[index];
    const sg_span *span = &optim->params->spans[unit->span];
    const void *g = sgi_element(span->gradient, span->type, unit->begin);
    double norm2 = 0;
    if (g && pass->scaler && sgi_scaler_signs(pass->scaler, unit->span)) {
        norm2 = elements_not_zero(g, span->type, unit->count);
    } else if (g) {
        sg_moments m = optim->scale_kernels->moments[span->type](g, unit->count);
        norm2 = m.m2 + m.count * m.mean * m.mean;
    }
    optim->unit_norms[index] = norm2;
}

/* |g|^2 after StableGrad. A scaler knows it already; otherwise the gradients are read once. */
static double global_norm2(step_pass *pass, const sgi_scaler_view *view)
{
    if (pass->scaler && !view->sign)
        return view->norm2;
    sg_optim *optim = pass->optim;
    const sg_params *params = optim->params;
    sg_pool_run(sgi_params_pool(params, optim->pool), params->unit_count, norm_unit, pass);
    double norm2 = 0;
    for (size_t u = 0; u < params->unit_count; u++)
        norm2 += optim->unit_norms[u];
    return norm2;
}

/* The factor of PyTorch's clip_grad_norm_. */
static double clip_factor(double clip_norm, double norm)
{
    double factor = clip_norm / (norm + 1e-6);
    return factor < 1 ? factor : 1;
}

static void take_step(sg_optim *optim, step_pass *pass)
{
    const sg_params *params = optim->params;
    sg_pool_run(sgi_params_pool(params, optim->pool), params->unit_count, step_unit, pass);
    for (size_t i = 0; i < params->count; i++)
        if (params->spans[i].gradient && optim->rate_factors[i] != 0)
            span_steps(optim)[i]++;
}

static sg_status check_scaler(const sg_optim *optim, const sgi_scaler_view *view)
{
    if (view->params != optim->params)
        return SG_ERROR_MISMATCH;
    return view->phase == SG_PHASE_IDLE ? SG_ERROR_ORDER : SG_OK;
}

sg_status sg_optim_step(sg_optim *optim, sg_scaler *scaler, sg_step_info *info)
{
    if (!optim)
        return SG_ERROR_ARGUMENT;
    sgi_scaler_view view = {0};
    if (scaler) {
        view = sgi_scaler_look(scaler);
        sg_status status = check_scaler(optim, &view);
        if (status != SG_OK)
            return status;
    }
    sg_step_info done = {
        .step = header(optim)->steps, .rate = sg_optim_rate(optim), .clip_factor = 1};
    /* Gradients that were scaled in memory are taken as they are. */
    step_pass pass = {optim, scaler && view.phase == SG_PHASE_MEASURED ? scaler : NULL, done.rate,
                      1};
    done.skipped = scaler && view.outcome == SG_STEP_NOT_FINITE;
    if (!done.skipped && optim->config.clip_norm > 0) {
        done.gradient_norm = sqrt(global_norm2(&pass, &view));
        done.skipped = !isfinite(done.gradient_norm);
        done.clip_factor = pass.clip = clip_factor(optim->config.clip_norm, done.gradient_norm);
    }
    if (done.skipped)
        header(optim)->skipped++;
    else
        take_step(optim, &pass);
    header(optim)->steps++;
    if (scaler)
        sgi_scaler_consume(scaler);
    if (info)
        *info = done;
    return SG_OK;
}

/* ---- Looking and setting ------------------------------------------------------------------ */

uint64_t sg_optim_steps(const sg_optim *optim)
{
    return header(optim)->steps;
}

uint64_t sg_optim_skipped(const sg_optim *optim)
{
    return header(optim)->skipped;
}

double sg_optim_rate(const sg_optim *optim)
{
    return optim->config.rate *
           sg_schedule_factor(optim->schedule, optim->config.schedule_count, header(optim)->steps);
}

sg_status sg_optim_set_rate(sg_optim *optim, double rate)
{
    if (!optim || !not_negative(rate))
        return SG_ERROR_ARGUMENT;
    optim->config.rate = rate;
    return SG_OK;
}

sg_status sg_optim_set_rate_factor(sg_optim *optim, size_t span, double factor)
{
    if (!optim || span >= optim->params->count || !not_negative(factor))
        return SG_ERROR_ARGUMENT;
    optim->rate_factors[span] = factor;
    return SG_OK;
}
