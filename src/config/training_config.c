/* From the training options to the configurations of scaler and optimizer. See training.h. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "config/training.h"

static const char *const titles[] = {SG_OPTIM_LIST(SGI_LIST_TITLE) SGI_SECOND_LIST(SGI_LIST_TITLE)};

const char *sgi_training_optimizer(const sgi_training_settings *training)
{
    return sgi_training_is_second(training) ? sgi_second_name((int)sgi_training_second(training))
                                            : sg_optim_name((sg_optim_kind)training->optimizer);
}

const char *sgi_training_optimizer_title(const sgi_training_settings *training)
{
    return sgi_list_name(titles, SG_OPTIM_COUNT + SGI_SECOND_COUNT, training->optimizer);
}

static bool pieces_differ(const sgi_pieces *a, const sgi_pieces *b)
{
    bool differ = a->count != b->count;
    for (int i = 0; i < a->count && !differ; i++) {
        const sg_schedule_term *x = &a->values[i], *y = &b->values[i];
        differ = x->from != y->from || x->until != y->until || x->value != y->value;
    }
    return differ;
}

/* What a method without gradients does not look at. That nothing is rescaled is what it does. */
static const char *unused_of_second(const sgi_training_settings *training,
                                    const sgi_training_settings *usual)
{
    const struct {
        const char *option;
        bool differs;
    } rows[] = {
        {"clip", training->clip != usual->clip},
        {"schedule.warmup", training->warmup != usual->warmup},
        {"schedule.start", training->warmup_start != usual->warmup_start},
        {"schedule.then", training->then != usual->then},
        {"schedule.floor", training->floor != usual->floor},
        {"schedule.pieces", pieces_differ(&training->pieces, &usual->pieces)},
        {"stablegrad.method",
         training->method != usual->method && training->method != SG_METHOD_NONE},
        {"stablegrad.from", training->from != usual->from},
        {"stablegrad.until", training->until != usual->until},
        {"stablegrad.handover", training->handover != usual->handover},
        {"stablegrad.reference", training->reference.kind != usual->reference.kind ||
                                     training->reference.constant != usual->reference.constant},
        {"stablegrad.blocks", training->blocks != usual->blocks},
        {"stablegrad.unknowns", training->unknowns != usual->unknowns},
        {"stablegrad.eps", training->scale_eps != usual->scale_eps},
        {"stablegrad.threshold", training->threshold != usual->threshold},
        {"stablegrad.floor", training->floor_norm != usual->floor_norm},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].differs)
            return rows[i].option;
    return NULL;
}

const char *sgi_training_unused(const sgi_training_settings *training,
                                const sgi_training_settings *usual)
{
    bool second = sgi_training_is_second(training), sgd = training->optimizer == SG_OPTIM_SGD;
    const struct {
        const char *option;
        bool used, differs;
    } rows[] = {
        {"optimizer.rate", !second, training->rate != usual->rate},
        {"optimizer.betas", !second && !sgd,
         training->betas[0] != usual->betas[0] || training->betas[1] != usual->betas[1]},
        {"optimizer.eps", !second && !sgd, training->eps != usual->eps},
        {"optimizer.decay", !second, training->decay != usual->decay},
        {"optimizer.momentum", sgd || sgi_training_is_kernel(training),
         training->momentum != usual->momentum},
        {"optimizer.dampening", sgd, training->dampening != usual->dampening},
        {"optimizer.nesterov", sgd, training->nesterov != usual->nesterov},
        {"optimizer.refresh", training->optimizer == SG_OPTIM_SOAP,
         training->refresh != usual->refresh},
        {"points.start", second, training->points_start != usual->points_start},
        {"points.every", second, training->points_every != usual->points_every},
        {"points.most", second, training->points_most != usual->points_most},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].differs && !rows[i].used)
            return rows[i].option;
    return second ? unused_of_second(training, usual) : NULL;
}

