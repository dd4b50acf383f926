/* The evaluation grid of a run, and the planes through it that the report shows. */
#ifndef SG_REPORT_FIELD_GRID_H
#define SG_REPORT_FIELD_GRID_H

#include "draw/maps.h"
#include "runs/runs.h"

enum { SG_VIEW_PLANES = 3, SG_VIEW_TITLE = 160 };

typedef struct sgi_field_grid {
    size_t rank;
    const char *names[SG_ARRAY_RANK];
    const double *axes[SG_ARRAY_RANK]; /* (shape[d]) */
    size_t shape[SG_ARRAY_RANK], stride[SG_ARRAY_RANK];
    size_t count;
    size_t time; /* the coordinate named t, or rank when there is none */
} sgi_field_grid;

/* From run.json's coordinates and the axes in field.npz; false when they do not fit together. */
bool sgi_field_grid_of(sgi_field_grid *grid, const sgi_run *run);

/* The values of the array `name` (with `suffix` added) if it is there and has the grid's shape. */
const double *sgi_field_grid_values(const sgi_field_grid *grid, const sgi_run *run,
                                    const char *name, const char *suffix);

/* Planes to look at: planes[i].values is NULL, to be set to an array plus offset[i]. */
typedef struct sgi_view {
    size_t count;
    sgi_plane planes[SG_VIEW_PLANES];
    size_t offset[SG_VIEW_PLANES];
    char titles[SG_VIEW_PLANES][SG_VIEW_TITLE]; /* "t = 0.5, z = 0.25"; empty for two coordinates */
    bool same_axes;
} sgi_view;

/* Two coordinates: the plane itself, t across. Three: the three middle planes, or, with t, the
 * other two at the first, the middle and the last time. Four and more: the first two that are not
 * t, the others at their middle, at three values of t, or of the last coordinate. `guide`
 * (grid->count) moves middle planes to a place nearby where the field is not about zero. Rank must
 * be 2 or more.
 */
void sgi_view_choose(sgi_view *view, const sgi_field_grid *grid, const double *guide);

#endif
