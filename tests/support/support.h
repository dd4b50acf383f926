/* What every test includes: cmocka in the order it wants, and the shared helpers. */
#ifndef SG_TESTS_SUPPORT_H
#define SG_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stablegrad/stablegrad.h"

#define assert_ok(call) assert_string_equal(sg_status_name(call), "SG_OK")
#define assert_status(call, expected)                                                              \
    assert_string_equal(sg_status_name(call), sg_status_name(expected))

/* |a - b| <= tolerance * max(1, |b|) */
#define assert_close(a, b, tolerance) assert_near_(a, b, tolerance, 1.0, #a, __FILE__, __LINE__)
/* |a - b| <= tolerance * |b| */
#define assert_relative(a, b, tolerance) assert_near_(a, b, tolerance, 0.0, #a, __FILE__, __LINE__)
void assert_near_(double a, double b, double tolerance, double floor, const char *what,
                  const char *file, int line);

/* A diagnostic in one line, "file: message"; valid until the next call. */
const char *said(const sg_diagnostic *diagnostic);

/* An allocator that counts, and fails from allocation number `fail_at` on (0: the first); with
 * fail_at < 0 it never fails. Threads may share it. `live` must be 0 when everything has been
 * destroyed. */
typedef struct failing_allocator {
    long made, live, fail_at;
} failing_allocator;

sg_allocator failing(failing_allocator *state);

/* Makes something with the allocator, uses it and destroys it; the status of the first failure. */
typedef sg_status allocating(const sg_allocator *allocator, void *context);

/* The work succeeds with `least` allocations or more, and is SG_ERROR_MEMORY when it fails from any
 * one of them on; it never leaves memory behind. Returns how many allocations there are. */
long each_allocation_fails(allocating *work, void *context, long least);
/* The same for thousands of allocations: the first hundred, then ever larger steps. */
long some_allocations_fail(allocating *work, void *context, long least);

/* The instruction sets that this machine can run; the others are reported by name. Returns how
 * many there are. */
size_t runnable_isas(sg_isa list[SG_ISA_COUNT]);

#endif
