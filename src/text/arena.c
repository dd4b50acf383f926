/* The arena: see arena.h. */
#include "text/arena.h"

#include <stdint.h>
#include <string.h>

enum { CHUNK_BYTES = 16384, GRAIN = 16 };

typedef struct sgi_arena_chunk {
    struct sgi_arena_chunk *next;
    size_t used, size; /* bytes, of what follows the header */
} sgi_arena_chunk;

enum { HEADER = (sizeof(sgi_arena_chunk) + GRAIN - 1) / GRAIN * GRAIN };

void sgi_arena_init(sgi_arena *arena, const sg_allocator *allocator)
{
    arena->allocator = *allocator;
    arena->chunks = NULL;
}

void *sgi_arena_allocate(sgi_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = sgi_align_up(count * size, GRAIN);
    if (bytes == 0)
        bytes = GRAIN;
    sgi_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = sgi_allocate(&arena->allocator, 1, HEADER + room);
        if (!chunk)
            return NULL;
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *memory = (char *)chunk + HEADER + chunk->used;
    chunk->used += bytes;
    return memory;
}

char *sgi_arena_text(sgi_arena *arena, const char *text, size_t length)
{
    char *copy = sgi_arena_allocate(arena, length + 1, 1);
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

void *sgi_arena_grow(sgi_arena *arena, const void *array, size_t count, size_t capacity,
                     size_t size)
{
    void *larger = sgi_arena_allocate(arena, capacity, size);
    if (larger && count)
        memcpy(larger, array, count * size);
    return larger;
}

void sgi_arena_clear(sgi_arena *arena)
{
    while (arena->chunks) {
        sgi_arena_chunk *next = arena->chunks->next;
        sgi_release(&arena->allocator, arena->chunks);
        arena->chunks = next;
    }
}
