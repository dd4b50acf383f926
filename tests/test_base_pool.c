/* The thread pool: every unit once, whatever the number of threads. */
#include <stdatomic.h>

#include "support/support.h"

enum { UNITS = 1000 };

typedef struct tally {
    atomic_int seen[UNITS];
    int threads;
    atomic_int bad_worker;
} tally;

static void count_unit(void *context, size_t unit, int worker)
{
    tally *t = context;
    atomic_fetch_add(&t->seen[unit], 1);
    if (worker < 0 || worker >= t->threads)
        atomic_store(&t->bad_worker, 1);
}

static void every_unit_runs_once(void **state)
{
    (void)state;
    static tally t;
    for (int threads = 1; threads <= 7; threads += 2) {
        sg_pool *pool;
        assert_ok(sg_pool_create(&pool, threads, NULL));
        assert_int_equal(sg_pool_threads(pool), threads);
        for (size_t units = 0; units <= UNITS; units += 250) {
            t = (tally){.threads = threads};
            sg_pool_run(pool, units, count_unit, &t);
            for (size_t u = 0; u < UNITS; u++)
                assert_int_equal(atomic_load(&t.seen[u]), u < units ? 1 : 0);
        }
        assert_int_equal(atomic_load(&t.bad_worker), 0);
        sg_pool_destroy(pool);
    }
}

static void many_short_jobs_in_a_row(void **state)
{
    (void)state;
    static tally t;
    t = (tally){.threads = 3};
    sg_pool *pool;
    assert_ok(sg_pool_create(&pool, 3, NULL));
    for (int job = 0; job < 3000; job++)
        sg_pool_run(pool, 4, count_unit, &t);
    for (size_t u = 0; u < 4; u++)
        assert_int_equal(atomic_load(&t.seen[u]), 3000);
    sg_pool_destroy(pool);
}

static void no_pool_means_the_calling_thread(void **state)
{
    (void)state;
    static tally t;
    t = (tally){.threads = 1};
    sg_pool_run(NULL, 5, count_unit, &t);
    assert_int_equal(atomic_load(&t.seen[4]), 1);
    assert_int_equal(atomic_load(&t.bad_worker), 0);
    assert_int_equal(sg_pool_threads(NULL), 1);
    sg_pool_destroy(NULL);
}

static void threads_follow_the_machine_when_asked(void **state)
{
    (void)state;
    sg_pool *pool;
    assert_ok(sg_pool_create(&pool, 0, NULL));
    assert_true(sg_pool_threads(pool) >= 1);
    sg_pool_destroy(pool);
    assert_status(sg_pool_create(&pool, -1, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_pool_create(&pool, 1 << 20, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_pool_create(NULL, 1, NULL), SG_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_runs_once),
        cmocka_unit_test(many_short_jobs_in_a_row),
        cmocka_unit_test(no_pool_means_the_calling_thread),
        cmocka_unit_test(threads_follow_the_machine_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
