/* Collapse, found and explained: see image_events.h. */
#include "train/image_events.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {SG_EVENT_LIST(SGI_LIST_NAME)};

double sgi_exploded_loss(int classes)
{
    return 100 * log(classes);
}

/* Trouble is not told again before a recovery, nor a recovery before trouble. */
static void note_told(sgi_image_events *events, sgi_image_event_kind kind)
{
    if (kind == SG_EVENT_RECOVERED)
        memset(events->told, 0, sizeof events->told);
    else
        events->told[SG_EVENT_RECOVERED] = false;
    events->told[kind] = true;
}

static sgi_image_event *append(sgi_image_events *events, sgi_image_event_kind kind)
{
    enum { HALF = SG_EVENTS_KEPT / 2 };
    if (events->count == SG_EVENTS_KEPT) {
        memmove(&events->list[HALF], &events->list[HALF + 1],
                (SG_EVENTS_KEPT - HALF - 1) * sizeof events->list[0]);
        events->count--;
    }
    sgi_image_event *event = &events->list[events->count++];
    *event = (sgi_image_event){.kind = kind, .value = NAN};
    note_told(events, kind);
    return event;
}

__attribute__((format(printf, 4, 5))) static const sgi_image_event *record(sgi_image_event *event,
                                                                           uint64_t step,
                                                                           const char *layer,
                                                                           const char *format, ...)
{
    va_list list;
    event->step = step;
    snprintf(event->layer, sizeof event->layer, "%s", layer);
    size_t used =
        (size_t)snprintf(event->text, sizeof event->text, "step %llu: ", (unsigned long long)step);
    va_start(list, format);
    vsnprintf(event->text + used, sizeof event->text - used, format, list);
    va_end(list);
    return event;
}

/* ---- A step ------------------------------------------------------------------------------- */

static const sgi_image_event *forward_left(sgi_image_event *event, const sg_net *net,
                                           const sgi_image_step *step)
{
    size_t first = sg_net_first_not_finite(net);
    if (first == SG_NOT_FOUND)
        return record(event, step->step, "", "the loss is not finite");
    const char *layer = sg_net_layer_at(net, first).name;
    return record(event, step->step, layer, "%s is the first layer whose output is not finite",
                  layer);
}

static const sgi_image_event *backward_left(sgi_image_event *event, const sgi_image_step *step)
{
    const char *layer = sgi_first_bad_gradient(step->scale);
    event->backward = true;
    return record(event, step->step, layer,
                  "%s is the first, from the output down, whose gradient is not finite", layer);
}

static const sgi_image_event *exploded(sgi_image_event *event, const sg_net *net,
                                       const sgi_image_step *step)
{
    sg_layer_report largest = {.name = ""};
    for (size_t i = 0; i < sg_net_layer_count(net); i++) {
        sg_layer_report layer = sg_net_layer_at(net, i);
        if (layer.finite && layer.std > largest.std)
            largest = layer;
    }
    event->value = largest.std;
    return record(event, step->step, largest.name,
                  "the loss is %.1e, over 100 times that of guessing; the largest output is that "
                  "of %s, std %.1e",
                  step->loss.loss, largest.name, largest.std);
}

const sgi_image_event *sgi_image_events_step(sgi_image_events *events, const sg_net *net,
                                             const sgi_image_step *step)
{
    const bool *told = events->told;
    if (!isfinite(step->loss.loss))
        return told[SG_EVENT_NOT_FINITE] || !step->observed
                   ? NULL
                   : forward_left(append(events, SG_EVENT_NOT_FINITE), net, step);
    if (step->scale->outcome == SG_STEP_NOT_FINITE)
        return told[SG_EVENT_NOT_FINITE] ? NULL
                                         : backward_left(append(events, SG_EVENT_NOT_FINITE), step);
    if (step->loss.loss < sgi_exploded_loss(sg_net_classes(net)) || told[SG_EVENT_EXPLODED] ||
        !step->observed)
        return NULL;
    return exploded(append(events, SG_EVENT_EXPLODED), net, step);
}

