/* Where a batch has a residual that is not finite: see bad_point.h. */
#include "pinn/bad_point.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "pinn/pinn.h"

static sg_status take_point(const sg_pinn *pinn, const sg_pinn_batch *batch,
                            const sg_allocator *allocator, sgi_bad_point *bad)
{
    const sg_pinn_information *about = sg_pinn_describe(pinn);
    size_t width = about->sets[bad->set].points_per_item * about->coordinate_count;
    double *points =
        sgi_allocate(allocator, sg_pinn_items(batch, bad->set) * width, sizeof *points);
    if (!points)
        return SG_ERROR_MEMORY;
    sg_pinn_points(batch, bad->set, points);
    memcpy(bad->coordinates, points + bad->item * width,
           about->coordinate_count * sizeof *bad->coordinates);
    sgi_release(allocator, points);
    return SG_OK;
}

/* The set, item and component of entry `at` of the residual vector. */
static sgi_bad_point locate(const sg_pinn *pinn, const sg_pinn_batch *batch, size_t at)
{
    const sg_pinn_information *about = sg_pinn_describe(pinn);
    sgi_bad_point bad = {.found = true};
    for (;; bad.set++) {
        size_t components = about->sets[bad.set].components;
        size_t length = sg_pinn_items(batch, bad.set) * components;
        bad.item = at / components;
        bad.component = at % components;
        if (at < length)
            return bad;
        at -= length;
    }
}

sg_status sgi_batch_bad_point(const sg_pinn *pinn, sg_pinn_batch *batch, const sg_allocator *given,
                              sgi_bad_point *bad)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    size_t count = sg_pinn_residual_count(batch), at = 0;
    double *residuals = sgi_allocate(&allocator, count, sizeof *residuals);
    *bad = (sgi_bad_point){.found = false};
    if (!residuals)
        return SG_ERROR_MEMORY;
    sgi_pinn_point_residuals(batch, residuals);
    while (at < count && isfinite(residuals[at]))
        at++;
    sgi_release(&allocator, residuals);
    if (at == count)
        return SG_OK;
    *bad = locate(pinn, batch, at);
    return take_point(pinn, batch, &allocator, bad);
}
