/* Where the library gets its memory. */
#ifndef STABLEGRAD_MEMORY_H
#define STABLEGRAD_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* An allocator of the caller's own. Wherever one is accepted, NULL means the C library's heap.
 * The struct is copied; `context` must outlive every handle that is made with it. Handles allocate
 * when they are created and release when they are destroyed; a training step allocates nothing. */
typedef struct sg_allocator {
    /* Returns `size` bytes (never 0) aligned to `alignment` (a power of two), or NULL. */
    void *(*allocate)(void *context, size_t alignment, size_t size);
    /* Releases what `allocate` returned; `memory` is never NULL. */
    void (*release)(void *context, void *memory);
    void *context;
} sg_allocator;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
