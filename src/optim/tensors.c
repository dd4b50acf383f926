/* Sums over whole tensors: see tensors.h. */
#include "optim/tensors.h"

#include <math.h>
#include <string.h>

bool sgi_tensors_needed(sg_optim_kind kind)
{
    return kind == SG_OPTIM_LAMB || kind == SG_OPTIM_NOVOGRAD || kind == SG_OPTIM_ADAM_MINI;
}

sgi_adam_step sgi_tensors_lamb(const sgi_stretch *s)
{
    const sg_optim_config *c = &s->optim->config;
    double t = (double)s->past + 1;
    return (sgi_adam_step){
        .factor = s->factor,
        .keep = 1,
        .l2 = sgi_stretch_decay(s),
        .beta1 = c->beta1,
        .beta2 = c->beta2,
        .root_correction = sqrt(1 - pow(c->beta2, t)),
        .first_correction = 1 - pow(c->beta1, t),
        .eps = c->eps,
        .rate = s->rate,
    };
}

/* LAMB sums the squares of values and of the step to come; the others those of gradients, and how
 * many there are. */
static void look(const sgi_stretch *s, void *context)
{
    sgi_lanes *sums = context;
    const sgi_optim_kernels *kernels = s->optim->kernels;
    if (s->optim->config.kind == SG_OPTIM_LAMB) {
        sgi_adam_step step = sgi_tensors_lamb(s);
        kernels->lamb_look[s->type](s->value, s->gradient, sgi_stretch_buffer(s, 0),
                                    sgi_stretch_buffer(s, 1), s->count, &step, sums);
    } else {
        kernels->squares[s->type](s->gradient, s->count, s->factor, &sums[0]);
        sums[1].of[0] += (double)s->count;
    }
}

static void look_unit(void *context, size_t index, int worker)
{
    (void)worker;
    const sgi_step_pass *pass = context;
    sgi_lanes sums[2] = {0};
    sgi_pass_unit(pass, index, look, sums);
    for (int k = 0; k < 2; k++) {
        double sum = 0;
        for (int i = 0; i < SG_SUM_LANES; i++)
            sum += sums[k].of[i];
        pass->optim->unit_sums[index][k] = sum;
    }
}

static void advance_second_moment(sg_optim *optim, size_t span)
{
    const sg_optim_config *c = &optim->config;
    const double *sums = optim->span_sums[span];
    if (c->kind == SG_OPTIM_LAMB || !sgi_pass_takes(optim, span))
        return;
    double square = c->kind == SG_OPTIM_ADAM_MINI ? sums[0] / sums[1] : sums[0];
    double *second = sgi_state_number(optim, span, 1), keep = c->beta2;
    /* NovoGrad has no bias correction: it begins with the first gradient. */
    if (c->kind == SG_OPTIM_NOVOGRAD && sgi_state_span_steps(optim)[span] == 0)
        keep = 0;
    *second = keep * *second + (1 - keep) * square;
}

sg_status sgi_tensors_look(const sgi_step_pass *pass, const sg_scaler *scaler)
{
    sg_optim *optim = pass->optim;
    const sg_params *params = optim->params;
    sgi_step_pass given = *pass;
    sg_pool_run(sgi_params_pool(params, optim->pool), params->unit_count, look_unit, &given);
    memset(optim->span_sums, 0, params->count * sizeof *optim->span_sums);
    for (size_t u = 0; u < params->unit_count; u++)
        for (int k = 0; k < 2; k++)
            optim->span_sums[params->units[u].span][k] += optim->unit_sums[u][k];
    if (scaler) {
        sg_status status = sgi_scaler_sum(scaler, optim->span_sums[0], 2 * params->count);
        if (status != SG_OK)
            return status;
    }
    for (size_t i = 0; i < params->count; i++)
        advance_second_moment(optim, i);
    return SG_OK;
}

double sgi_tensors_trust(const sg_optim *optim, size_t span)
{
    double value = sqrt(optim->span_sums[span][0]), step = sqrt(optim->span_sums[span][1]);
    if (optim->params->spans[span].role == SG_ROLE_SCALAR)
        return 1; /* its size says nothing of how far it has to go */
    return value > 0 && step > 0 ? value / step : 1;
}
