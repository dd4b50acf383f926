/* A network being trained on a problem, stage after stage: sample, loss and gradient, scale, step.
 * It knows nothing of files or people; the room train does. See stablegrad/pinn.h. */

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/diagnostic.h"
#include "base/params.h"
#include "base/ranks.h"
#include "pinn/causal.h"
#include "pinn/refinement.h"
#include "pinn/second.h"

/* A stage has either a scaler and an optimizer, or a method of second order beside a scaler that is
 * never asked. */
typedef struct stage {
    const sgi_training_settings *settings;
    sg_scaler *scaler;
    sg_optim *optim;
    sgi_second *second;
    sgi_causal *causal; /* of an optimizer; NULL: every time counts alike */
    double *factors;    /* what it remembers: measured anew in each step */
} stage;

struct sg_pinn_trainer {
    sg_allocator allocator; /* adds up what is taken from `given` */
    sg_allocator given;
    size_t taken;      /* bytes so far */
    size_t parts_size; /* of the parts, when they were made */
    sg_pinn *pinn;     /* what is trained: with windows, the handle of one of them */
    sg_pinn *whole;    /* what the trainer was made for */
    sgi_problem *part; /* the problem of a window, or NULL */
    sg_pool *pool;
    sg_isa isa;
    stage stages[SG_MOST_STAGES];
    int stage_count;
    sgi_trainer_place place;
    uint64_t before;                 /* steps of the stages before */
    uint64_t last_stage;             /* of the last step */
    const sgi_second_report *report; /* of the last step, if it was of second order */
    sg_pinn_batch *training, *validation;
    sgi_refinement *refinement; /* NULL: points are drawn without looking at residuals */
    void *group_memory; /* MultiAdam: the gradients of each set, one after the other; else NULL */
    void *groups[SG_MOST_SETS];
    sg_diagnostic why; /* the last window could not be entered */
};

/* ---- Memory -----------------------------------------------------------------------------------
 */

static void *count_memory(void *context, size_t alignment, size_t size)
{
    sg_pinn_trainer *t = context;
    t->taken += size;
    return t->given.allocate(t->given.context, alignment, size);
}

static void release_memory(void *context, void *memory)
{
    sg_allocator given = ((sg_pinn_trainer *)context)->given; /* the memory may be the trainer's */
    given.release(given.context, memory);
}

/* All parts take theirs through the trainer, so that none is left out of what it says it needs. */
static void count_allocations(sg_pinn_trainer *t)
{
    t->given = t->allocator;
    t->allocator = (sg_allocator){count_memory, release_memory, t};
}

size_t sgi_pinn_trainer_memory(const sg_pinn_trainer *t)
{
    const sg_jet_network *network = t->pinn->network;
    size_t size = sgi_type_size(sg_jet_network_type(network));
    size_t networks = t->whole->pieces.count > 0 ? t->whole->pieces.count : 1;
    return t->parts_size + networks * 2 * size * sg_jet_network_parameters(network);
}

/* ---- Making -----------------------------------------------------------------------------------
 */

/* MultiAdam keeps the sets' gradients apart: tells it where each lies. */
static sg_status create_groups(sg_pinn_trainer *t, sg_optim *optim)
{
    const sg_jet_network *network = t->pinn->network;
    size_t parameters = sg_jet_network_parameters(network);
    size_t size = sgi_type_size(sg_jet_network_type(network));
    size_t sets = t->pinn->information.set_count;
    if (!t->group_memory)
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
            status = sg_optim_set_group(optim, k, i, (char *)t->groups[k] + place);
        }
    }
    return status;
}

static sg_status create_stage(sg_pinn_trainer *t, int index, sg_pool *pool, sg_isa isa)
{
    stage *s = &t->stages[index];
    sg_schedule_term schedule[SG_MOST_PIECES + 2];
    s->settings = &t->pinn->problem->settings.stages.values[index];
    sg_scale_config scale = sgi_problem_scale(t->pinn->problem, index);
    scale.isa = isa;
    sg_status status = sg_scaler_create(&s->scaler, t->pinn->params, &scale, pool, &t->allocator);
    if (status != SG_OK)
        return status;
    if (sgi_training_is_second(s->settings))
        return sgi_second_create(&s->second, t->pinn, s->settings, pool, isa, &t->allocator);
    sg_optim_config optim = sgi_problem_optim(t->pinn->problem, index, schedule);
    optim.isa = isa;
    status = sg_optim_create(&s->optim, t->pinn->params, &optim, pool, &t->allocator);
    for (size_t k = 0; k < t->pinn->problem->unknown_count && status == SG_OK; k++) {
        const sgi_unknown *unknown = &t->pinn->problem->unknowns[k];
        status = sg_optim_set_rate_factor(s->optim, sg_params_find(t->pinn->params, unknown->label),
                                          unknown->rate);
    }
    if (status == SG_OK && optim.kind == SG_OPTIM_MULTIADAM)
        status = create_groups(t, s->optim);
    return status;
}

