/* Image data sets: files good and bad, views, and batches that do not depend on the workers. */
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* jpeglib.h takes size_t and FILE for granted. */
#include <jpeglib.h>

#include "images/dataset.h"
#include "support/support.h"

static char folder[] = "/tmp/sg_images_XXXXXX";
static char path[256];
sg_diagnostic diagnostic = {0};

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static int open_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* ---- CIFAR -------------------------------------------------------------------------------- */

/* Pixel of record r, channel c, place i. */
static uint8_t pixel(size_t r, size_t c, size_t i)
{
    return (uint8_t)(r * 31 + c * 57 + i * 7);
}

static void write_cifar(const char *name, size_t records, int classes, size_t cut)
{
    size_t labels = classes == 100 ? 2 : 1, size = labels + 3072;
    uint8_t *bytes = calloc(records, size);
    assert_non_null(bytes);
    for (size_t r = 0; r < records; r++) {
        uint8_t *record = bytes + r * size;
        record[labels - 1] = (uint8_t)(r % (size_t)classes);
        for (size_t c = 0; c < 3; c++)
            for (size_t i = 0; i < 1024; i++)
                record[labels + c * 1024 + i] = pixel(r, c, i);
    }
    write_bytes(name, bytes, records * size - cut);
    free(bytes);
}

/* With a view of the image's own size and no zoom, pixels come through as they are. */
static void cifar_files_are_read(void **state)
{
    (void)state;
    for (int classes = 10; classes <= 100; classes += 90) {
        sg_dataset *set;
        sg_image_view view = sg_image_view_defaults();
        float image[3072];
        char a[256], b[256];
        write_cifar("a.bin", 7, classes, 0);
        write_cifar("b.bin", 3, classes, 0);
        snprintf(a, sizeof a, "%s/a.bin", folder);
        snprintf(b, sizeof b, "%s/b.bin", folder);
        const char *const paths[] = {a, b};
        assert_ok(sg_dataset_open_cifar(&set, paths, 2, classes, NULL, &diagnostic));
        assert_int_equal(sg_dataset_count(set), 10);
        assert_int_equal(sg_dataset_classes(set), classes);
        assert_int_equal(sg_dataset_label(set, 8), 1);
        assert_int_equal(sg_dataset_label(set, 10), -1);
        assert_null(sg_dataset_class_name(set, 0));
        view.size = 32;
        view.zoom = 1;
        assert_ok(sg_dataset_read(set, 9, &view, 0, image, &diagnostic));
        for (size_t c = 0; c < 3; c++)
            for (size_t i = 0; i < 1024; i++) {
                double value = pixel(2, c, i) / 255.0;
                assert_close((double)image[c * 1024 + i],
                             (value - (double)view.mean[c]) / (double)view.std[c], 1e-5);
            }
        sg_dataset_close(set);
    }
}

static void bad_cifar_files_are_refused(void **state)
{
    (void)state;
    sg_dataset *set;
    const char *const missing[] = {"/no/such/file"};
    write_cifar("cut.bin", 5, 100, 1);
    const char *const paths[] = {in_folder("cut.bin")};
    assert_status(sg_dataset_open_cifar(&set, paths, 1, 100, NULL, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(said(&diagnostic), "whole number of records"));
    write_cifar("cut.bin", 20, 100, 0); /* labels up to 19, and another record size */
    assert_status(sg_dataset_open_cifar(&set, paths, 1, 10, NULL, &diagnostic), SG_ERROR_FORMAT);
    write_bytes("cut.bin", "", 0);
    assert_status(sg_dataset_open_cifar(&set, paths, 1, 10, NULL, &diagnostic), SG_ERROR_FORMAT);
    uint8_t record[3073] = {10};
    write_bytes("cut.bin", record, sizeof record);
    assert_status(sg_dataset_open_cifar(&set, paths, 1, 10, NULL, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(said(&diagnostic), "label 10"));
    assert_status(sg_dataset_open_cifar(&set, missing, 1, 10, NULL, &diagnostic), SG_ERROR_IO);
    assert_status(sg_dataset_open_cifar(&set, paths, 1, 11, NULL, NULL), SG_ERROR_ARGUMENT);
}

/* ---- Folders ------------------------------------------------------------------------------ */

static void write_png(const char *name, int width, int height, uint32_t format, uint8_t value)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = format};
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(pixels);
    memset(pixels, value, PNG_IMAGE_SIZE(image));
    assert_true(png_image_write_to_file(&image, in_folder(name), 0, pixels, 0, NULL));
    free(pixels);
}

