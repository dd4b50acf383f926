/* Collapse, found and explained: see image_events.h. */
#include "train/image_events.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[SG_EVENTS] = {"exploded", "not_finite", "constant",
                                                  "recovered"};

double sgi_exploded_loss(int classes)
{
    return 100 * log(classes);
}

__attribute__((format(printf, 4, 5))) static const sgi_image_event *record(sgi_image_event *event,
                                                                           uint64_t step,
                                                                           const char *layer,
                                                                           const char *format, ...)
{
    va_list list;
    event->happened = true;
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
    event->value = NAN;
    if (first == SG_NOT_FOUND)
        return record(event, step->step, "", "the loss is not finite");
    const char *layer = sg_net_layer_at(net, first).name;
    return record(event, step->step, layer, "%s is the first layer whose output is not finite",
                  layer);
}

const char *sgi_first_bad_gradient(const sg_scale_report *scale)
{
    for (size_t b = scale->block_count; b > 0; b--)
        if (!scale->blocks[b - 1].finite)
            return scale->blocks[b - 1].name;
    return "the output";
}

static const sgi_image_event *backward_left(sgi_image_event *event, const sgi_image_step *step)
{
    const char *layer = sgi_first_bad_gradient(step->scale);
    event->backward = true;
    event->value = NAN;
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
    sgi_image_event *left = &events->events[SG_EVENT_NOT_FINITE];
    sgi_image_event *grown = &events->events[SG_EVENT_EXPLODED];
    if (!isfinite(step->loss.loss))
        return left->happened || !step->observed ? NULL : forward_left(left, net, step);
    if (step->scale->outcome == SG_STEP_NOT_FINITE)
        return left->happened ? NULL : backward_left(left, step);
    if (step->loss.loss < sgi_exploded_loss(sg_net_classes(net)) || grown->happened ||
        !step->observed)
        return NULL;
    return exploded(grown, net, step);
}

/* ---- An evaluation ------------------------------------------------------------------------ */

/* Less than this share of an output's deviation lies between images: rounding, not sight. */
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
    sgi_image_event *constant = &events->events[SG_EVENT_CONSTANT];
    sgi_image_event *recovered = &events->events[SG_EVENT_RECOVERED];
    if (score->only_class >= 0 && classes > 1 && score->images > 1) {
        if (constant->happened)
            return NULL;
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
    bool trouble = constant->happened || events->events[SG_EVENT_EXPLODED].happened ||
                   events->events[SG_EVENT_NOT_FINITE].happened;
    if (!trouble || recovered->happened || !(score->loss < log(classes)))
        return NULL;
    recovered->value = score->loss;
    return record(recovered, step, "", "the test loss is %.3g again, below that of guessing, %.3g",
                  score->loss, log(classes));
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *event_json(const sgi_image_event *event, int kind)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(kind_names[kind]));
    json_object_set_new(object, "step", json_integer((json_int_t)event->step));
    if (event->layer[0])
        json_object_set_new(object, "layer", json_string(event->layer));
    if (kind == SG_EVENT_NOT_FINITE)
        json_object_set_new(object, "pass", json_string(event->backward ? "backward" : "forward"));
    else if (kind == SG_EVENT_CONSTANT)
        json_object_set_new(object, "class", json_integer((json_int_t)event->value));
    else
        json_object_set_new(object, "value", sgi_json_number(event->value));
    json_object_set_new(object, "text", json_string(event->text));
    return object;
}

json_t *sgi_image_events_json(const sgi_image_events *events)
{
    json_t *array = json_array();
    bool written[SG_EVENTS] = {false};
    for (int n = 0; n < SG_EVENTS; n++) {
        int next = -1;
        for (int k = 0; k < SG_EVENTS; k++)
            if (events->events[k].happened && !written[k] &&
                (next < 0 || events->events[k].step < events->events[next].step))
                next = k;
        if (next < 0)
            break;
        written[next] = true;
        json_array_append_new(array, event_json(&events->events[next], next));
    }
    return array;
}

static void copy_text(char *text, size_t size, const json_t *value)
{
    snprintf(text, size, "%s", json_is_string(value) ? json_string_value(value) : "");
}

void sgi_image_events_read(sgi_image_events *events, const json_t *array)
{
    size_t index;
    json_t *object;
    memset(events, 0, sizeof *events);
    json_array_foreach(array, index, object)
    {
        const json_t *kind = json_object_get(object, "kind");
        for (int k = 0; k < SG_EVENTS && json_is_string(kind); k++) {
            sgi_image_event *event = &events->events[k];
            if (strcmp(json_string_value(kind), kind_names[k]) != 0)
                continue;
            const json_t *value =
                json_object_get(object, k == SG_EVENT_CONSTANT ? "class" : "value");
            const json_t *pass = json_object_get(object, "pass");
            event->happened = true;
            event->step = (uint64_t)json_integer_value(json_object_get(object, "step"));
            event->value = json_is_number(value) ? json_number_value(value) : NAN;
            event->backward =
                json_is_string(pass) && strcmp(json_string_value(pass), "backward") == 0;
            copy_text(event->layer, sizeof event->layer, json_object_get(object, "layer"));
            copy_text(event->text, sizeof event->text, json_object_get(object, "text"));
        }
    }
}
