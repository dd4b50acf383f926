/* A slider under a row of maps: one picture for each of some values of a coordinate, of which the
 * page shows one. It needs a script; without one, and in print, the maps that stand beside it as a
 * row are shown in its place. */
#ifndef SG_REPORT_SLIDER_H
#define SG_REPORT_SLIDER_H

#include "report/field_grid.h"
#include "report/page.h"

enum { SG_SLIDER_FRAMES = 12, SG_SLIDER_PICTURES = 9 };

typedef struct sgi_slider {
    const sgi_field_grid *grid;
    const sgi_view *view; /* whose first plane is shown, moved along the coordinate */
    size_t frames;        /* at most; of SG_SLIDER_FRAMES */
    const double *values[SG_SLIDER_PICTURES]; /* (count), each (grid->count): side by side */
    const char *labels[SG_SLIDER_PICTURES];
    size_t count;
    sgi_maps maps; /* shade, range, label, description and pixels */
} sgi_slider;

/* Coordinates along which a view can be moved: all but those of its plane. Returns their number,
 * the time first, SG_VIEW_PLANES at most. */
size_t sgi_slider_coordinates(const sgi_field_grid *grid, const sgi_view *view,
                              size_t along[SG_VIEW_PLANES]);

/* Writes the slider along one of them. */
void sgi_slider_draw(sgi_page *page, const sgi_slider *slider, size_t along);

#endif
