/* The network of a PDE as a subject of training: see subject.h. */
#ifndef SG_TRAIN_PINN_SUBJECT_H
#define SG_TRAIN_PINN_SUBJECT_H

#include "pinn/trainer.h"
#include "train/subject.h"

/* Problem and pool must outlive the subject. */
SG_CHECKED sg_status sgi_pinn_subject_create(sgi_subject **subject, sgi_problem *problem,
                                             sg_pool *pool, sg_isa isa,
                                             const sg_allocator *allocator,
                                             sg_diagnostic *diagnostic);

/* The trainer of such a subject. */
sgi_trainer *sgi_pinn_subject_trainer(const sgi_subject *subject);

/* "6 x 64 tanh", or "64-32-16 tanh", cut to `size`. */
void sgi_describe_network(const sgi_network_settings *network, char *text, size_t size);

#endif
