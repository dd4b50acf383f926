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

static void sizes_are_rounded_up(void **state)
{
    (void)state;
    static const size_t values[][3] = {{0, 0, 0}, {1, 64, 1}, {64, 64, 1}, {65, 128, 2}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sgi_align_up(values[i][0], 64), values[i][1]);
        assert_int_equal(sgi_parts(values[i][0], 64), values[i][2]);
    }
}

static void arrays_grow_and_keep_their_elements(void **state)
{
    (void)state;
    failing_allocator counter = {.fail_at = -1};
    sg_allocator a = failing(&counter);
    int *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 100; i++) {
        assert_ok(sgi_grow_array(&a, &array, i, &capacity, 3, sizeof *array));
        assert_true(capacity > i);
        assert_int_equal(array[i], 0);
        array[i] = (int)i + 1;
    }
    assert_int_equal(capacity, 192);
    for (int i = 0; i < 100; i++)
        assert_int_equal(array[i], i + 1);
    assert_int_equal(counter.live, 1);
    sgi_release(&a, array);
}

static void an_array_that_cannot_grow_stays(void **state)
{
    (void)state;
    failing_allocator counter = {.fail_at = 1};
    sg_allocator a = failing(&counter);
    int *array = NULL;
    size_t capacity = 0, huge = SIZE_MAX / 2 + 1;
    assert_ok(sgi_grow_array(&a, &array, 0, &capacity, 4, sizeof *array));
    int *before = array;
    array[3] = 7;
    assert_status(sgi_grow_array(&a, &array, 4, &capacity, 4, sizeof *array), SG_ERROR_MEMORY);
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, 4);
    assert_int_equal(array[3], 7);
    assert_status(sgi_grow_array(&a, &array, huge, &huge, 4, 1), SG_ERROR_MEMORY);
    assert_ptr_equal(array, before);
    sgi_release(&a, array);
    assert_int_equal(counter.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_zeroed),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(text_is_copied),
        cmocka_unit_test(sizes_are_rounded_up),
        cmocka_unit_test(arrays_grow_and_keep_their_elements),
        cmocka_unit_test(an_array_that_cannot_grow_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
