/* field.npz and field.vti: the solution on a grid, for pictures and for other programs. */
#ifndef SG_TRAIN_FIELD_H
#define SG_TRAIN_FIELD_H

#include "pinn/quantities.h"
#include "train/run_folder.h"

/* Points of the grid at most. */
enum { SG_FIELD_POINTS = 400000 };

/* The grid of these files: the problem's evaluation grid, thinned to SG_FIELD_POINTS. */
sgi_box_grid sgi_field_grid(const sgi_problem *problem);

/* Writes folder/field.npz and the same for ParaView, folder/field.vti: an axis for each coordinate,
 * then for each field F its values F, the reference F_reference when there is one, the quantities
 * of evaluation.maps, and residual_E for each equation E. Where the reference comes from files and
 * errors are measured at their points, F_error has the errors between these. */
SG_CHECKED sg_status sgi_field_write(const char *folder, sgi_problem *problem,
                                     sg_jet_network *network, sg_pool *pool,
                                     const sg_allocator *allocator, sg_diagnostic *diagnostic);

#endif
