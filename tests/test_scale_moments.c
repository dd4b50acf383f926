/* The scaler's loops against a plain second way, for every tail, alignment, type and instruction
 * set. */
#include "scale/moments.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "support/support.h"

enum { MOST = 4200, OFFSETS = 4 };

static float floats[MOST + OFFSETS];
static double doubles[MOST + OFFSETS];

static void fill(double mean, double std)
{
    for (size_t i = 0; i < MOST + OFFSETS; i++) {
        double x = mean + std * sgi_random_normal(11, 0, i);
        floats[i] = (float)x;
        doubles[i] = x;
    }
}

static double at(sg_type type, size_t i)
{
    return type == SG_FLOAT32 ? (double)floats[i] : doubles[i];
}

static const void *from(sg_type type, size_t i)
{
    return type == SG_FLOAT32 ? (const void *)(floats + i) : (const void *)(doubles + i);
}

static sg_moments plain(sg_type type, size_t offset, size_t count)
{
    long double mean = 0, m2 = 0;
    for (size_t i = 0; i < count; i++)
        mean += at(type, offset + i);
    mean /= (long double)count;
    for (size_t i = 0; i < count; i++)
        m2 += (at(type, offset + i) - mean) * (at(type, offset + i) - mean);
    return (sg_moments){(double)count, (double)mean, (double)m2};
}

static void check(const sgi_scale_kernels *kernels, sg_type type, size_t offset, size_t count)
{
    sg_moments fast = kernels->moments[type](from(type, offset), count);
    sg_moments slow = plain(type, offset, count);
    assert_true(fast.count == slow.count);
    assert_close(fast.mean, slow.mean, 1e-14);
    assert_close(fast.m2, slow.m2, 1e-13);
    sg_moments generic = sgi_scale_kernels_generic.moments[type](from(type, offset), count);
    assert_memory_equal(&fast, &generic, sizeof fast);
}

static void every_tail_and_alignment(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t n = runnable_isas(isas);
    fill(0.3, 1.0);
    for (size_t k = 0; k < n; k++)
        for (int type = 0; type < SG_TYPE_COUNT; type++)
            for (size_t offset = 0; offset < OFFSETS; offset++) {
                for (size_t count = 1; count <= 130; count++)
                    check(sgi_scale_kernels_for(isas[k]), (sg_type)type, offset, count);
                for (size_t count = 2040; count <= 2060; count++)
                    check(sgi_scale_kernels_for(isas[k]), (sg_type)type, offset, count);
                check(sgi_scale_kernels_for(isas[k]), (sg_type)type, offset, MOST);
            }
}

static void a_large_mean_does_not_drown_the_spread(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        doubles[i] = 1e9 + (i % 2 ? 1.0 : -1.0);
    sg_moments m = {0, 0, 0};
    sg_moments_add(&m, doubles, SG_FLOAT64, MOST, 1);
    assert_relative(sg_moments_std(&m), 1.0, 1e-12);
    assert_relative(m.mean, 1e9, 1e-15);
}

static void equal_numbers_have_no_spread(void **state)
{
    (void)state;
    const double values[] = {0.1, -1e-30, 3e25, 1.0 / 3};
    for (size_t v = 0; v < 4; v++) {
        for (size_t i = 0; i < MOST; i++)
            doubles[i] = values[v];
        for (size_t count = 2; count <= MOST; count = count * 3 / 2 + 1) {
            sg_moments m = {0, 0, 0};
            sg_moments_add(&m, doubles, SG_FLOAT64, count, 1);
            assert_true(sg_moments_std(&m) == 0);
        }
    }
}

static void one_number_and_none(void **state)
{
    (void)state;
    sg_moments m = {0, 0, 0};
    assert_true(sg_moments_std(&m) == 0);
    double x = -2.5;
    sg_moments_add(&m, &x, SG_FLOAT64, 0, 1);
    assert_true(m.count == 0);
    sg_moments_add(&m, &x, SG_FLOAT64, 1, 2);
    assert_true(sg_moments_std(&m) == 5);
}

