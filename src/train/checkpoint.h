/* Checkpoints as safetensors: the weights under the names that PyTorch users know, and for resuming
 * the optimizer's state beside them. Written to a temporary name, synced and renamed. */
#ifndef SG_TRAIN_CHECKPOINT_H
#define SG_TRAIN_CHECKPOINT_H

#include "pinn/refinement.h"
#include "stablegrad/jet.h"
#include "stablegrad/optim.h"
#include "stablegrad/scale.h"
#include "train/subject.h"

/* The state of an optimizer, whatever it is: `data` to be saved; whether a saved one could be
 * restored, given the progress beside it: SG_ERROR_STATE when it could not, and with a diagnostic
 * what kept that from being found out; and restoring one that can. */
typedef struct sgi_kept_state {
    void *context;
    const void *data;
    size_t size;
    sg_status (*fits)(void *context, const sgi_progress *progress, const void *data, size_t size,
                      sg_diagnostic *diagnostic);
    void (*restore)(void *context, const sgi_progress *progress, const void *data, size_t size);
} sgi_kept_state;

/* The state of a first-order optimizer by itself. */
sgi_kept_state sgi_kept_optim(sg_optim *optim);

/* Everything that resuming needs. When loading fails, network, optimizer and progress are as
 * before. */
SG_CHECKED sg_status sgi_checkpoint_save(const char *path, const sg_jet_network *network,
                                         const sgi_kept_state *state, const sgi_progress *progress,
                                         const sg_allocator *allocator, sg_diagnostic *diagnostic);
SG_CHECKED sg_status sgi_checkpoint_load(const char *path, sg_jet_network *network,
                                         const sgi_kept_state *state, sgi_progress *progress,
                                         const sg_allocator *allocator, sg_diagnostic *diagnostic);

/* The points that refinement keeps. A checkpoint without them, as one that was saved before there
 * were any, changes nothing. */
SG_CHECKED sg_status sgi_checkpoint_load_points(const char *path, sgi_refinement *refinement,
                                                const sg_allocator *allocator,
                                                sg_diagnostic *diagnostic);

#endif
