/* stablegrad eval RUN: values at points or on a grid, as CSV on the output or in a file. */
#include <string.h>

#include "commands.h"
#include "files/csv.h"
#include "solution.h"
#include "solution_files.h"
#include "work.h"

const char eval_details[] =
    "RUN is the folder of a run, or a .safetensors file together with --problem. The result goes "
    "to\n"
    "the output as CSV, or to --out (.csv, .npz). Columns of --points are matched by their names;\n"
    "NumPy files hold one array for each coordinate, np.savez(x=..., t=...), or one table. "
    "Quantities may be any expression of the fields,\n"
    "their derivatives and the coordinates. Of a task on images: top-1, top-5 and loss on its test "
    "images.\n"
    "\n"
    "  stablegrad eval runs/heat-0001 --grid 101x51 --fields u,u_x > u.csv\n"
    "  stablegrad eval weights.safetensors --problem heat.yaml --points at.csv --residuals\n";

static sg_status to_output(void *context, const char *text, size_t size)
{
    return fwrite(text, 1, size, context) == size ? SG_OK : SG_ERROR_IO;
}

/* What an option asks for that a run on images does not have; NULL: nothing. */
static const char *of_points(const cli_arguments *a)
{
    return a->grid        ? "--grid"
           : a->points    ? "--points"
           : a->fields    ? "--fields"
           : a->residuals ? "--residuals"
           : a->precision ? "--precision"
           : a->out       ? "--out"
                          : NULL;
}

/* A run on images: the share of test images that it gets right. */
static int eval_images(const cli_arguments *arguments, const char *file, const char *weights)
{
    int code;
    work w;
    if (of_points(arguments)) {
        complain("%s does not apply: %s is a task on images, and eval counts its hits on the test "
                 "images",
                 of_points(arguments), file);
        return EXIT_BAD_INPUT;
    }
    if (!open_work(&w, arguments, file, NULL, 0, &code))
        return code;
    code = w.kind->eval(w.file, weights, arguments);
    close_work(&w);
    return code;
}

int run_eval(const cli_arguments *arguments)
{
    solution s;
    char file[SG_PATH_SIZE], weights[SG_PATH_SIZE];
    int found = find_files(arguments, file, weights);
    if (found != EXIT_DONE || is_image_task(file))
        return found == EXIT_DONE ? eval_images(arguments, file, weights) : found;
    if (arguments->out && !may_write(arguments->out, arguments->force))
        return EXIT_BAD_INPUT;
    int code = open_solution(&s, arguments, false);
    if (code == EXIT_DONE && arguments->out) {
        code = write_solution(&s, arguments->out);
    } else if (code == EXIT_DONE) {
        sg_status status = sgi_csv_emit(to_output, stdout, s.column_count, s.names,
                                        (const double *const *)s.columns, s.places.count);
        if (status != SG_OK || fflush(stdout) != 0) {
            complain("the output could not be written");
            code = EXIT_RUN_FAILED;
        }
    }
    close_solution(&s);
    return code;
}
