/* What run.json says of the network of a PDE. */
#ifndef SG_TRAIN_PINN_RECORD_H
#define SG_TRAIN_PINN_RECORD_H

#include <jansson.h>

#include "pinn/intervals.h"
#include "pinn/misfit.h"
#include "pinn/pinn.h"

/* "6 x 64 tanh", or "64-32-16 tanh", cut to `size`. */
void sgi_describe_network(const sgi_network_settings *network, char *text, size_t size);

/* Adds the members that only such runs have. Misfits and intervals may be NULL. */
void sgi_pinn_record(const sg_pinn *pinn, const sg_pinn_trainer *trainer,
                     const sgi_misfits *misfits, const sgi_intervals *intervals, json_t *record);

#endif
