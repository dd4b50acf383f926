/* Data sets: CIFAR files in memory, folders of image files read on demand. */
#include "images/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "files/file.h"

enum { CIFAR_SIDE = 32, CIFAR_PIXELS = 3 * CIFAR_SIDE * CIFAR_SIDE };

#define MAX_FILE ((size_t)256 << 20)

void sg_dataset_close(sg_dataset *set)
{
    if (!set)
        return;
    for (size_t i = 0; set->paths && i < set->count; i++)
        sgi_release(&set->allocator, set->paths[i]);
    for (int i = 0; set->class_names && i < set->classes; i++)
        sgi_release(&set->allocator, set->class_names[i]);
    sgi_release(&set->allocator, set->labels);
    sgi_release(&set->allocator, set->pixels);
    sgi_release(&set->allocator, set->paths);
    sgi_release(&set->allocator, set->class_names);
    sgi_release(&set->allocator, set);
}

/* ---- CIFAR -------------------------------------------------------------------------------- */

/* Bytes of a record: one label (CIFAR-10), or a coarse and a fine one (CIFAR-100). */
static size_t record_size(int classes)
{
    return (classes == 100 ? 2 : 1) + CIFAR_PIXELS;
}

static sg_status count_records(const char *path, int classes, size_t *records,
                               sg_diagnostic *diagnostic)
{
    struct stat info;
    int descriptor;
    sg_status status = sgi_file_open(path, false, &descriptor, diagnostic);
    if (status != SG_OK)
        return status;
    int failed = fstat(descriptor, &info);
    (void)close(descriptor);
    if (failed)
        return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
    size_t bytes = (size_t)info.st_size;
    if (bytes == 0 || bytes % record_size(classes) != 0)
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                             "%zu bytes are not a whole number of records of %zu", bytes,
                             record_size(classes));
    *records += bytes / record_size(classes);
    return SG_OK;
}

static sg_status read_records(sg_dataset *set, size_t *at, const char *path,
                              sg_diagnostic *diagnostic)
{
    uint8_t record[2 + CIFAR_PIXELS];
    size_t bytes = record_size(set->classes);
    int descriptor;
    sg_status status = sgi_file_open(path, false, &descriptor, diagnostic);
    if (status != SG_OK)
        return status;
    FILE *file = fdopen(descriptor, "rb");
    if (!file) {
        (void)close(descriptor);
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    }
    while (status == SG_OK && *at < set->count && fread(record, 1, bytes, file) == bytes) {
        int label = record[bytes - CIFAR_PIXELS - 1];
        if (label >= set->classes)
            status = sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path, "label %d of %d classes",
                                   label, set->classes);
        set->labels[*at] = label;
        memcpy(set->pixels + *at * CIFAR_PIXELS, record + bytes - CIFAR_PIXELS, CIFAR_PIXELS);
        (*at)++;
    }
    if (ferror(file))
        status = sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
    fclose(file);
    return status;
}

static sg_status fill_cifar(sg_dataset *set, const char *const *paths, size_t path_count,
                            sg_diagnostic *diagnostic)
{
    size_t records = 0, at = 0;
    for (size_t i = 0; i < path_count; i++) {
        sg_status status = count_records(paths[i], set->classes, &records, diagnostic);
        if (status != SG_OK)
            return status;
    }
    set->labels = sgi_allocate(&set->allocator, records, sizeof *set->labels);
    set->pixels = sgi_allocate(&set->allocator, records, CIFAR_PIXELS);
    if (!set->labels || !set->pixels)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    set->count = records;
    for (size_t i = 0; i < path_count; i++) {
        sg_status status = read_records(set, &at, paths[i], diagnostic);
        if (status != SG_OK)
            return status;
    }
    return at == records ? SG_OK
                         : sgi_fail(diagnostic, SG_ERROR_FORMAT, "a file has become shorter");
}

sg_status sg_dataset_open_cifar(sg_dataset **out, const char *const *paths, size_t path_count,
                                int classes, const sg_allocator *allocator,
                                sg_diagnostic *diagnostic)
{
    if (!out || !paths || path_count == 0 || (classes != 10 && classes != 100))
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    sg_dataset *set = SGI_NEW(sg_dataset, allocator);
    if (!set)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    set->classes = classes;
    sg_status status = fill_cifar(set, paths, path_count, diagnostic);
    if (status == SG_OK)
        *out = set;
    else
        sg_dataset_close(set);
    return status;
}

/* ---- Folders ------------------------------------------------------------------------------ */

static bool is_image(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && name[0] != '.' &&
           (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0 ||
            strcasecmp(dot, ".png") == 0);
}

