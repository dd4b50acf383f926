/* Sequences in the unit cube: what is exact about each of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "domain/sequence.h"
#include "support/support.h"

static sgi_sequence begin(sgi_distribution kind, int width, uint64_t count, uint64_t seed,
                          uint32_t which)
{
    static sgi_sobol sobol;
    sgi_sequence sequence;
    sgi_sobol_make(&sobol);
    sgi_sequence_begin(&sequence, kind, width, count, seed, 77, which, &sobol);
    return sequence;
}

/* How many of points [first, first + count) lie in each of the boxes of 2^a x 2^b that axes i and j
 * are cut into: of a (0, m, 2)-net of 2^(a + b) points, one. */
static bool is_net(const sgi_sequence *s, int i, int j, uint64_t first, int a, int b)
{
    uint64_t count = (uint64_t)1 << (a + b);
    int *boxes = calloc(count, sizeof *boxes);
    bool net = true;
    assert_non_null(boxes);
    for (uint64_t n = 0; n < count; n++) {
        double x[SG_MOST_NUMBERS];
        sgi_sequence_at(s, first + n, x);
        boxes[(uint64_t)(ldexp(x[i], a)) << b | (uint64_t)(ldexp(x[j], b))]++;
    }
    for (uint64_t n = 0; n < count; n++)
        net = net && boxes[n] == 1;
    free(boxes);
    return net;
}

/* The first two axes of Sobol's sequence are a (0, 2)-sequence: every block of 2^m points is a net,
 * however it is scrambled. */
static void sobol_is_a_net(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        sgi_sequence s = begin(SG_DRAW_SOBOL, 2, 1024, seed, (uint32_t)seed);
        for (int m = 0; m <= 10; m++)
            for (int a = 0; a <= m; a++)
                for (uint64_t block = 0; block < 3; block++)
                    assert_true(is_net(&s, 0, 1, block << m, a, m - a));
    }
}

/* Every axis alone is a (0, 1)-sequence, which takes a primitive polynomial and odd first numbers,
 * and each pair of neighbours a (t, 2)-sequence of small t: each box of 2^t points has them all. */
static void every_axis_of_sobol_is_even(void **state)
{
    (void)state;
    sgi_sequence s = begin(SG_DRAW_SOBOL, SG_MOST_NUMBERS, 4096, 5, 0);
    for (int k = 0; k < SG_MOST_NUMBERS; k++)
        for (int m = 0; m <= 12; m += 3)
            assert_true(is_net(&s, k, (k + 1) % SG_MOST_NUMBERS, 0, m, 0));
    for (int k = 1; k < SG_MOST_NUMBERS; k++) {
        int boxes[16] = {0};
        for (uint64_t n = 0; n < 4096; n++) {
            double x[SG_MOST_NUMBERS];
            sgi_sequence_at(&s, n, x);
            boxes[4 * (int)(4 * x[k - 1]) + (int)(4 * x[k])]++;
        }
        for (int i = 0; i < 16; i++)
            assert_int_equal(boxes[i], 256);
    }
}

/* Without what is random, the numbers are those of the literature. */
static void sobol_has_the_known_numbers(void **state)
{
    (void)state;
    static sgi_sobol sobol;
    sgi_sobol_make(&sobol);
    /* The second axis is x_n = m_n / 2^n with m = 1, 3, 5, 15, 17, 51, 85, 255. */
    const uint32_t m[] = {1, 3, 5, 15, 17, 51, 85, 255};
    for (int b = 0; b < 8; b++)
        assert_true(sobol.directions[1][b] == m[b] << (31 - b));
    /* The third: 1, 3, then m = 4 m' ^ 2 m ^ m' by its polynomial x^2 + x + 1. */
    const uint32_t third[] = {1, 3, 1, 5};
    uint32_t by_rule[8] = {third[0], third[1]};
    for (int b = 2; b < 8; b++)
        by_rule[b] = 2 * by_rule[b - 1] ^ 4 * by_rule[b - 2] ^ by_rule[b - 2];
    for (int b = 0; b < 8; b++)
        assert_true(sobol.directions[2][b] == by_rule[b] << (31 - b));
}

static void latin_has_one_point_in_every_stratum(void **state)
{
    (void)state;
    const uint64_t counts[] = {1, 2, 3, 7, 64, 100, 1000, 1025};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        sgi_sequence s = begin(SG_DRAW_LATIN, 5, counts[c], c, 3);
        for (uint64_t cube = 0; cube < 3; cube++) {
            int *strata = calloc(5 * counts[c], sizeof *strata);
            assert_non_null(strata);
            for (uint64_t n = 0; n < counts[c]; n++) {
                double x[5];
                sgi_sequence_at(&s, cube * counts[c] + n, x);
                for (size_t k = 0; k < 5; k++)
                    strata[k * counts[c] + (size_t)(x[k] * (double)counts[c])]++;
            }
            for (size_t i = 0; i < 5 * counts[c]; i++)
                assert_int_equal(strata[i], 1);
            free(strata);
        }
    }
}

