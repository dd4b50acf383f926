/* A network on images as a subject: see image_subject.h. */
#include "train/image_subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diagnostic.h"
#include "base/list.h"
#include "base/memory.h"
#include "files/json_text.h"
#include "graph/state.h"
#include "optim/state.h"
#include "train/image_events.h"
#include "train/image_record.h"
#include "train/image_tally.h"
#include "train/progress.h"
#include "train/record.h"

enum { NOTE_SIZE = 700 };

/* The output of one layer. */
typedef struct layer_value {
    const char *name;
    double mean, std;
} layer_value;

typedef struct image_subject {
    sgi_subject subject;
    const sgi_task *task;
    sgi_image_trainer *trainer;
    sgi_image_events events;
    layer_value *layers; /* (layer_count): as observed last */
    size_t layer_count;
    sgi_value term;          /* of the loss */
    double epoch;            /* of the last step, or of the last evaluation */
    bool observed;           /* the layers are those of the last step */
    sgi_image_tally written; /* since the line before the last step's */
    sgi_value shown[3];      /* of the last step */
    size_t shown_count;
    sgi_image_score score; /* of the last evaluation; no images: there was none */
    sgi_value values[4];
    sgi_image_tally line, total; /* since the last line of metrics, and over the run */
    uint64_t told_unread;        /* unread images that the user knows of */
    char note[NOTE_SIZE], unused[NOTE_SIZE];
    const char *first_note; /* before the run */
} image_subject;

static image_subject *own(const sgi_subject *subject)
{
    return (image_subject *)subject;
}

sgi_image_trainer *sgi_image_subject_trainer(const sgi_subject *subject)
{
    return own(subject)->trainer;
}

static void destroy(sgi_subject *subject)
{
    image_subject *s = own(subject);
    sg_allocator allocator = subject->allocator;
    sgi_image_trainer_destroy(s->trainer);
    sgi_release(&allocator, s->layers);
    sgi_release(&allocator, s);
}

/* ---- A step ------------------------------------------------------------------------------- */

static void keep_layers(image_subject *s)
{
    const sg_net *net = sgi_image_trainer_network(s->trainer);
    for (size_t i = 0; i < s->layer_count; i++) {
        sg_layer_report layer = sg_net_layer_at(net, i);
        s->layers[i] = (layer_value){layer.name, layer.mean, layer.finite ? layer.std : NAN};
    }
}

/* Says so the first time, and whenever their number has doubled. */
static void note_unread(image_subject *s, size_t used)
{
    sg_diagnostic last = {0};
    char why[300];
    uint64_t unread = sgi_image_trainer_unread(s->trainer, &last);
    if (unread == 0 || unread < 2 * s->told_unread)
        return;
    s->told_unread = unread;
    sgi_diagnostic_line(&last, why, sizeof why);
    bool own_reason = last.message[0] != '\0'; /* otherwise only other ranks have had trouble */
    snprintf(s->note + used, sizeof s->note - used, "%s%llu image%s not be read so far%s%s",
             used ? "\n" : "", (unsigned long long)unread, unread == 1 ? " could" : "s could",
             own_reason ? "; the last: " : ", by other ranks", own_reason ? why : "");
}

static const char *note_of(image_subject *s, const sgi_image_event *event)
{
    s->note[0] = '\0';
    size_t used = event ? (size_t)snprintf(s->note, sizeof s->note, "%s", event->text) : 0;
    note_unread(s, used);
    return s->note[0] ? s->note : NULL;
}

static json_t *activations_array(const image_subject *s)
{
    json_t *array = json_array();
    for (size_t i = 0; i < s->layer_count; i++) {
        const layer_value *layer = &s->layers[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(layer->name));
        json_object_set_new(object, "mean", sgi_json_number(layer->mean));
        json_object_set_new(object, "std", sgi_json_number(layer->std));
        json_array_append_new(array, object);
    }
    return array;
}

/* Shares and sums since the line before. */
static void write_step(const void *context, json_t *line)
{
    const image_subject *s = context;
    const sgi_image_tally *sum = &s->written;
    json_object_set_new(line, "epoch", sgi_json_number(s->epoch));
    json_object_set_new(line, "top1", sgi_json_number(sum->top1 / sum->images));
    json_object_set_new(line, "top5", sgi_json_number(sum->top5 / sum->images));
    json_object_set_new(line, "images_per_second", sgi_json_number(sum->images / sum->seconds));
    json_object_set_new(line, "waited", sgi_json_number(sum->waited));
    if (s->observed)
        json_object_set_new(line, "activations", activations_array(s));
}

static double epochs(const image_subject *s, uint64_t step)
{
    return (double)step / (double)sgi_image_trainer_per_epoch(s->trainer);
}