/* Causal weights of stages of first order, on the points that they have in common. */
static sg_status create_causal(sg_pinn_trainer *t, stage *s)
{
    size_t chunks = sgi_causal_chunks(s->settings);
    if (s->second || chunks == 0)
        return SG_OK;
    s->factors = sgi_allocate(&t->allocator, chunks, sizeof *s->factors);
    return s->factors
               ? sgi_causal_create(&s->causal, t->training, s->settings, s->factors, &t->allocator)
               : SG_ERROR_MEMORY;
}

/* The stages and points of what is trained. */
static sg_status create_parts(sg_pinn_trainer *t)
{
    sg_pinn_batch_config config = {.stream = SG_POINTS_TRAINING, .pool = t->pool, .isa = t->isa};
    sg_status status = SG_OK;
    size_t before = t->taken;
    t->stage_count = t->pinn->problem->settings.stages.count;
    for (int i = 0; i < t->stage_count && status == SG_OK; i++)
        status = create_stage(t, i, t->pool, t->isa);
    if (status == SG_OK)
        status = sg_pinn_batch_create(&t->training, t->pinn, &config, &t->allocator);
    config.stream = SG_POINTS_VALIDATION;
    if (status == SG_OK)
        status = sg_pinn_batch_create(&t->validation, t->pinn, &config, &t->allocator);
    if (status == SG_OK)
        status = sgi_refinement_create(&t->refinement, t->pinn, t->training, t->pool, t->isa,
                                       &t->allocator);
    for (int i = 0; i < t->stage_count && status == SG_OK; i++)
        status = create_causal(t, &t->stages[i]);
    t->parts_size = t->taken - before;
    return status;
}

/* What is left is between windows: no stage can work, and each still has its settings. */
static void destroy_parts(sg_pinn_trainer *t)
{
    sgi_refinement_destroy(t->refinement);
    sg_pinn_batch_destroy(t->validation);
    sg_pinn_batch_destroy(t->training);
    for (int i = 0; i < t->stage_count; i++) {
        sg_optim_destroy(t->stages[i].optim);
        sg_scaler_destroy(t->stages[i].scaler);
        sgi_second_destroy(t->stages[i].second);
        sgi_causal_destroy(t->stages[i].causal);
        sgi_release(&t->allocator, t->stages[i].factors);
        t->stages[i] = (stage){.settings = &t->whole->problem->settings.stages.values[i]};
    }
    sgi_release(&t->allocator, t->group_memory);
    if (t->pinn != t->whole)
        sg_pinn_close(t->pinn);
    sgi_problem_destroy(t->part);
    t->refinement = NULL;
    t->validation = t->training = NULL;
    t->group_memory = NULL;
    t->report = NULL;
    t->part = NULL;
    t->pinn = t->whole;
}

static const stage *current(const sg_pinn_trainer *t)
{
    return &t->stages[t->place.stage];
}

/* Steps of this stage. An optimizer counts its own, and may have been restored by the caller. */
static uint64_t stage_steps(const sg_pinn_trainer *t)
{
    const sg_optim *optim = current(t)->optim;
    return optim ? sg_optim_steps(optim) : t->place.stage_steps;
}

/* ---- Windows ---------------------------------------------------------------------------------
 */

static bool has_windows(const sg_pinn_trainer *t)
{
    return t->whole->pieces.count > 0;
}

/* The problem and the handle of a window. Where they cannot be made, what is there stays whole. */
static sg_status open_window(sg_pinn_trainer *t, int window)
{
    sgi_problem *part;
    sg_pinn *pinn;
    memset(&t->why, 0, sizeof t->why);
    sg_status status = sgi_problem_window(&part, t->whole->problem, window, &t->allocator, &t->why);
    if (status != SG_OK)
        return status;
    status = sgi_pinn_over_window(&pinn, part, t->whole, window, &t->allocator);
    if (status != SG_OK) {
        sgi_problem_destroy(part);
        return status;
    }
    destroy_parts(t);
    t->part = part;
    t->pinn = pinn;
    return SG_OK;
}

