/* The optimizers: one pass over the parameters that applies StableGrad's factor, clipping, weight
 * decay and the update together. The state is laid out in state.c, and goes from rescaled to raw
 * units in handover.c. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "optim/handover.h"
#include "optim/pass.h"
#include "optim/soap.h"
#include "optim/tensors.h"

const char *sg_optim_name(sg_optim_kind kind)
{
    static const char *const names[] = {SG_OPTIM_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_OPTIM_COUNT, (int)kind);
}

sg_optim_config sg_optim_defaults(sg_optim_kind kind)
{
    return (sg_optim_config){
        .kind = kind,
        .rate = 1e-3,
        .beta1 = kind == SG_OPTIM_NOVOGRAD    ? 0.95
                 : kind == SG_OPTIM_MULTIADAM ? 0.99
                 : kind == SG_OPTIM_SOAP      ? 0.95
                                              : 0.9,
        .beta2 = kind == SG_OPTIM_NOVOGRAD    ? 0.98
                 : kind == SG_OPTIM_MULTIADAM ? 0.99
                 : kind == SG_OPTIM_SOAP      ? 0.95
                                              : 0.999,
        .eps = kind == SG_OPTIM_LAMB ? 1e-6 : 1e-8,
        .decay = kind == SG_OPTIM_ADAMW || kind == SG_OPTIM_ADAM_MINI ? 1e-2 : 0,
        .isa = SG_ISA_AUTO,
        .groups = 1,
        .refresh = 2,
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

static bool adam_valid(const sg_optim_config *c)
{
    return fraction(c->beta1) && fraction(c->beta2) && not_negative(c->eps);
}

static bool config_valid(const sg_optim_config *c)
{
    if ((unsigned)c->kind >= SG_OPTIM_COUNT || !not_negative(c->rate) || !not_negative(c->decay) ||
        !not_negative(c->clip_norm))
        return false;
    if (c->schedule_count > 0 && !c->schedule)
        return false;
    if (!sg_schedule_valid(c->schedule, c->schedule_count))
        return false;
    switch (c->kind) {
    case SG_OPTIM_ADAMW:
    case SG_OPTIM_ADAM:
    case SG_OPTIM_LAMB:
    case SG_OPTIM_NOVOGRAD:
    case SG_OPTIM_ADAM_MINI:
        return adam_valid(c);
    case SG_OPTIM_SOAP:
        return adam_valid(c) && c->refresh > 0;
    case SG_OPTIM_MULTIADAM:
        return adam_valid(c) && c->groups > 0 && c->groups <= SG_OPTIM_MOST_GROUPS;
    case SG_OPTIM_SGD:
        return not_negative(c->momentum) && isfinite(c->dampening) &&
               (!c->nesterov || (c->momentum > 0 && c->dampening == 0));
    }
    return false;
}

/* ---- Making ------------------------------------------------------------------------------- */

static bool several_groups(const sg_optim *optim)
{
    return optim->config.kind == SG_OPTIM_MULTIADAM && optim->config.groups > 1;
}

static sg_status allocate_parts(sg_optim *optim)
{
    const sg_params *params = optim->params;
    const sg_allocator *a = &optim->allocator;
    size_t terms = optim->config.schedule_count;
    optim->schedule = sgi_allocate(a, terms, sizeof *optim->schedule);
    optim->rate_factors = sgi_allocate(a, params->count, sizeof *optim->rate_factors);
    optim->unit_norms = sgi_allocate(a, params->unit_count, sizeof *optim->unit_norms);
    if (!optim->schedule || !optim->rate_factors || !optim->unit_norms)
        return SG_ERROR_MEMORY;
    if (sgi_tensors_needed(optim->config.kind)) {
        optim->unit_sums = sgi_allocate(a, params->unit_count, sizeof *optim->unit_sums);
        optim->span_sums = sgi_allocate(a, params->count, sizeof *optim->span_sums);
        if (!optim->unit_sums || !optim->span_sums)
            return SG_ERROR_MEMORY;
    }
    if (several_groups(optim)) {
        optim->group_gradients =
            sgi_allocate(a, params->count * optim->config.groups, sizeof *optim->group_gradients);
        if (!optim->group_gradients)
            return SG_ERROR_MEMORY;
    }
    if (optim->config.kind == SG_OPTIM_SOAP) {
        sg_status status = sgi_soap_create(optim);
        if (status != SG_OK)
            return status;
    }
    if (terms)
        memcpy(optim->schedule, optim->config.schedule, terms * sizeof *optim->schedule);
    optim->config.schedule = optim->schedule;
    for (size_t i = 0; i < params->count; i++)
        optim->rate_factors[i] = 1;
    return sgi_state_create(optim);
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
    sg_isa isa;
    sg_status status = sgi_params_open(params, config->isa, &isa);
    if (status != SG_OK)
        return status;
    sg_optim *optim = SGI_NEW(sg_optim, given);
    if (!optim)
        return SG_ERROR_MEMORY;
    optim->params = params;
    optim->pool = pool;
    optim->config = *config;
    optim->kernels = sgi_optim_kernels_for(isa);
    optim->scale_kernels = sgi_scale_kernels_for(isa);
    status = allocate_parts(optim);
    if (status == SG_OK)
        *out = optim;
    else
        sg_optim_destroy(optim);
    return status;
}

