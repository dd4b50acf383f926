/* Allocation: alignment, zeros, overflow, failure. */
#include "base/memory.h"

#include <string.h>

#include "support/support.h"

static void memory_is_aligned_and_zeroed(void **state)
{
    (void)state;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    for (size_t size = 0; size < 300; size += 7) {
        unsigned char *memory = sgi_allocate(&heap, size, 1);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % SG_ALIGNMENT, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
        sgi_release(&heap, memory);
    }
    sgi_release(&heap, NULL);
}

static void products_that_overflow_are_refused(void **state)
{
    (void)state;
    failing_allocator counter = {.fail_at = -1};
    sg_allocator a = failing(&counter);
    assert_null(sgi_allocate(&a, SIZE_MAX, 1));
    assert_null(sgi_allocate(&a, SIZE_MAX / 2, 3));
    assert_null(sgi_allocate(&a, SIZE_MAX / 8 + 1, 8));
    assert_int_equal(counter.made, 0);
}

static void text_is_copied(void **state)
{
    (void)state;
    failing_allocator counter = {.fail_at = 1};
    sg_allocator a = failing(&counter);
    char *copy = sgi_copy_text(&a, "layers.0.weight");
    assert_string_equal(copy, "layers.0.weight");
    assert_null(sgi_copy_text(&a, "no memory left"));
    sgi_release(&a, copy);
    assert_int_equal(counter.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_zeroed),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(text_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
