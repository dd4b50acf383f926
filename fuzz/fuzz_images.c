/* libFuzzer: any bytes as a JPEG or PNG file are refused with a message, or decoded and shown
 * through a view; any bytes as a CIFAR file are refused, or read with labels in range. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "images/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_view(const sgi_pixels8 *pixels)
{
    enum { SIZE = 8 };
    float image[3 * SIZE * SIZE];
    sg_image_view view = sg_image_view_defaults();
    view.size = SIZE;
    view.augment = pixels->width % 2;
    float *work = calloc(sgi_image_view_work(&view, pixels), sizeof *work);
    if (work)
        sgi_image_view_apply(&view, pixels, 1, image, work);
    for (int i = 0; work && i < 3 * SIZE * SIZE; i++)
        if (!isfinite(image[i]))
            abort();
    free(work);
}

static void check_decoding(const uint8_t *data, size_t size)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sgi_decoded decoded;
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_decode(data, size, &heap, &decoded, &diagnostic);
    if (status == SG_OK)
        check_view(&decoded.pixels);
    else if (decoded.owned || !diagnostic.message[0])
        abort();
    sgi_release(&heap, decoded.owned);
}

static void check_cifar(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/sg_fuzz_images_%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    size_t written = fwrite(data, 1, size, file);
    if (fclose(file) == 0 && written == size)
        for (int classes = 10; classes <= 100; classes += 90) {
            const char *const paths[] = {path};
            sg_dataset *set;
            if (sg_dataset_open_cifar(&set, paths, 1, classes, NULL, NULL) != SG_OK)
                continue;
            for (size_t i = 0; i < sg_dataset_count(set); i++)
                if (sg_dataset_label(set, i) < 0 || sg_dataset_label(set, i) >= classes)
                    abort();
            sg_dataset_close(set);
        }
    remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_decoding(data, size);
    if (size > 0 && (size % 3073 == 0 || size % 3074 == 0))
        check_cifar(data, size);
    return 0;
}