/* What the progress line shows, and what the line of metrics will say. */
static void keep_step(image_subject *s, const sgi_image_step *step, bool write)
{
    s->observed = step->observed;
    s->epoch = epochs(s, step->step);
    s->written = s->line;
    if (write)
        s->line = (sgi_image_tally){0};
    s->term =
        (sgi_value){"cross_entropy", "cross entropy", step->loss.loss, SG_LOOK_NUMBER, 0, 0, 0};
    s->shown[0] = (sgi_value){"epoch", "epoch", s->epoch, SG_LOOK_NUMBER, 0, 0, 0};
    s->shown[1] = (sgi_value){"images_per_second",
                              "images/s",
                              s->written.images / s->written.seconds,
                              SG_LOOK_NUMBER,
                              0,
                              0,
                              0};
    s->shown[2] = (sgi_value){"top1", "test top-1", s->score.top1, SG_LOOK_SHARE, 0, 0, 0};
    s->shown_count = s->score.images > 0 ? 3 : 2;
}

static sg_status step(sgi_subject *subject, sgi_step_metrics *metrics, bool *write,
                      sg_diagnostic *diagnostic)
{
    image_subject *s = own(subject);
    const sg_net *net = sgi_image_trainer_network(s->trainer);
    uint64_t number = sg_optim_steps(subject->optim) + 1;
    uint64_t every = (uint64_t)s->task->settings.observe_every;
    bool exploded = s->events.told[SG_EVENT_EXPLODED];
    double observe_from = exploded ? INFINITY : sgi_exploded_loss(sg_net_classes(net));
    if (number == 1 || number == subject->steps || (every > 0 && number % every == 0))
        observe_from = -INFINITY;
    double began = sgi_seconds();
    sgi_image_step result;
    sg_status status = sgi_image_trainer_step(s->trainer, observe_from, &result, diagnostic);
    if (status != SG_OK)
        return status;
    double seconds = sgi_seconds() - began;
    sgi_image_tally_add(&s->line, &result, seconds);
    sgi_image_tally_add(&s->total, &result, seconds);
    if (result.observed)
        keep_layers(s);
    *write = *write || result.observed || result.info.handed_over;
    keep_step(s, &result, *write);
    /* The loss of images lies between 0.1 and 10 unless it explodes. */
    bool usual = result.loss.loss >= 0.1 && result.loss.loss < 1000;
    *metrics = (sgi_step_metrics){.step = result.step,
                                  .loss = result.loss.loss,
                                  .look = usual ? SG_LOOK_NUMBER : SG_LOOK_POWER,
                                  .terms = &s->term,
                                  .term_count = 1,
                                  .shown = s->shown,
                                  .shown_count = s->shown_count,
                                  .info = result.info,
                                  .scale = result.scale,
                                  .own = {write_step, s}};
    metrics->note = note_of(s, sgi_image_events_step(&s->events, net, &result));
    return SG_OK;
}

static void write_evaluation(const void *context, json_t *line)
{
    const image_subject *s = context;
    json_t *validation = json_object_get(line, "validation");
    json_object_set_new(validation, "top1", sgi_json_number(s->score.top1));
    json_object_set_new(validation, "top5", sgi_json_number(s->score.top5));
    json_object_set_new(validation, "images", json_integer((json_int_t)s->score.images));
    json_object_set_new(line, "epoch", sgi_json_number(s->epoch));
}

/* The score, which the best weights have lowest, is the share of images that are classified
 * wrongly. */
static void fill_values(image_subject *s, sgi_evaluation_metrics *metrics)
{
    metrics->loss = s->score.loss;
    metrics->score = 1 - s->score.top1;
    bool best = metrics->score < metrics->best;
    s->values[0] = (sgi_value){"top1", "test top-1", s->score.top1, SG_LOOK_SHARE, 0, 0, 0};
    s->values[1] = (sgi_value){"top5", "test top-5", s->score.top5, SG_LOOK_SHARE, 0, 0, 0};
    s->values[2] = (sgi_value){"best_top1",
                               "best top-1",
                               1 - (best ? metrics->score : metrics->best),
                               SG_LOOK_SHARE,
                               best ? metrics->step : metrics->best_step,
                               0,
                               0};
    s->values[3] =
        (sgi_value){"validation_loss", "test loss", s->score.loss, SG_LOOK_NUMBER, 0, 0, 0};
    metrics->values = s->values;
    metrics->value_count = 4;
}

