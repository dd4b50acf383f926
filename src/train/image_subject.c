/* A network on images as a subject: see image_subject.h. */
#include "train/image_subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "graph/state.h"
#include "train/image_events.h"
#include "train/progress.h"

enum { NOTE_SIZE = 700 };

/* Sums since the last line of metrics. */
typedef struct tally {
    double images, top1, top5, seconds, waited;
} tally;

typedef struct image_subject {
    sg_subject subject;
    const sg_task *task;
    sg_image_trainer *trainer;
    sg_image_events events;
    sg_layer_value *layers; /* (layer_count): as observed last */
    size_t layer_count;
    sg_term_value term;
    sg_image_metrics metrics;
    tally line, total;
    uint64_t told_unread; /* unread images that the user knows of */
    char note[NOTE_SIZE];
} image_subject;

static image_subject *own(const sg_subject *subject)
{
    return (image_subject *)subject;
}

sg_image_trainer *sg_image_subject_trainer(const sg_subject *subject)
{
    return own(subject)->trainer;
}

static void destroy(sg_subject *subject)
{
    image_subject *s = own(subject);
    sg_allocator allocator = subject->allocator;
    sg_image_trainer_destroy(s->trainer);
    sg_release(&allocator, s->layers);
    sg_release(&allocator, s);
}

/* ---- A step ------------------------------------------------------------------------------- */

static void keep_layers(image_subject *s)
{
    const sg_net *net = sg_image_trainer_network(s->trainer);
    for (size_t i = 0; i < s->layer_count; i++) {
        sg_layer_report layer = sg_net_layer_at(net, i);
        s->layers[i] = (sg_layer_value){layer.name, layer.mean, layer.finite ? layer.std : NAN};
    }
}

static void add(tally *sum, const sg_image_step *step, double seconds)
{
    sum->images += step->images;
    sum->top1 += step->loss.top1;
    sum->top5 += step->loss.top5;
    sum->seconds += seconds;
    sum->waited += step->waited;
}

/* Says so the first time, and whenever their number has doubled. */
static void note_unread(image_subject *s, size_t used)
{
    char why[300] = "";
    uint64_t unread = sg_image_trainer_unread(s->trainer, why, sizeof why);
    if (unread == 0 || unread < 2 * s->told_unread)
        return;
    s->told_unread = unread;
    snprintf(s->note + used, sizeof s->note - used,
             "%s%llu image%s not be read so far; the last: %s", used ? "\n" : "",
             (unsigned long long)unread, unread == 1 ? " could" : "s could", why);
}

static const char *note_of(image_subject *s, const sg_image_event *event)
{
    s->note[0] = '\0';
    size_t used = event ? (size_t)snprintf(s->note, sizeof s->note, "%s", event->text) : 0;
    note_unread(s, used);
    return s->note[0] ? s->note : NULL;
}

/* What the line of metrics says of the images; starts the sums anew when it is written. */
static void fill_images(image_subject *s, const sg_image_step *step, bool observed, bool write)
{
    const tally *sum = &s->line;
    double epochs = (double)step->step / (double)sg_image_trainer_per_epoch(s->trainer);
    s->metrics = (sg_image_metrics){.epoch = epochs,
                                    .top1 = sum->top1 / sum->images,
                                    .top5 = sum->top5 / sum->images,
                                    .images_per_second = sum->images / sum->seconds,
                                    .waited = sum->waited,
                                    .activations = s->layers,
                                    .activation_count = observed ? s->layer_count : 0};
    if (write)
        s->line = (tally){0};
}

