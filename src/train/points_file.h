/* points.npz: the outline of a problem's domain and a sample of the points that it was trained on,
 * for the report's picture of them. */
#ifndef SG_TRAIN_POINTS_FILE_H
#define SG_TRAIN_POINTS_FILE_H

#include "pinn/pinn.h"

/* Writes folder/points.npz. For each set of points an array NAME (n, coordinates), at most
 * SG_POINTS_SHOWN of those that the batch has now; in two coordinates of space, or one and t,
 * `outline` (m, 4): lines around the domain; in three or more those of the three planes through the
 * middle of the first three, `outline_0` for the plane on which the first is fixed, and so on.
 * Names of sets begin with `set_`. `middle` (coordinates) is the point that the planes go through.
 */
enum { SG_POINTS_SHOWN = 1000 };
SG_CHECKED sg_status sgi_points_write(const char *folder, const sg_pinn *pinn,
                                      const sg_pinn_batch *batch, const sg_allocator *allocator,
                                      sg_diagnostic *diagnostic);

#endif
