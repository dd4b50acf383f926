/* Any bytes as the files of a run folder: refused with a diagnostic, or a report, in which nothing
 * of the files stands as HTML of its own. */
#include "folder.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A tag that the report itself never writes. */
static const char tag[] = "<fuzz";

static void check_page(void)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/report.html", folder_path());
    FILE *file = fopen(path, "r");
    if (!file)
        abort();
    size_t matched = 0;
    for (int c; (c = fgetc(file)) != EOF;) {
        matched = c == tag[matched] ? matched + 1 : c == tag[0];
        if (matched == sizeof tag - 1)
            abort();
    }
    (void)fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sg_diagnostic diagnostic = {0};
    folder_fill(data, size);
    if (sgi_report_write(folder_path(), NULL, &diagnostic) == SG_OK)
        check_page();
    else if (!diagnostic.message[0])
        abort();
    return 0;
}
