/* A network being trained: see trainer.h. */
#include "pinn/trainer.h"

#include "base/memory.h"
#include "base/params.h"

/* Points of one purpose and the engine that runs over them. */
typedef struct side {
    sgi_residual *residual;
    sg_jet *engine;
} side;

struct sgi_trainer {
    sg_allocator allocator;
    const sgi_problem *problem;
    sg_pool *pool;
    sg_isa isa;
    sg_jet_network *network;
    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
    side training, validation;
    sgi_term_value *terms;            /* of training points */
    sgi_term_value *validation_terms; /* of validation points */
    double *means;                    /* (term_count) */
    size_t term_count;
};

/* ---- Making ------------------------------------------------------------------------------- */

static sg_status create_network(sgi_trainer *t)
{
    sgi_arena storage;
    sg_jet_network_config config;
    sgi_arena_init(&storage, &t->allocator);
    sg_status status = sgi_problem_network(t->problem, &storage, &config);
    if (status == SG_OK)
        status = sg_jet_network_create(&t->network, &config, &t->allocator);
    sgi_arena_clear(&storage);
    if (status != SG_OK)
        return status;
    sg_jet_init init = sgi_problem_init(t->problem);
    return sg_jet_network_initialize(t->network, &init);
}

static sg_status create_optimizer(sgi_trainer *t)
{
    sg_schedule_term terms[SG_MOST_PIECES + 2];
    sg_scale_config scale = sgi_problem_scale(t->problem);
    sg_optim_config optim = sgi_problem_optim(t->problem, terms);
    scale.isa = optim.isa = t->isa;
    sg_status status = sg_params_create(&t->params, &t->allocator);
    if (status == SG_OK)
        status = sg_jet_network_register(t->network, t->params);
    if (status == SG_OK)
        status = sg_scaler_create(&t->scaler, t->params, &scale, t->pool, &t->allocator);
    if (status == SG_OK)
        status = sg_optim_create(&t->optim, t->params, &optim, t->pool, &t->allocator);
    return status;
}

static sg_status create_side(sgi_trainer *t, side *s, sgi_purpose purpose)
{
    sgi_residual_options options = {.type = sg_jet_network_type(t->network),
                                    .workers = sg_pool_threads(t->pool),
                                    .isa = t->isa,
                                    .purpose = purpose};
    sg_status status = sgi_residual_create(&s->residual, t->problem, &options, &t->allocator);
    if (status != SG_OK)
        return status;
    sg_jet_config config = sg_jet_defaults();
    config.network = t->network;
    config.sets = sgi_residual_sets(s->residual);
    config.set_count = (size_t)t->problem->set_count;
    config.pool = t->pool;
    config.isa = t->isa;
    return sg_jet_create(&s->engine, &config, &t->allocator);
}

static sg_status create_terms(sgi_trainer *t)
{
    t->term_count = sgi_residual_terms(t->training.residual);
    t->terms = sgi_allocate(&t->allocator, t->term_count, sizeof *t->terms);
    t->validation_terms = sgi_allocate(&t->allocator, t->term_count, sizeof *t->validation_terms);
    t->means = sgi_allocate(&t->allocator, t->term_count, sizeof *t->means);
    if (!t->terms || !t->validation_terms || !t->means)
        return SG_ERROR_MEMORY;
    size_t k = 0;
    for (int s = 0; s < t->problem->set_count; s++)
        for (int i = 0; i < t->problem->sets[s].term_count; i++, k++) {
            const sgi_term *term = &t->problem->sets[s].terms[i];
            t->terms[k] = (sgi_term_value){term->name, term->weight, 0};
            t->validation_terms[k] = t->terms[k];
        }
    return SG_OK;
}

sg_status sgi_trainer_create(sgi_trainer **out, const sgi_problem *problem, sg_pool *pool,
                             sg_isa isa, const sg_allocator *given)
{
    *out = NULL;
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sgi_trainer *t = sgi_allocate(&allocator, 1, sizeof *t);
    if (!t)
        return SG_ERROR_MEMORY;
    t->allocator = allocator;
    t->problem = problem;
    t->pool = pool;
    t->isa = isa;
    sg_status status = create_network(t);
    if (status == SG_OK)
        status = create_optimizer(t);
    if (status == SG_OK)
        status = create_side(t, &t->training, SG_POINTS_TRAINING);
    if (status == SG_OK)
        status = create_side(t, &t->validation, SG_POINTS_VALIDATION);
    if (status == SG_OK)
        status = create_terms(t);
    if (status != SG_OK) {
        sgi_trainer_destroy(t);
        return status;
    }
    *out = t;
    return SG_OK;
}