void sgi_training_forget_unused(sgi_training_settings *training, const sgi_training_settings *usual)
{
    if (!sgi_training_is_second(training)) {
        training->points_start = usual->points_start;
        training->points_every = usual->points_every;
        training->points_most = usual->points_most;
        return;
    }
    training->rate = usual->rate;
    memcpy(training->betas, usual->betas, sizeof training->betas);
    training->eps = usual->eps;
    training->decay = usual->decay;
    if (!sgi_training_is_kernel(training))
        training->momentum = usual->momentum;
    training->dampening = usual->dampening;
    training->nesterov = usual->nesterov;
    training->refresh = usual->refresh;
    training->clip = usual->clip;
    training->warmup = usual->warmup;
    training->warmup_start = usual->warmup_start;
    training->then = usual->then;
    training->floor = usual->floor;
    training->pieces = usual->pieces;
    training->method = SG_METHOD_NONE; /* there is no gradient to rescale */
    training->from = usual->from;
    if (training->until != SG_STEP_MARGIN) /* which is refused */
        training->until = usual->until;
    training->handover = usual->handover;
    training->reference = usual->reference;
    training->blocks = usual->blocks;
    training->unknowns = usual->unknowns;
    training->scale_eps = usual->scale_eps;
    training->threshold = usual->threshold;
    training->floor_norm = usual->floor_norm;
}

bool sgi_training_remark(const sgi_training_settings *training, char *text, size_t size)
{
    if (training->unused)
        (void)snprintf(text, size, "training.%s is not used by the optimizer '%s'",
                       training->unused, sgi_training_optimizer(training));
    return training->unused;
}

sg_scale_config sgi_training_scale(const sgi_training_settings *training, uint64_t steps)
{
    sg_scale_config config = sg_scale_defaults();
    config.method = (sg_method)training->method;
    config.reference = (sg_reference)training->reference.kind;
    if (config.reference == SG_REFERENCE_CONSTANT)
        config.constant = training->reference.constant;
    config.blocks = (sg_blocks)training->blocks;
    /* A block of one number keeps its sign alone. What divides by the size of the gradient loses
     * nothing by that, and SGD everything. */
    config.scalars =
        training->unknowns == 2 || (training->unknowns == 0 && training->optimizer != SG_OPTIM_SGD);
    config.eps = training->scale_eps;
    config.threshold = training->threshold;
    config.floor = training->floor_norm;
    config.from = (uint64_t)training->from;
    config.until = (uint64_t)training->until;
    if (training->until == SG_STEP_HALF)
        config.until = steps / 2;
    if (training->until == SG_STEP_FOREVER || training->until == SG_STEP_MARGIN ||
        (training->until == SG_STEP_HALF && steps == SG_STEPS_WITHOUT_END))
        config.until = SG_FOREVER;
    config.handover = (sg_handover)training->handover;
    return config;
}

sg_optim_config sgi_training_optim(const sgi_training_settings *training, uint64_t steps,
                                   sg_schedule_term *terms)
{
    sg_optim_config config = sg_optim_defaults((sg_optim_kind)training->optimizer);
    config.rate = training->rate;
    config.beta1 = training->betas[0];
    config.beta2 = training->betas[1];
    config.eps = training->eps;
    config.decay = training->decay;
    config.momentum = training->momentum;
    config.dampening = training->dampening;
    config.nesterov = training->nesterov;
    config.refresh = (size_t)training->refresh;
    config.clip_norm = training->clip;
    size_t count = 0;
    uint64_t warmup = (uint64_t)training->warmup;
    if (warmup > 0)
        terms[count++] = sg_schedule_warmup(warmup, training->warmup_start);
    if (training->then == SG_SCHEDULE_COSINE && warmup < steps && steps != SG_STEPS_WITHOUT_END)
        terms[count++] = sg_schedule_cosine(warmup, steps, training->floor);
    memcpy(terms + count, training->pieces.values, (size_t)training->pieces.count * sizeof *terms);
    config.schedule = terms;
    config.schedule_count = count + (size_t)training->pieces.count;
    return config;
}
