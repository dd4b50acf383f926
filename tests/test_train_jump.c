/* Jumps of a noisy series. */
#include <math.h>

#include "base/random.h"
#include "support/support.h"
#include "train/jump.h"

/* Adds values around `level` with a spread of 30 percent. */
static void add_noisy(sgi_jump *jump, uint64_t from, uint64_t until, double level)
{
    for (uint64_t step = from; step < until; step++)
        sgi_jump_add(jump, step, level * exp(0.3 * sgi_random_normal(1, step, 0)));
}

static void noise_is_no_jump(void **state)
{
    (void)state;
    sgi_jump jump = {0};
    add_noisy(&jump, 1, 500, 0.01);
    assert_false(sgi_jumped(&jump));
    sgi_jump_event(&jump, 500);
    add_noisy(&jump, 501, 2000, 0.01);
    assert_false(sgi_jumped(&jump));
    assert_relative(jump.before, 0.01, 0.3);
}

static void a_rise_that_stays_a_while_is(void **state)
{
    (void)state;
    sgi_jump jump = {0};
    add_noisy(&jump, 1, 500, 0.01);
    sgi_jump_event(&jump, 500);
    add_noisy(&jump, 501, 600, 0.1);
    add_noisy(&jump, 600, 3000, 0.001);
    assert_true(sgi_jumped(&jump));
    assert_relative(jump.highest, 0.1, 0.3);
    assert_true(jump.highest_step > 510 && jump.highest_step < 600);
}

static void later_rises_and_values_without_a_logarithm_are_passed_over(void **state)
{
    (void)state;
    sgi_jump jump = {0};
    sgi_jump_event(&jump, 1); /* nothing to compare with: never a jump */
    add_noisy(&jump, 2, 50, 0.01);
    assert_false(sgi_jumped(&jump));
    sgi_jump_event(&jump, 50);
    sgi_jump_add(&jump, 51, NAN);
    sgi_jump_add(&jump, 52, INFINITY);
    sgi_jump_add(&jump, 53, 0);
    add_noisy(&jump, 51 + SG_JUMP_STEPS, 100 + SG_JUMP_STEPS, 1e3);
    assert_false(sgi_jumped(&jump));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_no_jump),
        cmocka_unit_test(a_rise_that_stays_a_while_is),
        cmocka_unit_test(later_rises_and_values_without_a_logarithm_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
