/* Runs of image tasks: see image_run.h. */
#include "runs/image_run.h"

#include <math.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

size_t sgi_image_run_events(const sgi_run *run)
{
    return json_array_size(json_object_get(run->info, "events"));
}

static sgi_image_event_kind kind_of(const char *word)
{
    static const char *const names[] = {SG_EVENT_LIST(SGI_LIST_NAME)};
    int kind = 0;
    while (kind < SG_EVENTS && strcmp(names[kind], word) != 0)
        kind++;
    return (sgi_image_event_kind)kind;
}

bool sgi_image_run_event(const sgi_run *run, size_t i, sgi_event *event)
{
    const json_t *entry = json_array_get(json_object_get(run->info, "events"), i);
    *event = (sgi_event){.kind = kind_of(text_of(entry, "kind")),
                         .word = text_of(entry, "kind"),
                         .layer = text_of(entry, "layer"),
                         .pass = text_of(entry, "pass"),
                         .text = text_of(entry, "text"),
                         .step = number_of(entry, "step"),
                         .value = number_of(entry, "value"),
                         .class_index = number_of(entry, "class")};
    return isfinite(event->step);
}

double sgi_image_chance(const sgi_run *run)
{
    double classes = sgi_run_number(run, "data", "classes");
    return classes >= 1 ? 1 / classes : NAN;
}

bool sgi_image_at_chance(const sgi_run *run, double top1)
{
    double chance = sgi_image_chance(run);
    double images = sgi_columns_last(&run->evaluation, "validation/images");
    double room = images >= 1 ? 3 * sqrt(chance * (1 - chance) / images) : 0.5 * chance;
    return top1 <= chance + room;
}

/* A network that has just begun may well give every image the same class: that counts from the
 * first epoch on. */
static bool is_trouble(const sgi_run *run, const sgi_event *event)
{
    if (event->kind == SG_EVENT_CONSTANT)
        return !(sgi_image_epochs(run) < 1);
    return event->kind == SG_EVENT_EXPLODED || event->kind == SG_EVENT_NOT_FINITE;
}

/* The step of the first trouble that no recovery follows; NaN when there is none. */
static double first_trouble(const sgi_run *run)
{
    double recovered = -INFINITY, trouble = NAN;
    sgi_event event;
    for (size_t i = 0; i < sgi_image_run_events(run); i++)
        if (sgi_image_run_event(run, i, &event) && event.kind == SG_EVENT_RECOVERED)
            recovered = fmax(recovered, event.step);
    for (size_t i = 0; i < sgi_image_run_events(run); i++)
        if (sgi_image_run_event(run, i, &event) && is_trouble(run, &event) &&
            event.step > recovered)
            trouble = fmin(trouble, event.step);
    return trouble;
}

double sgi_image_collapsed(const sgi_run *run)
{
    double trouble = first_trouble(run);
    double top1 = sgi_columns_last(&run->evaluation, "validation/top1");
    if (strcmp(sgi_run_text(run, NULL, "status"), "failed") == 0)
        return isnan(trouble) ? sgi_run_number(run, NULL, "steps_done") : trouble;
    return isnan(top1) || sgi_image_at_chance(run, top1) ? trouble : NAN;
}

double sgi_image_memory(const sgi_run *run)
{
    static const char *const parts[] = {"activations", "work", "parameters"};
    double bytes = NAN;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        double part = sgi_run_number(run, "memory", parts[i]);
        if (isfinite(part))
            bytes = isnan(bytes) ? part : bytes + part;
    }
    return bytes;
}

double sgi_image_epochs(const sgi_run *run)
{
    double per_epoch = sgi_run_number(run, NULL, "steps_per_epoch");
    return per_epoch > 0 ? sgi_run_number(run, NULL, "steps_done") / per_epoch : NAN;
}
