/* Where each buffer lies in the arena: two buffers may share memory when no step needs both.
 *
 * The largest buffer is placed first, and each at the lowest place that no buffer alive at the same
 * time occupies. That is simple, and on the networks here within a few per cent of the largest sum
 * of live buffers, which is the least that any placement needs. */
#include <stdlib.h>

#include "graph/internal.h"

typedef struct placed {
    size_t begin, end;
    int buffer;
} placed;

static bool is_used(const sgi_buffer *b)
{
    return b->last >= b->first && b->bytes > 0;
}

static bool overlap_in_time(const sgi_buffer *a, const sgi_buffer *b)
{
    if (a->pinned || b->pinned)
        return true;
    return a->first <= b->last && b->first <= a->last;
}

static int by_size(const void *a, const void *b, void *context)
{
    const sgi_buffer *buffers = context;
    const sgi_buffer *x = &buffers[*(const int *)a], *y = &buffers[*(const int *)b];
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_begin(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The lowest gap of `bytes` between `others`, which it sorts. */
static size_t lowest_gap(placed *others, int count, size_t bytes)
{
    size_t free_from = 0;
    qsort(others, (size_t)count, sizeof *others, by_begin);
    for (int i = 0; i < count; i++) {
        if (others[i].begin >= free_from + bytes)
            return free_from;
        if (others[i].end > free_from)
            free_from = others[i].end;
    }
    return free_from;
}

static void place_all(sg_net *graph, const int *order, int count, placed *others)
{
    for (int i = 0; i < count; i++) {
        sgi_buffer *b = &graph->buffers[order[i]];
        int found = 0;
        for (int j = 0; j < i; j++) {
            const sgi_buffer *other = &graph->buffers[order[j]];
            if (overlap_in_time(b, other))
                others[found++] = (placed){other->offset, other->offset + other->bytes, order[j]};
        }
        b->offset = lowest_gap(others, found, b->bytes);
        if (b->offset + b->bytes > graph->arena_bytes)
            graph->arena_bytes = b->offset + b->bytes;
        graph->unplanned_bytes += b->bytes;
    }
}

sg_status sgi_plan(sg_net *graph)
{
    int count = 0;
    int *order = sgi_allocate(&graph->allocator, (size_t)graph->buffer_count, sizeof *order);
    placed *others = sgi_allocate(&graph->allocator, (size_t)graph->buffer_count, sizeof *others);
    if (order && others) {
        for (int i = 0; i < graph->buffer_count; i++)
            if (is_used(&graph->buffers[i]))
                order[count++] = i;
        qsort_r(order, (size_t)count, sizeof *order, by_size, graph->buffers);
        place_all(graph, order, count, others);
    }
    bool done = order && others;
    sgi_release(&graph->allocator, order);
    sgi_release(&graph->allocator, others);
    return done ? SG_OK : sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
}
