/* data.npz: measured data beside what the network gives there, for the report. */
#ifndef SG_TRAIN_DATA_FILE_H
#define SG_TRAIN_DATA_FILE_H

#include <jansson.h>

#include "pinn/misfit.h"

/* Rows of a set that are written at most: a part of them from all over the list. */
enum { SG_DATA_SHOWN = 20000 };

/* Writes the data sets, with the predictions of the last measurement, to folder/data.npz: for set
 * k, from 0, `points_k` (rows, coordinates), `held_out_k` (rows) 0 or 1, and `values_k`,
 * `predicted_k` and, where they are known, `stds_k` (observed, rows). */
SG_CHECKED sg_status sgi_data_write(const char *folder, const sgi_misfits *misfits,
                                    sg_diagnostic *diagnostic);

/* For run.json: [{"name": "probes", "observed": ["u"], "trained": 160, "held_out": 40,
 * "missing": 3, "deviations": true}]. */
json_t *sgi_data_record(const sgi_misfits *misfits);

/* For an evaluation: {"probes": {"trained": 1.02, "held_out": 1.1, "observed": {"u": {...}}}}. */
json_t *sgi_misfit_record(const sgi_misfits *misfits);

#endif