static sg_status evaluate(sgi_subject *subject, sgi_evaluation_metrics *metrics,
                          sg_diagnostic *diagnostic)
{
    image_subject *s = own(subject);
    sg_status status = sgi_image_trainer_evaluate(s->trainer, &s->score, diagnostic);
    if (status != SG_OK)
        return status;
    const sg_net *net = sgi_image_trainer_network(s->trainer);
    const char *dull = s->score.only_class >= 0 ? sgi_first_dull_layer(net) : "";
    const sgi_image_event *event = sgi_image_events_evaluation(&s->events, metrics->step, &s->score,
                                                               sg_net_classes(net), dull);
    s->epoch = epochs(s, metrics->step);
    fill_values(s, metrics);
    metrics->own = (sgi_own_part){write_evaluation, s};
    metrics->note = note_of(s, event);
    return SG_OK;
}

static uint64_t skipped(const sgi_subject *subject)
{
    return sg_optim_skipped(subject->optim);
}

static void trouble(const sgi_subject *subject, const sgi_step_metrics *metrics, char *text,
                    size_t size)
{
    const image_subject *s = own(subject);
    size_t first = SG_NOT_FOUND;
    if (!isfinite(metrics->loss))
        first = sg_net_first_not_finite(sgi_image_trainer_network(s->trainer));
    if (first != SG_NOT_FOUND) {
        snprintf(text, size, "the output of %s is not finite", s->layers[first].name);
        return;
    }
    snprintf(text, size, "the gradient of %s is not finite (the loss is %.1e)",
             sgi_first_bad_gradient(metrics->scale), metrics->loss);
}

/* ---- Files -------------------------------------------------------------------------------- */

static sg_status net_failed(const image_subject *s, sg_status status, const char *path,
                            sg_diagnostic *diagnostic)
{
    if (status == SG_OK)
        return SG_OK;
    const sg_diagnostic *why = sg_net_diagnostic(sgi_image_trainer_network(s->trainer));
    return sgi_fail_file(diagnostic, status, path, "%s",
                         why->message[0] ? why->message : sg_status_text(status));
}

static sg_status save_weights(sgi_subject *subject, const char *path, sg_diagnostic *diagnostic)
{
    image_subject *s = own(subject);
    sgi_tensor_note note = {"format", "pt"};
    sg_status status = sgi_net_write(sgi_image_trainer_network(s->trainer), path, &note, 1, NULL);
    return net_failed(s, status, path, diagnostic);
}

/* The sums since the last line and over the run, for a resumed one to go on with. */
static json_t *sums_json(const image_subject *s)
{
    json_t *array = json_array();
    sgi_image_tally_append(&s->line, array);
    sgi_image_tally_append(&s->total, array);
    return array;
}

/* As text, to be freed; releases the JSON. */
static char *text_of(json_t *json)
{
    char *text = sgi_json_dump(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

static json_t *note_json(const sgi_safetensors *file, const char *key)
{
    const char *text = sgi_safetensors_note(file, key);
    return text ? json_loads(text, 0, NULL) : NULL;
}

static sg_status save(sgi_subject *subject, const char *path, const sgi_progress *progress,
                      sg_diagnostic *diagnostic)
{
    image_subject *s = own(subject);
    size_t size;
    const void *state = sg_optim_state(subject->optim, &size);
    sgi_tensor tensor = {
        .name = SG_STATE_TENSOR, .type = SG_TENSOR_U8, .rank = 1, .shape = {size}, .data = state};
    sgi_progress_notes own_notes;
    sgi_progress_write(&own_notes, progress);
    sgi_tensor_note notes[SG_PROGRESS_NOTES + 2];
    memcpy(notes, own_notes.notes, sizeof own_notes.notes);
    char *events = text_of(sgi_image_events_json(&s->events)), *sums = text_of(sums_json(s));
    notes[SG_PROGRESS_NOTES] = (sgi_tensor_note){"events", events};
    notes[SG_PROGRESS_NOTES + 1] = (sgi_tensor_note){"sums", sums};
    sg_status status;
    if (events && sums)
        status = net_failed(s,
                            sgi_net_write(sgi_image_trainer_network(s->trainer), path, notes,
                                          SG_PROGRESS_NOTES + 2, &tensor),
                            path, diagnostic);
    else
        status = sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    free(events);
    free(sums);
    return status;
}

static sg_status read_checkpoint(image_subject *s, const sgi_safetensors *file, const char *path,
                                 sgi_progress *progress, sg_diagnostic *diagnostic)
{
    const sgi_tensor *state = sgi_safetensors_find(file, SG_STATE_TENSOR);
    sgi_progress read;
    if (!state || state->type != SG_TENSOR_U8 || !sgi_progress_read(file, &read)) {
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                             "not a checkpoint that can be resumed");
    }
    size_t size = sgi_tensor_elements(state);
    if (!sgi_state_fits(s->subject.optim, state->data, size)) {
        return sgi_fail_file(diagnostic, SG_ERROR_STATE, path,
                             "was saved by another optimizer or network");
    }
    sg_status status = sgi_net_read(sgi_image_trainer_network(s->trainer), file, false);
    if (status != SG_OK)
        return net_failed(s, status, path, diagnostic);
    status = sg_optim_restore(s->subject.optim, state->data, size);
    if (status != SG_OK) /* it fits: this cannot fail */
        return status;
    json_t *events = note_json(file, "events"), *sums = note_json(file, "sums");
    sgi_image_events_read(&s->events, events);
    s->line = sgi_image_tally_read(sums, 0);
    s->total = sgi_image_tally_read(sums, SG_TALLY_NUMBERS);
    json_decref(events);
    json_decref(sums);
    *progress = read;
    return sgi_image_trainer_move(s->trainer, diagnostic);
}

static sg_status load(sgi_subject *subject, const char *path, sgi_progress *progress,
                      sg_diagnostic *diagnostic)
{
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, &subject->allocator, diagnostic);
    if (status != SG_OK)
        return status;
    status = read_checkpoint(own(subject), file, path, progress, diagnostic);
    sgi_safetensors_close(file);
    return status;
}