static void write_jpeg(const char *name, int width, int height, J_COLOR_SPACE space, int components,
                       uint8_t value)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(in_folder(name), "wb");
    uint8_t line[4 * 64];
    JSAMPROW row = line;
    assert_non_null(file);
    memset(line, value, sizeof line);
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, file);
    info.image_width = (JDIMENSION)width;
    info.image_height = (JDIMENSION)height;
    info.input_components = components;
    info.in_color_space = space;
    jpeg_set_defaults(&info);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height)
        jpeg_write_scanlines(&info, &row, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    assert_int_equal(fclose(file), 0);
}

/* Cuts the end off a file. */
static void truncate_file(const char *name, off_t size)
{
    assert_int_equal(truncate(in_folder(name), size), 0);
}

/* Classes "ants" and "bees": every kind of image, then damaged ones, then files to be ignored. */
static void make_folders(void)
{
    mkdir(in_folder("set"), 0755);
    mkdir(in_folder("set/ants"), 0755);
    mkdir(in_folder("set/bees"), 0755);
    mkdir(in_folder("set/.hidden"), 0755);
    write_png("set/ants/a_rgb.png", 40, 30, PNG_FORMAT_RGB, 100);
    write_png("set/ants/b_grey.PNG", 9, 50, PNG_FORMAT_GRAY, 100);
    write_jpeg("set/ants/c_grey.jpeg", 33, 17, JCS_GRAYSCALE, 1, 100);
    write_jpeg("set/ants/d_rgb.JPG", 1, 1, JCS_RGB, 3, 100);
    write_jpeg("set/bees/e_cmyk.jpg", 16, 16, JCS_CMYK, 4, 160);
    write_png("set/bees/f_cut.png", 40, 30, PNG_FORMAT_RGB, 100);
    truncate_file("set/bees/f_cut.png", 70);
    write_jpeg("set/bees/g_cut.jpg", 60, 60, JCS_RGB, 3, 100);
    truncate_file("set/bees/g_cut.jpg", 630);
    write_bytes("set/bees/h_text.jpg", "not an image", 12);
    write_bytes("set/bees/i_empty.png", "", 0);
    write_bytes("set/bees/readme.txt", "x", 1);
    write_bytes("set/classes.txt", "x", 1);
}

