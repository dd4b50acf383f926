/* A file that another file refers to: the surface of a shape, a reference solution, measured data.
 *
 * A run keeps a copy and the sum of the content, so that it goes on without the original and knows
 * when that has changed. */
#ifndef SG_FILES_ATTACHMENT_H
#define SG_FILES_ATTACHMENT_H

#include <stddef.h>
#include <stdint.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

enum { SG_ATTACHMENT_BYTES = 400 << 20 };

typedef struct sgi_attachment {
    const char *file;  /* the absolute path; NULL: none */
    const char *place; /* where it was read, which may be the copy */
    uint64_t sum;      /* a hash of its content */
    char copy[64];     /* the name of the copy */
} sgi_attachment;

/* Copies the file to `folder`; a copy that is there already stays. */
SG_CHECKED sg_status sgi_attachment_copy(const sgi_attachment *attachment, const char *folder,
                                         const sg_allocator *allocator, sg_diagnostic *diagnostic);

#endif
