/* Mistakes in problem files: tests/data/problems/malformed.txt holds each file with the exact text
 * that it must be answered with. */
#include <string.h>

#include "problem/problem.h"
#include "support/malformed.h"
#include "support/support.h"

static sg_status read_problem(const char *text, size_t size, const char *const *overrides,
                              size_t count, sg_diagnostic *diagnostic)
{
    sgi_problem *problem;
    sg_status status =
        sgi_problem_read(&problem, "p.yaml", text, size, overrides, count, NULL, diagnostic);
    if (status == SG_OK)
        sgi_problem_destroy(problem);
    return status;
}

static void test_malformed_files(void **state)
{
    (void)state;
    check_malformed(SG_TEST_DATA "/data/problems/malformed.txt", 40, read_problem);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    char answer[1024];
    assert_status(sgi_problem_load(&problem, "/no/such/file.yaml", NULL, 0, NULL, &diagnostic),
                  SG_ERROR_IO);
    assert_null(problem);
    sg_diagnostic_format(&diagnostic, answer, sizeof answer);
    assert_string_equal(answer, "/no/such/file.yaml: error: No such file or directory\n");
    static char large[SG_YAML_MOST_BYTES + 1];
    memset(large, '#', sizeof large);
    assert_status(
        sgi_problem_read(&problem, "large", large, sizeof large, NULL, 0, NULL, &diagnostic),
        SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message, "the file is larger than one megabyte");
    assert_status(sgi_problem_read(&problem, "zero", "a\0b", 3, NULL, 0, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message, "this is not UTF-8 text");
    static const char *const bad[] = {
        "a: \x80",     "a: \xC0\x80", "a: \xED\xA0\x80", "a: \xF5\x80\x80\x80",
        "a: \xE2\x82", "a: \x01",     "% 1net\xF0o/"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(
            sgi_problem_read(&problem, "bad", bad[i], strlen(bad[i]), NULL, 0, NULL, &diagnostic),
            SG_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_files),
        cmocka_unit_test(test_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
