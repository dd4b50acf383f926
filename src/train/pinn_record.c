/* What run.json says of the network of a PDE: see pinn_record.h. */
#include "train/pinn_record.h"

#include <stdio.h>

#include "pinn/errors.h"
#include "train/data_file.h"
#include "train/field.h"
#include "train/record.h"
#include "train/unknowns.h"

void sgi_describe_network(const sgi_network_settings *network, char *text, size_t size)
{
    const sgi_widths *hidden = &network->hidden;
    bool equal = true;
    size_t used = 0;
    for (int i = 1; i < hidden->count; i++)
        equal = equal && hidden->values[i] == hidden->values[0];
    if (hidden->count == 0)
        used = (size_t)snprintf(text, size, "linear");
    else if (equal)
        used = (size_t)snprintf(text, size, "%d x %d", hidden->count, hidden->values[0]);
    for (int i = 0; !equal && i < hidden->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? "-%d" : "%d", hidden->values[i]);
    if (used < size)
        snprintf(text + used, size - used, " %s",
                 sg_activation_name((sg_activation)network->activation));
}

static json_t *coordinates_array(const sg_pinn_information *information)
{
    json_t *array = json_array();
    for (size_t c = 0; c < information->coordinate_count; c++) {
        const sg_pinn_coordinate *coordinate = &information->coordinates[c];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(coordinate->name));
        json_object_set_new(object, "low", sgi_json_number(coordinate->lower));
        json_object_set_new(object, "high", sgi_json_number(coordinate->upper));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *names_array(const char *const *names, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(names[i]));
    return array;
}

static json_t *terms_array(const sg_pinn_information *information)
{
    json_t *array = json_array();
    for (size_t i = 0; i < information->term_count; i++)
        json_array_append_new(array, json_string(information->terms[i].name));
    return array;
}

/* As the scaler of a stage has it; as the problem does, where a window that could not be entered
 * has left none. */
static json_t *scaling_of(const sg_pinn *pinn, const sg_pinn_trainer *trainer, int stage)
{
    const sg_scaler *scaler = sgi_pinn_trainer_stage_scaler(trainer, (uint64_t)stage);
    sg_scale_config scale =
        scaler ? *sg_scaler_config(scaler) : sgi_problem_scale(pinn->problem, stage);
    return sgi_record_scaling(&scale, &pinn->problem->settings.stages.values[stage]);
}

/* The optimizer of each stage, and what is done to its gradients. */
static json_t *stages_array(const sg_pinn *pinn, const sg_pinn_trainer *trainer)
{
    const sgi_stages *stages = &pinn->problem->settings.stages;
    json_t *array = json_array();
    for (int i = 0; i < stages->count; i++) {
        const sgi_training_settings *stage = &stages->values[i];
        json_t *object = json_object();
        sgi_json_text(object, "name", sgi_training_optimizer_title(stage));
        sgi_record_optimizer(object, stage);
        if (!sgi_training_is_second(stage))
            json_object_set_new(object, "stablegrad", scaling_of(pinn, trainer, i));
        json_array_append_new(array, object);
    }
    return array;
}

/* What is done to gradients: that of the first stage that changes them, or else of the first. */
static json_t *scaling_object(const sg_pinn *pinn, const sg_pinn_trainer *trainer)
{
    const sgi_stages *stages = &pinn->problem->settings.stages;
    int stage = sgi_problem_rescaled_stage(pinn->problem);
    json_t *object = scaling_of(pinn, trainer, stage);
    if (stages->count > 1 && stages->values[stage].method != SG_METHOD_NONE)
        json_object_set_new(object, "stage", json_integer(stage + 1));
    return object;
}

static size_t points_per_step(const sg_pinn_information *information)
{
    size_t points = 0;
    for (size_t s = 0; s < information->set_count; s++)
        points += information->sets[s].items;
    return points;
}

static json_t *ends_array(const sgi_problem *problem)
{
    json_t *array = json_array();
    for (int k = 0; k < problem->windows.count; k++)
        json_array_append_new(array, sgi_json_number(sgi_problem_window_end(problem, k)));
    return array;
}

static json_t *sizes_array(const sgi_box_grid *grid)
{
    json_t *array = json_array();
    for (int c = 0; c < grid->coordinates; c++)
        json_array_append_new(array, json_integer((json_int_t)grid->sizes[c]));
    return array;
}

void sgi_pinn_record(const sg_pinn *pinn, const sg_pinn_trainer *trainer,
                     const sgi_misfits *misfits, const sgi_intervals *intervals, json_t *record)
{
    const sgi_problem *problem = pinn->problem;
    const sgi_settings *settings = &problem->settings;
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    const sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
    char network[256], channels[256];
    sgi_describe_network(&settings->network, network, sizeof network);
    size_t parameters = sg_jet_network_parameters(sg_pinn_network(pinn));
    json_object_set_new(record, "stablegrad", scaling_object(pinn, trainer));
    json_object_set_new(record, "parameters", json_integer((json_int_t)parameters));
    sgi_json_text(record, "network", network);
    if (!sgi_training_is_second(&settings->training)) /* which has its own points */
        json_object_set_new(record, "points_per_step",
                            json_integer((json_int_t)points_per_step(information)));
    if (batch) { /* a window that could not be entered has none */
        sgi_pinn_channels(batch, 0, channels, sizeof channels);
        sgi_json_text(record, "kernels", sg_jet_kernels(sg_pinn_engine(batch)));
        sgi_json_text(record, "channels", channels);
    }
    json_object_set_new(record, "coordinates", coordinates_array(information));
    json_object_set_new(record, "fields",
                        names_array(information->fields, information->field_count));
    json_object_set_new(record, "terms", terms_array(information));
    sgi_unknowns_describe(pinn, intervals, record);
    const sgi_maps_list *maps = &settings->evaluation.maps;
    if (maps->count > 0)
        json_object_set_new(record, "maps", names_array(maps->values, (size_t)maps->count));
    if (misfits)
        json_object_set_new(record, "measured", sgi_data_record(misfits));
    if (settings->stages.count > 1)
        json_object_set_new(record, "stages", stages_array(pinn, trainer));
    if (problem->windows.count > 0)
        json_object_set_new(record, "windows", ends_array(problem));
    sgi_box_grid whole = sgi_box_grid_of_problem(problem), grid = sgi_field_grid(problem);
    json_object_set_new(record, "field_grid", sizes_array(&grid));
    if (grid.total < whole.total)
        json_object_set_new(record, "field_thinned_from", sizes_array(&whole));
}
