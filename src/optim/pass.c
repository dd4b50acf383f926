/* One step's pass over the gradients: see pass.h. */
#include "optim/pass.h"

/* Elements that are rewritten at a time: 16 KiB of the stack in double, which stay in the cache. */
enum { REWRITE_STRETCH = 2048 };

bool sgi_pass_takes(const sg_optim *optim, size_t span)
{
    return optim->params->spans[span].gradient && optim->rate_factors[span] != 0;
}

static sgi_stretch stretch_of(const sgi_step_pass *pass, size_t span, size_t begin, size_t count)
{
    sg_optim *optim = pass->optim;
    const sg_span *s = &optim->params->spans[span];
    return (sgi_stretch){.optim = optim,
                         .span = span,
                         .begin = begin,
                         .count = count,
                         .type = s->type,
                         .value = sgi_element(s->value, s->type, begin),
                         .gradient = sgi_element(s->gradient, s->type, begin),
                         .factor = pass->clip,
                         .rate = pass->rate * optim->rate_factors[span],
                         .past = sgi_state_span_steps(optim)[span]};
}

/* Signs and the like are no multiplication, so the kernels cannot do them by their factor: they are
 * written to a small buffer, stretch by stretch, which takes the gradient's place. */
static void visit_rewritten(const sgi_step_pass *pass, const sgi_unit *unit,
                            sgi_stretch_function *visit, void *context)
{
    double rewritten[REWRITE_STRETCH];
    size_t end = unit->begin + unit->count;
    for (size_t begin = unit->begin; begin < end; begin += REWRITE_STRETCH) {
        size_t count = end - begin < REWRITE_STRETCH ? end - begin : REWRITE_STRETCH;
        sgi_stretch s = stretch_of(pass, unit->span, begin, count);
        sgi_scaler_rewrite(pass->scaler, unit->span, begin, count, rewritten);
        s.gradient = rewritten;
        visit(&s, context);
    }
}

void sgi_pass_unit(const sgi_step_pass *pass, size_t index, sgi_stretch_function *visit,
                   void *context)
{
    const sgi_unit *unit = &pass->optim->params->units[index];
    if (!sgi_pass_takes(pass->optim, unit->span))
        return;
    if (pass->scaler && sgi_scaler_rewrites(pass->scaler, unit->span)) {
        visit_rewritten(pass, unit, visit, context);
        return;
    }
    sgi_stretch s = stretch_of(pass, unit->span, unit->begin, unit->count);
    if (pass->scaler)
        s.factor *= sgi_scaler_factor(pass->scaler, unit->span);
    visit(&s, context);
}

double sgi_stretch_decay(const sgi_stretch *stretch)
{
    bool scalar = stretch->optim->params->spans[stretch->span].role == SG_ROLE_SCALAR;
    return scalar ? 0 : stretch->optim->config.decay;
}

void *sgi_stretch_buffer(const sgi_stretch *stretch, size_t buffer)
{
    return sgi_element(sgi_state_buffer(stretch->optim, stretch->span, buffer), stretch->type,
                       stretch->begin);
}
