/* stablegrad report RUN: writes report.html again, from what the folder holds. */
#include <unistd.h>

#include "commands.h"
#include "commands/reproduction.h"
#include "training.h"

int run_report(const cli_arguments *arguments)
{
    const char *folder = arguments->operands[0];
    if (access(folder, F_OK) == 0 && !is_folder(folder)) {
        complain("%s is not the folder of a run or of a comparison", folder);
        fprintf(stderr, "'stablegrad list' shows those in this folder\n");
        return EXIT_BAD_INPUT;
    }
    if (is_a_reproduction(folder))
        return report_reproduction(folder, arguments->quiet);
    sg_status status = write_report(folder);
    if (status == SG_ERROR_IO) /* a run that cannot be written to, or no run at all */
        return is_a_run(folder) || is_a_comparison(folder) ? EXIT_RUN_FAILED : EXIT_BAD_INPUT;
    if (status != SG_OK)
        return exit_code_of(status);
    if (!arguments->quiet)
        printf("report  %s/report.html\n", folder);
    return EXIT_DONE;
}
