/* Unknown constants in what a run writes down and shows. */
#ifndef SG_TRAIN_UNKNOWNS_H
#define SG_TRAIN_UNKNOWNS_H

#include <jansson.h>

#include "stablegrad/pinn.h"
#include "train/metrics.h"

/* Their values as people see them; `values` has room for all. The names live as long as the
 * problem. */
size_t sgi_unknowns_show(const sg_pinn *pinn, sgi_value *values);

/* Sets "unknowns", {"k": 0.5}, if the problem has any. */
void sgi_unknowns_write(const sg_pinn *pinn, json_t *line);

/* Sets "unknowns" of run.json: what the file says of each, and its value now. */
void sgi_unknowns_describe(const sg_pinn *pinn, json_t *record);

#endif
