/* Every allocation fails in turn: the call says so, leaks nothing, and leaves its inputs usable. */
#include "support/support.h"

enum { SPANS = 20 };

/* The whole life of a small training loop; stops at the first failure. */
static sg_status live(const sg_allocator *allocator, void *context)
{
    (void)context;
    static double value[SPANS][3], gradient[SPANS][3];
    sg_pool *pool = NULL;
    sg_params *params = NULL;
    sg_scaler *scaler = NULL;
    sg_optim *optim = NULL;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_schedule_term term = sg_schedule_warmup(10, 0);
    config.schedule = &term;
    config.schedule_count = 1;
    sg_status status = sg_pool_create(&pool, 2, allocator);
    if (status == SG_OK)
        status = sg_params_create(&params, allocator);
    for (int i = 0; i < SPANS && status == SG_OK; i++) {
        char name[2] = {(char)('a' + i), 0};
        sg_span span = {name, value[i], gradient[i], 3, SG_FLOAT64, i, SG_ROLE_WEIGHT, 0};
        status = sg_params_add(params, &span);
    }
    if (status == SG_OK)
        status = sg_scaler_create(&scaler, params, NULL, pool, allocator);
    if (status == SG_OK)
        status = sg_optim_create(&optim, params, &config, pool, allocator);
    if (status == SG_OK)
        status = sg_scaler_observe_scale(scaler, 1);
    if (status == SG_OK)
        status = sg_scaler_measure(scaler, 0);
    if (status == SG_OK)
        status = sg_optim_step(optim, scaler, NULL);
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
    sg_pool_destroy(pool);
    return status;
}

static void every_allocation_in_turn(void **state)
{
    (void)state;
    each_allocation_fails(live, NULL, 31);
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    static float value[100], gradient[100];
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    assert_ok(sg_params_create(&params, &allocator));
    sg_span span = {"w", value, gradient, 100, SG_FLOAT32, 0, SG_ROLE_WEIGHT, 0};
    assert_ok(sg_params_add(params, &span));
    assert_ok(sg_scaler_create(&scaler, params, NULL, NULL, &allocator));
    assert_ok(sg_optim_create(&optim, params, &config, NULL, &allocator));
    long before = counter.made;
    for (uint64_t step = 0; step < 10; step++) {
        assert_ok(sg_scaler_observe(scaler, gradient, SG_FLOAT32, 100, 1));
        assert_ok(sg_scaler_measure(scaler, step));
        assert_ok(sg_optim_step(optim, scaler, NULL));
    }
    assert_int_equal(counter.made, before);
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_in_turn),
        cmocka_unit_test(steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
