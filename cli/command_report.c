/* stablegrad report RUN: writes report.html again, from what the folder holds. */
#include "commands.h"
#include "training.h"

int run_report(const cli_arguments *arguments)
{
    const char *folder = arguments->operands[0];
    if (!write_report(folder))
        return EXIT_BAD_INPUT;
    if (!arguments->quiet)
        printf("report  %s/report.html\n", folder);
    return EXIT_DONE;
}
