/* Fields as VTK image data (.vti), which ParaView and VisIt open.
 *
 * One to three coordinates become x, y and z of the image in their order (time too: a field over x
 * and t is an image over x and t). Of more coordinates the first three that are not named t span
 * the image; t, or the last coordinate without one, takes up to five of its values from the first
 * to the last, each as a point array of its own named "u t=0.25"; any others stay at their middle.
 */
#ifndef SG_FILES_VTI_H
#define SG_FILES_VTI_H

#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

enum { SG_VTI_RANK = 16, SG_VTI_SLICES = 5 };

/* Arrays in C order over the axes: the last coordinate is fastest. Axes must be evenly spaced. */
typedef struct sgi_vti_grid {
    size_t rank;
    const char *names[SG_VTI_RANK];
    const double *axes[SG_VTI_RANK]; /* (shape[d]) */
    size_t shape[SG_VTI_RANK];
} sgi_vti_grid;

typedef struct sgi_vti_field {
    const char *name;
    const double *values; /* (product of shape) */
} sgi_vti_field;

/* Writes the file, all or nothing. SG_ERROR_UNSUPPORTED: an axis is not evenly spaced. */
SG_CHECKED sg_status sgi_vti_write(const char *path, const sgi_vti_grid *grid,
                                   const sgi_vti_field *fields, size_t count,
                                   const sg_allocator *allocator, sg_diagnostic *diagnostic);

#endif
