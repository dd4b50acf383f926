/* What a network on images did over some steps: sums, from which lines of metrics have their
 * shares. They are kept in checkpoints, so that a resumed run goes on with them. */
#ifndef SG_TRAIN_IMAGE_TALLY_H
#define SG_TRAIN_IMAGE_TALLY_H

#include <jansson.h>

#include "train/image_trainer.h"

typedef struct sgi_image_tally {
    double images, top1, top5, seconds, waited;
} sgi_image_tally;

void sgi_image_tally_add(sgi_image_tally *sum, const sgi_image_step *step, double seconds);

/* Appended to an array, and back from index `at` of one; what is not there is 0. */
enum { SG_TALLY_NUMBERS = 5 };
void sgi_image_tally_append(const sgi_image_tally *sum, json_t *array);
sgi_image_tally sgi_image_tally_read(const json_t *array, size_t at);

#endif
