/* A network being trained on a problem: sample, loss and gradient, scale, step. It knows nothing of
 * files or people; the room train does. See stablegrad/pinn.h. */

#include "base/params.h"
#include "pinn/refinement.h"

struct sg_pinn_trainer {
    sg_allocator allocator;
    const sg_pinn *pinn;
    sg_scaler *scaler;
    sg_optim *optim;
    sg_pinn_batch *training, *validation;
    sgi_refinement *refinement; /* NULL: points are drawn without looking at residuals */
    void *group_memory; /* MultiAdam: the gradients of each set, one after the other; else NULL */
    void *groups[SG_MOST_SETS];
};

/* ---- Making -----------------------------------------------------------------------------------
 */

/* MultiAdam keeps the sets' gradients apart: tells it where each lies. */
static sg_status create_groups(sg_pinn_trainer *t)
{
    const sg_jet_network *network = t->pinn->network;
    size_t parameters = sg_jet_network_parameters(network);
    size_t size = sgi_type_size(sg_jet_network_type(network));
    size_t sets = t->pinn->information.set_count;
    t->group_memory = sgi_allocate(&t->allocator, sets * parameters, size);
    if (!t->group_memory)
        return SG_ERROR_MEMORY;
    sg_status status = SG_OK;
    for (size_t k = 0; k < sets; k++) {
        t->groups[k] = (char *)t->group_memory + k * parameters * size;
        for (size_t i = 0; i < sg_params_count(t->pinn->params) && status == SG_OK && sets > 1;
             i++) {
            const char *own = sg_params_at(t->pinn->params, i)->gradient;
            size_t place = (size_t)(own - (const char *)sg_jet_network_gradients(network));
            status = sg_optim_set_group(t->optim, k, i, (char *)t->groups[k] + place);
        }
    }
    return status;
}

static sg_status create_optimizer(sg_pinn_trainer *t, sg_pool *pool, sg_isa isa)
{
    sg_scale_config scale = sg_pinn_scale_config(t->pinn);
    sg_optim_config optim = sg_pinn_optim_config(t->pinn);
    scale.isa = optim.isa = isa;
    sg_status status = sg_scaler_create(&t->scaler, t->pinn->params, &scale, pool, &t->allocator);
    if (status == SG_OK)
        status = sg_optim_create(&t->optim, t->pinn->params, &optim, pool, &t->allocator);
    if (status == SG_OK && optim.kind == SG_OPTIM_MULTIADAM)
        status = create_groups(t);
    return status;
}

sg_status sg_pinn_trainer_create(sg_pinn_trainer **out, sg_pinn *pinn, sg_pool *pool, sg_isa isa,
                                 const sg_allocator *given)
{
    if (!out || !pinn)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    sg_pinn_trainer *t = SGI_NEW(sg_pinn_trainer, given);
    if (!t)
        return SG_ERROR_MEMORY;
    t->pinn = pinn;
    sg_pinn_batch_config config = {.stream = SG_POINTS_TRAINING, .pool = pool, .isa = isa};
    sg_status status = create_optimizer(t, pool, isa);
    if (status == SG_OK)
        status = sg_pinn_batch_create(&t->training, pinn, &config, &t->allocator);
    config.stream = SG_POINTS_VALIDATION;
    if (status == SG_OK)
        status = sg_pinn_batch_create(&t->validation, pinn, &config, &t->allocator);
    if (status == SG_OK)
        status = sgi_refinement_create(&t->refinement, pinn, t->training, pool, isa, &t->allocator);
    if (status == SG_OK)
        *out = t;
    else
        sg_pinn_trainer_destroy(t);
    return status;
}

void sg_pinn_trainer_destroy(sg_pinn_trainer *t)
{
    if (!t)
        return;
    sgi_refinement_destroy(t->refinement);
    sg_pinn_batch_destroy(t->validation);
    sg_pinn_batch_destroy(t->training);
    sg_optim_destroy(t->optim);
    sg_scaler_destroy(t->scaler);
    sgi_release(&t->allocator, t->group_memory);
    sgi_release(&t->allocator, t);
}

/* ---- Working ----------------------------------------------------------------------------------
 */