static sg_dataset *open_set(void)
{
    sg_dataset *set;
    if (sg_dataset_open_folder(&set, in_folder("set"), NULL, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return set;
}

static void folders_hold_every_kind_of_image(void **state)
{
    (void)state;
    make_folders();
    sg_dataset *set = open_set();
    sg_image_view view = sg_image_view_defaults();
    float image[3 * 20 * 20];
    view.size = 20;
    for (int c = 0; c < 3; c++) {
        view.mean[c] = 0;
        view.std[c] = 1;
    }
    assert_int_equal(sg_dataset_count(set), 9);
    assert_int_equal(sg_dataset_classes(set), 2);
    assert_string_equal(sg_dataset_class_name(set, 1), "bees");
    assert_null(sg_dataset_class_name(set, 2));
    for (size_t i = 0; i < 9; i++) {
        sg_status status = sg_dataset_read(set, i, &view, 0, image, &diagnostic);
        assert_int_equal(sg_dataset_label(set, i), i >= 4);
        if (i >= 5) {
            assert_status(status, SG_ERROR_FORMAT);
            assert_non_null(strstr(said(&diagnostic), "/bees/"));
            continue;
        }
        if (status != SG_OK)
            fail_msg("%s", said(&diagnostic));
        /* CMYK 160 in Adobe's inverted sense: 160 * 160 / 255. */
        double expected = i == 4 ? 160.0 * 160 / 255 : 100;
        for (size_t k = 0; k < 1200; k++)
            assert_true(fabs(255 * (double)image[k] - expected) <= 2);
    }
    sg_dataset_close(set);
    assert_status(sg_dataset_open_folder(&set, "/no/such", NULL, &diagnostic), SG_ERROR_IO);
    assert_status(sg_dataset_open_folder(&set, in_folder("set/ants"), NULL, &diagnostic),
                  SG_ERROR_FORMAT);
}

/* ---- Views -------------------------------------------------------------------------------- */

static sg_image_view plain_view(int size)
{
    sg_image_view view = sg_image_view_defaults();
    view.size = size;
    view.zoom = 1;
    for (int c = 0; c < 3; c++) {
        view.mean[c] = 0;
        view.std[c] = 1.0f / 255;
    }
    return view;
}

static void apply(const sg_image_view *view, const sgi_pixels8 *pixels, uint64_t counter,
                  float *image)
{
    float *work = malloc(sgi_image_view_work(view, pixels) * sizeof *work);
    assert_non_null(work);
    sgi_image_view_apply(view, pixels, counter, image, work);
    free(work);
}

/* A ramp along x stays a ramp: (x + 1/2) / scale - 1/2, flat at the borders when enlarged. */
static void resizing_is_linear(void **state)
{
    (void)state;
    enum { SIDE = 12 };
    uint8_t data[SIDE * SIDE * 3];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int c = 0; c < 3; c++)
                data[(y * SIDE + x) * 3 + c] = (uint8_t)(10 * x + c);
    const sgi_pixels8 pixels = {data, SIDE, SIDE, false};
    const int sizes[] = {24, 30, 6, 4, 12};
    for (int s = 0; s < 5; s++) {
        float image[3 * 30 * 30];
        int size = sizes[s];
        sg_image_view view = plain_view(size);
        apply(&view, &pixels, 0, image);
        double scale = (double)SIDE / size;
        for (int x = 0; x < size; x++) {
            double at = (x + 0.5) * scale - 0.5;
            at = at < 0 ? 0 : at > SIDE - 1 ? SIDE - 1 : at;
            bool border = scale > 1 && (x == 0 || x == size - 1); /* a cut triangle */
            for (int c = 0; c < 3 && !border; c++)
                assert_close((double)image[(c * size + size / 2) * size + x], 10 * at + c, 1e-4);
        }
    }
}

/* Crops of a ramp: always increasing, or decreasing when flipped, within the image's range, and of
 * every kind. */
static void random_crops_stay_inside_and_differ(void **state)
{
    (void)state;
    enum { WIDTH = 50, HEIGHT = 40 };
    uint8_t data[WIDTH * HEIGHT * 3];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++)
                data[(y * WIDTH + x) * 3 + c] = (uint8_t)(5 * x);
    const sgi_pixels8 pixels = {data, WIDTH, HEIGHT, false};
    sg_image_view view = plain_view(8);
    view.augment = true;
    int flips = 0;
    double smallest = 1e9, largest = 0;
    for (uint64_t i = 0; i < 400; i++) {
        float image[3 * 64], again[3 * 64];
        apply(&view, &pixels, i, image);
        apply(&view, &pixels, i, again);
        assert_memory_equal(image, again, sizeof image);
        double width = fabs((double)image[7] - (double)image[0]) / 5 * 8 / 7;
        flips += image[7] < image[0];
        smallest = width < smallest ? width : smallest;
        largest = width > largest ? width : largest;
        for (int k = 0; k < 192; k++)
            assert_true(image[k] >= 0 && image[k] <= 245.01f);
    }
    assert_true(flips > 160 && flips < 240);
    assert_true(smallest < 20 && largest > 40 && largest < 52);
}

/* ---- The loader --------------------------------------------------------------------------- */

