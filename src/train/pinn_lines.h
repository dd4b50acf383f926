/* What lines of the metrics say of a problem's steps and evaluations beside what every run has. */
#ifndef SG_TRAIN_PINN_LINES_H
#define SG_TRAIN_PINN_LINES_H

#include <jansson.h>

#include "pinn/errors.h"
#include "pinn/misfit.h"
#include "pinn/pinn.h"

/* After a step: window and stage, unknown constants, causal weights, what a step of second order or
 * refinement did. */
void sgi_pinn_line_step(const sg_pinn *pinn, const sg_pinn_trainer *trainer, json_t *line);

/* After an evaluation: the terms of the validation loss, errors and misfits, which may be NULL. */
void sgi_pinn_line_evaluation(const sg_pinn *pinn, const sg_pinn_trainer *trainer,
                              const sg_pinn_loss *validation, const sgi_errors *errors,
                              const sgi_misfits *misfits, json_t *line);

#endif
