/* How far the network is from measured data: at the rows that it is trained on, and at those that
 * are held out. A misfit is the root mean square of the differences, in standard deviations where
 * they are known and in the units of the expression otherwise. */
#ifndef SG_PINN_MISFIT_H
#define SG_PINN_MISFIT_H

#include "pinn/quantities.h"
#include "problem/data.h"

/* Of one expression, or of a set's all. NaN: there are no such rows. */
typedef struct sgi_misfit {
    double trained, held_out;
} sgi_misfit;

typedef struct sgi_misfit_set {
    const sgi_data *data;
    sgi_point_set values; /* the observed expressions */
    double **predicted;   /* [observed] (rows) */
    sgi_misfit *observed; /* (observed) */
    sgi_misfit all;
} sgi_misfit_set;

typedef struct sgi_misfits {
    sg_allocator allocator;
    sgi_problem *problem;
    size_t count;
    sgi_misfit_set *sets; /* (count): one for each data set */
} sgi_misfits;

/* A problem without data gives *misfits = NULL and SG_OK. The problem must outlive it. */
SG_CHECKED sg_status sgi_misfits_create(sgi_misfits **misfits, sgi_problem *problem,
                                        const sg_allocator *allocator);
void sgi_misfits_destroy(sgi_misfits *misfits); /* NULL is allowed */

/* Rewrites predictions and misfits. */
SG_CHECKED sg_status sgi_misfits_measure(sgi_misfits *misfits, sg_jet_network *network,
                                         sg_pool *pool);

#endif
