/* Ranks for tests: threads that add up what each brings, through one barrier. */
#ifndef SG_TESTS_RANKS_H
#define SG_TESTS_RANKS_H

#include <pthread.h>
#include <stddef.h>

enum { MOST_RANKS = 3, MOST_SUMS = 64 };

typedef struct world {
    int ranks;
    pthread_barrier_t barrier; /* of so many */
    double parts[MOST_RANKS][MOST_SUMS];
} world;

/* Every rank calls it with its own values, and each has the sums afterwards. */
void add_up(world *w, int rank, double *values, size_t count);

#endif
