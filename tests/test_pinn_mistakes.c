/* Mistakes in problem files: tests/data/problems/malformed.txt holds each file with the exact text
 * that it must be answered with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/problem.h"
#include "support/support.h"

enum { MOST_OVERRIDES = 4 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Cuts `text` at the next line that starts with `mark`; returns what follows that mark. */
static char *cut(char *text, const char *mark)
{
    size_t n = strlen(mark);
    char *at = text;
    if (strncmp(at, mark, n) != 0) {
        char line[16];
        snprintf(line, sizeof line, "\n%s", mark);
        at = strstr(text, line);
        if (!at)
            return NULL;
        at++;
    }
    char *rest = at + n;
    *at = 0;
    return rest;
}

/* One case: a title line, #set lines, the file, ----, the answer. */
static void check_case(char *block)
{
    char *expected = cut(block, "----\n"), *text = strchr(block, '\n');
    const char *overrides[MOST_OVERRIDES];
    size_t count = 0;
    assert_non_null(expected);
    assert_non_null(text);
    *text++ = 0;
    while (strncmp(text, "#set ", 5) == 0) {
        assert_true(count < MOST_OVERRIDES);
        overrides[count++] = text + 5;
        text = strchr(text, '\n');
        assert_non_null(text);
        *text++ = 0;
    }
    sg_problem *problem;
    sg_diagnostic diagnostic;
    char answer[4096];
    sg_status status = sg_problem_read(&problem, "p.yaml", text, strlen(text), overrides, count,
                                       NULL, &diagnostic);
    if (status == SG_OK)
        sg_problem_destroy(problem);
    sg_diagnostic_format(&diagnostic, answer, sizeof answer);
    if (status != SG_ERROR_FORMAT || strcmp(answer, expected) != 0)
        fail_msg("%s: %s\n%s\nexpected\n%s", block, sg_status_name(status), answer, expected);
}

static void test_malformed_files(void **state)
{
    (void)state;
    char *all = read_file(SG_TEST_DATA "/data/problems/malformed.txt");
    int count = 0;
    for (char *block = cut(all, "#### "); block; count++) {
        char *next = cut(block, "#### ");
        check_case(block);
        block = next;
    }
    assert_true(count >= 40);
    print_message("%d malformed files\n", count);
    free(all);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    sg_problem *problem;
    sg_diagnostic diagnostic;
    char answer[1024];
    assert_status(sg_problem_load(&problem, "/no/such/file.yaml", NULL, 0, NULL, &diagnostic),
                  SG_ERROR_IO);
    assert_null(problem);
    sg_diagnostic_format(&diagnostic, answer, sizeof answer);
    assert_string_equal(answer, "/no/such/file.yaml: error: the file cannot be read\n");
    static char large[SG_YAML_MOST_BYTES + 1];
    memset(large, '#', sizeof large);
    assert_status(
        sg_problem_read(&problem, "large", large, sizeof large, NULL, 0, NULL, &diagnostic),
        SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message, "the file is larger than one megabyte");
    assert_status(sg_problem_read(&problem, "zero", "a\0b", 3, NULL, 0, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message, "this is not UTF-8 text");
    static const char *const bad[] = {
        "a: \x80",     "a: \xC0\x80", "a: \xED\xA0\x80", "a: \xF5\x80\x80\x80",
        "a: \xE2\x82", "a: \x01",     "% 1net\xF0o/"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(
            sg_problem_read(&problem, "bad", bad[i], strlen(bad[i]), NULL, 0, NULL, &diagnostic),
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
