/* An arena: memory that is taken piece by piece and given back at once.
 *
 * A problem is made of many small objects with one lifetime. An arena hands them out of larger
 * chunks of the caller's allocator; destroying it releases everything. */
#ifndef SG_TEXT_ARENA_H
#define SG_TEXT_ARENA_H

#include <stddef.h>

#include "base/memory.h"

typedef struct sgi_arena {
    sg_allocator allocator;
    struct sgi_arena_chunk *chunks; /* newest first */
} sgi_arena;

/* An empty arena; `allocator` is copied. Nothing is allocated yet. */
void sgi_arena_init(sgi_arena *arena, const sg_allocator *allocator);

/* `count` zeroed elements of `size` bytes, aligned to 16; NULL when memory runs out. */
void *sgi_arena_allocate(sgi_arena *arena, size_t count, size_t size);

/* A zero-terminated copy of `length` bytes; NULL when memory runs out. */
char *sgi_arena_text(sgi_arena *arena, const char *text, size_t length);

/* A larger copy of an array that may be abandoned where it was: `count` elements move to a new
 * place with room for `capacity`. NULL when memory runs out. */
void *sgi_arena_grow(sgi_arena *arena, const void *array, size_t count, size_t capacity,
                     size_t size);

/* Releases everything. The arena may be used again. */
void sgi_arena_clear(sgi_arena *arena);

#endif
