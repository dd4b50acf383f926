/* A step of a trainer for trial: taken, looked at, and taken back. */
#ifndef SG_DIAGNOSE_TRIAL_H
#define SG_DIAGNOSE_TRIAL_H

#include "stablegrad/pinn.h"

typedef struct sgi_trial {
    const sg_jet_network *network; /* that is trained */
    void *values;                  /* a copy of its parameters, of its type */
    void *state;                   /* a copy of the optimizer's, taken when it is first needed */
    size_t state_size;
    sg_allocator allocator;
} sgi_trial;

SG_CHECKED sg_status sgi_trial_create(sgi_trial *trial, const sg_jet_network *network,
                                      const sg_allocator *allocator);
void sgi_trial_release(sgi_trial *trial);

/* The parameters as they are now, in double. */
void sgi_trial_values(const sgi_trial *trial, double *values);

/* Takes the trainer's next step, writes what it changed to `step` (parameters), and puts back
 * weights, optimizer, the scaler's counters and the points that refinement keeps, to the bit.
 * `info` is of that step; if it was skipped, `step` is zeros. */
SG_CHECKED sg_status sgi_trial_step(sgi_trial *trial, sg_pinn_trainer *trainer, double *step,
                                    sg_step_info *info);

#endif