void sg_optim_destroy(sg_optim *optim)
{
    if (!optim)
        return;
    sgi_state_destroy(optim);
    sgi_soap_destroy(optim);
    sgi_release(&optim->allocator, optim->group_gradients);
    sgi_release(&optim->allocator, optim->span_sums);
    sgi_release(&optim->allocator, optim->unit_sums);
    sgi_release(&optim->allocator, optim->unit_norms);
    sgi_release(&optim->allocator, optim->rate_factors);
    sgi_release(&optim->allocator, optim->schedule);
    sgi_release(&optim->allocator, optim);
}

/* ---- The step ----------------------------------------------------------------------------- */

static void step_sgd(const sgi_stretch *s)
{
    const sg_optim_config *c = &s->optim->config;
    sgi_sgd_step step = {.factor = s->factor,
                         .unit = 1,
                         .keep = 1,
                         .l2 = sgi_stretch_decay(s),
                         .momentum = c->momentum,
                         .dampening = c->dampening,
                         .rate = s->rate,
                         .nesterov = c->nesterov,
                         .first = s->past == 0};
    void *momentum = c->momentum > 0 ? sgi_stretch_buffer(s, 0) : NULL;
    s->optim->kernels->sgd[s->type](s->value, s->gradient, momentum, s->count, &step);
}

static sgi_adam_step adam_numbers(const sgi_stretch *s, bool decoupled)
{
    const sg_optim_config *c = &s->optim->config;
    double t = (double)s->past + 1;
    return (sgi_adam_step){
        .factor = s->factor,
        .keep = decoupled ? 1 - s->rate * sgi_stretch_decay(s) : 1,
        .l2 = decoupled ? 0 : sgi_stretch_decay(s),
        .beta1 = c->beta1,
        .beta2 = c->beta2,
        .root_correction = sqrt(1 - pow(c->beta2, t)),
        .eps = c->eps,
        .rate = s->rate / (1 - pow(c->beta1, t)),
    };
}

static void step_adam(const sgi_stretch *s, bool decoupled)
{
    sgi_adam_step step = adam_numbers(s, decoupled);
    s->optim->kernels->adam[s->type](s->value, s->gradient, sgi_stretch_buffer(s, 0),
                                     sgi_stretch_buffer(s, 1), s->count, &step);
}

/* AdamW's loop once for each group, with its share of the rate: the steps add up to their mean.
 * Weights decay in the first. */
static void step_multiadam(const sgi_stretch *s)
{
    size_t groups = s->optim->config.groups;
    sgi_adam_step step = adam_numbers(s, true);
    step.rate /= (double)groups;
    for (size_t k = 0; k < groups; k++) {
        const void *gradient = s->gradient;
        if (groups > 1)
            gradient = sgi_element((void *)(uintptr_t)*sgi_group_gradient(s->optim, k, s->span),
                                   s->type, s->begin);
        s->optim->kernels->adam[s->type](s->value, gradient, sgi_stretch_buffer(s, 2 * k),
                                         sgi_stretch_buffer(s, 2 * k + 1), s->count, &step);
        step.keep = 1;
    }
}

static void step_lamb(const sgi_stretch *s)
{
    sgi_adam_step step = sgi_tensors_lamb(s);
    step.rate *= sgi_tensors_trust(s->optim, s->span);
    s->optim->kernels->lamb_move[s->type](s->value, s->gradient, sgi_stretch_buffer(s, 0),
                                          sgi_stretch_buffer(s, 1), s->count, &step);
}

/* Momentum of the gradient in units of its own norm; decay is added to the gradient in those units.
 */
