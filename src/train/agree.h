/* What ranks must agree on while they train: see train.h. Every function is collective, and does
 * nothing without ranks. */
#ifndef SG_TRAIN_AGREE_H
#define SG_TRAIN_AGREE_H

#include "stablegrad/ranks.h"
#include "train/subject.h"

/* *stop becomes true on every rank when it is on one. */
SG_CHECKED sg_status sgi_agree_to_stop(const sg_ranks *ranks, bool *stop,
                                       sg_diagnostic *diagnostic);

/* SG_ERROR_STATE on every rank unless all train the same file, given by its hash, are at the same
 * step, and have the same weights, bit by bit: processors or libraries that compute differently
 * would else go unnoticed. */
SG_CHECKED sg_status sgi_agree_on_weights(const sg_ranks *ranks, const sgi_subject *subject,
                                          uint64_t file, uint64_t step, sg_diagnostic *diagnostic);

#endif
