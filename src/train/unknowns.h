/* Unknown constants in what a run writes down and shows. */
#ifndef SG_TRAIN_UNKNOWNS_H
#define SG_TRAIN_UNKNOWNS_H

#include <jansson.h>

#include "pinn/intervals.h"
#include "train/metrics.h"

/* Their values as people see them, with their intervals unless these are NULL; `values` has room
 * for all. The names live as long as the problem. */
size_t sgi_unknowns_show(const sg_pinn *pinn, const sgi_intervals *intervals, sgi_value *values);

/* Sets "unknowns", {"k": 0.5}, if the problem has any. */
void sgi_unknowns_write(const sg_pinn *pinn, json_t *line);

/* Sets "unknowns" of run.json: what the file says of each, and its value now; with intervals, which
 * may be NULL, also these, "unknown_correlations" and "unknown_notes". */
void sgi_unknowns_describe(const sg_pinn *pinn, const sgi_intervals *intervals, json_t *record);

#endif
