/* A tree of boxes over many small things, as the triangles of a surface or the edges of a polygon:
 * finds the nearest one, or those in a box, without looking at the others.
 *
 * A node's box holds all its things. Things are divided at the median of their middles along the
 * longest side, down to leaves of a few; so the tree is balanced, and its depth that of the
 * logarithm of their number. */
#ifndef SG_DOMAIN_TREE_H
#define SG_DOMAIN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/status.h"
#include "text/arena.h"

enum { SG_TREE_AXES = 3 };

typedef struct sgi_tree_node {
    double lower[SG_TREE_AXES], upper[SG_TREE_AXES];
    uint32_t first; /* of a leaf: into `items`; else its two children are first and first + 1 */
    uint32_t count; /* of things in a leaf; 0: no leaf */
} sgi_tree_node;

typedef struct sgi_tree {
    int axes;
    sgi_tree_node *nodes; /* the root first */
    uint32_t *items;      /* (things) */
} sgi_tree;

/* The box of each of `count` things, at least 1: `boxes` (count, 2, axes), lower then upper. All
 * memory is the arena's. */
SG_CHECKED sg_status sgi_tree_build(sgi_tree *tree, sgi_arena *arena, int axes, size_t count,
                                    const double *boxes);

/* Asks about thing `item`: lowers *square to its squared distance where that is less. */
typedef void sgi_tree_ask(void *query, size_t item, double *square);

/* Asks about every thing that may be nearer to x than the square root of `square`, the likely
 * nearest first. Returns the lowest square. */
double sgi_tree_nearest(const sgi_tree *tree, const double *x, double square, sgi_tree_ask *ask,
                        void *query);

/* Shows every thing whose box meets [lower, upper], until one is answered with true. */
typedef bool sgi_tree_show(void *query, size_t item);
bool sgi_tree_meets(const sgi_tree *tree, const double *lower, const double *upper,
                    sgi_tree_show *show, void *query);

#endif
