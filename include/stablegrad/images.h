/* Image data sets for the networks: CIFAR files and folders of JPEG and PNG files. Images are
 * augmented and handed out in batches, which worker threads prepare ahead of the step.
 *
 * Which images make a batch, and how each is cropped and flipped, are pure functions of (seed,
 * epoch, position): a run repeats whatever the number of workers, and resumes without state. */
#ifndef STABLEGRAD_IMAGES_H
#define STABLEGRAD_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Data sets ---------------------------------------------------------------------------- */

typedef struct sg_dataset sg_dataset;

/* Reads CIFAR-10 or CIFAR-100 binary files (`classes` 10 or 100) whole. A file whose size is not a
 * whole number of records, or with a label out of range, is refused with SG_ERROR_FORMAT.
 * `diagnostic` (may be NULL) says what is wrong when the result is not SG_OK. */
SG_CHECKED sg_status sg_dataset_open_cifar(sg_dataset **set, const char *const *paths,
                                           size_t path_count, int classes,
                                           const sg_allocator *allocator,
                                           sg_diagnostic *diagnostic);

/* Lists FOLDER/CLASS/IMAGE, the layout of ImageNet: files ending in .jpg, .jpeg or .png; classes
 * and images in order of their names. Images are read when they are needed.
 * SG_ERROR_UNSUPPORTED in a build without libjpeg and libpng. */
SG_CHECKED sg_status sg_dataset_open_folder(sg_dataset **set, const char *folder,
                                            const sg_allocator *allocator,
                                            sg_diagnostic *diagnostic);

/* NULL is allowed. */
void sg_dataset_close(sg_dataset *set);

size_t sg_dataset_count(const sg_dataset *set);
int sg_dataset_classes(const sg_dataset *set);
int sg_dataset_label(const sg_dataset *set, size_t index);
/* The folder's name of a class; NULL for CIFAR or past the end. */
const char *sg_dataset_class_name(const sg_dataset *set, int label);

/* ---- Views: how an image becomes an input ------------------------------------------------- */

typedef struct sg_image_view {
    int size;     /* of the square input */
    bool augment; /* random crop, resized, and flip; otherwise resize and centre crop */
    double area_min, area_max; /* of the crop, as a share of the image */
    double aspect;             /* of the crop: between 1 / aspect and aspect */
    bool flip;                 /* left to right with probability 1/2, when augmenting */
    double zoom;               /* without augmentation: the shorter side becomes zoom * size */
    float mean[3], std[3];     /* of red, green and blue in [0, 1]; subtracted, divided by */
    uint64_t seed;
} sg_image_view;

/* 224 px, ImageNet's mean and std, torchvision's crops: area 0.08 to 1, aspect 4/3, flip, zoom
 * 256/224; no augmentation. */
sg_image_view sg_image_view_defaults(void);

/* Image `index` as the view of that epoch: (3, size, size) floats. SG_ERROR_FORMAT for a corrupt
 * image, SG_ERROR_IO for a missing one. Memory for the time of the call comes from the data set's
 * allocator. Several threads, such as a loader's workers, may read at once if that allocator may be
 * called by several threads at once. */
SG_CHECKED sg_status sg_dataset_read(const sg_dataset *set, size_t index, const sg_image_view *view,
                                     uint64_t epoch, float *image, sg_diagnostic *diagnostic);

/* ---- Batches ------------------------------------------------------------------------------ */

typedef struct sg_loader_config {
    int batch;      /* images, of all parts together */
    int threads;    /* workers, at least 1 */
    int ahead;      /* batches prepared before they are asked for, at least 1 */
    bool shuffle;   /* another order each epoch; otherwise the data set's */
    bool drop_last; /* leave out a last batch that is not full */
    sg_image_view view;
    /* Which part of each batch this loader hands out, as one of several ranks: images part * share
     * and on, where share = batch / parts; parts divides the batch. 0 parts are 1, the whole. */
    int part, parts;
} sg_loader_config;

/* Batch 32, 1 worker, 3 ahead, in order, the default view, the whole of each batch. */
sg_loader_config sg_loader_defaults(void);

typedef struct sg_loader sg_loader;

/* `set` must outlive the loader. The configuration is copied. */
SG_CHECKED sg_status sg_loader_create(sg_loader **loader, const sg_dataset *set,
                                      const sg_loader_config *config,
                                      const sg_allocator *allocator);

/* Stops the workers. NULL is allowed. */
void sg_loader_destroy(sg_loader *loader);

/* The number of batches in an epoch, the same for every part. */
size_t sg_loader_batches(const sg_loader *loader);

/* Starts an epoch at batch `first`; what was prepared of another is thrown away. */
SG_CHECKED sg_status sg_loader_start(sg_loader *loader, uint64_t epoch, size_t first);

typedef struct sg_batch {
    const float *images; /* (share, 3, size, size), zeros past `count`; share: batch / parts */
    const int *labels;   /* (share) */
    int count;           /* images in it; 0 after the last batch, or when none could be read */
    int whole;           /* places of the batch, of all parts, that the data set fills; 0 only after
                            the last batch. A part of a last batch may have none of them */
    double waited;       /* seconds that this call waited; 0 when the loader keeps ahead */
} sg_batch;

/* The next batch, valid until the next call. An image that cannot be read is counted and, when the
 * view augments, replaced by the next one of the data set that can; otherwise it is left out.
 * SG_ERROR_MEMORY when memory ran out for one: the batch is lost then, the next may be had. */
SG_CHECKED sg_status sg_loader_next(sg_loader *loader, sg_batch *batch);

/* The number of images that could not be read since the loader was made. `last` (may be NULL)
 * receives why the last of them could not be. */
uint64_t sg_loader_skipped(sg_loader *loader, sg_diagnostic *last);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
