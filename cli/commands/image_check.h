/* `stablegrad check` of a task on images. */
#ifndef SG_CLI_IMAGE_CHECK_H
#define SG_CLI_IMAGE_CHECK_H

#include "session.h"
#include "train/image_record.h"
#include "train/image_subject.h"

/* Tells everything; returns an exit code. */
int check_images(const sgi_task *task, const cli_arguments *arguments);

/* The network, the data and the steps: what is said before anything is trained. */
void print_task(const sgi_task_settings *settings, const sgi_image_trainer *trainer);

#endif
