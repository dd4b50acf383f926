/* libFuzzer: any text as a problem file is either refused with a diagnostic, or read, written and
 * read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "problem/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_problem *problem, *again;
    sg_diagnostic diagnostic;
    char message[4096], *text;
    if (size > 1 << 14)
        return 0;
    sg_status status =
        sgi_problem_read(&problem, "fuzz", (const char *)data, size, NULL, 0, NULL, &diagnostic);
    if (status == SG_ERROR_FORMAT)
        sg_diagnostic_format(&diagnostic, message, sizeof message);
    if (status != SG_OK)
        return 0;
    if (sgi_problem_write(problem, &text) == SG_OK) {
        if (sgi_problem_read(&again, "again", text, strlen(text), NULL, 0, NULL, &diagnostic) !=
            SG_OK)
            abort(); /* what is written can be read */
        sgi_problem_destroy(again);
        sgi_release(&problem->allocator, text);
    }
    sgi_problem_destroy(problem);
    return 0;
}
