/* Confidence intervals of unknown constants, from the noise of the data that they were found with.
 *
 * At the weights as they are, in double, with all rows of the data that are trained on and with so
 * many points of equations and conditions that they determine the network, the Gauss-Newton matrix
 * tells how far noise in the data moves each constant (uncertainty.h). The noise of a data set is
 * its standard deviations where they are given; otherwise it is estimated from the differences that
 * are left, and intervals are those of Student's t. */
#ifndef SG_PINN_INTERVALS_H
#define SG_PINN_INTERVALS_H

#include "pinn/pinn.h"

/* Sentences on what to know, at most. */
enum { SG_MOST_INTERVAL_NOTES = 6, SG_INTERVAL_NOTE = 320 };

typedef struct sgi_intervals {
    sg_allocator allocator;
    size_t count;
    sg_pinn_interval *rows;                               /* (count) */
    double *correlations;                                 /* (count, count) */
    char notes[SG_MOST_INTERVAL_NOTES][SG_INTERVAL_NOTE]; /* sentences without the full stop */
    int note_count;
} sgi_intervals;

/* SG_ERROR_UNSUPPORTED, with a sentence in the diagnostic, where there are none: without unknown
 * constants or data, or with too many parameters. */
SG_CHECKED sg_status sgi_intervals_create(sgi_intervals **intervals, sg_pinn *pinn, sg_pool *pool,
                                          const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_intervals_destroy(sgi_intervals *intervals); /* NULL is allowed */

#endif
