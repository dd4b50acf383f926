/* From a problem's settings to the configurations of the rooms below. See problem.h. */
#include "problem/problem.h"

static const double pi = 3.14159265358979323846;

size_t sgi_problem_waves(const sgi_problem *problem)
{
    const sgi_input_settings *in = &problem->settings.inputs;
    size_t count = (size_t)in->random_count;
    for (int k = 0; k < problem->names.coordinate_count; k++) {
        if (in->fourier_of >> k & 1)
            count += (size_t)in->frequencies.count;
        count += (size_t)in->periodic[k];
    }
    return count;
}

/* The size of a coordinate: of what the network sees, and what its derivatives are taken in. */
static double size_of(const sgi_problem *problem, int coordinate)
{
    return problem->scales.on ? problem->scales.coordinates[coordinate].size : 1;
}

/* Fourier features coordinate by coordinate, then harmonics, then random waves. */
static void fill_waves(const sgi_problem *problem, double *waves)
{
    const sgi_input_settings *in = &problem->settings.inputs;
    int coordinates = problem->names.coordinate_count;
    for (int k = 0; k < coordinates; k++) {
        if (!(in->fourier_of >> k & 1))
            continue;
        size_t count = (size_t)in->frequencies.count;
        sg_jet_waves_fourier(waves, coordinates, k, pi / size_of(problem, k),
                             in->frequencies.values, count);
        waves += count * (size_t)coordinates;
    }
    for (int k = 0; k < coordinates; k++) {
        size_t count = (size_t)in->periodic[k];
        sg_jet_waves_periodic(waves, coordinates, k, problem->upper[k] - problem->lower[k], count);
        waves += count * (size_t)coordinates;
    }
    sg_jet_waves_random(waves, coordinates, (size_t)in->random_count, in->random_std,
                        (uint64_t)in->random_seed);
    for (size_t i = 0; i < (size_t)in->random_count * (size_t)coordinates; i++)
        waves[i] /= size_of(problem, (int)(i % (size_t)coordinates));
}

sg_status sgi_problem_network(const sgi_problem *problem, sgi_arena *storage,
                              sg_jet_network_config *config)
{
    return sgi_problem_window_network(problem, -1, storage, config);
}

sg_status sgi_problem_window_network(const sgi_problem *problem, int window, sgi_arena *storage,
                                     sg_jet_network_config *config)
{
    const sgi_settings *settings = &problem->settings;
    size_t coordinates = (size_t)problem->names.coordinate_count,
           waves = sgi_problem_waves(problem);
    double *scale = sgi_arena_allocate(storage, 3 * coordinates, sizeof *scale);
    bool *keep = sgi_arena_allocate(storage, coordinates, sizeof *keep);
    double *rows = sgi_arena_allocate(storage, waves * coordinates, sizeof *rows);
    const char **unknowns = sgi_arena_allocate(storage, problem->unknown_count, sizeof *unknowns);
    if (!scale || !keep || !rows || !unknowns)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < problem->unknown_count; k++)
        unknowns[k] = problem->unknowns[k].label;
    double *shift = scale + coordinates, *unit = shift + coordinates;
    for (size_t k = 0; k < coordinates; k++) {
        bool part = window >= 0 && (int)k == problem->names.time;
        double lower = part ? sgi_problem_window_end(problem, window - 1) : problem->lower[k];
        double upper = part ? sgi_problem_window_end(problem, window) : problem->upper[k];
        bool rescale = settings->inputs.scale;
        keep[k] = settings->inputs.raw >> k & 1;
        unit[k] = size_of(problem, (int)k);
        scale[k] = rescale ? 2 / (upper - lower) : 1 / unit[k];
        shift[k] = rescale ? -(upper + lower) / (upper - lower) : 0;
    }
    fill_waves(problem, rows);
    *config =
        (sg_jet_network_config){.input = {(int)coordinates, scale, shift, keep, rows, waves, unit},
                                .hidden = settings->network.hidden.values,
                                .hidden_count = settings->network.hidden.count,
                                .outputs = problem->names.field_count,
                                .activation = (sg_activation)settings->network.activation,
                                .frequency = settings->network.frequency,
                                .type = (sg_type)settings->network.precision,
                                .scalars = unknowns,
                                .scalar_count = problem->unknown_count};
    return SG_OK;
}

double sgi_problem_unknown(const sgi_problem *problem, const sg_jet_network *network, size_t index)
{
    size_t at = sg_jet_network_parameters(network) - problem->unknown_count + index;
    const void *values = sg_jet_network_values(network);
    double parameter = sg_jet_network_type(network) == SG_FLOAT32
                           ? (double)((const float *)values)[at]
                           : ((const double *)values)[at];
    return sgi_unknown_value(&problem->unknowns[index], parameter);
}

sg_jet_init sgi_problem_init(const sgi_problem *problem)
{
    const sgi_network_settings *network = &problem->settings.network;
    return (sg_jet_init){.fan = (sg_fan)network->fan,
                         .distribution = (sg_distribution)network->distribution,
                         .gain = network->gain,
                         .seed = (uint64_t)problem->settings.training.seed};
}

sg_scale_config sgi_problem_scale(const sgi_problem *problem, int stage)
{
    const sgi_training_settings *training = &problem->settings.stages.values[stage];
    return sgi_training_scale(training, (uint64_t)training->steps);
}

sg_optim_config sgi_problem_optim(const sgi_problem *problem, int stage, sg_schedule_term *terms)
{
    const sgi_training_settings *training = &problem->settings.stages.values[stage];
    sg_optim_config config = sgi_training_optim(training, (uint64_t)training->steps, terms);
    if (config.kind == SG_OPTIM_MULTIADAM)
        config.groups = (size_t)problem->set_count;
    return config;
}
