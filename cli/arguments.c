/* Reading the command line: see arguments.h. */
#include "arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/list.h"
#include "printable.h"
#include "stablegrad/cpu.h"
#include "text/nearest.h"

#define ROW(name, kind, value, help)                                                               \
    {                                                                                              \
#name, kind, offsetof(cli_arguments, name), value, help                                    \
    }

const cli_option options[] = {
    {"set", OPTION_SETS, 0, "KEY=VALUE",
     "set an option of the file to another value; may be repeated"},
    ROW(threads, OPTION_COUNT, "N", "number of threads (default: one for each processor)"),
    ROW(seed, OPTION_COUNT, "N",
        "seed of the initial weights and of the points (default: the one in the file)"),
    ROW(seeds, OPTION_COUNT, "N",
        "how many seeds to train, counting up from the first one (default: 1)"),
    ROW(step, OPTION_COUNT, "N", "the step of the checkpoint (default: the newest)"),
    ROW(seconds, OPTION_COUNT, "N",
        "time to measure steps in; a step of images that takes longer is estimated (default: 20)"),
    ROW(patience, OPTION_COUNT, "N",
        "seconds that a rank waits for the others before it gives up (default: 300)"),
    ROW(out, OPTION_TEXT, "PATH", "the folder or file that the results are written to"),
    ROW(resume, OPTION_FLAG, NULL,
        "go on from the newest checkpoint, as if the run had never stopped"),
    ROW(variants, OPTION_TEXT, "LIST",
        "the variants to compare, separated by commas; they are listed below"),
    ROW(budget, OPTION_TEXT, "WORD", "quick, hours or full (default: quick)"),
    ROW(only, OPTION_TEXT, "LIST",
        "the parts of the experiment to run, or single runs, separated by commas"),
    ROW(problem, OPTION_TEXT, "FILE",
        "the problem that the weights solve, when RUN is a file of weights"),
    ROW(grid, OPTION_TEXT, "NxM", "evaluate on a grid with so many points along each coordinate"),
    ROW(points, OPTION_TEXT, "FILE", "evaluate at the points of a .csv, .npy, .npz or .mat file"),
    ROW(fields, OPTION_TEXT, "LIST",
        "the quantities to evaluate, as u,u_x,u_xx (default: the fields)"),
    ROW(residuals, OPTION_FLAG, NULL, "evaluate the residual of each equation as well"),
    ROW(precision, OPTION_TEXT, "TYPE", "float or double (default: the one in the file)"),
    ROW(best, OPTION_FLAG, NULL, "use the weights of the best evaluation instead of the newest"),
    ROW(isa, OPTION_TEXT, "SET", "instruction set to compute with:" SG_ISA_LIST(SGI_LIST_WORD)),
    ROW(images, OPTION_FLAG, NULL, "write a task on images instead of a PDE problem"),
    ROW(insist, OPTION_FLAG, NULL, "resume even if the checkpoint is of another problem or seed"),
    ROW(force, OPTION_FLAG, NULL, "overwrite the file if it exists already"),
    ROW(quiet, OPTION_FLAG, NULL, "print nothing but errors"),
    ROW(json, OPTION_FLAG, NULL, "print JSON instead of text, one object on each line"),
    ROW(help, OPTION_FLAG, NULL, "print this help"),
};
const size_t option_count = sizeof options / sizeof options[0];

static void say(const char *first, const char *format, va_list list)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, list);
    fflush(stdout); /* where both go to one file, what was said before comes first */
    fputs(first, stderr);
    put_message(text, stderr);
    fputc('\n', stderr);
}

void complain(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("stablegrad: ", format, list);
    va_end(list);
}

void warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("warning: ", format, list);
    va_end(list);
}

void tell(const sg_diagnostic *diagnostic)
{
    char text[2048];
    if (diagnostic->line > 0) {
        fflush(stdout);
        sg_diagnostic_format(diagnostic, text, sizeof text);
        put_message(text, stderr);
        return;
    }
    sgi_diagnostic_line(diagnostic, text, sizeof text);
    complain("%s", text);
    if (!diagnostic->suggestion[0])
        return;
    put_message(diagnostic->suggestion, stderr);
    fputc('\n', stderr);
}

const cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