/* The axes are permuted apart: no correlation between them. */
static void axes_of_latin_are_independent(void **state)
{
    (void)state;
    sgi_sequence s = begin(SG_DRAW_LATIN, 4, 4096, 9, 0);
    double sums[4][4] = {{0}};
    for (uint64_t n = 0; n < 4096; n++) {
        double x[4];
        sgi_sequence_at(&s, n, x);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                sums[i][j] += (x[i] - 0.5) * (x[j] - 0.5) * 12 / 4096;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) /* the deviation of a correlation is 1/64 */
            assert_close(sums[i][j], i == j, i == j ? 1e-3 : 0.08);
}

static double inverse_of(uint64_t n, uint64_t base)
{
    double sum = 0;
    for (double scale = 1.0 / (double)base; n > 0; n /= base, scale /= (double)base)
        sum += (double)(n % base) * scale;
    return sum;
}

static void halton_is_the_shifted_radical_inverse(void **state)
{
    (void)state;
    const uint64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
    sgi_sequence s = begin(SG_DRAW_HALTON, 10, 0, 11, 2), t = begin(SG_DRAW_HALTON, 10, 0, 12, 2);
    double first[10], other[10], x[10];
    sgi_sequence_at(&s, 0, first);
    sgi_sequence_at(&t, 0, other);
    for (uint64_t n = 0; n < 2000; n += 1 + n / 7) {
        sgi_sequence_at(&s, n, x);
        for (int k = 0; k < 10; k++) {
            double shift = first[k] - inverse_of(1, primes[k]);
            double expected = inverse_of(n + 1, primes[k]) + shift;
            assert_true(x[k] >= 0 && x[k] < 1);
            assert_close(x[k] - floor(x[k]), expected - floor(expected), 1e-12);
        }
    }
    for (int k = 0; k < 10; k++)
        assert_true(first[k] != other[k]);
}

static void a_grid_is_evenly_spaced(void **state)
{
    (void)state;
    const struct {
        int width;
        uint64_t count;
        uint32_t sides[3];
        bool exact;
    } cases[] = {{1, 7, {7}, true},
                 {2, 4096, {64, 64}, true},
                 {2, 1000, {40, 25}, true},
                 {3, 2048, {16, 16, 8}, true},
                 {2, 2048, {64, 32}, true},
                 {2, 1021, {32, 32}, false},
                 {2, 1, {1, 1}, true},
                 {3, 6, {3, 2, 1}, true},
                 {2, 2 * 509, {32, 32}, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t sides[SG_MOST_NUMBERS];
        assert_int_equal(sgi_grid_sides(cases[c].width, cases[c].count, sides), cases[c].exact);
        for (int k = 0; k < cases[c].width; k++)
            assert_int_equal(sides[k], cases[c].sides[k]);
    }
    assert_int_equal(sgi_grid_near(2, 1021), 1020);
    sgi_sequence s = begin(SG_DRAW_GRID, 2, 1000, 1, 0);
    for (uint64_t n = 0; n < 1000; n++) {
        double x[2];
        sgi_sequence_at(&s, n, x);
        assert_close(x[0], ((double)(n / 25) + 0.5) / 40, 1e-15);
        assert_close(x[1], ((double)(n % 25) + 0.5) / 25, 1e-15);
    }
    /* Of a grid with more nodes every point is another one. */
    sgi_sequence more = begin(SG_DRAW_GRID, 2, 1021, 1, 0);
    double before = -1;
    for (uint64_t n = 0; n < 1021; n++) {
        double x[2];
        sgi_sequence_at(&more, n, x);
        assert_true(x[0] * 1024 + x[1] > before && x[0] < 1);
        before = x[0] * 1024 + x[1];
    }
}

/* A pure function of seed, stream and which; and every one of them matters. */
static void sequences_are_told_apart(void **state)
{
    (void)state;
    const sgi_distribution kinds[] = {SG_DRAW_LATIN, SG_DRAW_SOBOL, SG_DRAW_HALTON};
    for (int i = 0; i < 3; i++) {
        sgi_sequence a = begin(kinds[i], 3, 100, 1, 0), b = begin(kinds[i], 3, 100, 1, 0);
        sgi_sequence seed = begin(kinds[i], 3, 100, 2, 0), which = begin(kinds[i], 3, 100, 1, 1);
        double x[4][3];
        sgi_sequence_at(&a, 42, x[0]);
        sgi_sequence_at(&b, 42, x[1]);
        sgi_sequence_at(&seed, 42, x[2]);
        sgi_sequence_at(&which, 42, x[3]);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        for (int k = 0; k < 3; k++)
            assert_true(x[0][k] != x[2][k] && x[0][k] != x[3][k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sobol_is_a_net),
        cmocka_unit_test(every_axis_of_sobol_is_even),
        cmocka_unit_test(sobol_has_the_known_numbers),
        cmocka_unit_test(latin_has_one_point_in_every_stratum),
        cmocka_unit_test(axes_of_latin_are_independent),
        cmocka_unit_test(halton_is_the_shifted_radical_inverse),
        cmocka_unit_test(a_grid_is_evenly_spaced),
        cmocka_unit_test(sequences_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
