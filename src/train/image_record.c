/* Runs of networks on images in run.json: see image_record.h. */
#include "train/image_record.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "train/metrics.h"

void sgi_describe_model(const sgi_model_settings *network, char *text, size_t size)
{
    const char *model = sg_model_name(network->model);
    size_t used = (size_t)snprintf(text, size, "%s", model);
    if (strcmp(model, "mlp") == 0 && used < size) {
        used += (size_t)snprintf(text + used, size - used, " ");
        for (int i = 0; i < network->hidden.count && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, i ? "-%d" : "%d",
                                     network->hidden.values[i]);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, " %s",
                                     network->activation == SG_ACT_NONE
                                         ? "linear"
                                         : sg_act_name((sg_act)network->activation));
    }
    if (used >= size)
        return;
    if (network->norm == SG_NORM_NONE)
        snprintf(text + used, size - used, " without norm");
    else
        snprintf(text + used, size - used, " with %s norm", sg_norm_name((sg_norm)network->norm));
}

static void describe_start(const sgi_task *task, char *text, size_t size)
{
    static const char *const starts[] = {SG_INIT_LIST(SGI_LIST_TITLE)};
    snprintf(text, size, "%s%s", starts[task->settings.network.init],
             sgi_task_calibrates(task) ? ", calibrated" : "");
}

static json_t *data_object(const sgi_task *task, const sgi_image_trainer *trainer)
{
    static const char *const kinds[] = {SGI_DATA_KIND_LIST(SGI_LIST_NAME)};
    sgi_image_data data = sgi_image_trainer_data(trainer);
    const sgi_data_settings *settings = &task->settings.data;
    json_t *object = json_object();
    sgi_json_text(object, "kind", kinds[settings->kind]);
    json_object_set_new(object, "train_images", json_integer((json_int_t)data.train_images));
    json_object_set_new(object, "test_images", json_integer((json_int_t)data.test_images));
    json_object_set_new(object, "classes", json_integer(data.classes));
    json_object_set_new(object, "size", json_integer(settings->size));
    return object;
}

static json_t *memory_object(const sgi_image_trainer *trainer)
{
    sg_net_info info = sg_net_information(sgi_image_trainer_network(trainer));
    json_t *object = json_object();
    json_object_set_new(object, "activations", json_integer((json_int_t)info.activation_bytes));
    json_object_set_new(object, "work", json_integer((json_int_t)info.work_bytes));
    json_object_set_new(object, "parameters",
                        json_integer((json_int_t)sgi_image_trainer_parameter_bytes(trainer)));
    return object;
}

void sgi_image_record(const sgi_task *task, const sgi_image_trainer *trainer,
                      const sgi_image_tally *total, const sgi_image_events *events, json_t *record)
{
    const sgi_task_settings *settings = &task->settings;
    const sg_net *net = sgi_image_trainer_network(trainer);
    char text[256];
    sgi_json_text(record, "kernels", sg_isa_name(sg_isa_resolve(sg_net_configuration(net)->isa)));
    json_object_set_new(record, "parameters",
                        json_integer((json_int_t)sg_net_information(net).parameters));
    sgi_describe_model(&settings->network, text, sizeof text);
    sgi_json_text(record, "network", text);
    sgi_json_text(record, "model", sg_model_name(settings->network.model));
    sgi_json_text(record, "norm", sg_norm_name((sg_norm)settings->network.norm));
    sgi_json_text(record, "precision",
                  sg_precision_name((sg_precision)settings->network.precision));
    describe_start(task, text, sizeof text);
    sgi_json_text(record, "start", text);
    json_t *terms = json_array();
    json_array_append_new(terms, json_string("cross_entropy"));
    json_object_set_new(record, "terms", terms);
    json_object_set_new(record, "data", data_object(task, trainer));
    json_object_set_new(record, "batch", json_integer(settings->batch));
    json_object_set_new(record, "epochs", json_integer(settings->epochs));
    json_object_set_new(record, "steps_per_epoch",
                        json_integer((json_int_t)sgi_image_trainer_per_epoch(trainer)));
    json_object_set_new(record, "memory", memory_object(trainer));
    json_object_set_new(record, "images_per_second",
                        sgi_json_number(total->images / total->seconds));
    json_object_set_new(record, "unread_images",
                        json_integer((json_int_t)sgi_image_trainer_unread(trainer, NULL)));
    json_object_set_new(record, "events", sgi_image_events_json(events));
}