bool accepts(const cli_command *command, const char *name)
{
    if (strcmp(name, "help") == 0)
        return true;
    size_t length = strlen(name);
    for (const char *at = command->options; (at = strstr(at, name)); at += length) {
        bool starts = at == command->options || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

static void complain_about_option(const cli_command *command, const char *name, size_t length)
{
    complain("'%s' has no option '--%.*s'", command->name, (int)length, name);
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, name, length);
    for (size_t i = 0; i < option_count; i++)
        if (accepts(command, options[i].name))
            sgi_nearest_offer(&nearest, options[i].name);
    if (nearest.best[0])
        fprintf(stderr, "did you mean '--%s'?  ", nearest.best);
    fprintf(stderr, "see: stablegrad %s --help\n", command->name);
}

static bool store(const cli_option *option, const char *value, cli_arguments *arguments)
{
    char *member = (char *)arguments + option->offset;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)(void *)member = true;
        return true;
    case OPTION_TEXT:
        *(const char **)(void *)member = value;
        return true;
    case OPTION_SETS:
        if (arguments->set_count == MOST_SETS) {
            complain("more than %d times --set", MOST_SETS);
            return false;
        }
        arguments->sets[arguments->set_count++] = value;
        return true;
    case OPTION_COUNT:
        break;
    }
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno || end == value || *end || number < 0) {
        complain("--%s takes a whole number, not '%s'", option->name, value);
        return false;
    }
    *(int64_t *)(void *)member = number;
    return true;
}

/* One argument that starts with two dashes; `*i` moves past a value of its own. */
static bool read_option(const cli_command *command, int argc, char **argv, int *i,
                        cli_arguments *arguments)
{
    const char *name = argv[*i] + 2;
    size_t length = strcspn(name, "=");
    const cli_option *found = NULL;
    for (size_t k = 0; k < option_count && !found; k++)
        if (strlen(options[k].name) == length && strncmp(options[k].name, name, length) == 0 &&
            accepts(command, options[k].name))
            found = &options[k];
    if (!found) {
        complain_about_option(command, name, length);
        return false;
    }
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (found->kind == OPTION_FLAG && value) {
        complain("--%s takes no value", found->name);
        return false;
    }
    if (found->kind != OPTION_FLAG && !value) {
        if (*i + 1 == argc) {
            complain("--%s needs a value: --%s %s", found->name, found->name, found->value);
            return false;
        }
        value = argv[++*i];
    }
    return store(found, value, arguments);
}

bool read_arguments(const cli_command *command, int argc, char **argv, cli_arguments *arguments)
{
    *arguments =
        (struct cli_arguments){.seed = -1, .seeds = 1, .seconds = 20, .patience = 300, .step = -1};
    bool operands_only = false;
    for (int i = 2; i < argc; i++) {
        if (!operands_only && strcmp(argv[i], "--") == 0) {
            operands_only = true;
        } else if (!operands_only && strcmp(argv[i], "-h") == 0) {
            arguments->help = true;
        } else if (!operands_only && strncmp(argv[i], "--", 2) == 0) {
            if (!read_option(command, argc, argv, &i, arguments))
                return false;
        } else if (arguments->operand_count == MOST_OPERANDS) {
            complain("too many arguments");
            return false;
        } else {
            arguments->operands[arguments->operand_count++] = argv[i];
        }
    }
    if (arguments->help)
        return true;
    if (arguments->operand_count < command->least || arguments->operand_count > command->most) {
        complain("usage: stablegrad %s %s", command->name, command->operands);
        fprintf(stderr, "see: stablegrad %s --help\n", command->name);
        return false;
    }
    return true;
}

void print_overview(FILE *to)
{
    fputs("stablegrad COMMAND ...\n\n", to);
    for (size_t i = 0; i < command_count; i++)
        fprintf(to, "  %-9s %-14s %s\n", commands[i].name, commands[i].operands,
                commands[i].summary);
    fputs("\n'stablegrad COMMAND --help' explains a command, 'stablegrad --version' prints the "
          "version.\n",
          to);
}

void print_help(const cli_command *command, FILE *to)
{
    fprintf(to, "stablegrad %s %s%s\n\n%s.\n\n", command->name, command->operands,
            command->options[0] ? " [OPTION...]" : "", command->summary);
    for (size_t i = 0; i < option_count; i++) {
        if (!accepts(command, options[i].name))
            continue;
        char left[40];
        snprintf(left, sizeof left, "--%s %s", options[i].name,
                 options[i].value ? options[i].value : "");
        fprintf(to, "  %-20s %s\n", left, options[i].help);
    }
    if (command->details)
        fprintf(to, "\n%s", command->details);
}