/* Makes everything anew for a window; its weights are as they are. The parts of the window before
 * go first, as there may be no room for the matrices of both: when the new ones cannot be made the
 * trainer has none, is still at the end of the window before, and may try again. */
static sg_status enter_window(sg_pinn_trainer *t, uint64_t window)
{
    t->place.stage_steps = stage_steps(t); /* which the optimizer knew */
    sg_status status = open_window(t, (int)window);
    if (status == SG_OK) {
        status = create_parts(t);
        if (status == SG_OK)
            t->place.window = window;
        else
            destroy_parts(t);
    }
    if (status != SG_OK && !t->why.message[0])
        sgi_diagnostic_say(&t->why, "window %d cannot be set up: %s", (int)window + 1,
                           sg_status_text(status));
    return status;
}

/* From the end of a window on to the next, which begins with the same weights or drawn ones. */
static sg_status next_window(sg_pinn_trainer *t)
{
    uint64_t next = t->place.window + 1;
    sg_jet_network *const *networks = t->whole->windows;
    size_t bytes =
        sg_jet_network_parameters(networks[0]) * sgi_type_size(sg_jet_network_type(networks[0]));
    uint64_t before = sgi_pinn_trainer_steps(t);
    sgi_trainer_place place = {.skipped = t->place.skipped, .loss = NAN};
    sg_status status = enter_window(t, next);
    if (status != SG_OK)
        return status;
    if (!t->whole->problem->settings.windows_anew)
        memcpy(sg_jet_network_values(networks[next]), sg_jet_network_values(networks[next - 1]),
               bytes);
    t->whole->pieces.ready = next + 1;
    place.window = next;
    place.window_begin = before;
    t->place = place;
    t->before = before;
    return SG_OK;
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
    count_allocations(t);
    t->pinn = t->whole = pinn;
    t->pool = pool;
    t->isa = isa;
    t->place.loss = NAN;
    sg_status status = has_windows(t) ? enter_window(t, 0) : create_parts(t);
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
    destroy_parts(t);
    sgi_release(&t->allocator, t);
}

/* ---- Stages -----------------------------------------------------------------------------------
 */

uint64_t sgi_pinn_trainer_steps(const sg_pinn_trainer *t)
{
    return t->before + stage_steps(t);
}

/* Whether the budget of the stage is used up. */
static bool stage_over(const sg_pinn_trainer *t)
{
    const sgi_training_settings *budget = current(t)->settings;
    return stage_steps(t) >= (uint64_t)budget->steps ||
           (budget->seconds > 0 && t->place.stage_seconds >= budget->seconds) ||
           (stage_steps(t) > 0 && t->place.loss < budget->tolerance);
}

/* On to the next stage when this one is over and there is one. */
static void settle(sg_pinn_trainer *t)
{
    if (!stage_over(t) || t->place.stage + 1 >= (uint64_t)t->stage_count)
        return;
    t->before += stage_steps(t);
    t->place.stage++;
    t->place.stage_steps = 0;
    t->place.stage_seconds = 0;
}

/* Whether all stages are over, of this window if there are windows. */
static bool stages_over(const sg_pinn_trainer *t)
{
    return t->place.stage + 1 == (uint64_t)t->stage_count && stage_over(t);
}

bool sgi_pinn_trainer_over(const sg_pinn_trainer *t)
{
    return stages_over(t) && (!has_windows(t) || t->place.window + 1 == t->whole->pieces.count);
}

const sgi_training_settings *sgi_pinn_trainer_stage(const sg_pinn_trainer *t)
{
    return current(t)->settings;
}

uint64_t sgi_pinn_trainer_most_steps(const sg_pinn_trainer *t)
{
    uint64_t window = 0, own = (uint64_t)current(t)->settings->steps, most = t->before;
    most += own > stage_steps(t) ? own : stage_steps(t);
    for (int i = 0; i < t->stage_count; i++) {
        window += (uint64_t)t->stages[i].settings->steps;
        if ((uint64_t)i > t->place.stage)
            most += (uint64_t)t->stages[i].settings->steps;
    }
    if (has_windows(t))
        most += (t->whole->pieces.count - 1 - t->place.window) * window;
    return most < SG_STEPS_WITHOUT_END ? most : SG_STEPS_WITHOUT_END;
}

