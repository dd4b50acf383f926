/* stablegrad export RUN FILE: the solution for other programs. */
#include <string.h>

#include "commands.h"
#include "commands/solution_files.h"
#include "export/export.h"

const char export_details[] =
    "The ending of FILE chooses the format: .npz holds the axes and arrays for NumPy, .csv has "
    "one\n"
    "row for each point, .vti and .vtu are for ParaView and other programs that use VTK: a grid "
    "over\n"
    "the box of the coordinates, and a mesh that fits the domain.\n"
    "\n"
    "Two endings write the network itself, with its input map and exact conditions: .onnx is a\n"
    "graph for other runtimes, from arrays named as the coordinates to arrays named as the "
    "fields;\n"
    ".c is a file of C99 that needs libm alone, with functions for the fields, their gradient "
    "and\n"
    "the derivatives that the equations use.\n"
    "\n"
    "  stablegrad export runs/heat-0001 heat.vti\n"
    "  stablegrad export runs/heat-0001 heat.npz --grid 201x101 --fields u,u_x --residuals\n"
    "  stablegrad export runs/heat-0001 heat.onnx\n"
    "  stablegrad export runs/heat-0001 heat.c\n";

/* The type of an ONNX graph: that of the network, or what --precision says. */
static sg_status write_onnx(const solution *s, const char *precision, const char *path,
                            const char *from, sg_diagnostic *diagnostic)
{
    sg_type type = sg_jet_network_type(sg_pinn_network(s->pinn));
    if (precision)
        type = strcmp(precision, "float") == 0 ? SG_FLOAT32 : SG_FLOAT64;
    return sgi_export_onnx(path, s->pinn, type, from, diagnostic);
}

/* The network itself. C is written in double, whatever the network was trained in. */
static int export_network(const cli_arguments *arguments, const char *path)
{
    sg_diagnostic diagnostic = {0};
    bool onnx = ends_in(path, ".onnx");
    const char *precision = arguments->precision, *from = arguments->operands[0];
    cli_arguments asked = *arguments;
    if (arguments->grid || arguments->fields || arguments->residuals) {
        complain("--grid, --fields and --residuals belong to values at points; %s has the network "
                 "itself",
                 path);
        return EXIT_BAD_INPUT;
    }
    if (precision && strcmp(precision, "double") != 0 &&
        (!onnx || strcmp(precision, "float") != 0)) {
        complain(onnx ? "--precision is float or double, not '%s'"
                      : "a file of C computes in double; --precision %s cannot be kept",
                 precision);
        return EXIT_BAD_INPUT;
    }
    asked.precision = NULL; /* of the file written, not of the network */
    solution s;
    int code = open_trained(&s, &asked);
    if (code == EXIT_DONE) {
        sg_status status = onnx ? write_onnx(&s, precision, path, from, &diagnostic)
                                : sgi_export_c(path, s.pinn, from, &diagnostic);
        if (status != SG_OK)
            tell(&diagnostic);
        code = exit_code_of(status);
    }
    close_solution(&s);
    return code;
}

int run_export(const cli_arguments *arguments)
{
    const char *path = arguments->operands[1];
    bool network = ends_in(path, ".onnx") || ends_in(path, ".c");
    if (network ? !may_replace(path, arguments->force) : !may_write(path, arguments->force))
        return EXIT_BAD_INPUT;
    if (network)
        return export_network(arguments, path);
    solution s;
    int code = open_solution(&s, arguments, true, path);
    if (code == EXIT_DONE)
        code = write_solution(&s, path);
    close_solution(&s);
    return code;
}
