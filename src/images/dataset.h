/* Data sets from the inside. */
#ifndef SG_IMAGES_DATASET_H
#define SG_IMAGES_DATASET_H

#include "base/memory.h"
#include "stablegrad/images.h"

/* 8-bit pixels: planar (3, height, width) or interleaved (height, width, 3). */
typedef struct sgi_pixels8 {
    const uint8_t *data;
    int width, height;
    bool planar;
} sgi_pixels8;

struct sg_dataset {
    sg_allocator allocator;
    size_t count;
    int classes;
    int *labels;        /* (count) */
    uint8_t *pixels;    /* CIFAR: (count, 3, 32, 32); NULL for folders */
    char **paths;       /* folders: (count) */
    char **class_names; /* folders: (classes) */
};

/* A decoded file; release `owned` with sgi_release and the allocator that it came from. */
typedef struct sgi_decoded {
    sgi_pixels8 pixels;
    uint8_t *owned;
} sgi_decoded;

/* Decodes a JPEG or PNG in memory to RGB, told apart by its first bytes. Grey-scale, palette, CMYK,
 * alpha (over black) and 16 bits are converted. Memory that libjpeg and libpng need for themselves
 * comes from the heap. */
SG_CHECKED sg_status sgi_decode(const uint8_t *bytes, size_t count, const sg_allocator *allocator,
                                sgi_decoded *decoded, sg_diagnostic *diagnostic);

/* Whether this build can decode at all. */
bool sgi_can_decode(void);

/* The view of an image: crop, resize, flip, normalise to (3, size, size). `work` holds
 * sgi_image_view_work floats. */
void sgi_image_view_apply(const sg_image_view *view, const sgi_pixels8 *pixels, uint64_t counter,
                          float *image, float *work);
size_t sgi_image_view_work(const sg_image_view *view, const sgi_pixels8 *pixels);

#endif