sg_status sg_pinn_trainer_step(sg_pinn_trainer *t, sg_pinn_step *result)
{
    if (!t || !result)
        return SG_ERROR_ARGUMENT;
    uint64_t step = sg_optim_steps(t->optim);
    *result = (sg_pinn_step){.step = step + 1};
    sg_pinn_draw(t->training, step);
    if (t->refinement)
        sgi_refinement_step(t->refinement, step);
    if (t->group_memory)
        sg_pinn_gradients(t->training, t->groups, &result->loss);
    else
        sg_pinn_gradient(t->training, NULL, &result->loss);
    bool output = sg_scaler_config(t->scaler)->reference == SG_REFERENCE_OUTPUT;
    sg_status status = sg_scaler_observe_moments(t->scaler, output ? &result->loss.output
                                                                   : &result->loss.residual);
    if (status == SG_OK)
        status = sg_scaler_measure(t->scaler, step);
    if (status == SG_OK)
        status = sg_optim_step(t->optim, t->scaler, &result->info);
    result->scale = sg_scaler_report(t->scaler);
    return status;
}

void sg_pinn_trainer_validate(sg_pinn_trainer *t, sg_pinn_loss *loss)
{
    if (!t || !loss)
        return;
    sg_pinn_loss_at(t->validation, loss);
}

/* The steps from where the trainer is to the end of the problem's, or until something ends them. */
static sg_status run(sg_pinn_trainer *t, const sg_pinn_train_config *config, sg_pinn_result *result)
{
    uint64_t skipped_in_row = 0;
    *result = (sg_pinn_result){.end = SG_PINN_COMPLETE};
    while (result->steps < t->pinn->information.steps) {
        sg_pinn_step step;
        sg_status status = sg_pinn_trainer_step(t, &step);
        if (status != SG_OK)
            return status;
        result->steps = step.step;
        result->skipped += step.info.skipped;
        result->loss = step.loss.total;
        skipped_in_row = step.info.skipped ? skipped_in_row + 1 : 0;
        if (skipped_in_row == SG_PINN_MOST_SKIPPED)
            result->end = SG_PINN_FAILED;
        bool go_on = !config->step || config->step(config->context, &step);
        if (!go_on && result->end == SG_PINN_COMPLETE && step.step < t->pinn->information.steps)
            result->end = SG_PINN_STOPPED;
        if (result->end != SG_PINN_COMPLETE)
            return SG_OK;
    }
    /* A training without a single step is none, however few there were to be. */
    if (result->steps > 0 && result->skipped == result->steps)
        result->end = SG_PINN_FAILED;
    return SG_OK;
}

sg_status sg_pinn_train(sg_pinn *pinn, const sg_pinn_train_config *config, sg_pinn_result *result,
                        const sg_allocator *allocator)
{
    if (!pinn)
        return SG_ERROR_ARGUMENT;
    sg_pinn_train_config quiet = {.isa = SG_ISA_AUTO};
    sg_pinn_result unread;
    sg_pinn_trainer *trainer;
    config = config ? config : &quiet;
    if (pinn->problem->settings.training.until == SG_STEP_MARGIN)
        return SG_ERROR_UNSUPPORTED;
    sg_status status = sg_pinn_trainer_create(&trainer, pinn, config->pool, config->isa, allocator);
    if (status == SG_OK)
        status = run(trainer, config, result ? result : &unread);
    sg_pinn_trainer_destroy(trainer);
    return status;
}

/* ---- Looking ----------------------------------------------------------------------------------
 */

sg_optim *sg_pinn_trainer_optim(const sg_pinn_trainer *t)
{
    if (!t)
        return NULL;
    return t->optim;
}

sg_scaler *sg_pinn_trainer_scaler(const sg_pinn_trainer *t)
{
    if (!t)
        return NULL;
    return t->scaler;
}

sg_pinn_batch *sg_pinn_trainer_batch(const sg_pinn_trainer *t)
{
    if (!t)
        return NULL;
    return t->training;
}

sgi_refinement *sgi_pinn_trainer_refinement(const sg_pinn_trainer *t)
{
    return t->refinement;
}

size_t sgi_pinn_trainer_memory(const sg_pinn_trainer *t)
{
    const sg_jet_network *network = t->pinn->network;
    size_t state;
    sg_optim_state(t->optim, &state);
    size_t copies = 2 + (t->group_memory ? t->pinn->information.set_count : 0);
    return sg_jet_memory(sg_pinn_engine(t->training)) +
           sg_jet_memory(sg_pinn_engine(t->validation)) + state +
           copies * sgi_type_size(sg_jet_network_type(network)) *
               sg_jet_network_parameters(network);
}
