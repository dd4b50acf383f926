/* What steps of second order take, for `stablegrad check`. */
#ifndef SG_CLI_SECOND_COST_H
#define SG_CLI_SECOND_COST_H

#include "pinn/pinn.h"
#include "session.h"

/* Their time grows with their points, so a step is measured with those of the start, and that with
 * the most is worked out from the number of operations. NaN: not measured, since there are several
 * stages or a step would take longer than `check` should. */
typedef struct second_cost {
    double first, most; /* seconds of a step */
} second_cost;

/* Takes a step or two; the weights are as they were afterwards. */
second_cost measure_second(const sg_pinn *pinn, sg_pinn_trainer *trainer);

/* "time per step  21 ms with 700 points, ..." and "whole run      at most ...". */
void print_second_cost(const sg_pinn *pinn, sg_pinn_trainer *trainer, int threads);

#endif
