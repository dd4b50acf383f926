/* The network of a PDE as a subject of training: see subject.h. */
#ifndef SG_TRAIN_PINN_SUBJECT_H
#define SG_TRAIN_PINN_SUBJECT_H

#include "pinn/pinn.h"
#include "train/subject.h"

/* Problem and pool must outlive the subject. */
SG_CHECKED sg_status sgi_pinn_subject_create(sgi_subject **subject, sgi_problem *problem,
                                             sg_pool *pool, sg_isa isa,
                                             const sg_allocator *allocator,
                                             sg_diagnostic *diagnostic);

/* The problem with its network, and the trainer, of such a subject. */
sg_pinn *sgi_pinn_subject_pinn(const sgi_subject *subject);
sg_pinn_trainer *sgi_pinn_subject_trainer(const sgi_subject *subject);

/* What measures the kernels of the subject's problem as its file says; destroyed by the caller,
 * before the subject. */
SG_CHECKED sg_status sgi_pinn_subject_diagnose(sgi_diagnose **diagnose, const sgi_subject *subject,
                                               sg_isa isa);

#endif
