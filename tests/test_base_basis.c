/* A basis: what depends on what, with coefficients, whatever the scales of the columns. */
#include <math.h>
#include <stdlib.h>

#include "base/basis.h"
#include "base/memory.h"
#include "base/random.h"
#include "support/support.h"

enum { COLUMNS = 7, MOST = 5 };

static void test_small(void **state)
{
    (void)state;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sgi_basis basis;
    double c[2];
    assert_ok(sgi_basis_create(&basis, 3, 2, &heap));
    assert_true(sgi_basis_add(&basis, (double[]){1, 1, 1e-9}, c));
    assert_false(sgi_basis_add(&basis, (double[]){-2, -2, -2e-9}, c));
    assert_close(c[0], -2, 1e-15);
    assert_true(sgi_basis_express(&basis, (double[]){0, 0, 0}, c));
    /* A small column is no rounding error. */
    assert_true(sgi_basis_add(&basis, (double[]){1, 1, 2e-9}, c));
    assert_true(sgi_basis_express(&basis, (double[]){5, 5, 7e-9}, c));
    assert_close(c[0], 3, 1e-12);
    assert_close(c[1], 2, 1e-12);
    assert_false(sgi_basis_express(&basis, (double[]){5, 4, 7e-9}, c));
    assert_int_equal(basis.count, 2);
    sgi_basis_release(&basis, &heap);
}

/* Random members, and random sums of them. */
static void test_sums(void **state)
{
    (void)state;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    for (uint64_t seed = 0; seed < 50; seed++) {
        sgi_basis basis;
        double members[MOST][COLUMNS], c[MOST], weights[MOST], sum[COLUMNS] = {0};
        assert_ok(sgi_basis_create(&basis, COLUMNS, MOST, &heap));
        for (size_t i = 0; i < MOST; i++) {
            for (size_t k = 0; k < COLUMNS; k++)
                members[i][k] = sgi_random_normal(seed, i, k) * pow(10, (double)k - 3);
            assert_true(sgi_basis_add(&basis, members[i], c));
            weights[i] = sgi_random_normal(seed, 99, i);
            for (size_t k = 0; k < COLUMNS; k++)
                sum[k] += weights[i] * members[i][k];
        }
        assert_true(sgi_basis_express(&basis, sum, c));
        for (size_t i = 0; i < MOST; i++)
            assert_close(c[i], weights[i], 1e-8); /* some are nearly dependent */
        sum[seed % COLUMNS] *= 1.001;
        assert_false(sgi_basis_express(&basis, sum, c));
        sgi_basis_release(&basis, &heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