static void step_novograd(const sgi_stretch *s)
{
    const sg_optim_config *c = &s->optim->config;
    double scale = sqrt(*sgi_state_number(s->optim, s->span, 1)) + c->eps;
    sgi_sgd_step step = {.factor = s->factor,
                         .unit = scale > 0 ? 1 / scale : 0, /* no gradient yet, and eps 0 */
                         .keep = 1,
                         .l2 = sgi_stretch_decay(s),
                         .momentum = c->beta1,
                         .rate = s->rate,
                         .first = s->past == 0};
    s->optim->kernels->sgd[s->type](s->value, s->gradient, sgi_stretch_buffer(s, 0), s->count,
                                    &step);
}

/* AdamW with one second moment, the mean of the squares, for the whole tensor. */
static void step_adam_mini(const sgi_stretch *s)
{
    const sg_optim_config *c = &s->optim->config;
    double t = (double)s->past + 1;
    double root = sqrt(*sgi_state_number(s->optim, s->span, 1)) / sqrt(1 - pow(c->beta2, t));
    double scale = root + c->eps;
    sgi_sgd_step step = {.factor = s->factor,
                         .unit = 1,
                         .keep = 1 - s->rate * sgi_stretch_decay(s),
                         .momentum = c->beta1,
                         .dampening = c->beta1,
                         .rate = scale > 0 ? s->rate / (1 - pow(c->beta1, t)) / scale : 0};
    s->optim->kernels->sgd[s->type](s->value, s->gradient, sgi_stretch_buffer(s, 0), s->count,
                                    &step);
}

/* A matrix waits for sgi_soap_step, which needs the whole of it. */
static void step_soap(const sgi_stretch *s)
{
    if (sgi_soap_turns(&s->optim->params->spans[s->span]))
        sgi_soap_take(s);
    else
        step_adam(s, true);
}

static void update(const sgi_stretch *s, void *context)
{
    (void)context;
    switch (s->optim->config.kind) {
    case SG_OPTIM_SGD:
        step_sgd(s);
        break;
    case SG_OPTIM_ADAM:
    case SG_OPTIM_ADAMW:
        step_adam(s, s->optim->config.kind == SG_OPTIM_ADAMW);
        break;
    case SG_OPTIM_MULTIADAM:
        step_multiadam(s);
        break;
    case SG_OPTIM_LAMB:
        step_lamb(s);
        break;
    case SG_OPTIM_NOVOGRAD:
        step_novograd(s);
        break;
    case SG_OPTIM_ADAM_MINI:
        step_adam_mini(s);
        break;
    case SG_OPTIM_SOAP:
        step_soap(s);
        break;
    }
}

static void step_unit(void *context, size_t index, int worker)
{
    (void)worker;
    sgi_pass_unit(context, index, update, NULL);
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
    const sgi_step_pass *pass = context;
    sg_optim *optim = pass->optim;
    const sgi_unit *unit = &optim->params->units[index];
    const sg_span *span = &optim->params->spans[unit->span];
    const void *g = sgi_element(span->gradient, span->type, unit->begin);
    double norm2 = 0;
    if (g && pass->scaler && sgi_scaler_rewrites(pass->scaler, unit->span)) {
        norm2 = elements_not_zero(g, span->type, unit->count);
    } else if (g) {
        sg_moments m = optim->scale_kernels->moments[span->type](g, unit->count);
        norm2 = m.m2 + m.count * m.mean * m.mean;
    }
    optim->unit_norms[index] = norm2;
}

/* |g|^2 after StableGrad. A scaler knows it already, over all ranks; otherwise (signs, or gradients
 * scaled in memory) the gradients are read once, and the parts of the ranks added up. */
static sg_status global_norm2(sgi_step_pass *pass, const sg_scaler *scaler,
                              const sgi_scaler_view *view, double *sum)
{
    *sum = view->norm2;
    if (pass->scaler && !view->sign)
        return SG_OK;
    sg_optim *optim = pass->optim;
    const sg_params *params = optim->params;
    sg_pool_run(sgi_params_pool(params, optim->pool), params->unit_count, norm_unit, pass);
    double norm2 = 0;
    for (size_t u = 0; u < params->unit_count; u++)
        norm2 += optim->unit_norms[u];
    *sum = norm2;
    return scaler ? sgi_scaler_sum(scaler, sum, 1) : SG_OK;
}

double sgi_clip_factor(const sg_optim_config *config, double norm)
{
    double factor = config->clip_norm / (norm + 1e-6);
    return config->clip_norm > 0 && factor < 1 ? factor : 1;
}

