/* Memory for the library's own use: every allocation goes through a caller's allocator or the heap,
 * is aligned for vectors, checks its size for overflow, and starts as zeros. */
#ifndef SG_BASE_MEMORY_H
#define SG_BASE_MEMORY_H

#include <stddef.h>

#include "stablegrad/memory.h"

/* One cache line, and the widest vector there is. */
#define SG_ALIGNMENT 64

/* A usable copy of `allocator`; the heap when it is NULL. */
sg_allocator sgi_allocator_or_heap(const sg_allocator *allocator);

/* `count` zeroed elements of `size` bytes, aligned to SG_ALIGNMENT; NULL when memory runs out or
 * the product overflows. A count of zero gives a pointer to no elements, to be released as usual.
 */
void *sgi_allocate(const sg_allocator *allocator, size_t count, size_t size);

/* NULL is allowed. */
void sgi_release(const sg_allocator *allocator, void *memory);

/* A copy of `text`; NULL when memory runs out. */
char *sgi_copy_text(const sg_allocator *allocator, const char *text);

#endif
