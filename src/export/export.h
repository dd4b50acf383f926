/* A trained network for other programs: its input map, its layers and what exact conditions make of
 * its outputs, as an ONNX graph or as a file of C. */
#ifndef SG_EXPORT_EXPORT_H
#define SG_EXPORT_EXPORT_H

#include "pinn/pinn.h"

/* Writes an ONNX graph of the fields, in which all numbers have that type: an input of N values for
 * each coordinate and an output of N values for each field, by their names. `from` says for people
 * where the weights are from. */
SG_CHECKED sg_status sgi_export_onnx(const char *path, sg_pinn *pinn, sg_type type,
                                     const char *from, sg_diagnostic *diagnostic);

/* Writes a file of C99 that needs libm alone: functions for the fields, their first derivatives and
 * those that the equations and conditions use, in double whatever the type of the network. */
SG_CHECKED sg_status sgi_export_c(const char *path, sg_pinn *pinn, const char *from,
                                  sg_diagnostic *diagnostic);

#endif
