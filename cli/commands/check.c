/* stablegrad check FILE: what would be trained, what it costs, and whether it fits together. */
#include "commands.h"
#include "work.h"

int run_check(const cli_arguments *arguments)
{
    char path[SG_PATH_SIZE];
    int code;
    work w;
    find_problem(arguments->operands[0], path);
    if (!open_work(&w, arguments, path, NULL, 0, &code))
        return code;
    code = w.kind->check(w.file, arguments);
    close_work(&w);
    return code;
}