/* Reads an epoch to the end; a sum over all of it that notices every pixel's place. */
static double read_epoch(sg_loader *loader, uint64_t epoch, size_t first, int *images)
{
    double sum = 0;
    sg_batch batch;
    *images = 0;
    assert_ok(sg_loader_start(loader, epoch, first));
    for (size_t b = first;; b++) {
        assert_ok(sg_loader_next(loader, &batch));
        if (batch.whole == 0) {
            assert_int_equal(batch.count, 0);
            return sum;
        }
        for (int i = 0; i < batch.count; i++)
            for (int k = 0; k < 3 * 64; k++)
                sum += (double)batch.images[i * 3 * 64 + k] * ((double)b * 7 + i * 3 + k % 11) +
                       batch.labels[i];
        *images += batch.count;
    }
}

static void batches_do_not_depend_on_the_workers(void **state)
{
    (void)state;
    sg_dataset *set;
    write_cifar("a.bin", 45, 10, 0);
    const char *const paths[] = {in_folder("a.bin")};
    assert_ok(sg_dataset_open_cifar(&set, paths, 1, 10, NULL, &diagnostic));
    double sums[3][3], rest[3];
    for (int i = 0; i < 3; i++) {
        sg_loader_config config = sg_loader_defaults();
        sg_loader *loader;
        int images;
        config.batch = 8;
        config.threads = 1 + 2 * i;
        config.ahead = 1 + i;
        config.shuffle = true;
        config.view.size = 8;
        config.view.augment = true;
        assert_ok(sg_loader_create(&loader, set, &config, NULL));
        assert_int_equal(sg_loader_batches(loader), 6);
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            sums[i][epoch] = read_epoch(loader, epoch, 0, &images);
            assert_int_equal(images, 45);
        }
        /* Left in the middle, then resumed at batch 4. */
        assert_ok(sg_loader_start(loader, 0, 0));
        rest[i] = read_epoch(loader, 1, 4, &images);
        assert_int_equal(images, 13);
        sg_loader_destroy(loader);
    }
    for (int i = 1; i < 3; i++) {
        assert_memory_equal(sums[i], sums[0], sizeof sums[0]);
        assert_true(rest[i] == rest[0]);
    }
    assert_true(sums[0][0] != sums[0][1] && sums[0][1] != sums[0][2]);
    sg_dataset_close(set);
}

/* A loader of part `part` of `parts`, of batches of 6. */
static sg_loader *open_part(const sg_dataset *set, bool training, int part, int parts)
{
    sg_loader_config config = sg_loader_defaults();
    sg_loader *loader;
    config.batch = 6;
    config.threads = 2;
    config.shuffle = config.view.augment = training;
    config.view.size = 8;
    config.part = part;
    config.parts = parts;
    assert_ok(sg_loader_create(&loader, set, &config, NULL));
    assert_ok(sg_loader_start(loader, 4, training ? 1 : 0));
    return loader;
}

/* Batch after batch the parts have the images of the whole, each at its place; a last batch that is
 * not full leaves parts without images, which does not end the epoch for them. */
static void parts_make_the_whole(void **state)
{
    (void)state;
    sg_dataset *set;
    write_cifar("a.bin", 45, 10, 0);
    const char *const paths[] = {in_folder("a.bin")};
    assert_ok(sg_dataset_open_cifar(&set, paths, 1, 10, NULL, &diagnostic));
    for (int training = 0; training < 2; training++)
        for (int parts = 1; parts <= 6; parts++) {
            if (6 % parts != 0)
                continue;
            sg_loader *whole = open_part(set, training, 0, 0), *part[6];
            for (int k = 0; k < parts; k++)
                part[k] = open_part(set, training, k, parts);
            int share = 6 / parts, batches = 0;
            sg_batch all, some;
            do {
                int images = 0;
                assert_ok(sg_loader_next(whole, &all));
                assert_int_equal(all.whole, all.count);
                for (int k = 0; k < parts; k++) {
                    assert_ok(sg_loader_next(part[k], &some));
                    assert_int_equal(some.whole, all.whole);
                    images += some.count;
                    if (all.whole == 0)
                        continue;
                    assert_memory_equal(some.images, all.images + k * share * 3 * 64,
                                        (size_t)share * 3 * 64 * sizeof(float));
                    assert_memory_equal(some.labels, all.labels + k * share,
                                        (size_t)share * sizeof(int));
                }
                assert_int_equal(images, all.count);
                batches++;
            } while (all.whole > 0);
            assert_int_equal(batches, training ? 8 : 9); /* the first was left out; the end */
            sg_loader_destroy(whole);
            for (int k = 0; k < parts; k++)
                sg_loader_destroy(part[k]);
        }
    sg_dataset_close(set);
}

