/* PNG: see png.h. Signature, header, palette, transparency, one data chunk, end. */
#include "draw/png.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

static void store32(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Appends a chunk at `to`; `data` may already lie in place there. Returns its size. */
static size_t chunk(unsigned char *to, const char *type, const void *data, size_t size)
{
    store32(to, size);
    memcpy(to + 4, type, 4);
    if (data)
        memmove(to + 8, data, size);
    store32(to + 8 + size, crc32_z(0, to + 4, size + 4));
    return size + 12;
}

static void *zlib_allocate(void *allocator, unsigned count, unsigned size)
{
    return sgi_allocate(allocator, count, size);
}

static void zlib_release(void *allocator, void *memory)
{
    sgi_release(allocator, memory);
}

/* Deflates the rows, each after its filter byte. A difference to the row above (filter 2) suits
 * smooth fields, but with a palette plain indices (filter 0) compress better: no filter. */
static size_t deflate_rows(sg_allocator *allocator, const unsigned char *pixels, size_t width,
                           size_t height, unsigned char *to, size_t capacity)
{
    z_stream stream = {.zalloc = zlib_allocate,
                       .zfree = zlib_release,
                       .opaque = allocator,
                       .next_out = to,
                       .avail_out = (unsigned)capacity};
    if (deflateInit(&stream, Z_BEST_COMPRESSION) != Z_OK)
        return 0;
    static const unsigned char no_filter = 0;
    int result = Z_OK;
    for (size_t row = 0; row < height && result == Z_OK; row++) {
        stream.next_in = (unsigned char *)&no_filter;
        stream.avail_in = 1;
        result = deflate(&stream, Z_NO_FLUSH);
        stream.next_in = (unsigned char *)pixels + row * width;
        stream.avail_in = (unsigned)width;
        if (result == Z_OK)
            result = deflate(&stream, row + 1 < height ? Z_NO_FLUSH : Z_FINISH);
    }
    size_t size = stream.total_out;
    (void)deflateEnd(&stream);
    return result == Z_STREAM_END ? size : 0;
}

void sgi_png_base64(sgi_text *out, const unsigned char *pixels, size_t width, size_t height,
                    const unsigned char palette[255][3])
{
    size_t bound = (width + 1) * height * 9 / 8 + 1024;
    unsigned char *file = sgi_allocate(&out->allocator, bound + 2048, 1);
    if (!file) {
        out->status = SG_ERROR_MEMORY;
        return;
    }
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    memcpy(file, signature, sizeof signature);
    size_t size = sizeof signature;
    unsigned char header[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0}; /* 8 bits, palette */
    store32(header, width);
    store32(header + 4, height);
    size += chunk(file + size, "IHDR", header, sizeof header);
    unsigned char colours[256][3] = {{0}}, opacity[256];
    memcpy(colours, palette, sizeof colours - 3);
    memset(opacity, 255, sizeof opacity);
    opacity[SG_PNG_CLEAR] = 0;
    size += chunk(file + size, "PLTE", colours, sizeof colours);
    size += chunk(file + size, "tRNS", opacity, sizeof opacity);
    size_t data = deflate_rows(&out->allocator, pixels, width, height, file + size + 8, bound);
    if (data == 0) {
        out->status = SG_ERROR_MEMORY;
    } else {
        size += chunk(file + size, "IDAT", NULL, data);
        size += chunk(file + size, "IEND", NULL, 0);
        sgi_text_base64(out, file, size);
    }
    sgi_release(&out->allocator, file);
}
