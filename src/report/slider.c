/* Sliders: see slider.h. */
#include "report/slider.h"

#include <math.h>
#include <stdio.h>

size_t sgi_slider_coordinates(const sgi_field_grid *grid, const sgi_view *view,
                              size_t along[SG_VIEW_PLANES])
{
    const sgi_plane *plane = &view->planes[0];
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t d = 0; d < grid->rank && count < SG_VIEW_PLANES; d++)
            if ((d == grid->time) == (pass == 0) && grid->shape[d] > 1 &&
                grid->stride[d] != plane->x_stride && grid->stride[d] != plane->y_stride)
                along[count++] = d;
    return count;
}

/* The first element of frame f: the view's own, but for the coordinate. */
static size_t offset_of(const sgi_slider *s, size_t along, size_t index)
{
    size_t offset = s->view->offset[0];
    size_t own = offset / s->grid->stride[along] % s->grid->shape[along];
    return offset - own * s->grid->stride[along] + index * s->grid->stride[along];
}

static size_t index_of(const sgi_slider *s, size_t along, size_t frame, size_t frames)
{
    return (size_t)lround((double)frame * (double)(s->grid->shape[along] - 1) /
                          (double)(frames - 1));
}

/* Widens the colours to what the frames have, unless they end at a percentile. */
static void include(const sgi_slider *s, size_t offset, sgi_maps *maps)
{
    const sgi_plane *plane = &s->view->planes[0];
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < plane->x_count; i++)
            for (size_t j = 0; j < plane->y_count; j++) {
                double v = s->values[p][offset + i * plane->x_stride + j * plane->y_stride];
                if (!isfinite(v) || maps->shade == SG_SHADE_ERROR || maps->shade == SG_SHADE_LOG)
                    continue;
                maps->high = fmax(maps->high, maps->shade == SG_SHADE_SIGNED ? fabs(v) : v);
                maps->low = maps->shade == SG_SHADE_SIGNED ? -maps->high : fmin(maps->low, v);
            }
}

static void draw_frame(sgi_page *page, const sgi_slider *s, size_t offset, const sgi_maps *maps)
{
    sgi_plane planes[SG_SLIDER_PICTURES];
    sgi_maps row = *maps;
    row.rows = 1;
    row.columns = s->count;
    row.planes = planes;
    row.titles = s->labels;
    row.same_axes = true;
    for (size_t p = 0; p < s->count; p++) {
        planes[p] = s->view->planes[0];
        planes[p].values = s->values[p] + offset;
    }
    sgi_maps_draw(page->out, &row);
}

void sgi_slider_draw(sgi_page *page, const sgi_slider *s, size_t along)
{
    sgi_text *out = page->out;
    sgi_maps maps = s->maps;
    size_t n = s->grid->shape[along], frames = n < s->frames ? n : s->frames;
    if (frames < 2 || s->count == 0)
        return;
    for (size_t f = 0; f < frames; f++)
        include(s, offset_of(s, along, index_of(s, along, f, frames)), &maps);
    sgi_text_add(out, "<div class=\"slider\" hidden=\"hidden\"><label><em>");
    sgi_text_escape(out, s->grid->names[along]);
    sgi_text_format(out,
                    "</em> <input type=\"range\" min=\"0\" max=\"%zu\" step=\"1\" value=\"%zu\">"
                    "</label> <output>",
                    frames - 1, along == s->grid->time ? frames - 1 : frames / 2);
    sgi_text_add(out, "</output>\n");
    for (size_t f = 0; f < frames; f++) {
        size_t index = index_of(s, along, f, frames);
        char value[32];
        (void)snprintf(value, sizeof value, "%.4g", s->grid->axes[along][index]);
        sgi_text_format(out, "<div class=\"wide\" hidden=\"hidden\" data-at=\"%s\">", value);
        draw_frame(page, s, offset_of(s, along, index), &maps);
        sgi_text_add(out, "</div>\n");
    }
    sgi_text_add(out, "</div>\n");
}