static sg_status step(sg_subject *subject, sg_step_metrics *metrics, sg_step_info *info,
                      bool *write, sg_message *message)
{
    image_subject *s = own(subject);
    const sg_net *net = sg_image_trainer_network(s->trainer);
    uint64_t number = sg_optim_steps(subject->optim) + 1;
    uint64_t every = (uint64_t)s->task->settings.observe_every;
    bool exploded = s->events.events[SG_EVENT_EXPLODED].happened;
    double observe_from = exploded ? INFINITY : sg_exploded_loss(sg_net_classes(net));
    if (number == 1 || number == subject->steps || (every > 0 && number % every == 0))
        observe_from = -INFINITY;
    double began = sg_seconds();
    sg_image_step result;
    sg_status status = sg_image_trainer_step(s->trainer, observe_from, &result, message);
    if (status != SG_OK)
        return status;
    double seconds = sg_seconds() - began;
    add(&s->line, &result, seconds);
    add(&s->total, &result, seconds);
    if (result.observed)
        keep_layers(s);
    *write = *write || result.observed;
    *info = result.info;
    s->term = (sg_term_value){"cross_entropy", 1, result.loss.loss};
    fill_images(s, &result, result.observed, *write);
    *metrics = (sg_step_metrics){.step = result.step,
                                 .rate = result.info.rate,
                                 .loss = result.loss.loss,
                                 .terms = &s->term,
                                 .term_count = 1,
                                 .scale = result.scale,
                                 .images = &s->metrics};
    metrics->note = note_of(s, sg_image_events_step(&s->events, net, &result));
    return SG_OK;
}

static sg_status evaluate(sg_subject *subject, sg_evaluation_metrics *metrics, sg_message *message)
{
    image_subject *s = own(subject);
    sg_image_score score;
    sg_status status = sg_image_trainer_evaluate(s->trainer, &score, message);
    if (status != SG_OK)
        return status;
    const sg_net *net = sg_image_trainer_network(s->trainer);
    const char *dull = score.only_class >= 0 ? sg_first_dull_layer(net) : "";
    const sg_image_event *event =
        sg_image_events_evaluation(&s->events, metrics->step, &score, sg_net_classes(net), dull);
    metrics->epoch = (double)metrics->step / (double)sg_image_trainer_per_epoch(s->trainer);
    metrics->loss = score.loss;
    metrics->images = score.images;
    metrics->top1 = score.top1;
    metrics->top5 = score.top5;
    metrics->score = 1 - score.top1;
    metrics->note = note_of(s, event);
    return SG_OK;
}

static void trouble(const sg_subject *subject, const sg_step_metrics *metrics, char *text,
                    size_t size)
{
    const image_subject *s = own(subject);
    size_t first = SG_NOT_FOUND;
    if (!isfinite(metrics->loss))
        first = sg_net_first_not_finite(sg_image_trainer_network(s->trainer));
    if (first != SG_NOT_FOUND) {
        snprintf(text, size, "the output of %s is not finite", s->layers[first].name);
        return;
    }
    snprintf(text, size, "the gradient of %s is not finite (the loss is %.1e)",
             sg_first_bad_gradient(metrics->scale), metrics->loss);
}

/* ---- Files -------------------------------------------------------------------------------- */

static sg_status net_failed(const image_subject *s, sg_status status, const char *path,
                            sg_message *message)
{
    const char *why = sg_net_message(sg_image_trainer_network(s->trainer));
    if (status != SG_OK)
        sg_message_set(message, "%s: %s", path, why[0] ? why : sg_status_text(status));
    return status;
}

static sg_status save_weights(sg_subject *subject, const char *path, sg_message *message)
{
    image_subject *s = own(subject);
    sg_tensor_note note = {"format", "pt"};
    sg_status status = sg_net_write(sg_image_trainer_network(s->trainer), path, &note, 1, NULL);
    return net_failed(s, status, path, message);
}

static sg_status save(sg_subject *subject, const char *path, const sg_progress *progress,
                      sg_message *message)
{
    image_subject *s = own(subject);
    size_t size;
    const void *state = sg_optim_state(subject->optim, &size);
    sg_tensor tensor = {
        .name = SG_STATE_TENSOR, .type = SG_TENSOR_U8, .rank = 1, .shape = {size}, .data = state};
    sg_progress_notes own_notes;
    sg_progress_write(&own_notes, progress);
    sg_tensor_note notes[SG_PROGRESS_NOTES + 1];
    memcpy(notes, own_notes.notes, sizeof own_notes.notes);
    json_t *array = sg_image_events_json(&s->events);
    char *events = json_dumps(array, JSON_COMPACT);
    json_decref(array);
    notes[SG_PROGRESS_NOTES] = (sg_tensor_note){"events", events ? events : "[]"};
    sg_status status = sg_net_write(sg_image_trainer_network(s->trainer), path, notes,
                                    SG_PROGRESS_NOTES + 1, &tensor);
    free(events);
    return net_failed(s, status, path, message);
}

