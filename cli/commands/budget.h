/* How long training goes on, as `stablegrad check` tells it. */
#ifndef SG_CLI_BUDGET_H
#define SG_CLI_BUDGET_H

#include <jansson.h>

#include "pinn/pinn.h"

/* "stage 1        AdamW, 200 steps" for each, where there are several. */
void print_stages(const sgi_problem *problem);

/* "whole run      about 20 s for 200 steps, or until the loss is below 1e-09", or what else is
 * known of its end. `step`: seconds of one, of several stages those of first order; NaN: not known.
 * `most`: of the longest one. */
void print_whole_run(const sg_pinn *pinn, double step, bool most);

/* Of each stage its optimizer, steps, seconds and tolerance; null: it has no such end. */
json_t *json_stages(const sgi_problem *problem);

#endif
