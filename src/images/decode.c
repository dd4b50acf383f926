/* JPEG and PNG to RGB, by libjpeg and libpng. Neither may end the program: libjpeg's error exit is
 * a jump back into decode_jpeg, libpng's simplified interface returns its errors. */
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
/* jpeglib.h takes size_t and FILE for granted. */
#include <jerror.h>
#include <jpeglib.h>
#include <string.h>

#include "base/diagnostic.h"
#include "images/dataset.h"

#define MAX_PIXELS ((size_t)1 << 27)

typedef struct jpeg_errors {
    struct jpeg_error_mgr base; /* first, so that libjpeg's pointer is ours */
    jmp_buf back;
    int warnings;
    char text[JMSG_LENGTH_MAX];
} jpeg_errors;

static void leave(j_common_ptr info)
{
    jpeg_errors *errors = (jpeg_errors *)info->err;
    info->err->format_message(info, errors->text);
    longjmp(errors->back, 1);
}

/* Warnings (level -1) tell of damaged data that libjpeg has patched over. */
static void note(j_common_ptr info, int level)
{
    jpeg_errors *errors = (jpeg_errors *)info->err;
    if (level < 0 && errors->warnings++ == 0)
        info->err->format_message(info, errors->text);
}

/* Adobe's CMYK is stored inverted: 255 means no ink. */
static void convert_cmyk(const uint8_t *from, uint8_t *to, int width, bool inverted)
{
    for (int x = 0; x < width; x++) {
        int key = inverted ? from[4 * x + 3] : 255 - from[4 * x + 3];
        for (int c = 0; c < 3; c++) {
            int ink = inverted ? from[4 * x + c] : 255 - from[4 * x + c];
            to[3 * x + c] = (uint8_t)(ink * key / 255);
        }
    }
}

static void read_lines(struct jpeg_decompress_struct *info, uint8_t *pixels, uint8_t *line)
{
    size_t stride = 3 * (size_t)info->output_width;
    while (info->output_scanline < info->output_height) {
        uint8_t *row = pixels + info->output_scanline * stride;
        JSAMPROW into = line ? line : row;
        jpeg_read_scanlines(info, &into, 1);
        if (line)
            convert_cmyk(line, row, (int)info->output_width, info->saw_Adobe_marker);
    }
}

/* What a jump out of libjpeg must find again. */
typedef struct jpeg_work {
    const sg_allocator *allocator;
    struct jpeg_decompress_struct info;
    jpeg_errors errors;
    uint8_t *pixels, *line;
} jpeg_work;

static sg_status run_jpeg(jpeg_work *w, const uint8_t *bytes, size_t count)
{
    if (setjmp(w->errors.back))
        return w->errors.base.msg_code == JERR_OUT_OF_MEMORY ? SG_ERROR_MEMORY : SG_ERROR_FORMAT;
    jpeg_create_decompress(&w->info);
    jpeg_mem_src(&w->info, bytes, (unsigned long)count);
    jpeg_read_header(&w->info, TRUE);
    bool cmyk = w->info.jpeg_color_space == JCS_CMYK || w->info.jpeg_color_space == JCS_YCCK;
    w->info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    if ((size_t)w->info.image_width * w->info.image_height > MAX_PIXELS) {
        snprintf(w->errors.text, sizeof w->errors.text, "more pixels than are sensible");
        return SG_ERROR_FORMAT;
    }
    jpeg_start_decompress(&w->info);
    size_t width = w->info.output_width;
    w->pixels = sgi_allocate(w->allocator, width * w->info.output_height, 3);
    w->line = cmyk ? sgi_allocate(w->allocator, width, 4) : NULL;
    if (!w->pixels || (cmyk && !w->line))
        return SG_ERROR_MEMORY;
    read_lines(&w->info, w->pixels, w->line);
    jpeg_finish_decompress(&w->info);
    return w->errors.warnings ? SG_ERROR_FORMAT : SG_OK;
}

static sg_status decode_jpeg(const uint8_t *bytes, size_t count, const sg_allocator *allocator,
                             sgi_decoded *decoded, sg_diagnostic *diagnostic)
{
    jpeg_work *w = sgi_allocate(allocator, 1, sizeof *w);
    if (!w)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    w->allocator = allocator;
    w->info.err = jpeg_std_error(&w->errors.base);
    w->errors.base.error_exit = leave;
    w->errors.base.emit_message = note;
    sg_status status = run_jpeg(w, bytes, count);
    if (status == SG_OK) {
        decoded->owned = w->pixels;
        decoded->pixels =
            (sgi_pixels8){w->pixels, (int)w->info.output_width, (int)w->info.output_height, false};
    } else {
        sgi_release(allocator, w->pixels);
        sgi_fail(diagnostic, status, "%s",
                 status == SG_ERROR_MEMORY ? "out of memory" : w->errors.text);
    }
    jpeg_destroy_decompress(&w->info);
    sgi_release(allocator, w->line);
    sgi_release(allocator, w);
    return status;
}

static sg_status decode_png(const uint8_t *bytes, size_t count, const sg_allocator *allocator,
                            sgi_decoded *decoded, sg_diagnostic *diagnostic)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    const png_color black = {0, 0, 0};
    uint8_t *pixels = NULL;
    sg_status status = SG_OK;
    if (!png_image_begin_read_from_memory(&image, bytes, count))
        status = SG_ERROR_FORMAT;
    if (status == SG_OK && (size_t)image.width * image.height > MAX_PIXELS) {
        snprintf(image.message, sizeof image.message, "more pixels than are sensible");
        status = SG_ERROR_FORMAT;
    }
    if (status == SG_OK) {
        image.format = PNG_FORMAT_RGB;
        pixels = sgi_allocate(allocator, PNG_IMAGE_SIZE(image), 1);
        if (!pixels)
            status = SG_ERROR_MEMORY;
        else if (!png_image_finish_read(&image, &black, pixels, 0, NULL))
            status = SG_ERROR_FORMAT;
    }
    if (status == SG_OK) {
        decoded->owned = pixels;
        decoded->pixels = (sgi_pixels8){pixels, (int)image.width, (int)image.height, false};
        return SG_OK;
    }
    if (strcasestr(image.message, "memory")) /* libpng has no codes */
        status = SG_ERROR_MEMORY;
    sgi_fail(diagnostic, status, "%s", status == SG_ERROR_MEMORY ? "out of memory" : image.message);
    png_image_free(&image);
    sgi_release(allocator, pixels);
    return status;
}

sg_status sgi_decode(const uint8_t *bytes, size_t count, const sg_allocator *allocator,
                     sgi_decoded *decoded, sg_diagnostic *diagnostic)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    *decoded = (sgi_decoded){0};
    if (count >= 8 && memcmp(bytes, png, 8) == 0)
        return decode_png(bytes, count, allocator, decoded, diagnostic);
    if (count >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff)
        return decode_jpeg(bytes, count, allocator, decoded, diagnostic);
    return sgi_fail(diagnostic, SG_ERROR_FORMAT, "neither JPEG nor PNG");
}

bool sgi_can_decode(void)
{
    return true;
}
