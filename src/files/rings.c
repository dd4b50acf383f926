/* Lists of closed lines: see geojson.h. */
#include "base/memory.h"
#include "files/geojson.h"

void sgi_rings_release(sgi_rings *rings)
{
    sgi_release(&rings->allocator, rings->corners);
    rings->corners = NULL;
    rings->count = rings->ring_count = 0;
}

sg_status sgi_rings_add(sgi_rings *rings, size_t *capacity, double x, double y)
{
    if (rings->count == SG_RINGS_MOST_CORNERS)
        return SG_ERROR_UNSUPPORTED;
    sg_status status = sgi_grow_array(&rings->allocator, &rings->corners, rings->count, capacity,
                                      64, 2 * sizeof *rings->corners);
    if (status != SG_OK)
        return status;
    rings->corners[2 * rings->count] = x;
    rings->corners[2 * rings->count++ + 1] = y;
    return SG_OK;
}

void sgi_rings_end(sgi_rings *rings, bool hole, size_t outside)
{
    size_t first = rings->ring_count ? rings->ends[rings->ring_count - 1] : 0;
    const double *begin = rings->corners + 2 * first, *last = rings->corners + 2 * rings->count - 2;
    if (rings->count > first + 1 && begin[0] == last[0] && begin[1] == last[1])
        rings->count--;
    rings->holes[rings->ring_count] = hole;
    rings->outsides[rings->ring_count] = outside;
    rings->ends[rings->ring_count++] = rings->count;
}
