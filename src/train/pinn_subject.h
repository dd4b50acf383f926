/* The network of a PDE as a subject of training: see subject.h. */
#ifndef SG_TRAIN_PINN_SUBJECT_H
#define SG_TRAIN_PINN_SUBJECT_H

#include "train/subject.h"
#include "train/trainer.h"

/* Problem and pool must outlive the subject. */
SG_CHECKED sg_status sg_pinn_subject_create(sg_subject **subject, sg_problem *problem,
                                            sg_pool *pool, sg_isa isa,
                                            const sg_allocator *allocator, sg_message *message);

/* The trainer of such a subject. */
sg_trainer *sg_pinn_subject_trainer(const sg_subject *subject);

/* "6 x 64 tanh", or "64-32-16 tanh", cut to `size`. */
void sg_describe_network(const sg_network_settings *network, char *text, size_t size);

#endif
