/* In place of geojson.c in a build without jansson. */
#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/geojson.h"

sg_status sgi_geojson_parse(const char *text, size_t size, const char *path,
                            const sg_allocator *given, sgi_rings *out, sg_diagnostic *diagnostic)
{
    (void)text, (void)size;
    *out = (sgi_rings){.allocator = sgi_allocator_or_heap(given)};
    return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                         "this library was built without jansson, which GeoJSON needs");
}
