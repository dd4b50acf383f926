/* What run.json says of a network on images. */
#ifndef SG_TRAIN_IMAGE_RECORD_H
#define SG_TRAIN_IMAGE_RECORD_H

#include "train/image_events.h"
#include "train/image_tally.h"
#include "train/image_trainer.h"

/* "efficientnet_v2_s without norm", "resnet50 with batch norm", "mlp 4 x 256 tanh, no norm". */
void sgi_describe_model(const sgi_model_settings *network, char *text, size_t size);

/* Adds the members that only such runs have. `total`: of all steps so far. */
void sgi_image_record(const sgi_task *task, const sgi_image_trainer *trainer,
                      const sgi_image_tally *total, const sgi_image_events *events, json_t *record);

#endif
