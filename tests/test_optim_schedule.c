/* Schedules: each term, and their product. */
#include <math.h>

#include "support/support.h"

static double factor(sg_schedule_term term, uint64_t step)
{
    return sg_schedule_factor(&term, 1, step);
}

static void an_empty_schedule_is_one(void **state)
{
    (void)state;
    assert_true(sg_schedule_factor(NULL, 0, 12345) == 1);
    assert_true(sg_schedule_valid(NULL, 0));
    assert_true(factor(sg_schedule_constant(0.25), 7) == 0.25);
}

static void cosine(void **state)
{
    (void)state;
    sg_schedule_term term = sg_schedule_cosine(0, 100, 0);
    assert_true(factor(term, 0) == 1);
    for (uint64_t t = 0; t <= 100; t++)
        assert_close(factor(term, t), (1 + cos(acos(-1.0) * (double)t / 100)) / 2, 1e-15);
    assert_close(factor(term, 500), 0, 1e-15);
    sg_schedule_term later = sg_schedule_cosine(1000, 2000, 0.1);
    assert_true(factor(later, 0) == 1 && factor(later, 1000) == 1);
    assert_close(factor(later, 1500), 0.55, 1e-15);
    assert_close(factor(later, 2000), 0.1, 1e-15);
    assert_close(factor(later, 9000), 0.1, 1e-15);
}

static void warmup(void **state)
{
    (void)state;
    sg_schedule_term term = sg_schedule_warmup(10, 0.2);
    assert_close(factor(term, 0), 0.2, 1e-15);
    assert_close(factor(term, 5), 0.6, 1e-15);
    assert_close(factor(term, 10), 1, 1e-15);
    assert_close(factor(term, 11), 1, 1e-15);
}

static void terms_multiply(void **state)
{
    (void)state;
    /* The piecewise multipliers of a learning-rate control, on top of a warm-up. */
    sg_schedule_term terms[] = {sg_schedule_warmup(2, 0), sg_schedule_interval(0, 500, 5),
                                sg_schedule_interval(500, 1000, 4)};
    const struct {
        uint64_t step;
        double expected;
    } cases[] = {{0, 0}, {1, 2.5}, {499, 5}, {500, 4}, {999, 4}, {1000, 1}};
    for (size_t i = 0; i < 6; i++)
        assert_close(sg_schedule_factor(terms, 3, cases[i].step), cases[i].expected, 1e-15);
}

static void malformed_terms_are_seen(void **state)
{
    (void)state;
    sg_schedule_term bad[] = {sg_schedule_constant(-1),        sg_schedule_constant(NAN),
                              sg_schedule_cosine(10, 10, 0),   sg_schedule_cosine(11, 10, 0),
                              sg_schedule_warmup(0, 0),        sg_schedule_cosine(0, 10, INFINITY),
                              sg_schedule_interval(3, 2, 1.0), {(sg_schedule_kind)9, 0, 1, 1}};
    for (size_t i = 0; i < 8; i++)
        assert_false(sg_schedule_valid(&bad[i], 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_schedule_is_one),
        cmocka_unit_test(cosine),
        cmocka_unit_test(warmup),
        cmocka_unit_test(terms_multiply),
        cmocka_unit_test(malformed_terms_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