static bool is_class(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    return name[0] != '.' &&
           snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The names in a folder, sorted; release each, and the list, with free. -1 when it cannot be read.
 */
static int list_folder(const char *folder, struct dirent ***names)
{
    return scandir(folder, names, NULL, alphasort);
}

static void free_list(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Makes room for one more image. */
static sg_status more_images(sg_dataset *set, size_t *capacity)
{
    if (set->count < *capacity)
        return SG_OK;
    size_t room = *capacity; /* the two arrays have the same */
    sg_status status =
        sgi_grow_array(&set->allocator, &set->paths, set->count, &room, 256, sizeof *set->paths);
    return status != SG_OK ? status
                           : sgi_grow_array(&set->allocator, &set->labels, set->count, capacity,
                                            256, sizeof *set->labels);
}

static sg_status add_images(sg_dataset *set, const char *folder, int label, size_t *capacity)
{
    struct dirent **names;
    int count = list_folder(folder, &names);
    if (count < 0)
        return errno == ENOMEM ? SG_ERROR_MEMORY : SG_ERROR_IO;
    sg_status status = SG_OK;
    for (int i = 0; i < count && status == SG_OK; i++) {
        char path[PATH_MAX];
        if (!is_image(names[i]->d_name) ||
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) >= (int)sizeof path)
            continue;
        status = more_images(set, capacity);
        if (status != SG_OK)
            break;
        set->labels[set->count] = label;
        set->paths[set->count] = sgi_copy_text(&set->allocator, path);
        if (set->paths[set->count])
            set->count++;
        else
            status = SG_ERROR_MEMORY;
    }
    free_list(names, count);
    return status;
}

static sg_status fill_folder(sg_dataset *set, const char *folder, sg_diagnostic *diagnostic)
{
    struct dirent **names;
    size_t capacity = 0;
    int count = list_folder(folder, &names);
    if (count < 0)
        return sgi_fail_file(diagnostic, SG_ERROR_IO, folder, "%m");
    sg_status status = SG_OK;
    set->class_names = sgi_allocate(&set->allocator, (size_t)count, sizeof *set->class_names);
    if (!set->class_names)
        status = SG_ERROR_MEMORY;
    for (int i = 0; i < count && status == SG_OK; i++) {
        char path[PATH_MAX];
        if (!is_class(folder, names[i]->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        set->class_names[set->classes] = sgi_copy_text(&set->allocator, names[i]->d_name);
        if (!set->class_names[set->classes])
            status = SG_ERROR_MEMORY;
        else
            status = add_images(set, path, set->classes++, &capacity);
    }
    free_list(names, count);
    if (status == SG_OK && set->count == 0)
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, folder,
                             "no CLASS/IMAGE.jpg or .png in it");
    return status == SG_OK
               ? SG_OK
               : sgi_fail_file(diagnostic, status, folder, "%s", sg_status_text(status));
}

sg_status sg_dataset_open_folder(sg_dataset **out, const char *folder,
                                 const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    if (!out || !folder)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (!sgi_can_decode())
        return sgi_fail(diagnostic, SG_ERROR_UNSUPPORTED, "built without libjpeg and libpng");
    sg_dataset *set = SGI_NEW(sg_dataset, allocator);
    if (!set)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    sg_status status = fill_folder(set, folder, diagnostic);
    if (status == SG_OK)
        *out = set;
    else
        sg_dataset_close(set);
    return status;
}

/* ---- Images ------------------------------------------------------------------------------- */

size_t sg_dataset_count(const sg_dataset *set)
{
    return set ? set->count : 0;
}

int sg_dataset_classes(const sg_dataset *set)
{
    return set ? set->classes : 0;
}

int sg_dataset_label(const sg_dataset *set, size_t index)
{
    return set && index < set->count ? set->labels[index] : -1;
}

const char *sg_dataset_class_name(const sg_dataset *set, int label)
{
    return set && set->class_names && label >= 0 && label < set->classes ? set->class_names[label]
                                                                         : NULL;
}

static sg_status open_image(const sg_dataset *set, size_t index, sgi_decoded *decoded,
                            sg_diagnostic *diagnostic)
{
    *decoded = (sgi_decoded){0};
    if (set->pixels) {
        decoded->pixels =
            (sgi_pixels8){set->pixels + index * CIFAR_PIXELS, CIFAR_SIDE, CIFAR_SIDE, true};
        return SG_OK;
    }
    char *bytes = NULL;
    size_t count = 0;
    sg_diagnostic why = {0};
    sg_status status =
        sgi_file_read(set->paths[index], MAX_FILE, &set->allocator, &bytes, &count, diagnostic);
    if (status != SG_OK)
        return status;
    status = sgi_decode((const uint8_t *)bytes, count, &set->allocator, decoded, &why);
    sgi_release(&set->allocator, bytes);
    return status == SG_OK
               ? SG_OK
               : sgi_fail_file(diagnostic, status, set->paths[index], "%s", why.message);
}

static bool sensible(const sg_image_view *v)
{
    bool scales = true;
    for (int i = 0; i < 3; i++)
        scales = scales && v->std[i] > 0;
    return v->size > 0 && v->size <= 1 << 14 && v->area_min > 0 && v->area_max >= v->area_min &&
           v->area_max <= 1 && v->aspect >= 1 && v->zoom > 0 && scales;
}

sg_status sg_dataset_read(const sg_dataset *set, size_t index, const sg_image_view *view,
                          uint64_t epoch, float *image, sg_diagnostic *diagnostic)
{
    if (!set || index >= set->count || !view || !sensible(view) || !image)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "no such image, or a bad view");
    sgi_decoded decoded;
    sg_status status = open_image(set, index, &decoded, diagnostic);
    if (status != SG_OK)
        return status;
    float *work =
        sgi_allocate(&set->allocator, sgi_image_view_work(view, &decoded.pixels), sizeof *work);
    if (work)
        sgi_image_view_apply(view, &decoded.pixels, epoch * set->count + index, image, work);
    else
        status = sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    sgi_release(&set->allocator, work);
    sgi_release(&set->allocator, decoded.owned);
    return status;
}
