/* Pieces of a file of C: see c_file.c. */
#ifndef SG_EXPORT_C_TEXT_H
#define SG_EXPORT_C_TEXT_H

#include "export/fields.h"
#include "jet/plan.h"
#include "text/text.h"

/* A number as a literal that gives back every bit; in parentheses when it is below 0. */
void sgi_c_number(sgi_text *to, double value);

/* static const double name[count] = {...}; from `count` numbers of `type`. */
void sgi_c_array(sgi_text *to, const char *name, sg_type type, const void *values, size_t count);

/* A function activation(z, f) that fills f[0] .. f[order], the activation's value and derivatives.
 */
void sgi_c_activation(sgi_text *to, sg_activation activation, double frequency, int order);

/* The lines  values[k] = ...;  of roots [0, count), of the coordinates point[c] and the network's
 * n[field][channel]. */
SG_CHECKED sg_status sgi_c_values(sgi_text *to, const sgi_problem *problem,
                                  const sgi_export_fields *fields, size_t count,
                                  const sg_jet_plan *plan, sgi_arena *arena);

/* The channel of a plan of single derivatives. */
int sgi_c_channel(const sg_jet_plan *plan, sgi_derivative derivative);

#endif