static void parts_that_do_not_divide_a_batch_are_refused(void **state)
{
    static const int wrong[][2] = {{0, 4}, {2, 2}, {-1, 2}, {0, -1}, {1, 0}, {0, 12}};
    (void)state;
    sg_dataset *set;
    write_cifar("a.bin", 45, 10, 0);
    const char *const paths[] = {in_folder("a.bin")};
    assert_ok(sg_dataset_open_cifar(&set, paths, 1, 10, NULL, &diagnostic));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sg_loader_config config = sg_loader_defaults();
        sg_loader *loader;
        config.batch = 6;
        config.part = wrong[i][0];
        config.parts = wrong[i][1];
        assert_status(sg_loader_create(&loader, set, &config, NULL), SG_ERROR_ARGUMENT);
    }
    sg_dataset_close(set);
}

static void damaged_images_are_counted_and_passed_over(void **state)
{
    (void)state;
    make_folders();
    sg_dataset *set = open_set();
    for (int augment = 0; augment < 2; augment++) {
        sg_loader_config config = sg_loader_defaults();
        sg_loader *loader;
        int images;
        config.batch = 4;
        config.threads = 2;
        config.view.size = 8;
        config.view.augment = augment;
        assert_ok(sg_loader_create(&loader, set, &config, NULL));
        sg_batch batch;
        assert_status(sg_loader_next(loader, &batch), SG_ERROR_ORDER);
        (void)read_epoch(loader, 0, 0, &images);
        /* Evaluation leaves four of nine out; training replaces them. */
        assert_int_equal(images, augment ? 9 : 5);
        assert_true(sg_loader_skipped(loader, &diagnostic) >= 4);
        assert_non_null(strstr(said(&diagnostic), "/bees/"));
        sg_loader_destroy(loader);
    }
    int all = 0;
    for (int part = 0; part < 3; part++) {
        int images;
        sg_loader *loader = open_part(set, false, part, 3);
        (void)read_epoch(loader, 0, 0, &images);
        all += images;
        sg_loader_destroy(loader);
    }
    assert_int_equal(all, 5);
    sg_dataset_close(set);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    make_folders();
    for (long i = 0;; i++) {
        failing_allocator counter = {.fail_at = i};
        sg_allocator allocator = failing(&counter);
        sg_dataset *set = NULL;
        sg_loader *loader = NULL;
        sg_status status = sg_dataset_open_folder(&set, in_folder("set"), &allocator, &diagnostic);
        if (status == SG_OK)
            status = sg_loader_create(&loader, set, NULL, &allocator);
        sg_loader_destroy(loader);
        sg_dataset_close(set);
        assert_int_equal(counter.live, 0);
        if (status == SG_OK) {
            assert_true(i > 10);
            break;
        }
        assert_status(status, SG_ERROR_MEMORY);
    }
}

