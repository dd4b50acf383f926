/* In place of decode.c where libjpeg or libpng is missing. */
#include "images/dataset.h"

sg_status sgi_decode(const uint8_t *bytes, size_t count, const sg_allocator *allocator,
                     sgi_decoded *decoded, char *message, size_t size)
{
    (void)bytes;
    (void)count;
    (void)allocator;
    *decoded = (sgi_decoded){0};
    return sgi_image_message(SG_ERROR_UNSUPPORTED, message, size,
                             "built without libjpeg and libpng");
}

bool sgi_can_decode(void)
{
    return false;
}
