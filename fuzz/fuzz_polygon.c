/* Any bytes as the outline of a polygon, a table or GeoJSON: refused with a message, or an area
 * whose distances are numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "domain/shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_arena arena;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    if (size > 1 << 14)
        return 0;
    for (int table = 0; table < 2; table++) {
        const char *path = table ? "part.csv" : "part.geojson";
        sgi_shape shape = {.kind = sgi_shape_find("polygon"),
                           .name = "part",
                           .axes = 2,
                           .axis_names = {"x", "y"},
                           .file = {.file = path}};
        sg_diagnostic diagnostic = {0};
        sgi_arena_init(&arena, &heap);
        sg_status status =
            shape.kind->read(&shape, &arena, (const char *)data, size, path, &diagnostic);
        sgi_uniforms uniforms = {.seed = 1};
        double x[2], normal[2];
        for (int i = 0; i < 8 && status == SG_OK; i++) {
            shape.kind->boundary_point(&shape, &uniforms, x, normal);
            if (isnan(shape.kind->distance(&shape, x)) || !(shape.kind->measure(&shape) > 0))
                abort();
        }
        if (status != SG_OK && !diagnostic.message[0])
            abort();
        sgi_arena_clear(&arena);
    }
    return 0;
}
