/* A tree of boxes: see tree.h. */
#include "domain/tree.h"

#include <math.h>

enum { LEAF = 4, MOST_OPEN = 128 };

typedef struct builder {
    sgi_tree *tree;
    const double *boxes;
    uint32_t used; /* nodes */
} builder;

static double middle(const builder *b, uint32_t item, int axis)
{
    const double *box = b->boxes + 2 * (size_t)b->tree->axes * item;
    return box[axis] + box[b->tree->axes + axis];
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts the `half` lowest of the items first: Hoare's selection. */
static void select_half(const builder *b, uint32_t *items, size_t count, size_t half, int axis)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = middle(b, items[low + (high - low) / 2], axis);
        size_t i = low, j = high;
        for (;;) {
            while (middle(b, items[i], axis) < pivot)
                i++;
            while (middle(b, items[j], axis) > pivot)
                j--;
            if (i >= j)
                break;
            swap(&items[i++], &items[j--]);
        }
        /* All up to j are at most the pivot, all behind it at least. */
        if (half <= j)
            high = j;
        else
            low = j + 1;
    }
}

static int bound(const builder *b, sgi_tree_node *node, const uint32_t *items, size_t count)
{
    int axes = b->tree->axes, longest = 0;
    for (int k = 0; k < axes; k++) {
        node->lower[k] = INFINITY;
        node->upper[k] = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            const double *box = b->boxes + 2 * (size_t)axes * items[i];
            node->lower[k] = fmin(node->lower[k], box[k]);
            node->upper[k] = fmax(node->upper[k], box[axes + k]);
        }
        if (node->upper[k] - node->lower[k] > node->upper[longest] - node->lower[longest])
            longest = k;
    }
    return longest;
}

/* Depth is that of halving 2^32 things at most. */
static void build(builder *b, uint32_t index, uint32_t first, uint32_t count)
{
    sgi_tree_node *node = &b->tree->nodes[index];
    uint32_t *items = b->tree->items + first;
    int axis = bound(b, node, items, count);
    if (count <= LEAF) {
        node->first = first;
        node->count = count;
        return;
    }
    uint32_t half = count / 2;
    select_half(b, items, count, half, axis);
    node->first = b->used;
    b->used += 2;
    build(b, node->first, first, half);
    build(b, node->first + 1, first + half, count - half);
}

sg_status sgi_tree_build(sgi_tree *tree, sgi_arena *arena, int axes, size_t count,
                         const double *boxes)
{
    if (count == 0 || count > UINT32_MAX / 4)
        return SG_ERROR_ARGUMENT;
    tree->axes = axes;
    tree->nodes = sgi_arena_allocate(arena, 2 * count, sizeof *tree->nodes);
    tree->items = sgi_arena_allocate(arena, count, sizeof *tree->items);
    if (!tree->nodes || !tree->items)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        tree->items[i] = (uint32_t)i;
    builder b = {tree, boxes, 1};
    build(&b, 0, 0, (uint32_t)count);
    return SG_OK;
}

/* The squared distance to a node's box, 0 inside. */
static double box_square(const sgi_tree_node *node, int axes, const double *x)
{
    double square = 0;
    for (int k = 0; k < axes; k++) {
        double below = node->lower[k] - x[k], above = x[k] - node->upper[k];
        double out = below > above ? below : above;
        square += out > 0 ? out * out : 0;
    }
    return square;
}

double sgi_tree_nearest(const sgi_tree *tree, const double *x, double square, sgi_tree_ask *ask,
                        void *query)
{
    struct {
        uint32_t node;
        double square;
    } open[MOST_OPEN];
    int top = 0;
    open[top].node = 0;
    open[top++].square = box_square(&tree->nodes[0], tree->axes, x);
    while (top > 0) {
        const sgi_tree_node *node = &tree->nodes[open[--top].node];
        if (open[top].square > square)
            continue;
        for (uint32_t i = 0; i < node->count; i++)
            ask(query, tree->items[node->first + i], &square);
        if (node->count)
            continue;
        double first = box_square(&tree->nodes[node->first], tree->axes, x);
        double second = box_square(&tree->nodes[node->first + 1], tree->axes, x);
        uint32_t nearer = first <= second ? 0u : 1u; /* is looked at first, so it goes on top */
        open[top].node = node->first + 1 - nearer;
        open[top++].square = nearer ? first : second;
        open[top].node = node->first + nearer;
        open[top++].square = nearer ? second : first;
    }
    return square;
}

bool sgi_tree_meets(const sgi_tree *tree, const double *lower, const double *upper,
                    sgi_tree_show *show, void *query)
{
    uint32_t open[MOST_OPEN];
    int top = 0;
    open[top++] = 0;
    while (top > 0) {
        const sgi_tree_node *node = &tree->nodes[open[--top]];
        bool apart = false;
        for (int k = 0; k < tree->axes; k++)
            apart = apart || node->lower[k] > upper[k] || node->upper[k] < lower[k];
        if (apart)
            continue;
        for (uint32_t i = 0; i < node->count; i++)
            if (show(query, tree->items[node->first + i]))
                return true;
        if (node->count == 0) {
            open[top++] = node->first;
            open[top++] = node->first + 1;
        }
    }
    return false;
}
