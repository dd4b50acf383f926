/* The set of spans: registration, lookup, and the cut into units. */
#include "base/params.h"

#include <stdio.h>

#include "support/support.h"

static sg_span span(const char *name, size_t count)
{
    static double memory[1];
    return (sg_span){
        .name = name, .value = memory, .gradient = memory, .count = count, .type = SG_FLOAT64};
}

static sg_params *empty(void)
{
    sg_params *params;
    assert_ok(sg_params_create(&params, NULL));
    return params;
}

static void spans_are_found_by_name(void **state)
{
    (void)state;
    sg_params *params = empty();
    char name[32];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "layers.%d.weight", i);
        sg_span s = span(name, (size_t)i + 1);
        assert_ok(sg_params_add(params, &s));
    }
    assert_int_equal(sg_params_count(params), 40);
    assert_int_equal(sg_params_elements(params), 40 * 41 / 2);
    assert_int_equal(sg_params_find(params, "layers.17.weight"), 17);
    assert_int_equal(sg_params_find(params, "layers.17"), SG_NOT_FOUND);
    assert_string_equal(sg_params_at(params, 39)->name, "layers.39.weight");
    assert_null(sg_params_at(params, 40));
    sg_params_destroy(params);
    sg_params_destroy(NULL);
}

static void bad_spans_are_refused(void **state)
{
    (void)state;
    sg_params *params = empty();
    sg_span s = span(NULL, 1);
    assert_status(sg_params_add(params, &s), SG_ERROR_ARGUMENT);
    s = span("", 1);
    assert_status(sg_params_add(params, &s), SG_ERROR_ARGUMENT);
    s = span("a", 0);
    assert_status(sg_params_add(params, &s), SG_ERROR_ARGUMENT);
    s = span("a", SIZE_MAX / 4);
    assert_status(sg_params_add(params, &s), SG_ERROR_ARGUMENT);
    s = span("a", 1);
    s.type = (sg_type)7;
    assert_status(sg_params_add(params, &s), SG_ERROR_ARGUMENT);
    s = span("a", 1);
    s.role = (sg_role)7;
    assert_status(sg_params_add(params, &s), SG_ERROR_ARGUMENT);
    assert_status(sg_params_add(params, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_params_create(NULL, NULL), SG_ERROR_ARGUMENT);
    s = span("a", 1);
    assert_ok(sg_params_add(params, &s));
    assert_status(sg_params_add(params, &s), SG_ERROR_DUPLICATE);
    assert_int_equal(sg_params_count(params), 1);
    assert_status(sg_params_bind(params, 1, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_ok(sgi_params_seal(params));
    s = span("b", 1);
    assert_status(sg_params_add(params, &s), SG_ERROR_SEALED);
    sg_params_destroy(params);
}

static void units_cover_every_element_once(void **state)
{
    (void)state;
    const size_t counts[] = {1, SG_UNIT_ELEMENTS - 1, SG_UNIT_ELEMENTS, SG_UNIT_ELEMENTS + 1,
                             3 * SG_UNIT_ELEMENTS + 5};
    sg_params *params = empty();
    char name[8] = "a";
    for (size_t i = 0; i < 5; i++, name[0]++) {
        sg_span s = span(name, counts[i]);
        assert_ok(sg_params_add(params, &s));
    }
    assert_ok(sgi_params_seal(params));
    assert_ok(sgi_params_seal(params));
    size_t covered[5] = {0};
    for (size_t u = 0; u < params->unit_count; u++) {
        const sgi_unit *unit = &params->units[u];
        assert_int_equal(unit->begin, covered[unit->span]);
        assert_true(unit->count > 0 && unit->count <= SG_UNIT_ELEMENTS);
        covered[unit->span] += unit->count;
    }
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(covered[i], counts[i]);
    sg_params_destroy(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_found_by_name),
        cmocka_unit_test(bad_spans_are_refused),
        cmocka_unit_test(units_cover_every_element_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
