/* Shapes from files: finding the file, its sum, and the copy that a run keeps. See domain.h.
 *
 *     part: {surface: {file: part.stl}}
 *
 * A relative path starts at the folder of the problem file. The resolved problem has the absolute
 * path and the sum of the content: with a sum, a file that has changed is refused, and a copy that
 * lies beside the problem file under the shape's name, as a run has it, is taken in its place. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "config/document.h"
#include "files/file.h"
#include "problem/domain_reading.h"

enum { MOST_BYTES = 400 << 20 };

/* The ending of a file's name, in small letters; "" for none that a kind of shape has. */
static const char *ending_of(const char *path, const char *endings)
{
    static const char *const known[] = {".stl", ".csv", ".geojson"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof known[0]; i++) {
        size_t k = 0;
        while (known[i][k] && (dot[k] | 0x20) == (known[i][k] | 0x20))
            k++;
        if (!known[i][k] && !dot[k] && strstr(endings, known[i]))
            return known[i];
    }
    return "";
}

/* The name of the copy of a shape's file. */
static void copy_name(const sgi_shape *shape, char name[64])
{
    snprintf(name, 64, "%.40s%s", shape->name, ending_of(shape->file, shape->kind->endings));
}

static sg_status read_sum(sgi_domain_reading *r, const sgi_yaml *node, uint64_t *sum)
{
    char rest;
    if (node->kind == SG_YAML_SCALAR && node->length == 16 &&
        strspn(node->text, "0123456789abcdef") == 16 &&
        sscanf(node->text, "%16" SCNx64 "%c", sum, &rest) == 1)
        return SG_OK;
    return sgi_domain_refuse(r, node, "it may be left out",
                             "a sum has 16 digits of 0 to 9 and a to f");
}

/* The copy beside the problem file, if there is one with this sum. */
static bool read_copy(sgi_domain_reading *r, sgi_shape *shape, uint64_t sum, char **data,
                      size_t *size)
{
    char name[64];
    copy_name(shape, name);
    const char *path = sgi_document_join(r->reader->arena, r->reader->file_folder, name);
    const sg_allocator *allocator = &r->reader->arena->allocator;
    if (!path || sgi_file_read(path, MOST_BYTES, allocator, data, size, NULL) != SG_OK)
        return false;
    if (sgi_hash(SG_HASH_START, *data, *size) == sum) {
        shape->place = path;
        return true;
    }
    sgi_release(allocator, *data);
    *data = NULL;
    return false;
}

static sg_status read_data(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *node,
                           const sgi_yaml *sum_node, char **data, size_t *size)
{
    const sg_allocator *allocator = &r->reader->arena->allocator;
    sg_diagnostic said = {0};
    uint64_t sum = 0;
    sg_status status = sum_node ? read_sum(r, sum_node, &sum) : SG_OK;
    if (status != SG_OK)
        return status;
    shape->place = shape->file;
    if (!sum_node || !read_copy(r, shape, sum, data, size)) {
        status = sgi_file_read(shape->file, MOST_BYTES, allocator, data, size, &said);
        if (status == SG_ERROR_MEMORY)
            return status;
        if (status != SG_OK)
            return sgi_domain_refuse(r, node, NULL, "%.200s: %s", node->text, said.message);
    }
    shape->sum = sgi_hash(SG_HASH_START, *data, *size);
    if (sum_node && shape->sum != sum)
        return sgi_domain_refuse(
            r, node, "bring the old file back, or remove 'sum' to take the new one",
            "%.200s has changed since this was written: its sum is %016" PRIx64, node->text,
            shape->sum);
    return SG_OK;
}

sg_status sgi_domain_read_file(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *node,
                               const sgi_yaml *sum)
{
    sgi_reader *reader = r->reader;
    char *data = NULL;
    size_t size = 0;
    sg_diagnostic said = {0};
    sg_status status = SG_OK;
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_domain_refuse(r, node, NULL, "this must be the name of a file");
    if (!reader->file)
        status = sgi_document_folders(reader, r->file);
    if (status == SG_OK)
        status = sgi_document_path(reader, "a shape", node, &shape->file);
    if (status != SG_OK)
        return status;
    if (!ending_of(shape->file, shape->kind->endings)[0])
        return sgi_domain_refuse(r, node, NULL, "a %s is read from a file that ends in %s",
                                 shape->kind->name, shape->kind->endings);
    status = read_data(r, shape, node, sum, &data, &size);
    if (status == SG_OK) {
        status = shape->kind->read(shape, reader->arena, data, size, node->text, &said);
        if (status == SG_ERROR_FORMAT && said.line)
            status = sgi_domain_refuse(r, node, said.suggestion, "%.120s, line %d: %s", node->text,
                                       said.line, said.message);
        else if (status == SG_ERROR_FORMAT)
            status =
                sgi_domain_refuse(r, node, said.suggestion, "%.120s: %s", node->text, said.message);
    }
    sgi_release(&reader->arena->allocator, data);
    return status;
}

static const sgi_shape *shape_of(const sgi_region *region)
{
    const sgi_shape *shape = region->count == 1 ? region->steps[0].shape : NULL;
    return shape && shape->file && shape->name == region->name ? shape : NULL;
}

const sgi_shape *sgi_domain_file(const sgi_domain *domain, int index)
{
    for (int i = 0; i < domain->region_count; i++) {
        const sgi_shape *shape = shape_of(domain->regions[i]);
        if (shape && index-- == 0)
            return shape;
    }
    return NULL;
}

static sg_status copy_file(const sgi_shape *shape, const char *folder,
                           const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    char name[64], *data = NULL;
    size_t size = 0;
    copy_name(shape, name);
    char *path = sgi_path_join(allocator, folder, name);
    if (!path)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, folder, "out of memory");
    sg_status status = SG_OK;
    if (strcmp(path, shape->place) != 0) {
        status = sgi_file_read(shape->place, MOST_BYTES, allocator, &data, &size, diagnostic);
        if (status == SG_OK && sgi_hash(SG_HASH_START, data, size) != shape->sum)
            status =
                sgi_fail_file(diagnostic, SG_ERROR_IO, shape->place, "changed while it was in use");
        if (status == SG_OK)
            status = sgi_file_write(path, data, size, allocator, diagnostic);
    }
    sgi_release(allocator, data);
    sgi_release(allocator, path);
    return status;
}

sg_status sgi_domain_copy_files(const sgi_domain *domain, const char *folder,
                                const sg_allocator *given, sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sg_status status = SG_OK;
    const sgi_shape *shape;
    for (int i = 0; status == SG_OK && (shape = sgi_domain_file(domain, i)) != NULL; i++)
        status = copy_file(shape, folder, &allocator, diagnostic);
    return status;
}
