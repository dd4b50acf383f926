/* Shapes from files, as  part: {surface: {file: part.stl}}. See domain.h and config/attach.h. */
#include <stdio.h>
#include <string.h>

#include "config/attach.h"
#include "problem/domain_reading.h"

sg_status sgi_domain_read_file(sgi_domain_reading *r, sgi_shape *shape, const sgi_yaml *node,
                               const sgi_yaml *sum)
{
    sgi_reader *reader = r->reader;
    char *data, what[64];
    size_t size;
    sg_diagnostic said = {0};
    snprintf(what, sizeof what, "a %s", shape->kind->name);
    sgi_attach wanted = {what, shape->name, shape->kind->endings, node, sum};
    sg_status status = sgi_attach_read(&wanted, reader, r->file, &shape->file, &data, &size);
    if (status == SG_OK) {
        status = shape->kind->read(shape, reader->arena, data, size, node->text, &said);
        if (status == SG_ERROR_FORMAT)
            status = sgi_attach_refuse(&wanted, reader, &said);
    }
    sgi_release(&reader->arena->allocator, data);
    return status;
}

static const sgi_shape *shape_of(const sgi_region *region)
{
    const sgi_shape *shape = region->count == 1 ? region->steps[0].shape : NULL;
    return shape && shape->file.file && shape->name == region->name ? shape : NULL;
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

sg_status sgi_domain_copy_files(const sgi_domain *domain, const char *folder,
                                const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    sg_status status = SG_OK;
    const sgi_shape *shape;
    for (int i = 0; status == SG_OK && (shape = sgi_domain_file(domain, i)) != NULL; i++)
        status = sgi_attachment_copy(&shape->file, folder, allocator, diagnostic);
    return status;
}
