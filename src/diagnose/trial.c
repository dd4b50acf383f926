/* A step for trial: see trial.h. */
#include "diagnose/trial.h"

#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "pinn/refinement.h"

static double element(const sgi_trial *trial, const void *values, size_t i)
{
    return sg_jet_network_type(trial->network) == SG_FLOAT32 ? (double)((const float *)values)[i]
                                                             : ((const double *)values)[i];
}

static size_t bytes(const sgi_trial *trial)
{
    return sg_jet_network_parameters(trial->network) *
           sgi_type_size(sg_jet_network_type(trial->network));
}

sg_status sgi_trial_create(sgi_trial *trial, const sg_jet_network *network,
                           const sg_allocator *allocator)
{
    *trial = (sgi_trial){.network = network, .allocator = *allocator};
    trial->values = sgi_allocate(allocator, bytes(trial), 1);
    return trial->values ? SG_OK : SG_ERROR_MEMORY;
}

void sgi_trial_release(sgi_trial *trial)
{
    sgi_release(&trial->allocator, trial->values);
    sgi_release(&trial->allocator, trial->state);
}

void sgi_trial_values(const sgi_trial *trial, double *values)
{
    const void *now = sg_jet_network_values(trial->network);
    for (size_t i = 0; i < sg_jet_network_parameters(trial->network); i++)
        values[i] = element(trial, now, i);
}

/* Copies weights and optimizer. */
static sg_status remember(sgi_trial *trial, const sg_pinn_trainer *trainer)
{
    size_t size;
    const void *state = sgi_pinn_trainer_state(trainer, &size);
    if (size != trial->state_size) {
        sgi_release(&trial->allocator, trial->state);
        trial->state_size = 0;
        trial->state = sgi_allocate(&trial->allocator, size, 1);
        if (!trial->state)
            return SG_ERROR_MEMORY;
        trial->state_size = size;
    }
    memcpy(trial->state, state, size);
    memcpy(trial->values, sg_jet_network_values(trial->network), bytes(trial));
    return SG_OK;
}

static void counters_of(const sg_scaler *scaler, uint64_t counters[SG_OUTCOME_COUNT])
{
    const sg_scale_report *report = sg_scaler_report(scaler);
    counters[SG_STEP_SCALED] = report->steps_scaled;
    counters[SG_STEP_INACTIVE] = report->steps_inactive;
    counters[SG_STEP_NO_REFERENCE] = report->steps_no_reference;
    counters[SG_STEP_NOT_FINITE] = report->steps_not_finite;
}

/* What refinement has before the step, which chooses points where the real one will, too. */
typedef struct kept_points {
    sgi_refinement *of; /* NULL: there is none */
    const void *state;  /* its own memory, which a step leaves alone */
    double seconds;
} kept_points;

static kept_points points_of(const sg_pinn_trainer *trainer)
{
    kept_points points = {.of = sgi_pinn_trainer_refinement(trainer)};
    size_t size;
    if (points.of)
        points.state = sgi_refinement_state(points.of, &size);
    points.seconds = sgi_refinement_seconds(points.of);
    return points;
}

static void put_back(const kept_points *points)
{
    if (!points->of)
        return;
    sgi_refinement_restore(points->of, points->state);
    sgi_refinement_set_seconds(points->of, points->seconds);
}

sg_status sgi_trial_step(sgi_trial *trial, sg_pinn_trainer *trainer, double *step,
                         sg_step_info *info)
{
    sgi_trainer_place place = sgi_pinn_trainer_place(trainer);
    sg_scaler *scaler = sg_pinn_trainer_scaler(trainer);
    uint64_t counters[SG_OUTCOME_COUNT];
    sg_status status = remember(trial, trainer);
    if (status != SG_OK)
        return status;
    counters_of(scaler, counters);
    uint64_t steps = sgi_pinn_trainer_steps(trainer);
    kept_points points = points_of(trainer);
    sg_pinn_step result;
    status = sg_pinn_trainer_step(trainer, &result);
    *info = result.info;
    void *now = sg_jet_network_values(trial->network);
    for (size_t i = 0; i < sg_jet_network_parameters(trial->network); i++)
        step[i] = element(trial, now, i) - element(trial, trial->values, i);
    memcpy(now, trial->values, bytes(trial));
    sg_scaler_set_counters(scaler, counters);
    sgi_pinn_trainer_restore(trainer, &place, steps, trial->state, trial->state_size);
    put_back(&points);
    return status;
}
