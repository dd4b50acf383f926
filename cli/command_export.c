/* stablegrad export RUN FILE: the solution for other programs. */
#include "commands.h"
#include "solution_files.h"

const char export_details[] =
    "FILE ends in .npz (NumPy: axes and arrays), .csv (one row a point) or .vti (ParaView, VTK).\n"
    "\n"
    "  stablegrad export runs/heat-0001 heat.vti\n"
    "  stablegrad export runs/heat-0001 heat.npz --grid 201x101 --fields u,u_x --residuals\n";

int run_export(const cli_arguments *arguments)
{
    const char *path = arguments->operands[1];
    if (!may_write(path, arguments->force))
        return EXIT_BAD_INPUT;
    solution s;
    int code = open_solution(&s, arguments, true);
    if (code == EXIT_DONE)
        code = write_solution(&s, path);
    close_solution(&s);
    return code;
}
