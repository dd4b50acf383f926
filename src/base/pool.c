/* The thread pool: units are handed out by one atomic counter, the calling thread works too.
 *
 * A job is announced by raising `generation`. Idle workers look at it for a short while before
 * they sleep, because a training loop starts the next job within microseconds of the last. */
#include "stablegrad/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/ranks.h"

/* How often a worker looks at `generation` before it sleeps: some tens of microseconds. */
enum { SPINS = 4000, MOST_THREADS = 1024 };

typedef struct worker {
    struct sg_pool *pool;
    pthread_t thread;
    int index;
} worker;

struct sg_pool {
    sg_allocator allocator;
    pthread_mutex_t mutex;
    pthread_cond_t job_posted;
    pthread_cond_t job_done;
    atomic_uint generation;
    atomic_int busy; /* workers that have not finished the current job */
    bool stop;
    sg_unit_function *function;
    void *context;
    size_t units;
    atomic_size_t next;
    int threads;     /* with the caller's */
    int started;     /* workers whose thread runs */
    worker *workers; /* threads - 1 of them */
    const sg_ranks *ranks;
    bool broken; /* a sum over them failed */
};

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void work(sg_pool *pool, int index)
{
    for (;;) {
        size_t unit = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (unit >= pool->units)
            return;
        pool->function(pool->context, unit, index);
    }
}

/* Waits for a generation other than `seen`. */
static unsigned await_job(sg_pool *pool, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool->generation, memory_order_acquire) != seen)
            break;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == seen)
        pthread_cond_wait(&pool->job_posted, &pool->mutex);
    unsigned now = atomic_load(&pool->generation);
    pthread_mutex_unlock(&pool->mutex);
    return now;
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    sg_pool *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        seen = await_job(pool, seen);
        if (pool->stop)
            return NULL;
        work(pool, self->index);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->job_done);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

static int processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return 1;
}

static void post_job(sg_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->busy, pool->started);
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
    pthread_cond_broadcast(&pool->job_posted);
    pthread_mutex_unlock(&pool->mutex);
}

sg_status sg_pool_create(sg_pool **out, int threads, const sg_allocator *given)
{
    if (!out || threads < 0 || threads > MOST_THREADS)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    sg_pool *pool = SGI_NEW(sg_pool, given);
    if (!pool)
        return SG_ERROR_MEMORY;
    pool->threads = threads ? threads : processors();
    pool->workers =
        sgi_allocate(&pool->allocator, (size_t)pool->threads - 1, sizeof *pool->workers);
    if (!pool->workers) {
        sgi_release(&pool->allocator, pool);
        return SG_ERROR_MEMORY;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->job_posted, NULL);
    pthread_cond_init(&pool->job_done, NULL);
    for (int i = 0; i < pool->threads - 1; i++) {
        worker *w = &pool->workers[i];
        w->pool = pool;
        w->index = i + 1;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            sg_pool_destroy(pool);
            return SG_ERROR_THREAD;
        }
        pool->started++;
    }
    *out = pool;
    return SG_OK;
}

void sg_pool_destroy(sg_pool *pool)
{
    if (!pool)
        return;
    pool->stop = true;
    post_job(pool);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->job_done);
    pthread_cond_destroy(&pool->job_posted);
    pthread_mutex_destroy(&pool->mutex);
    sgi_release(&pool->allocator, pool->workers);
    sgi_release(&pool->allocator, pool);
}

int sg_pool_threads(const sg_pool *pool)
{
    return pool ? pool->threads : 1;
}

static void await_workers(sg_pool *pool)
{
    for (int i = 0; i < SPINS && atomic_load(&pool->busy) > 0; i++)
        pause_briefly();
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy) > 0)
        pthread_cond_wait(&pool->job_done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void sg_pool_run(sg_pool *pool, size_t units, sg_unit_function *function, void *context)
{
    if (!function)
        return;
    if (!pool || pool->threads == 1 || units < 2) {
        for (size_t unit = 0; unit < units; unit++)
            function(context, unit, 0);
        return;
    }
    pool->function = function;
    pool->context = context;
    pool->units = units;
    atomic_store(&pool->next, 0);
    post_job(pool);
    work(pool, 0);
    await_workers(pool);
}

/* ---- Ranks -------------------------------------------------------------------------------- */

sg_status sg_pool_set_ranks(sg_pool *pool, const sg_ranks *ranks)
{
    if (!pool || (ranks && (ranks->count < 1 || ranks->rank < 0 || ranks->rank >= ranks->count ||
                            (ranks->count > 1 && !ranks->sum))))
        return SG_ERROR_ARGUMENT;
    pool->ranks = ranks;
    pool->broken = false;
    return SG_OK;
}

const sg_ranks *sg_pool_ranks(const sg_pool *pool)
{
    return pool ? pool->ranks : NULL;
}

bool sg_pool_broken(const sg_pool *pool)
{
    return pool && pool->broken;
}

void sg_pool_sum(sg_pool *pool, void *values, sg_type type, size_t count)
{
    if (!pool || !pool->ranks || !values)
        return;
    sg_ranks used = *pool->ranks;
    if (pool->broken) /* another call would wait for ranks that are no longer there */
        used.sum = NULL;
    if (!sgi_ranks_sum(&used, values, type, count))
        pool->broken = true;
}
