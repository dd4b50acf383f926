/* In place of decode.c where libjpeg or libpng is missing. */
#include "graph/dataset.h"

sg_status sg_decode(const uint8_t *bytes, size_t count, const sg_allocator *allocator,
                    sg_decoded *decoded, char *message, size_t size)
{
    (void)bytes;
    (void)count;
    (void)allocator;
    *decoded = (sg_decoded){0};
    return sg_image_message(SG_ERROR_UNSUPPORTED, message, size,
                            "built without libjpeg and libpng");
}

bool sg_can_decode(void)
{
    return false;
}
