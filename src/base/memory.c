/* Memory: see memory.h. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostic.h"

static void *heap_allocate(void *context, size_t alignment, size_t size)
{
    (void)context;
    void *memory = NULL;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void heap_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

sg_allocator sgi_allocator_or_heap(const sg_allocator *allocator)
{
    if (allocator)
        return *allocator;
    return (sg_allocator){heap_allocate, heap_release, NULL};
}

void *sgi_allocate(const sg_allocator *allocator, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - SG_ALIGNMENT) / size)
        return NULL;
    size_t bytes = count * size;
    bytes = sgi_align_up(bytes, SG_ALIGNMENT);
    if (bytes == 0)
        bytes = SG_ALIGNMENT;
    void *memory = allocator->allocate(allocator->context, SG_ALIGNMENT, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *sgi_new(const sg_allocator *given, size_t size, size_t offset)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    char *object = sgi_allocate(&allocator, 1, size);
    if (object)
        memcpy(object + offset, &allocator, sizeof allocator);
    return object;
}

void *sgi_enlarge(const sg_allocator *allocator, void *array, size_t count, size_t larger,
                  size_t size)
{
    void *moved = sgi_allocate(allocator, larger, size);
    if (!moved)
        return NULL;
    if (count)
        memcpy(moved, array, count * size);
    sgi_release(allocator, array);
    return moved;
}

sg_status sgi_grow_array(const sg_allocator *allocator, void *array, size_t count, size_t *capacity,
                         size_t least, size_t size)
{
    void *old, *moved;
    if (count < *capacity)
        return SG_OK;
    if (*capacity > SIZE_MAX / 2)
        return SG_ERROR_MEMORY;
    size_t larger = *capacity ? 2 * *capacity : least;
    memcpy(&old, array, sizeof old); /* whatever the pointer's type is */
    moved = sgi_enlarge(allocator, old, count, larger, size);
    if (!moved)
        return SG_ERROR_MEMORY;
    memcpy(array, &moved, sizeof moved);
    *capacity = larger;
    return SG_OK;
}

void sgi_release(const sg_allocator *allocator, void *memory)
{
    if (memory)
        allocator->release(allocator->context, memory);
}

sg_status sgi_memory_fits(double bytes, const char *what, sg_diagnostic *diagnostic)
{
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (!(machine > 0) || bytes <= machine)
        return SG_OK;
    return sgi_fail(diagnostic, SG_ERROR_MEMORY, "%s needs %.3g GB; this machine has %.3g GB", what,
                    1e-9 * bytes, 1e-9 * machine);
}

char *sgi_copy_text(const sg_allocator *allocator, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = sgi_allocate(allocator, size, 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}