/* ---- An evaluation ------------------------------------------------------------------------ */

/* A layer no longer tells images apart when less than this share of its output's deviation lies
 * between images: what is left is rounding. */
#define DULL 1e-4

const char *sgi_first_dull_layer(const sg_net *net)
{
    const char *first = "";
    for (size_t i = sg_net_layer_count(net); i > 0; i--) {
        sg_layer_report layer = sg_net_layer_at(net, i - 1);
        if (!(layer.between <= DULL * layer.std))
            break;
        first = layer.name;
    }
    return first;
}

const sgi_image_event *sgi_image_events_evaluation(sgi_image_events *events, uint64_t step,
                                                   const sgi_image_score *score, int classes,
                                                   const char *dull)
{
    const bool *told = events->told;
    if (score->only_class >= 0 && classes > 1 && score->images > 1) {
        if (told[SG_EVENT_CONSTANT])
            return NULL;
        sgi_image_event *constant = append(events, SG_EVENT_CONSTANT);
        constant->value = score->only_class;
        if (!dull[0])
            return record(constant, step, "", "every test image is taken for class %d",
                          score->only_class);
        return record(
            constant, step, dull,
            "every test image is taken for class %d; from %s on the outputs do not depend "
            "on the image",
            score->only_class, dull);
    }
    bool trouble = told[SG_EVENT_CONSTANT] || told[SG_EVENT_EXPLODED] || told[SG_EVENT_NOT_FINITE];
    if (!trouble || !(score->loss < log(classes)))
        return NULL;
    sgi_image_event *recovered = append(events, SG_EVENT_RECOVERED);
    recovered->value = score->loss;
    return record(recovered, step, "", "the test loss is %.3g again, below that of guessing, %.3g",
                  score->loss, log(classes));
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *event_json(const sgi_image_event *event)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(kind_names[event->kind]));
    json_object_set_new(object, "step", json_integer((json_int_t)event->step));
    if (event->layer[0])
        json_object_set_new(object, "layer", json_string(event->layer));
    if (event->kind == SG_EVENT_NOT_FINITE)
        json_object_set_new(object, "pass", json_string(event->backward ? "backward" : "forward"));
    else if (event->kind == SG_EVENT_CONSTANT)
        json_object_set_new(object, "class", json_integer((json_int_t)event->value));
    else
        json_object_set_new(object, "value", sgi_json_number(event->value));
    json_object_set_new(object, "text", json_string(event->text));
    return object;
}

json_t *sgi_image_events_json(const sgi_image_events *events)
{
    json_t *array = json_array();
    for (size_t i = 0; i < events->count; i++)
        json_array_append_new(array, event_json(&events->list[i]));
    return array;
}

static void copy_text(char *text, size_t size, const json_t *value)
{
    snprintf(text, size, "%s", json_is_string(value) ? json_string_value(value) : "");
}

static void read_event(sgi_image_event *event, const json_t *object)
{
    const char *key = event->kind == SG_EVENT_CONSTANT ? "class" : "value";
    const json_t *value = json_object_get(object, key), *pass = json_object_get(object, "pass");
    event->step = (uint64_t)json_integer_value(json_object_get(object, "step"));
    event->value = json_is_number(value) ? json_number_value(value) : NAN;
    event->backward = json_is_string(pass) && strcmp(json_string_value(pass), "backward") == 0;
    copy_text(event->layer, sizeof event->layer, json_object_get(object, "layer"));
    copy_text(event->text, sizeof event->text, json_object_get(object, "text"));
}

void sgi_image_events_read(sgi_image_events *events, const json_t *array)
{
    size_t index;
    json_t *object;
    memset(events, 0, sizeof *events);
    json_array_foreach(array, index, object)
    {
        const json_t *kind = json_object_get(object, "kind");
        for (int k = 0; k < SG_EVENTS && json_is_string(kind); k++)
            if (strcmp(json_string_value(kind), kind_names[k]) == 0)
                read_event(append(events, (sgi_image_event_kind)k), object);
    }
}
