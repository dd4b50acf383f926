/* Mistakes in image task files: tests/data/tasks/malformed.txt holds each file with the exact text
 * that it must be answered with. */
#include <string.h>

#include "config/document.h"
#include "support/malformed.h"
#include "support/support.h"
#include "task/task.h"

static sg_status read_task(const char *text, size_t size, const char *const *overrides,
                           size_t count, sg_diagnostic *diagnostic)
{
    sgi_task *task;
    sg_status status =
        sgi_task_read(&task, "t.yaml", text, size, overrides, count, NULL, diagnostic);
    if (status == SG_OK)
        sgi_task_destroy(task);
    return status;
}

static void test_malformed_files(void **state)
{
    (void)state;
    check_malformed(SG_TEST_DATA "/data/tasks/malformed.txt", 60, read_task);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    sg_diagnostic diagnostic;
    char answer[1024], *text;
    size_t size;
    assert_status(sgi_document_text("/no/such/file.yaml", NULL, &text, &size, &diagnostic),
                  SG_ERROR_IO);
    assert_null(text);
    sg_diagnostic_format(&diagnostic, answer, sizeof answer);
    assert_string_equal(answer, "/no/such/file.yaml: error: No such file or directory\n");
    assert_status(sgi_document_text("/", NULL, &text, &size, &diagnostic), SG_ERROR_IO);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_files),
        cmocka_unit_test(test_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