/* Of the stage's budgets, the one that is used up most. */
double sgi_pinn_trainer_stage_share(const sg_pinn_trainer *t)
{
    const sgi_training_settings *budget = current(t)->settings;
    double share = (double)stage_steps(t) / (double)budget->steps;
    if (budget->seconds > 0)
        share = fmax(share, t->place.stage_seconds / budget->seconds);
    return stage_over(t) || share > 1 ? 1 : share;
}

double sgi_pinn_trainer_share(const sg_pinn_trainer *t)
{
    double share = ((double)t->place.stage + sgi_pinn_trainer_stage_share(t)) / t->stage_count;
    return has_windows(t) ? ((double)t->place.window + share) / (double)t->whole->pieces.count
                          : share;
}

sgi_trainer_place sgi_pinn_trainer_place(const sg_pinn_trainer *t)
{
    sgi_trainer_place place = t->place;
    place.stage_steps = stage_steps(t);
    return place;
}

const void *sgi_pinn_trainer_state(const sg_pinn_trainer *t, size_t *size)
{
    const stage *s = current(t);
    *size = 0;
    return s->second ? sgi_second_state(s->second, size) : sg_optim_state(s->optim, size);
}

/* Whether there is anything that can take steps; not so where a window could not be entered. */
static bool is_whole(const sg_pinn_trainer *t)
{
    return t->training != NULL;
}

sg_status sgi_pinn_trainer_fits(sg_pinn_trainer *t, const sgi_trainer_place *place,
                                const void *state, size_t size)
{
    size_t windows = has_windows(t) ? t->whole->pieces.count : 1, own;
    if (place->window >= windows || place->stage >= (uint64_t)t->stage_count)
        return SG_ERROR_STATE;
    sg_status status =
        place->window != t->place.window || !is_whole(t) ? enter_window(t, place->window) : SG_OK;
    if (status != SG_OK)
        return status;
    const stage *s = &t->stages[place->stage];
    if (s->second)
        return sgi_second_fits(s->second, state, size) ? SG_OK : SG_ERROR_STATE;
    sg_optim_state(s->optim, &own);
    return size == own ? SG_OK : SG_ERROR_STATE;
}

const sg_diagnostic *sgi_pinn_trainer_why(const sg_pinn_trainer *t)
{
    return &t->why;
}

sg_optim *sgi_pinn_trainer_stage_optim(const sg_pinn_trainer *t, uint64_t index)
{
    return index < (uint64_t)t->stage_count ? t->stages[index].optim : NULL;
}

sg_scaler *sgi_pinn_trainer_stage_scaler(const sg_pinn_trainer *t, uint64_t index)
{
    return index < (uint64_t)t->stage_count ? t->stages[index].scaler : NULL;
}

void sgi_pinn_trainer_restore(sg_pinn_trainer *t, const sgi_trainer_place *place, uint64_t steps,
                              const void *state, size_t size)
{
    t->place = *place;
    t->last_stage = place->stage;
    t->before = steps - place->stage_steps;
    if (current(t)->second)
        sgi_second_restore(current(t)->second, state);
    else
        (void)!sg_optim_restore(current(t)->optim, state, size); /* it fits */
    if (place->stage == 0 && place->window == 0 && !current(t)->second)
        t->place.skipped = sg_optim_skipped(current(t)->optim); /* also in older checkpoints */
    settle(t); /* the budget may be another one by now */
}

uint64_t sgi_pinn_trainer_last_stage(const sg_pinn_trainer *t)
{
    return t->last_stage;
}

double sgi_pinn_trainer_causal(const sg_pinn_trainer *t)
{
    return t->report ? t->report->causal : sgi_causal_least(t->stages[t->last_stage].causal);
}

const sgi_second_report *sgi_pinn_trainer_second(const sg_pinn_trainer *t)
{
    return t->report;
}

/* ---- Working ----------------------------------------------------------------------------------
 */

/* What the times of the points count for in this step. */
static sg_status weigh_by_time(sg_pinn_trainer *t, const stage *s)
{
    if (s->causal)
        return sgi_causal_measure(s->causal);
    sgi_residual_weigh_time(sgi_pinn_residual(t->training), 0, NULL);
    return SG_OK;
}

/* Where seconds are the budget, the rescaling ends after half of them, and a cosine at their end.
 */