static void parts_merge_to_the_whole(void **state)
{
    (void)state;
    fill(-2, 0.5);
    sg_moments whole = plain(SG_FLOAT64, 0, MOST), parts = {0, 0, 0}, other = {0, 0, 0};
    sg_moments_add(&parts, doubles, SG_FLOAT64, 1000, 1);
    sg_moments_add(&other, doubles + 1000, SG_FLOAT64, MOST - 1000, 1);
    sg_moments_merge(&parts, &other);
    sg_moments_merge(&parts, &(sg_moments){0, 0, 0});
    assert_relative(parts.mean, whole.mean, 1e-14);
    assert_relative(parts.m2, whole.m2, 1e-13);
    sg_moments scaled = {0, 0, 0};
    sg_moments_add(&scaled, doubles, SG_FLOAT64, MOST, -3);
    assert_relative(sg_moments_std(&scaled), 3 * sg_moments_std(&whole), 1e-13);
    assert_relative(scaled.mean, -3 * whole.mean, 1e-13);
}

static void non_finite_numbers_show(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t b = 0; b < 3; b++)
        for (size_t where = 0; where < 100; where += 9) {
            fill(0, 1);
            doubles[where] = bad[b];
            floats[where] = (float)bad[b];
            sg_moments m = {0, 0, 0}, f = {0, 0, 0};
            sg_moments_add(&m, doubles, SG_FLOAT64, 100, 1);
            sg_moments_add(&f, floats, SG_FLOAT32, 100, 1);
            assert_false(isfinite(m.m2));
            assert_false(isfinite(f.m2));
        }
}

static void large_floats_do_not_overflow(void **state)
{
    (void)state;
    for (size_t i = 0; i < 64; i++)
        floats[i] = i % 2 ? 3e38f : -3e38f;
    sg_moments m = {0, 0, 0};
    sg_moments_add(&m, floats, SG_FLOAT32, 64, 1);
    assert_relative(sg_moments_std(&m), (double)3e38f, 1e-12);
}

static void check_elementwise(const sgi_scale_kernels *kernels, sg_type type, size_t count)
{
    unsigned char scaled[80 * sizeof(double)], signs[80 * sizeof(double)];
    size_t size = type == SG_FLOAT32 ? sizeof(float) : sizeof(double);
    memcpy(scaled, from(type, 1), 80 * size);
    memcpy(signs, from(type, 1), 80 * size);
    kernels->multiply[type](scaled + size, count, 0.3);
    kernels->sign[type](signs, signs, count);
    for (size_t i = 0; i < 79; i++) {
        double x = at(type, i + 2), y = at(type, i + 1);
        double got = type == SG_FLOAT32 ? (double)((float *)(void *)scaled)[i + 1]
                                        : ((double *)(void *)scaled)[i + 1];
        double want = i >= count ? x : type == SG_FLOAT32 ? (double)((float)x * 0.3f) : x * 0.3;
        assert_true(got == want);
        double sign =
            type == SG_FLOAT32 ? (double)((float *)(void *)signs)[i] : ((double *)(void *)signs)[i];
        assert_true(sign == (i >= count ? y : (double)((y > 0) - (y < 0))));
    }
}

static void multiplication_and_signs(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t n = runnable_isas(isas);
    fill(0, 1);
    floats[5] = 0;
    doubles[5] = 0;
    for (size_t k = 0; k < n; k++)
        for (int type = 0; type < SG_TYPE_COUNT; type++)
            for (size_t count = 0; count < 70; count++)
                check_elementwise(sgi_scale_kernels_for(isas[k]), (sg_type)type, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tail_and_alignment),
        cmocka_unit_test(a_large_mean_does_not_drown_the_spread),
        cmocka_unit_test(equal_numbers_have_no_spread),
        cmocka_unit_test(one_number_and_none),
        cmocka_unit_test(parts_merge_to_the_whole),
        cmocka_unit_test(non_finite_numbers_show),
        cmocka_unit_test(large_floats_do_not_overflow),
        cmocka_unit_test(multiplication_and_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
