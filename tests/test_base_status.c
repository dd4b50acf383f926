/* Status texts and the version string. */
#include <stdio.h>
#include <string.h>

#include "support/support.h"

static void every_code_has_a_name_and_a_text(void **state)
{
    (void)state;
    for (int code = 0; code < SG_STATUS_COUNT; code++) {
        assert_memory_equal(sg_status_name((sg_status)code), "SG_", 3);
        assert_true(strlen(sg_status_text((sg_status)code)) > 5);
    }
    assert_string_equal(sg_status_name(SG_ERROR_STATE), "SG_ERROR_STATE");
}

static void values_outside_the_list_are_unknown(void **state)
{
    (void)state;
    assert_string_equal(sg_status_text((sg_status)-1), "unknown status");
    assert_string_equal(sg_status_text((sg_status)1000), "unknown status");
    assert_string_equal(sg_status_name((sg_status)1000), "unknown");
}

static void version_is_the_header_s(void **state)
{
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", SG_VERSION_MAJOR, SG_VERSION_MINOR,
             SG_VERSION_PATCH);
    assert_string_equal(sg_version(), expected);
}

static void instruction_sets_have_names(void **state)
{
    (void)state;
    assert_string_equal(sg_isa_name(SG_ISA_AUTO), "auto");
    assert_string_equal(sg_isa_name(SG_ISA_AVX512), "avx512");
    assert_string_equal(sg_isa_name((sg_isa)99), "unknown");
    assert_int_not_equal(sg_isa_resolve(SG_ISA_AUTO), SG_ISA_AUTO);
    assert_int_equal(sg_isa_resolve(SG_ISA_GENERIC), SG_ISA_GENERIC);
    assert_int_equal(sg_isa_resolve((sg_isa)99), SG_ISA_AUTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name_and_a_text),
        cmocka_unit_test(values_outside_the_list_are_unknown),
        cmocka_unit_test(version_is_the_header_s),
        cmocka_unit_test(instruction_sets_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