/* Reading and decoding each kind of image, with every allocation failing in turn. */
static void every_allocation_of_reading_may_fail(void **state)
{
    (void)state;
    make_folders();
    static const long needed[] = {3, 3, 4, 4, 5}; /* file, decoder, pixels, line of CMYK, view */
    for (size_t image = 0; image < 5; image++) {
        for (long i = 0;; i++) {
            failing_allocator counter = {.fail_at = -1};
            sg_allocator allocator = failing(&counter);
            sg_image_view view = plain_view(8);
            float pixels[3 * 64];
            sg_dataset *set;
            assert_ok(sg_dataset_open_folder(&set, in_folder("set"), &allocator, NULL));
            counter.fail_at = counter.made + i;
            diagnostic = (sg_diagnostic){0};
            sg_status status = sg_dataset_read(set, image, &view, 0, pixels, &diagnostic);
            counter.fail_at = -1;
            sg_dataset_close(set);
            assert_int_equal(counter.live, 0);
            if (status == SG_OK) {
                assert_int_equal(i, needed[image]);
                break;
            }
            assert_status(status, SG_ERROR_MEMORY);
            assert_non_null(strstr(said(&diagnostic), "memory"));
        }
    }
}

/* An image that memory was missing for is not one that cannot be read: the batch is refused. */
static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    make_folders();
    for (int augment = 0; augment < 2; augment++)
        for (long i = 0; i < 12; i++) {
            failing_allocator counter = {.fail_at = -1};
            sg_allocator allocator = failing(&counter);
            sg_loader_config config = sg_loader_defaults();
            sg_dataset *set;
            sg_loader *loader;
            sg_batch batch = {.count = 1};
            sg_status status = SG_OK;
            config.batch = 2;
            config.view = plain_view(8);
            config.view.augment = augment;
            assert_ok(sg_dataset_open_folder(&set, in_folder("set"), &allocator, NULL));
            assert_ok(sg_loader_create(&loader, set, &config, &allocator));
            counter.fail_at = counter.made + i;
            assert_ok(sg_loader_start(loader, 0, 0));
            while (status == SG_OK && batch.count > 0)
                status = sg_loader_next(loader, &batch);
            assert_status(status, SG_ERROR_MEMORY);
            sg_loader_destroy(loader);
            sg_dataset_close(set);
            assert_int_equal(counter.live, 0);
        }
}

/* ---- Real data, where it is --------------------------------------------------------------- */

static void real_cifar(void **state)
{
    (void)state;
    const char *const paths[] = {SG_SHARED_DATA "/data/cifar100/test.bin"};
    sg_dataset *set;
    if (access(paths[0], R_OK) != 0)
        skip();
    assert_ok(sg_dataset_open_cifar(&set, paths, 1, 100, NULL, &diagnostic));
    assert_int_equal(sg_dataset_count(set), 5000);
    int each[100] = {0};
    for (size_t i = 0; i < 5000; i++)
        each[sg_dataset_label(set, i)]++;
    for (int c = 0; c < 100; c++)
        assert_int_equal(each[c], 50);
    sg_dataset_close(set);
}

static void real_folders(void **state)
{
    (void)state;
    const char *where = SG_SHARED_DATA "/data/tiny-imagenet/val";
    sg_loader_config config = sg_loader_defaults();
    sg_dataset *set;
    sg_loader *loader;
    int images;
    if (access(where, R_OK) != 0)
        skip();
    assert_ok(sg_dataset_open_folder(&set, where, NULL, &diagnostic));
    assert_int_equal(sg_dataset_count(set), 1000);
    assert_int_equal(sg_dataset_classes(set), 20);
    config.view.size = 8;
    config.threads = 2;
    assert_ok(sg_loader_create(&loader, set, &config, NULL));
    (void)read_epoch(loader, 0, 0, &images);
    assert_int_equal(images, 1000);
    assert_int_equal(sg_loader_skipped(loader, NULL), 0);
    sg_loader_destroy(loader);
    sg_dataset_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cifar_files_are_read),
        cmocka_unit_test(bad_cifar_files_are_refused),
        cmocka_unit_test(folders_hold_every_kind_of_image),
        cmocka_unit_test(resizing_is_linear),
        cmocka_unit_test(random_crops_stay_inside_and_differ),
        cmocka_unit_test(batches_do_not_depend_on_the_workers),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(parts_that_do_not_divide_a_batch_are_refused),
        cmocka_unit_test(damaged_images_are_counted_and_passed_over),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_reading_may_fail),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(real_cifar),
        cmocka_unit_test(real_folders),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
