/* Random numbers: the published test vectors of Philox4x32-10, and the distributions. */
#include "base/random.h"

#include <math.h>

#include "support/support.h"

static void published_vectors(void **state)
{
    (void)state;
    uint32_t bits[4];
    const uint32_t zeros[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    sgi_random_bits(0, 0, 0, bits);
    assert_memory_equal(bits, zeros, sizeof bits);
    const uint32_t ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    sgi_random_bits(UINT64_MAX, UINT64_MAX, UINT64_MAX, bits);
    assert_memory_equal(bits, ones, sizeof bits);
    /* The digits of pi: counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0. */
    const uint32_t pi[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    sgi_random_bits(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3243f6a88u, bits);
    assert_memory_equal(bits, pi, sizeof bits);
}

static void distributions_have_their_moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    double mean = 0, square = 0, normal = 0, normal2 = 0, normal4 = 0;
    for (uint64_t i = 0; i < N; i++) {
        double u = sgi_random_uniform(7, 3, i), z = sgi_random_normal(7, 4, i);
        assert_true(u >= 0 && u < 1);
        mean += u;
        square += u * u;
        normal += z;
        normal2 += z * z;
        normal4 += z * z * z * z;
    }
    /* Five standard errors each. */
    assert_close(mean / N, 0.5, 5 * sqrt(1.0 / 12 / N));
    assert_close(square / N, 1.0 / 3, 5 * sqrt(4.0 / 45 / N));
    assert_close(normal / N, 0, 5 * sqrt(1.0 / N));
    assert_close(normal2 / N, 1, 5 * sqrt(2.0 / N));
    assert_relative(normal4 / N, 3, 5 * sqrt(96.0 / N) / 3);
}

static void indices_stay_below(void **state)
{
    (void)state;
    int seen[10] = {0};
    for (uint64_t i = 0; i < 10000; i++)
        seen[sgi_random_below(1, 2, i, 10)]++;
    for (int k = 0; k < 10; k++)
        assert_true(seen[k] > 850 && seen[k] < 1150);
    assert_int_equal(sgi_random_below(1, 2, 3, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(distributions_have_their_moments),
        cmocka_unit_test(indices_stay_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
