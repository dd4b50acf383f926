/* A network on images as a subject of training: see subject.h. */
#ifndef SG_TRAIN_IMAGE_SUBJECT_H
#define SG_TRAIN_IMAGE_SUBJECT_H

#include "train/image_trainer.h"
#include "train/subject.h"

/* Task, pool and ranks (NULL: alone) must outlive the subject. With ranks its steps and evaluations
 * are collective, as those of the trainer; saving, loading and describing it are not. */
SG_CHECKED sg_status sgi_image_subject_create(sgi_subject **subject, const sgi_task *task,
                                              sg_pool *pool, const sg_ranks *ranks, sg_isa isa,
                                              const sg_allocator *allocator,
                                              sg_diagnostic *diagnostic);

/* The trainer of such a subject. */
sgi_image_trainer *sgi_image_subject_trainer(const sgi_subject *subject);

#endif
