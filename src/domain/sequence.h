/* Points of the unit cube that fill it more evenly than chance does. Point n of a sequence is a
 * pure function of how it was begun and of n, so any thread may make its own share.
 *
 *  - latin: a Latin hypercube (McKay, Beckman and Conover, 1979). Of `count` points, each lies in a
 *    stratum of its own along every axis, anywhere in it; points from `count` on are of the next
 *    hypercube.
 *  - sobol: Sobol's sequence (1967) with the direction numbers of Joe and Kuo ("Constructing Sobol
 *    sequences with better two-dimensional projections", 2008), each axis scrambled as Owen (1995)
 *    does it: every bit is flipped or not by a hash of the bits before it (Laine and Karras, 2011).
 *    The points of a block of 2^m stay a net.
 *  - halton: the radical inverses of n + 1 in the first primes (Halton, 1960), moved by a random
 *    shift around the unit circle (Cranley and Patterson, 1976).
 *  - grid: the middles of the cells of a regular grid, the last axis fastest; nothing is random. */
#ifndef SG_DOMAIN_SEQUENCE_H
#define SG_DOMAIN_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define SG_POINTS_LIST(X)                                                                          \
    X(SG_DRAW_UNIFORM, "uniform")                                                                  \
    X(SG_DRAW_LATIN, "latin")                                                                      \
    X(SG_DRAW_SOBOL, "sobol")                                                                      \
    X(SG_DRAW_HALTON, "halton")                                                                    \
    X(SG_DRAW_GRID, "grid")
typedef enum sgi_distribution { SG_POINTS_LIST(SG_LIST_ENUM) } sgi_distribution;

const char *sgi_distribution_name(sgi_distribution distribution);

/* Numbers of a point: two more than coordinates, with room to spare. */
enum { SG_MOST_NUMBERS = 24 };

/* The direction numbers: bit b of an index turns the bits directions[axis][b]. */
typedef struct sgi_sobol {
    uint32_t directions[SG_MOST_NUMBERS][32];
} sgi_sobol;

void sgi_sobol_make(sgi_sobol *sobol);

typedef struct sgi_sequence {
    sgi_distribution kind;
    int width;      /* numbers of a point */
    uint64_t count; /* points of a hypercube or of a grid */
    uint64_t seed, stream;
    uint32_t which;                  /* of the sequences of one stream */
    const sgi_sobol *sobol;          /* of SG_DRAW_SOBOL */
    uint64_t keys[SG_MOST_NUMBERS];  /* what is random along each axis */
    uint32_t sides[SG_MOST_NUMBERS]; /* of a grid; of no account elsewhere */
    uint64_t nodes;                  /* the product of the sides */
} sgi_sequence;

/* Begins a sequence. `sobol` must outlive it and may be NULL for the other kinds. A grid has the
 * sides of sgi_grid_sides; where these have more nodes than `count`, some are left out, evenly. */
void sgi_sequence_begin(sgi_sequence *sequence, sgi_distribution kind, int width, uint64_t count,
                        uint64_t seed, uint64_t stream, uint32_t which, const sgi_sobol *sobol);

/* Gives a grid other sides: `side` along every axis, and all of its nodes. */
void sgi_sequence_cubic(sgi_sequence *sequence, uint32_t side);

/* Point n: x (width), each in [0, 1). Sobol's points are those of the lower 32 bits of n. */
void sgi_sequence_at(const sgi_sequence *sequence, uint64_t n, double *x);

/* Sides whose product is `count` and of which none is longer than four times another, the longest
 * first; or, if there are none such, equal ones of at least as many nodes. Whether the product is
 * `count`. */
bool sgi_grid_sides(int width, uint64_t count, uint32_t *sides);

/* The count nearest to `count` that a grid can hold so. */
uint64_t sgi_grid_near(int width, uint64_t count);

#endif
