/* Choosing points by their residual, against the formulas. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "pinn/selection.h"
#include "support/support.h"

enum { COUNT = 5000, WANTED = 1000 };

static void test_weights_follow_the_formula(void **state)
{
    (void)state;
    const double residuals[] = {3, 4, 0, 0, -5, 12, NAN, 1, INFINITY, 0};
    double sizes[5], weights[5];
    sgi_select_sizes(residuals, 5, 2, sizes);
    const double expected[] = {5, 0, 13, 0, 0};
    for (int i = 0; i < 5; i++)
        assert_close(sizes[i], expected[i], 1e-14);
    sgi_select_weights(sizes, 5, 1, 1, weights);
    for (int i = 0; i < 5; i++)
        assert_close(weights[i], expected[i] / (18.0 / 5) + 1, 1e-14);
    sgi_select_weights(sizes, 5, 2, 0.5, weights);
    for (int i = 0; i < 5; i++)
        assert_close(weights[i], expected[i] * expected[i] / (194.0 / 5) + 0.5, 1e-14);
    /* Sizes whose squares overflow, and none at all. */
    double huge[] = {1e300, 3e300}, none[] = {0, 0, 0};
    sgi_select_weights(huge, 2, 2, 0, huge);
    assert_close(huge[0], 0.2, 1e-14);
    assert_close(huge[1], 1.8, 1e-14);
    sgi_select_weights(none, 3, 1, 0, none);
    for (int i = 0; i < 3; i++)
        assert_close(none[i], 1, 0);
}

/* Every item is taken the floor or the ceiling of its share, whatever the offset. */
static void test_shares_are_exact(void **state)
{
    (void)state;
    double *weights = calloc(COUNT, sizeof *weights);
    size_t *chosen = calloc(WANTED, sizeof *chosen);
    int *times = calloc(COUNT, sizeof *times);
    assert_true(weights && chosen && times);
    for (uint64_t seed = 0; seed < 20; seed++) {
        double total = 0;
        for (size_t i = 0; i < COUNT; i++) {
            double u = sgi_random_uniform(seed, 1, i);
            weights[i] = u < 0.3 ? 0 : u > 0.999 ? 100 : u;
            total += weights[i];
            times[i] = 0;
        }
        sgi_select(weights, COUNT, sgi_random_uniform(seed, 2, 0), chosen, WANTED);
        for (size_t j = 0; j < WANTED; j++) {
            assert_true(chosen[j] < COUNT && (j == 0 || chosen[j] >= chosen[j - 1]));
            times[chosen[j]]++;
        }
        for (size_t i = 0; i < COUNT; i++) {
            double share = WANTED * weights[i] / total;
            assert_true(times[i] >= (int)floor(share - 1e-9));
            assert_true(times[i] <= (int)ceil(share + 1e-9));
        }
    }
    free(weights);
    free(chosen);
    free(times);
}

/* Points chosen by a known residual have its density: |sin 2 pi x| / mean + 1, in twenty bins. */
static void test_density_of_a_known_residual(void **state)
{
    (void)state;
    double *x = calloc(COUNT, sizeof *x), *weights = calloc(COUNT, sizeof *weights);
    size_t *chosen = calloc(WANTED, sizeof *chosen);
    double bins[20] = {0}, square = 0;
    assert_true(x && weights && chosen);
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = sgi_random_uniform(4, 0, i);
        weights[i] = fabs(sin(2 * M_PI * x[i]));
    }
    sgi_select_weights(weights, COUNT, 1, 1, weights);
    sgi_select(weights, COUNT, 0.37, chosen, WANTED);
    for (size_t j = 0; j < WANTED; j++)
        bins[(int)(20 * x[chosen[j]])]++;
    for (int b = 0; b < 20; b++) {
        /* The integral of |sin| over the bin; its mean over [0, 1] is 2 / pi. */
        double from = fmod(b / 20.0, 0.5), to = from + 0.05;
        double integral = (cos(2 * M_PI * from) - cos(2 * M_PI * to)) / (2 * M_PI);
        double expected = WANTED * (integral * M_PI / 2 + 0.05) / 2;
        square += (bins[b] - expected) * (bins[b] - expected) / expected;
    }
    /* 19 degrees of freedom: below 44 with probability 0.999 for independent points. */
    assert_true(square < 44);
    assert_true(bins[5] > 1.3 * bins[0]);
    free(x);
    free(weights);
    free(chosen);
}

static void test_the_last_item_needs_a_weight(void **state)
{
    (void)state;
    const double weights[] = {0, 0.1, 0.1, 0.1, 0, 0};
    size_t chosen[4];
    for (int i = 0; i < 1000; i++) {
        sgi_select(weights, 6, i == 999 ? nextafter(1, 0) : i / 1000.0, chosen, 4);
        for (int j = 0; j < 4; j++)
            assert_true(chosen[j] >= 1 && chosen[j] <= 3);
    }
}

/* Large weights are chosen for certain, and once; the others share what is left in proportion. */
static void test_no_item_twice(void **state)
{
    (void)state;
    enum { ITEMS = 500, CHOSEN = 100 };
    double weights[ITEMS], before[ITEMS], sum = 0, ratio = 0;
    size_t chosen[CHOSEN];
    int certain = 0;
    for (uint64_t i = 0; i < ITEMS; i++)
        before[i] = weights[i] = 1 + (i % 25 == 0 ? 1000 * sgi_random_uniform(6, 0, i) : 0) +
                                 sgi_random_uniform(6, 1, i);
    sgi_select_once(weights, ITEMS, CHOSEN);
    for (size_t i = 0; i < ITEMS; i++) {
        sum += weights[i];
        assert_true(weights[i] > 0 && weights[i] <= 1);
        certain += weights[i] == 1;
        if (weights[i] == 1)
            continue;
        ratio = ratio == 0 ? weights[i] / before[i] : ratio;
        assert_relative(weights[i] / before[i], ratio, 1e-12);
    }
    assert_int_equal(certain, ITEMS / 25);
    assert_relative(sum, CHOSEN, 1e-12);
    sgi_select(weights, ITEMS, 0.37, chosen, CHOSEN);
    for (size_t j = 1; j < CHOSEN; j++)
        assert_true(chosen[j] > chosen[j - 1]);
    double all[] = {1, 1e9, 3}, few[] = {1e9, 1e6, 1, 1};
    sgi_select_once(all, 3, 3);
    for (int i = 0; i < 3; i++)
        assert_true(all[i] == 1);
    sgi_select_once(few, 4, 2); /* 1e6 is below the first limit, and above the second */
    assert_true(few[0] == 1);
    assert_relative(few[1], 1e6 / (1e6 + 2), 1e-12);
}

static void test_above_the_mean(void **state)
{
    (void)state;
    const double sizes[] = {1, 5, 2, 4, 3}, same[] = {2, 2, 2};
    size_t chosen[5];
    assert_int_equal(sgi_select_above_mean(sizes, 5, chosen), 2);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 3);
    assert_int_equal(sgi_select_above_mean(same, 3, chosen), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_follow_the_formula),
        cmocka_unit_test(test_shares_are_exact),
        cmocka_unit_test(test_density_of_a_known_residual),
        cmocka_unit_test(test_the_last_item_needs_a_weight),
        cmocka_unit_test(test_no_item_twice),
        cmocka_unit_test(test_above_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
