/* Memory for the library's own use: every allocation goes through a caller's allocator or the heap,
 * is aligned for vectors, checks its size for overflow, and starts as zeros. */
#ifndef SG_BASE_MEMORY_H
#define SG_BASE_MEMORY_H

#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

/* One cache line, and the widest vector there is. */
#define SG_ALIGNMENT 64

/* The next multiple at or above `value`. */
static inline size_t sgi_align_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* How many parts of at most `part` there are in `count`. */
static inline size_t sgi_parts(size_t count, size_t part)
{
    return (count + part - 1) / part;
}

/* A usable copy of `allocator`; the heap when it is NULL. */
sg_allocator sgi_allocator_or_heap(const sg_allocator *allocator);

/* `count` zeroed elements of `size` bytes, aligned to SG_ALIGNMENT; NULL when memory runs out or
 * the product overflows. A count of zero gives a pointer to no elements, to be released as usual.
 */
void *sgi_allocate(const sg_allocator *allocator, size_t count, size_t size);

/* A zeroed object of a type that has a member `allocator`, which is set to `given` or the heap:
 * what such an object needs later comes from there, and it is released last, by its own. NULL when
 * memory runs out. */
#define SGI_NEW(type, given) ((type *)sgi_new(given, sizeof(type), offsetof(type, allocator)))
void *sgi_new(const sg_allocator *given, size_t size, size_t offset);

/* `array`, of `count` elements, moved to room for `larger` of them; the rest is zeros. NULL, and
 * `array` as it was, when memory runs out or the product overflows. */
void *sgi_enlarge(const sg_allocator *allocator, void *array, size_t count, size_t larger,
                  size_t size);

/* Makes room for one more element in an array of `count`: a full one is moved to twice the room,
 * to `least` at first. `array` points to the pointer to it. A failed call changes nothing. */
SG_CHECKED sg_status sgi_grow_array(const sg_allocator *allocator, void *array, size_t count,
                                    size_t *capacity, size_t least, size_t size);

/* NULL is allowed. The allocator may lie in the memory. */
void sgi_release(const sg_allocator *allocator, void *memory);

/* SG_ERROR_MEMORY with "WHAT needs 84 GB; this machine has 24 GB" when that much memory cannot be
 * there; asked before anything large is allocated. */
SG_CHECKED sg_status sgi_memory_fits(double bytes, const char *what, sg_diagnostic *diagnostic);

/* A copy of `text`; NULL when memory runs out. */
char *sgi_copy_text(const sg_allocator *allocator, const char *text);

#endif
