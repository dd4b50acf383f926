/* Saving and restoring: a restored run goes on bit for bit, and a foreign state is refused. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support/support.h"

enum { COUNT = 37 };

typedef struct run {
    double value[COUNT], gradient[COUNT];
    sg_params *params;
    sg_optim *optim;
} run;

static void open_run(run *r, const char *name, sg_optim_kind kind, double momentum)
{
    sg_optim_config config = sg_optim_defaults(kind);
    config.momentum = momentum;
    for (size_t i = 0; i < COUNT; i++)
        r->value[i] = sgi_random_normal(1, 0, i);
    assert_ok(sg_params_create(&r->params, NULL));
    sg_span span = {name, r->value, r->gradient, COUNT, SG_FLOAT64, 0, SG_ROLE_WEIGHT, 0};
    assert_ok(sg_params_add(r->params, &span));
    assert_ok(sg_optim_create(&r->optim, r->params, &config, NULL, NULL));
}

static void close_run(run *r)
{
    sg_optim_destroy(r->optim);
    sg_params_destroy(r->params);
}

static void take_steps(run *r, uint64_t from, uint64_t until)
{
    for (uint64_t step = from; step < until; step++) {
        for (size_t i = 0; i < COUNT; i++)
            r->gradient[i] = sgi_random_normal(2, step, i);
        assert_ok(sg_optim_step(r->optim, NULL, NULL));
    }
}

static void a_restored_run_goes_on_bit_for_bit(void **state)
{
    (void)state;
    for (int kind = 0; kind < SG_OPTIM_COUNT; kind++) {
        run whole, part;
        open_run(&whole, "w", (sg_optim_kind)kind, 0.9);
        take_steps(&whole, 0, 7);
        size_t size;
        const void *live = sg_optim_state(whole.optim, &size);
        void *saved = malloc(size);
        memcpy(saved, live, size);
        open_run(&part, "w", (sg_optim_kind)kind, 0.9);
        memcpy(part.value, whole.value, sizeof whole.value);
        assert_ok(sg_optim_restore(part.optim, saved, size));
        assert_int_equal(sg_optim_steps(part.optim), 7);
        take_steps(&whole, 7, 20);
        take_steps(&part, 7, 20);
        assert_memory_equal(whole.value, part.value, sizeof whole.value);
        free(saved);
        close_run(&whole);
        close_run(&part);
    }
}

/* Saves the state of `from` and expects `to` to refuse it, unchanged. */
static void assert_refused(const run *from, run *to, size_t size_change, size_t flip)
{
    size_t size, own_size;
    const void *live = sg_optim_state(from->optim, &size);
    unsigned char *saved = calloc(1, size + 64), *own;
    memcpy(saved, live, size);
    if (flip != SIZE_MAX)
        saved[flip] ^= 1;
    live = sg_optim_state(to->optim, &own_size);
    own = malloc(own_size);
    memcpy(own, live, own_size);
    assert_status(sg_optim_restore(to->optim, saved, size + size_change), SG_ERROR_STATE);
    assert_memory_equal(own, sg_optim_state(to->optim, &own_size), own_size);
    free(saved);
    free(own);
}

static void foreign_states_are_refused(void **state)
{
    (void)state;
    run adam, other_kind, other_name, plain;
    open_run(&adam, "w", SG_OPTIM_ADAMW, 0);
    open_run(&other_kind, "w", SG_OPTIM_ADAM, 0);
    open_run(&other_name, "v", SG_OPTIM_ADAMW, 0);
    open_run(&plain, "w", SG_OPTIM_SGD, 0);
    take_steps(&adam, 0, 3);
    assert_refused(&adam, &other_kind, 0, SIZE_MAX);
    assert_refused(&adam, &other_name, 0, SIZE_MAX);
    assert_refused(&adam, &plain, 0, SIZE_MAX);
    assert_refused(&plain, &adam, 0, SIZE_MAX);
    assert_refused(&adam, &adam, 1, SIZE_MAX);
    assert_refused(&adam, &adam, (size_t)-1, SIZE_MAX);
    for (size_t byte = 0; byte < 16; byte++) /* the magic number and the layout */
        assert_refused(&adam, &adam, 0, byte);
    assert_status(sg_optim_restore(adam.optim, NULL, 0), SG_ERROR_ARGUMENT);
    close_run(&adam);
    close_run(&other_kind);
    close_run(&other_name);
    close_run(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restored_run_goes_on_bit_for_bit),
        cmocka_unit_test(foreign_states_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
