/* stablegrad export RUN FILE: the solution for other programs. */
#include "commands.h"
#include "commands/solution_files.h"

const char export_details[] =
    "The ending of FILE chooses the format: .npz holds the axes and arrays for NumPy, .csv has "
    "one\n"
    "row for each point, .vti and .vtu are for ParaView and other programs that use VTK: a grid "
    "over\n"
    "the box of the coordinates, and a mesh that fits the domain.\n"
    "\n"
    "  stablegrad export runs/heat-0001 heat.vti\n"
    "  stablegrad export runs/heat-0001 heat.npz --grid 201x101 --fields u,u_x --residuals\n";

int run_export(const cli_arguments *arguments)
{
    const char *path = arguments->operands[1];
    if (!may_write(path, arguments->force))
        return EXIT_BAD_INPUT;
    solution s;
    int code = open_solution(&s, arguments, true, path);
    if (code == EXIT_DONE)
        code = write_solution(&s, path);
    close_solution(&s);
    return code;
}
