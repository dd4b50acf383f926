/* What the report needs to know of one run of an image task. */
#ifndef SG_RUNS_IMAGE_RUN_H
#define SG_RUNS_IMAGE_RUN_H

#include <stdbool.h>

#include "runs/runs.h"
#include "train/event_list.h"

/* An entry of run.json's "events". Texts that are missing are "", numbers NaN. */
typedef struct sgi_event {
    sgi_image_event_kind kind; /* SG_EVENTS: none of them, and */
    const char *word;          /* what it is called */
    const char *layer, *pass, *text;
    double step, value, class_index;
} sgi_event;

/* Event i; false past the end, and for what is not an event with a step. */
bool sgi_image_run_event(const sgi_run *run, size_t i, sgi_event *event);
size_t sgi_image_run_events(const sgi_run *run);

/* What guessing among the classes gets right: 1 / classes; NaN when the run does not say. */
double sgi_image_chance(const sgi_run *run);

/* Whether a test top-1 is no better than guessing: within three standard deviations of what
 * guessing gets on that many images. */
bool sgi_image_at_chance(const sgi_run *run, double top1);

/* The step at which the run collapsed, or NaN. It collapsed when it failed, or when after trouble
 * (the first event exploded, not_finite or constant since it last recovered) it ended no better
 * than guessing. That trouble's step, or without any the step at which the run failed. In the first
 * epoch `constant` is no trouble. */
double sgi_image_collapsed(const sgi_run *run);

/* Bytes of the network, its activations and its work space; NaN when the run does not say. */
double sgi_image_memory(const sgi_run *run);

/* Epochs done. */
double sgi_image_epochs(const sgi_run *run);

#endif
