/* Events in the training of a network on images: its scale explodes, a value leaves the finite
 * range, or its output no longer depends on the image. Each kind of event is reported and recorded
 * the first time it happens, and again the first time after the network has recovered. */
#ifndef SG_TRAIN_IMAGE_EVENTS_H
#define SG_TRAIN_IMAGE_EVENTS_H

#include <jansson.h>

#include "train/event_list.h"
#include "train/image_trainer.h"

typedef struct sgi_image_event {
    sgi_image_event_kind kind;
    uint64_t step;
    char layer[160]; /* "" for the last kind */
    bool backward;   /* SG_EVENT_NOT_FINITE: in the backward pass */
    double value;    /* std of the layer's output, the test loss, or the class */
    char text[400];  /* the whole as a sentence */
} sgi_image_event;

/* Events that are remembered; the first half of the list keeps how it began, and later ones push
 * each other out of the second. */
enum { SG_EVENTS_KEPT = 32 };

typedef struct sgi_image_events {
    sgi_image_event list[SG_EVENTS_KEPT]; /* (count) in the order of their steps */
    size_t count;
    bool told[SG_EVENTS]; /* and not to be told again before the network has recovered */
} sgi_image_events;

/* The loss above which a network has exploded: guessing gives ln(classes). */
double sgi_exploded_loss(int classes);

/* Looks at a step; the new event, or NULL. */
const sgi_image_event *sgi_image_events_step(sgi_image_events *events, const sg_net *net,
                                             const sgi_image_step *step);

/* Looks at an evaluation; `dull` is the layer from which on outputs do not depend on the image, or
 * "". */
const sgi_image_event *sgi_image_events_evaluation(sgi_image_events *events, uint64_t step,
                                                   const sgi_image_score *score, int classes,
                                                   const char *dull);

/* The layer from which on outputs do not depend on the image, of a network just observed, or "". */
const char *sgi_first_dull_layer(const sg_net *net);

/* As an array of objects in the order of their steps, and back; what cannot be read is left out. */
json_t *sgi_image_events_json(const sgi_image_events *events);
void sgi_image_events_read(sgi_image_events *events, const json_t *array);

#endif