static sg_status take_step(sg_optim *optim, sgi_step_pass *pass, const sg_scaler *scaler,
                           const sgi_scaler_view *view)
{
    const sg_params *params = optim->params;
    if (sgi_tensors_needed(optim->config.kind)) {
        sg_status status = sgi_tensors_look(pass, scaler);
        if (status != SG_OK)
            return status;
    }
    sg_pool_run(sgi_params_pool(params, optim->pool), params->unit_count, step_unit, pass);
    if (optim->config.kind == SG_OPTIM_SOAP)
        sgi_soap_step(pass);
    for (size_t i = 0; i < params->count; i++) {
        if (!sgi_pass_takes(optim, i))
            continue;
        sgi_state_span_steps(optim)[i]++;
        if (scaler)
            sgi_handover_record(optim, i, scaler, view);
    }
    return SG_OK;
}

/* Whether the gradients of several groups can be taken: each is known, and multiplied at most. */
static sg_status check_groups(const sg_optim *optim, const sg_scaler *scaler,
                              const sgi_scaler_view *view)
{
    if (!several_groups(optim))
        return SG_OK;
    for (size_t i = 0; i < optim->params->count; i++) {
        for (size_t k = 0; k < optim->config.groups; k++)
            if (!*sgi_group_gradient(optim, k, i))
                return SG_ERROR_ORDER;
        if (scaler && view->outcome == SG_STEP_SCALED &&
            (view->phase == SG_PHASE_APPLIED || sgi_scaler_rewrites(scaler, i)))
            return SG_ERROR_UNSUPPORTED;
    }
    return SG_OK;
}

sg_status sg_optim_step(sg_optim *optim, sg_scaler *scaler, sg_step_info *info)
{
    if (!optim)
        return SG_ERROR_ARGUMENT;
    sgi_scaler_view view = {0};
    if (scaler) {
        view = sgi_scaler_look(scaler);
        sg_status usable = sgi_handover_check(optim, &view);
        if (usable != SG_OK)
            return usable;
    }
    sg_status status = check_groups(optim, scaler, &view);
    if (status != SG_OK)
        return status;
    sg_step_info done = {
        .step = sgi_state_head(optim)->steps, .rate = sg_optim_rate(optim), .clip_factor = 1};
    /* Gradients that were scaled in memory are taken as they are. */
    sgi_step_pass pass = {optim, scaler && view.phase == SG_PHASE_MEASURED ? scaler : NULL,
                          done.rate, 1};
    done.skipped = scaler && view.outcome == SG_STEP_NOT_FINITE;
    if (!done.skipped && optim->config.clip_norm > 0) {
        double norm2;
        status = global_norm2(&pass, scaler, &view, &norm2);
        if (status != SG_OK)
            return status;
        done.gradient_norm = sqrt(norm2);
        done.skipped = !isfinite(done.gradient_norm);
        done.clip_factor = pass.clip = sgi_clip_factor(&optim->config, done.gradient_norm);
    }
    if (done.skipped) {
        sgi_state_head(optim)->skipped++;
    } else {
        done.handed_over = scaler && sgi_handover(optim, scaler, &view);
        status = take_step(optim, &pass, scaler, &view);
        if (status != SG_OK)
            return status;
    }
    done.rescaled = sgi_state_head(optim)->rescaled == 1;
    sgi_state_head(optim)->steps++;
    if (scaler)
        sgi_scaler_consume(scaler);
    if (info)
        *info = done;
    return SG_OK;
}

/* ---- Looking and setting ------------------------------------------------------------------ */

uint64_t sg_optim_steps(const sg_optim *optim)
{
    return optim ? sgi_state_head(optim)->steps : 0;
}

uint64_t sg_optim_skipped(const sg_optim *optim)
{
    return optim ? sgi_state_head(optim)->skipped : 0;
}

double sg_optim_rate(const sg_optim *optim)
{
    if (!optim)
        return 0;
    return optim->config.rate * sg_schedule_factor(optim->schedule, optim->config.schedule_count,
                                                   sgi_state_head(optim)->steps);
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

sg_status sg_optim_set_group(sg_optim *optim, size_t group, size_t span, const void *gradient)
{
    if (!optim || !several_groups(optim) || group >= optim->config.groups ||
        span >= optim->params->count || !gradient)
        return SG_ERROR_ARGUMENT;
    *sgi_group_gradient(optim, group, span) = gradient;
    return SG_OK;
}
