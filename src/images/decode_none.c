/* In place of decode.c where libjpeg or libpng is missing. */
#include "base/diagnostic.h"
#include "images/dataset.h"

sg_status sgi_decode(const uint8_t *bytes, size_t count, const sg_allocator *allocator,
                     sgi_decoded *decoded, sg_diagnostic *diagnostic)
{
    (void)bytes;
    (void)count;
    (void)allocator;
    *decoded = (sgi_decoded){0};
    return sgi_fail(diagnostic, SG_ERROR_UNSUPPORTED, "built without libjpeg and libpng");
}

bool sgi_can_decode(void)
{
    return false;
}
