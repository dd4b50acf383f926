/* run.json: see record.h. */
#include "train/record.h"

#include <stdio.h>
#include <string.h>

#include "stablegrad/version.h"

enum { TEXT_SIZE = 256 };

/* The processor's name, or "unknown". */
static void read_machine(char text[TEXT_SIZE])
{
    char line[TEXT_SIZE];
    snprintf(text, TEXT_SIZE, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, TEXT_SIZE, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file)
        fclose(file);
}

void sg_describe_network(const sg_network_settings *network, char *text, size_t size)
{
    const sg_widths *hidden = &network->hidden;
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

static json_t *coordinates_array(const sg_problem *problem)
{
    json_t *array = json_array();
    for (int c = 0; c < problem->names.coordinate_count; c++) {
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(problem->names.coordinates[c]));
        json_object_set_new(object, "low", sg_json_number(problem->lower[c]));
        json_object_set_new(object, "high", sg_json_number(problem->upper[c]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *names_array(const char *const *names, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, json_string(names[i]));
    return array;
}

static json_t *terms_array(const sg_problem *problem)
{
    json_t *array = json_array();
    for (int s = 0; s < problem->set_count; s++)
        for (int i = 0; i < problem->sets[s].term_count; i++)
            json_array_append_new(array, json_string(problem->sets[s].terms[i].name));
    return array;
}

static json_t *scale_object(const sg_scale_config *scale)
{
    static const char *const methods[] = {"stablegrad", "sign", "none"};
    static const char *const references[] = {"output", "residual", "norm", "inner", "constant"};
    static const char *const blocks[] = {"layer", "tensor", "weight", "all"};
    json_t *object = json_object();
    json_object_set_new(object, "method", json_string(methods[scale->method]));
    json_object_set_new(object, "reference", json_string(references[scale->reference]));
    json_object_set_new(object, "blocks", json_string(blocks[scale->blocks]));
    json_object_set_new(object, "from", json_integer((json_int_t)scale->from));
    json_object_set_new(object, "until",
                        scale->until == SG_FOREVER ? json_null()
                                                   : json_integer((json_int_t)scale->until));
    return object;
}

static int64_t points_per_step(const sg_problem *problem)
{
    int64_t points = 0;
    for (int s = 0; s < problem->set_count; s++)
        points += problem->sets[s].items;
    return points;
}

static void put_text(json_t *object, const char *key, const char *text)
{
    /* Text that is not UTF-8 (a command line may be anything) is left out. */
    json_t *string = json_string(text ? text : "");
    json_object_set_new(object, key, string ? string : json_string(""));
}

sg_status sg_record_write(const sg_run_record *record, sg_message *message)
{
    const sg_train_config *config = record->config;
    const sg_problem *problem = config->problem;
    const sg_training_settings *training = &problem->settings.training;
    char machine[TEXT_SIZE], network[TEXT_SIZE], channels[TEXT_SIZE];
    read_machine(machine);
    sg_describe_network(&problem->settings.network, network, sizeof network);
    sg_trainer_channels(record->trainer, 0, channels, sizeof channels);
    json_t *object = json_object();
    json_object_set_new(object, "format", json_integer(1));
    put_text(object, "name", problem->settings.name);
    put_text(object, "title", problem->settings.title);
    put_text(object, "variant", config->variant);
    put_text(object, "label", config->label);
    json_object_set_new(object, "seed", json_integer((json_int_t)training->seed));
    json_object_set_new(object, "threads", json_integer(config->threads));
    put_text(object, "version", sg_version());
    put_text(object, "kernels", sg_trainer_kernels(record->trainer));
    put_text(object, "machine", machine);
    put_text(object, "command", config->command);
    put_text(object, "started", record->started);
    json_object_set_new(object, "seconds", sg_json_number(record->seconds));
    json_object_set_new(object, "steps_done", json_integer((json_int_t)record->steps_done));
    json_object_set_new(object, "steps", json_integer((json_int_t)training->steps));
    put_text(object, "status", record->state);
    put_text(object, "reason", record->reason);
    json_object_set_new(
        object, "parameters",
        json_integer((json_int_t)sg_jet_network_parameters(sg_trainer_network(record->trainer))));
    put_text(object, "network", network);
    json_object_set_new(object, "points_per_step", json_integer(points_per_step(problem)));
    put_text(object, "channels", channels);
    json_object_set_new(object, "coordinates", coordinates_array(problem));
    json_object_set_new(object, "fields",
                        names_array(problem->names.fields, problem->names.field_count));
    json_object_set_new(object, "terms", terms_array(problem));
    json_object_set_new(object, "stablegrad",
                        scale_object(sg_scaler_config(sg_trainer_scaler(record->trainer))));
    json_object_set_new(object, "adam_eps", sg_json_number(training->eps));
    return sg_json_write(config->folder, "run.json", object, message);
}
