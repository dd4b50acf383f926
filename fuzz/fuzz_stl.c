/* Any bytes as a surface: refused with a message, or a solid whose distances are numbers and whose
 * points lie on it and inside. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "domain/shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const sgi_shape *shape)
{
    sgi_uniforms uniforms = {.seed = 1};
    double x[3], normal[3];
    for (int i = 0; i < 8; i++) {
        shape->kind->boundary_point(shape, &uniforms, x, normal);
        if (!isfinite(shape->kind->distance(shape, x)) || !isfinite(normal[0]))
            abort();
        shape->kind->interior_point(shape, &uniforms, x);
        if (!isfinite(x[0]))
            abort();
    }
    if (!(shape->kind->measure(shape) > 0) || !(shape->kind->boundary_measure(shape) > 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_arena arena;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sgi_shape shape = {.kind = sgi_shape_find("surface"), .name = "part", .axes = 3};
    sg_diagnostic diagnostic = {0};
    if (size > 1 << 14)
        return 0;
    sgi_arena_init(&arena, &heap);
    sg_status status =
        shape.kind->read(&shape, &arena, (const char *)data, size, "part.stl", &diagnostic);
    if (status == SG_OK)
        ask(&shape);
    else if (!diagnostic.message[0])
        abort();
    sgi_arena_clear(&arena);
    return 0;
}
