/* The failing allocator and other small helpers of the tests. */
#include <math.h>
#include <stdlib.h>

#include "base/diagnostic.h"
#include "support/support.h"

void assert_near_(double a, double b, double tolerance, double floor, const char *what,
                  const char *file, int line)
{
    double size = fabs(b) > floor ? fabs(b) : floor;
    if (a == b || fabs(a - b) <= tolerance * size)
        return;
    print_error("%s = %.17g, not within %g of %.17g\n", what, a, tolerance, b);
    _fail(file, line);
}

static void *counted_allocate(void *context, size_t alignment, size_t size)
{
    failing_allocator *state = context;
    long index = __atomic_fetch_add(&state->made, 1, __ATOMIC_RELAXED);
    long fail_at = __atomic_load_n(&state->fail_at, __ATOMIC_RELAXED);
    if (fail_at >= 0 && index >= fail_at)
        return NULL;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    __atomic_fetch_add(&state->live, 1, __ATOMIC_RELAXED);
    return memory;
}

static void counted_release(void *context, void *memory)
{
    failing_allocator *state = context;
    __atomic_fetch_sub(&state->live, 1, __ATOMIC_RELAXED);
    free(memory);
}

sg_allocator failing(failing_allocator *state)
{
    return (sg_allocator){counted_allocate, counted_release, state};
}

static long allocations_fail(allocating *work, void *context, long least, bool all)
{
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    assert_ok(work(&allocator, context));
    assert_int_equal(counter.live, 0);
    long made = counter.made;
    assert_true(made >= least);
    for (long n = 0; n < made; n += all || n < 100 ? 1 : 1 + n / 50) {
        counter = (failing_allocator){.fail_at = n};
        sg_status status = work(&allocator, context);
        if (status != SG_ERROR_MEMORY)
            fail_msg("allocation %ld of %ld fails: %s", n, made, sg_status_name(status));
        assert_int_equal(counter.live, 0);
    }
    return made;
}

long each_allocation_fails(allocating *work, void *context, long least)
{
    return allocations_fail(work, context, least, true);
}

long some_allocations_fail(allocating *work, void *context, long least)
{
    return allocations_fail(work, context, least, false);
}

const char *said(const sg_diagnostic *diagnostic)
{
    static char text[1024];
    sgi_diagnostic_line(diagnostic, text, sizeof text);
    return text;
}

size_t runnable_isas(sg_isa list[SG_ISA_COUNT])
{
    size_t count = 0;
    for (int i = SG_ISA_AUTO + 1; i < SG_ISA_COUNT; i++) {
        if (sg_isa_resolve((sg_isa)i) == (sg_isa)i)
            list[count++] = (sg_isa)i;
        else
            print_message("not on this machine: %s\n", sg_isa_name((sg_isa)i));
    }
    return count;
}