static sg_status read_checkpoint(image_subject *s, const sg_safetensors *file, const char *path,
                                 sg_progress *progress, sg_message *message)
{
    const sg_tensor *state = sg_safetensors_find(file, SG_STATE_TENSOR);
    sg_progress read;
    if (!state || state->type != SG_TENSOR_U8 || !sg_progress_read(file, &read)) {
        sg_message_set(message, "%s is not a checkpoint that can be resumed", path);
        return SG_ERROR_FORMAT;
    }
    if (sg_optim_restore(s->subject.optim, state->data, sg_tensor_elements(state)) != SG_OK) {
        sg_message_set(message, "%s was saved by another optimizer or network", path);
        return SG_ERROR_STATE;
    }
    sg_status status = sg_net_read(sg_image_trainer_network(s->trainer), file, false);
    if (status != SG_OK)
        return net_failed(s, status, path, message);
    const char *text = sg_safetensors_note(file, "events");
    json_t *array = text ? json_loads(text, 0, NULL) : NULL;
    sg_image_events_read(&s->events, array);
    json_decref(array);
    *progress = read;
    return sg_image_trainer_move(s->trainer, message);
}

static sg_status load(sg_subject *subject, const char *path, sg_progress *progress,
                      sg_message *message)
{
    sg_safetensors *file;
    sg_status status =
        sg_safetensors_open(&file, path, &subject->allocator, message->text, sizeof message->text);
    if (status != SG_OK)
        return status;
    status = read_checkpoint(own(subject), file, path, progress, message);
    sg_safetensors_close(file);
    return status;
}

static sg_status write_task(const sg_subject *subject, char **text)
{
    const sg_task *task = own(subject)->task;
    char *written;
    *text = NULL;
    sg_status status = sg_task_write(task, &written);
    if (status != SG_OK)
        return status;
    *text = sg_copy_text(&subject->allocator, written);
    sg_release(&task->allocator, written);
    return *text ? SG_OK : SG_ERROR_MEMORY;
}

/* The weights are all there is. */
static sg_status finish(sg_subject *subject, const char *folder, sg_message *message)
{
    (void)subject;
    (void)folder;
    (void)message;
    return SG_OK;
}

/* ---- run.json ----------------------------------------------------------------------------- */

static const char *const norm_names[SG_NORMS] = {"none", "batch", "group", "layer"};

void sg_describe_model(const sg_model_settings *network, char *text, size_t size)
{
    static const char *const acts[SG_ACTS] = {"linear", "relu", "silu", "tanh", "sigmoid"};
    const char *model = sg_model_name(network->model);
    size_t used = (size_t)snprintf(text, size, "%s", model);
    if (strcmp(model, "mlp") == 0 && used < size) {
        used += (size_t)snprintf(text + used, size - used, " ");
        for (int i = 0; i < network->hidden.count && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, i ? "-%d" : "%d",
                                     network->hidden.values[i]);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, " %s", acts[network->activation]);
    }
    if (used >= size)
        return;
    if (network->norm == SG_NORM_NONE)
        snprintf(text + used, size - used, " without norm");
    else
        snprintf(text + used, size - used, " with %s norm", norm_names[network->norm]);
}

static void describe_start(const image_subject *s, char *text, size_t size)
{
    static const char *const starts[] = {"default", "fan in", "fan out"};
    snprintf(text, size, "%s%s", starts[s->task->settings.network.init],
             sg_task_calibrates(s->task) ? ", calibrated" : "");
}

static json_t *data_object(const image_subject *s)
{
    static const char *const kinds[] = {"cifar10", "cifar100", "folder"};
    sg_image_data data = sg_image_trainer_data(s->trainer);
    const sg_data_settings *settings = &s->task->settings.data;
    json_t *object = json_object();
    sg_json_text(object, "kind", kinds[settings->kind]);
    json_object_set_new(object, "train_images", json_integer((json_int_t)data.train_images));
    json_object_set_new(object, "test_images", json_integer((json_int_t)data.test_images));
    json_object_set_new(object, "classes", json_integer(data.classes));
    json_object_set_new(object, "size", json_integer(settings->size));
    return object;
}

static json_t *memory_object(const image_subject *s)
{
    sg_net_info info = sg_net_information(sg_image_trainer_network(s->trainer));
    json_t *object = json_object();
    json_object_set_new(object, "activations", json_integer((json_int_t)info.activation_bytes));
    json_object_set_new(object, "work", json_integer((json_int_t)info.work_bytes));
    json_object_set_new(object, "parameters",
                        json_integer((json_int_t)sg_image_trainer_parameter_bytes(s->trainer)));
    return object;
}