static sg_status write_task(const sgi_subject *subject, char **text)
{
    const sgi_task *task = own(subject)->task;
    char *written;
    *text = NULL;
    sg_status status = sgi_task_write(task, &written);
    if (status != SG_OK)
        return status;
    *text = sgi_copy_text(&subject->allocator, written);
    sgi_release(&task->allocator, written);
    return *text ? SG_OK : SG_ERROR_MEMORY;
}

/* Nothing is left to write: the loop has saved the weights. */
static sg_status finish(sgi_subject *subject, const char *folder, sg_diagnostic *diagnostic)
{
    (void)subject;
    (void)folder;
    (void)diagnostic;
    return SG_OK;
}

static void describe(const sgi_subject *subject, json_t *record)
{
    const image_subject *s = own(subject);
    json_object_set_new(record, "stablegrad",
                        sgi_record_scaling(sg_scaler_config(subject->scaler), subject->training));
    sgi_image_record(s->task, s->trainer, &s->total, &s->events, record);
}

/* ---- Making ------------------------------------------------------------------------------- */

static const sgi_subject_type image_type = {
    .kind = "images",
    .destroy = destroy,
    .step = step,
    .evaluate = evaluate,
    .skipped = skipped,
    .trouble = trouble,
    .save_weights = save_weights,
    .save = save,
    .load = load,
    .write = write_task,
    .finish = finish,
    .describe = describe,
};

sg_status sgi_image_subject_create(sgi_subject **out, const sgi_task *task, sg_pool *pool,
                                   const sg_ranks *ranks, sg_isa isa, const sg_allocator *given,
                                   sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    const sgi_training_settings *training = &task->settings.training;
    *out = NULL;
    image_subject *s = sgi_allocate(&allocator, 1, sizeof *s);
    if (!s) {
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    }
    s->task = task;
    s->subject = (sgi_subject){.type = &image_type,
                               .advice = "The network has collapsed. Often helps: StableGrad, a "
                                         "smaller rate with warm-up, training.clip, or "
                                         "network.norm=batch.",
                               .allocator = allocator,
                               .name = task->settings.name,
                               .title = task->settings.title,
                               .training = training};
    s->first_note = s->unused;
    s->subject.notes = &s->first_note;
    s->subject.note_count = sgi_training_remark(training, s->unused, sizeof s->unused);
    sg_status status =
        sgi_image_trainer_create(&s->trainer, task, pool, ranks, isa, &allocator, diagnostic);
    if (status == SG_OK) {
        s->layer_count = sg_net_layer_count(sgi_image_trainer_network(s->trainer));
        s->layers = sgi_allocate(&allocator, s->layer_count, sizeof *s->layers);
        status = s->layers ? SG_OK : SG_ERROR_MEMORY;
    }
    if (status != SG_OK) {
        destroy(&s->subject);
        return status;
    }
    uint64_t epoch = sgi_image_trainer_per_epoch(s->trainer);
    s->subject.steps = sgi_image_trainer_steps(s->trainer);
    s->subject.log_every = (uint64_t)training->log_every;
    s->subject.evaluate_every =
        training->evaluate_every > 0 ? (uint64_t)training->evaluate_every : epoch;
    s->subject.checkpoint_every =
        training->checkpoint_every > 0 ? (uint64_t)training->checkpoint_every : epoch;
    s->subject.scaler = sgi_image_trainer_scaler(s->trainer);
    s->subject.optim = sgi_image_trainer_optim(s->trainer);
    *out = &s->subject;
    return SG_OK;
}
