/* Ranks for tests: see ranks.h. */
#include "support/ranks.h"

#include <stdlib.h>
#include <string.h>

static void add_in_order(const world *w, void *values, sg_type type, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 0; k < w->ranks; k++)
            sum += type == SG_FLOAT32 ? (double)((const float *)w->parts[k])[i]
                                      : ((const double *)w->parts[k])[i];
        if (type == SG_FLOAT32)
            ((float *)values)[i] = (float)sum;
        else
            ((double *)values)[i] = sum;
    }
}

static void add_values(world *w, int rank, void *values, sg_type type, size_t count)
{
    size_t bytes = count * (type == SG_FLOAT32 ? sizeof(float) : sizeof(double));
    w->parts[rank] = malloc(bytes);
    if (!w->parts[rank])
        abort();
    memcpy(w->parts[rank], values, bytes);
    pthread_barrier_wait(&w->barrier);
    add_in_order(w, values, type, count);
    pthread_barrier_wait(&w->barrier);
    free(w->parts[rank]);
}

void add_up(world *w, int rank, double *values, size_t count)
{
    add_values(w, rank, values, SG_FLOAT64, count);
}

/* ---- Threads ------------------------------------------------------------------------------ */

typedef struct member {
    world *world;
    sg_ranks ranks;
    int calls, fail_at;
    rank_work *work;
    void *context;
} member;

static int member_sum(void *context, void *values, sg_type type, size_t count)
{
    member *m = context;
    if (m->calls++ == m->fail_at)
        return 1;
    add_values(m->world, m->ranks.rank, values, type, count);
    return 0;
}

static void *member_main(void *argument)
{
    member *m = argument;
    m->work(&m->ranks, m->context);
    return NULL;
}

int on_ranks(int count, int fail_at, rank_work *work, void *contexts, size_t size)
{
    world w = {.ranks = count};
    member members[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    if (count > MOST_RANKS)
        abort();
    pthread_barrier_init(&w.barrier, NULL, (unsigned)count);
    for (int k = 0; k < count; k++) {
        member *m = &members[k];
        *m = (member){&w, {k, count, member_sum, m}, 0, fail_at, work, NULL};
        m->context = (char *)contexts + (size_t)k * size;
        if (pthread_create(&threads[k], NULL, member_main, m) != 0)
            abort();
    }
    for (int k = 0; k < count; k++)
        pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&w.barrier);
    return members[0].calls;
}