static void describe(const sg_subject *subject, json_t *record)
{
    const image_subject *s = own(subject);
    const sg_task_settings *settings = &s->task->settings;
    const sg_net *net = sg_image_trainer_network(s->trainer);
    char text[256];
    sg_json_text(record, "task", "images");
    sg_json_text(record, "kernels", sg_isa_name(sg_isa_resolve(sg_net_configuration(net)->isa)));
    json_object_set_new(record, "parameters",
                        json_integer((json_int_t)sg_net_information(net).parameters));
    sg_describe_model(&settings->network, text, sizeof text);
    sg_json_text(record, "network", text);
    sg_json_text(record, "model", sg_model_name(settings->network.model));
    sg_json_text(record, "norm", norm_names[settings->network.norm]);
    sg_json_text(record, "precision", settings->network.precision ? "bf16" : "float");
    describe_start(s, text, sizeof text);
    sg_json_text(record, "start", text);
    json_t *terms = json_array();
    json_array_append_new(terms, json_string("cross_entropy"));
    json_object_set_new(record, "terms", terms);
    json_object_set_new(record, "data", data_object(s));
    json_object_set_new(record, "batch", json_integer(settings->batch));
    json_object_set_new(record, "epochs", json_integer(settings->epochs));
    json_object_set_new(record, "steps_per_epoch",
                        json_integer((json_int_t)sg_image_trainer_per_epoch(s->trainer)));
    json_object_set_new(record, "memory", memory_object(s));
    json_object_set_new(record, "images_per_second",
                        sg_json_number(s->total.images / s->total.seconds));
    json_object_set_new(record, "unread_images",
                        json_integer((json_int_t)sg_image_trainer_unread(s->trainer, NULL, 0)));
    json_object_set_new(record, "events", sg_image_events_json(&s->events));
}

/* ---- Making ------------------------------------------------------------------------------- */

static const sg_subject_type image_type = {
    .destroy = destroy,
    .step = step,
    .evaluate = evaluate,
    .trouble = trouble,
    .save_weights = save_weights,
    .save = save,
    .load = load,
    .write = write_task,
    .finish = finish,
    .describe = describe,
    .advice = "The network has collapsed. Often helps: StableGrad, a smaller rate with warm-up, "
              "training.clip, or network.norm=batch.",
};

sg_status sg_image_subject_create(sg_subject **out, const sg_task *task, sg_pool *pool, sg_isa isa,
                                  const sg_allocator *given, sg_message *message)
{
    sg_allocator allocator = sg_allocator_or_heap(given);
    const sg_training_settings *training = &task->settings.training;
    *out = NULL;
    image_subject *s = sg_allocate(&allocator, 1, sizeof *s);
    if (!s) {
        sg_message_set(message, "out of memory");
        return SG_ERROR_MEMORY;
    }
    s->task = task;
    s->subject = (sg_subject){.type = &image_type,
                              .allocator = allocator,
                              .name = task->settings.name,
                              .title = task->settings.title,
                              .training = training};
    sg_status status = sg_image_trainer_create(&s->trainer, task, pool, isa, &allocator, message);
    if (status == SG_OK) {
        s->layer_count = sg_net_layer_count(sg_image_trainer_network(s->trainer));
        s->layers = sg_allocate(&allocator, s->layer_count, sizeof *s->layers);
        status = s->layers ? SG_OK : SG_ERROR_MEMORY;
    }
    if (status != SG_OK) {
        destroy(&s->subject);
        return status;
    }
    uint64_t epoch = sg_image_trainer_per_epoch(s->trainer);
    s->subject.steps = sg_image_trainer_steps(s->trainer);
    s->subject.log_every = (uint64_t)training->log_every;
    s->subject.evaluate_every =
        training->evaluate_every > 0 ? (uint64_t)training->evaluate_every : epoch;
    s->subject.checkpoint_every =
        training->checkpoint_every > 0 ? (uint64_t)training->checkpoint_every : epoch;
    s->subject.scaler = sg_image_trainer_scaler(s->trainer);
    s->subject.optim = sg_image_trainer_optim(s->trainer);
    *out = &s->subject;
    return SG_OK;
}