static sg_status follow_clock(const sg_pinn_trainer *t, const stage *s)
{
    enum { PARTS = 1000000 };
    const sgi_training_settings *training = s->settings;
    uint64_t step = sg_optim_steps(s->optim);
    sg_status status = SG_OK;
    if (!sgi_training_is_timed(training))
        return SG_OK;
    double share = fmin(1, t->place.stage_seconds / training->seconds);
    sg_scale_config scale = *sg_scaler_config(s->scaler);
    if (training->until == SG_STEP_HALF && share >= 0.5 && scale.until > step)
        status = sg_scaler_set_window(s->scaler, scale.from < step ? scale.from : step, step);
    if (status == SG_OK && training->then == SG_SCHEDULE_COSINE) {
        sg_schedule_term cosine = sg_schedule_cosine(0, PARTS, training->floor);
        double factor = sg_schedule_factor(&cosine, 1, (uint64_t)(share * PARTS));
        status = sg_optim_set_rate(s->optim, factor * training->rate);
    }
    return status;
}

static sg_status first_order_step(sg_pinn_trainer *t, sg_pinn_step *result)
{
    const stage *s = current(t);
    uint64_t step = sgi_pinn_trainer_steps(t);
    sg_pinn_draw(t->training, step);
    if (t->refinement)
        sgi_refinement_step(t->refinement, step);
    sg_status status = weigh_by_time(t, s);
    if (status == SG_OK)
        status = follow_clock(t, s);
    if (status != SG_OK)
        return status;
    if (s->settings->optimizer == SG_OPTIM_MULTIADAM)
        sg_pinn_gradients(t->training, t->groups, &result->loss);
    else
        sg_pinn_gradient(t->training, NULL, &result->loss);
    bool output = sg_scaler_config(s->scaler)->reference == SG_REFERENCE_OUTPUT;
    status = sg_scaler_observe_moments(s->scaler,
                                       output ? &result->loss.output : &result->loss.residual);
    if (status == SG_OK)
        status = sg_scaler_measure(s->scaler, sg_optim_steps(s->optim));
    if (status == SG_OK)
        status = sg_optim_step(s->optim, s->scaler, &result->info);
    return status;
}

/* The time as the stage counts it. */
static double seconds_now(const sg_pinn_trainer *t)
{
    return current(t)->settings->clock == SGI_CLOCK_CPU
               ? sgi_cpu_seconds() / sg_pool_threads(t->pool)
               : sgi_seconds();
}

/* Seconds since then, the first rank's for all, so that all end a stage after the same step. */
static double seconds_since(const sg_pinn_trainer *t, double began)
{
    double seconds = sgi_rank_index(t->pool) == 0 ? seconds_now(t) - began : 0;
    if (current(t)->settings->seconds > 0)
        sg_pool_sum(t->pool, &seconds, SG_FLOAT64, 1);
    return seconds;
}

sg_status sg_pinn_trainer_step(sg_pinn_trainer *t, sg_pinn_step *result)
{
    if (!t || !result)
        return SG_ERROR_ARGUMENT;
    uint64_t step = sgi_pinn_trainer_steps(t);
    *result = (sg_pinn_step){.step = step + 1};
    sg_status status = stages_over(t) && !sgi_pinn_trainer_over(t) ? next_window(t) : SG_OK;
    if (status == SG_OK && !is_whole(t))
        status = SG_ERROR_STATE;
    if (status != SG_OK)
        return status;
    double began = seconds_now(t);
    const stage *s = current(t);
    t->last_stage = t->place.stage;
    status = s->second ? sgi_second_step(s->second, result) : first_order_step(t, result);
    result->scale = sg_scaler_report(s->scaler);
    t->report = s->second ? sgi_second_last(s->second) : NULL;
    result->info.step = step;
    if (sg_pool_broken(t->pool)) /* what failed after that is no news */
        status = SG_ERROR_REDUCE;
    if (status != SG_OK)
        return status;
    t->place.stage_steps++;
    t->place.skipped += result->info.skipped;
    t->place.stage_seconds += seconds_since(t, began);
    t->place.loss = result->loss.total;
    settle(t);
    return SG_OK;
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
    while (!sgi_pinn_trainer_over(t)) {
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
        if (!go_on && result->end == SG_PINN_COMPLETE && !sgi_pinn_trainer_over(t))
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
    return current(t)->optim;
}

sg_scaler *sg_pinn_trainer_scaler(const sg_pinn_trainer *t)
{
    if (!t)
        return NULL;
    return current(t)->scaler;
}

sg_pinn_batch *sg_pinn_trainer_batch(const sg_pinn_trainer *t)
{
    if (!t)
        return NULL;
    return current(t)->second ? sgi_second_batch(current(t)->second) : t->training;
}

sgi_refinement *sgi_pinn_trainer_refinement(const sg_pinn_trainer *t)
{
    return t->refinement;
}
