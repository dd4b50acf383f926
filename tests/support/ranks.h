/* Ranks for tests: threads that add up what each brings, through one barrier. */
#ifndef SG_TESTS_RANKS_H
#define SG_TESTS_RANKS_H

#include <pthread.h>
#include <stddef.h>

#include "stablegrad/ranks.h"

enum { MOST_RANKS = 3 };

typedef struct world {
    int ranks;
    pthread_barrier_t barrier; /* of so many */
    void *parts[MOST_RANKS];
} world;

/* Every rank calls it with its own values, and each has the sums afterwards, the same bits. */
void add_up(world *w, int rank, double *values, size_t count);

/* What one rank does. No assertions: those of cmocka are for its own thread alone. */
typedef void rank_work(const sg_ranks *ranks, void *context);

/* Does the work on `count` threads at once, rank r with the context at `contexts` + r * size. Sum
 * number `fail_at` fails on every rank; -1: none does. Returns how many sums rank 0 asked for. */
int on_ranks(int count, int fail_at, rank_work *work, void *contexts, size_t size);

#endif
