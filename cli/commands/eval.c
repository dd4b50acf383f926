/* stablegrad eval RUN: values at points or on a grid, as CSV on the output or in a file. */
#include <string.h>

#include "commands.h"
#include "commands/solution.h"
#include "commands/solution_files.h"
#include "files/csv.h"
#include "work.h"

const char eval_details[] =
    "RUN is the folder of a run, or a .safetensors file of weights together with --problem. The\n"
    "values are printed as CSV, or with --json as one object of arrays; --out writes them to a "
    "file\n"
    "(.csv, .npz) instead. The columns of --points are matched to the coordinates by their names; "
    "a\n"
    "NumPy or MATLAB file holds one array for each coordinate, as np.savez(x=..., t=...) writes "
    "it,\n"
    "or one table. A quantity is any expression of the fields, their derivatives and the "
    "coordinates. For "
    "a\n"
    "task on images the result is the share of test images that the network gets right (top-1, "
    "and\n"
    "top-5) and its loss on them.\n"
    "\n"
    "  stablegrad eval runs/heat-0001 --grid 101x51 --fields u,u_x > u.csv\n"
    "  stablegrad eval weights.safetensors --problem heat.yaml --points at.csv --residuals\n";

static sg_status to_output(void *context, const char *text, size_t size)
{
    return fwrite(text, 1, size, context) == size ? SG_OK : SG_ERROR_IO;
}

/* One object: an array for each coordinate and quantity, null where a value is not finite. */
static int print_json(const solution *s)
{
    json_t *object = json_object();
    int failed = 0;
    for (size_t k = 0; k < s->column_count; k++) {
        json_t *array = json_array();
        for (size_t i = 0; i < s->places.count; i++)
            failed |= json_array_append_new(array, sgi_json_number(s->columns[k][i]));
        failed |= json_object_set_new(object, s->names[k], array);
    }
    if (!failed)
        failed = json_dumpf(object, stdout, JSON_COMPACT) | (fputc('\n', stdout) == EOF);
    json_decref(object);
    return failed;
}

static int print_csv(const solution *s)
{
    return sgi_csv_emit(to_output, stdout, s->column_count, s->names,
                        (const double *const *)s->columns, s->places.count) != SG_OK;
}

int eval_problem(const cli_arguments *arguments, const char *path, const char *weights)
{
    solution s;
    (void)path;
    (void)weights; /* found again with the rest */
    if (arguments->out && !may_write(arguments->out, arguments->force))
        return EXIT_BAD_INPUT;
    int code = open_solution(&s, arguments, false, arguments->out);
    if (code == EXIT_DONE && arguments->out) {
        code = write_solution(&s, arguments->out);
    } else if (code == EXIT_DONE) {
        int failed = arguments->json ? print_json(&s) : print_csv(&s);
        if (failed && !ferror(stdout)) /* what could not be written, main tells */
            complain("out of memory");
        code = failed ? EXIT_RUN_FAILED : EXIT_DONE;
    }
    close_solution(&s);
    return code;
}

int run_eval(const cli_arguments *arguments)
{
    char path[SG_PATH_SIZE], weights[SG_PATH_SIZE];
    int code = find_files(arguments, path, weights);
    return code == EXIT_DONE ? kind_of(path)->eval(arguments, path, weights) : code;
}
