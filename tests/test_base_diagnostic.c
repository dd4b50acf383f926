/* Filling a diagnostic and saying it: places, long paths, no diagnostic at all. */
#include <errno.h>
#include <string.h>

#include "base/diagnostic.h"
#include "support/support.h"

static void failing_fills_and_clears(void **state)
{
    (void)state;
    sg_diagnostic d = {.line = 3, .column = 4, .suggestion = "of before", .source = "of before"};
    errno = ENOENT;
    assert_status(sgi_fail_file(&d, SG_ERROR_IO, "a/b.yaml", "%s: %m", "gone"), SG_ERROR_IO);
    assert_string_equal(said(&d), "a/b.yaml: gone: No such file or directory");
    assert_int_equal(d.line, 0);
    assert_string_equal(d.suggestion, "");
    assert_status(sgi_fail(&d, SG_ERROR_MEMORY, "out of %s", "memory"), SG_ERROR_MEMORY);
    assert_string_equal(said(&d), "out of memory");
    char text[64];
    sg_diagnostic_format(&d, text, sizeof text);
    assert_string_equal(text, "error: out of memory\n");
}

static void places_are_told_as_far_as_they_are_known(void **state)
{
    (void)state;
    sg_diagnostic d;
    char text[128];
    (void)sgi_fail_file(&d, SG_ERROR_FORMAT, "t.csv", "not a number");
    d.line = 7;
    assert_string_equal(said(&d), "t.csv:7: not a number");
    d.column = 2;
    assert_string_equal(said(&d), "t.csv:7:2: not a number");
    sg_diagnostic_format(&d, text, sizeof text);
    assert_string_equal(text, "t.csv:7:2: error: not a number\n"); /* no source, none is shown */
}

static void of_a_long_path_the_end_is_kept(void **state)
{
    (void)state;
    char path[600];
    sg_diagnostic d = {.message = "kept"};
    memset(path, 'x', sizeof path);
    strcpy(path + sizeof path - 10, "/run.json");
    sgi_diagnostic_name(&d, path);
    assert_int_equal(strlen(d.file), sizeof d.file - 1);
    assert_memory_equal(d.file, "...x", 4);
    assert_non_null(strstr(said(&d), "/run.json: kept"));
    sgi_diagnostic_name(&d, "another");
    assert_non_null(strstr(d.file, "/run.json"));
}

static void every_function_takes_no_diagnostic(void **state)
{
    (void)state;
    sgi_source source = {"a", "b", 1};
    assert_status(sgi_fail(NULL, SG_ERROR_IO, "x"), SG_ERROR_IO);
    assert_status(sgi_fail_file(NULL, SG_ERROR_IO, "a", "x"), SG_ERROR_IO);
    sgi_diagnostic_place(NULL, &source, 0, 1);
    sgi_diagnostic_file(NULL, "a");
    sgi_diagnostic_name(NULL, "a");
    sgi_diagnostic_say(NULL, "a");
    sgi_diagnostic_suggest(NULL, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_fills_and_clears),
        cmocka_unit_test(places_are_told_as_far_as_they_are_known),
        cmocka_unit_test(of_a_long_path_the_end_is_kept),
        cmocka_unit_test(every_function_takes_no_diagnostic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