void sgi_trainer_destroy(sgi_trainer *t)
{
    if (!t)
        return;
    sg_allocator allocator = t->allocator;
    sg_jet_destroy(t->validation.engine);
    sgi_residual_destroy(t->validation.residual);
    sg_jet_destroy(t->training.engine);
    sgi_residual_destroy(t->training.residual);
    sg_optim_destroy(t->optim);
    sg_scaler_destroy(t->scaler);
    sg_params_destroy(t->params);
    sg_jet_network_destroy(t->network);
    sgi_release(&allocator, t->terms);
    sgi_release(&allocator, t->validation_terms);
    sgi_release(&allocator, t->means);
    sgi_release(&allocator, t);
}

/* ---- Working ------------------------------------------------------------------------------ */

static double collect(sgi_trainer *t, const side *s, sgi_term_value *terms, sg_moments *residual)
{
    sgi_loss loss = {.means = t->means};
    sgi_residual_collect(s->residual, s->engine, &loss);
    for (size_t k = 0; k < t->term_count; k++)
        terms[k].value = t->means[k];
    if (residual)
        *residual = loss.residual;
    return loss.total;
}

static uint64_t seed(const sgi_trainer *t)
{
    return (uint64_t)t->problem->settings.training.seed;
}

static double gradient_at(sgi_trainer *t, uint64_t step, sg_moments *residual)
{
    sgi_residual_begin(t->training.residual, seed(t), step);
    sg_jet_gradient(t->training.engine, NULL);
    return collect(t, &t->training, t->terms, residual);
}

double sgi_trainer_gradient(sgi_trainer *t, uint64_t step)
{
    return gradient_at(t, step, NULL);
}

sg_status sgi_trainer_step(sgi_trainer *t, sgi_step_result *result)
{
    uint64_t step = sg_optim_steps(t->optim);
    sg_moments signal;
    *result = (sgi_step_result){.step = step + 1, .terms = t->terms, .term_count = t->term_count};
    result->loss = gradient_at(t, step, &signal);
    if (sg_scaler_config(t->scaler)->reference == SG_REFERENCE_OUTPUT)
        signal = sg_jet_moments(t->training.engine);
    sg_status status = sg_scaler_observe_moments(t->scaler, &signal);
    if (status == SG_OK)
        status = sg_scaler_measure(t->scaler, step);
    if (status == SG_OK)
        status = sg_optim_step(t->optim, t->scaler, &result->info);
    result->scale = sg_scaler_report(t->scaler);
    return status;
}

double sgi_trainer_validate(sgi_trainer *t, const sgi_term_value **terms, size_t *count)
{
    sgi_residual_begin(t->validation.residual, seed(t), 0);
    sg_jet_forward(t->validation.engine);
    double loss = collect(t, &t->validation, t->validation_terms, NULL);
    *terms = t->validation_terms;
    *count = t->term_count;
    return loss;
}

/* ---- Looking ------------------------------------------------------------------------------ */

sg_jet_network *sgi_trainer_network(const sgi_trainer *t)
{
    return t->network;
}

sg_optim *sgi_trainer_optim(const sgi_trainer *t)
{
    return t->optim;
}

sg_scaler *sgi_trainer_scaler(const sgi_trainer *t)
{
    return t->scaler;
}

const char *sgi_trainer_kernels(const sgi_trainer *t)
{
    return sg_jet_kernels(t->training.engine);
}

size_t sgi_trainer_memory(const sgi_trainer *t)
{
    size_t state;
    size_t element = sgi_type_size(sg_jet_network_type(t->network));
    sg_optim_state(t->optim, &state);
    return sg_jet_memory(t->training.engine) + sg_jet_memory(t->validation.engine) + state +
           2 * element * sg_jet_network_parameters(t->network);
}

double sgi_trainer_flops(const sgi_trainer *t)
{
    const sg_jet_set *sets = sgi_residual_sets(t->training.residual);
    double flops = 0;
    for (int s = 0; s < t->problem->set_count; s++)
        flops += (double)sets[s].items * sets[s].points_per_item *
                 sg_jet_plan_flops(sets[s].plan, t->network, true);
    return flops;
}

size_t sgi_trainer_channels(const sgi_trainer *t, int set, char *text, size_t size)
{
    const sgi_names *names = &t->problem->names;
    return sg_jet_plan_describe(sgi_residual_sets(t->training.residual)[set].plan, names->fields[0],
                                (const char *const *)names->coordinates, text, size);
}
