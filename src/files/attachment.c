/* The copy that a run keeps: see attachment.h. */
#include "files/attachment.h"

#include <string.h>

#include "base/diagnostic.h"
#include "base/hash.h"
#include "base/memory.h"
#include "files/file.h"

sg_status sgi_attachment_copy(const sgi_attachment *a, const char *folder,
                              const sg_allocator *given, sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    char *data = NULL;
    size_t size = 0;
    char *path = sgi_path_join(&allocator, folder, a->copy);
    if (!path)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, folder, "out of memory");
    sg_status status = SG_OK;
    if (strcmp(path, a->place) != 0) {
        status = sgi_file_read(a->place, SG_ATTACHMENT_BYTES, &allocator, &data, &size, diagnostic);
        if (status == SG_OK && sgi_hash(SG_HASH_START, data, size) != a->sum)
            status =
                sgi_fail_file(diagnostic, SG_ERROR_IO, a->place, "changed while it was in use");
        if (status == SG_OK)
            status = sgi_file_write(path, data, size, &allocator, diagnostic);
    }
    sgi_release(&allocator, data);
    sgi_release(&allocator, path);
    return status;
}
