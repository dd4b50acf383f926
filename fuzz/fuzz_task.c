/* libFuzzer: any text as an image task is either refused with a diagnostic, or read, written and
 * read again as the same task. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "task/recognise.h"
#include "task/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is written can be read, and says the same. */
static void check_written(const sgi_task *task, const char *text)
{
    sgi_task *again;
    sg_diagnostic diagnostic;
    char *second;
    if (sgi_task_read(&again, "again", text, strlen(text), NULL, 0, NULL, &diagnostic) != SG_OK)
        abort();
    if (sgi_task_write(again, &second) == SG_OK) {
        if (strcmp(text, second) != 0)
            abort();
        sgi_release(&task->allocator, second);
    }
    sgi_task_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_task *task;
    sg_diagnostic diagnostic;
    char message[4096], *text;
    if (size > 1 << 14)
        return 0;
    bool recognised = sgi_task_recognise((const char *)data, size, NULL);
    sg_status status =
        sgi_task_read(&task, "fuzz", (const char *)data, size, NULL, 0, NULL, &diagnostic);
    if (status == SG_ERROR_FORMAT)
        sg_diagnostic_format(&diagnostic, message, sizeof message);
    if (status != SG_OK)
        return 0;
    if (!recognised)
        abort();
    if (sgi_task_write(task, &text) == SG_OK) {
        check_written(task, text);
        sgi_release(&task->allocator, text);
    }
    sgi_task_destroy(task);
    return 0;
}
