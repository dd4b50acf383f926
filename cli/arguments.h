/* The command line as one table: it drives parsing, errors with suggestions, --help and completion.
 * Adding an option is adding a row and a member; adding a command is one file and a row. */
#ifndef SG_CLI_ARGUMENTS_H
#define SG_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stablegrad/diagnostic.h"

/* Exit codes of the program. */
enum { EXIT_DONE = 0, EXIT_RUN_FAILED = 1, EXIT_BAD_INPUT = 2, EXIT_INTERRUPTED = 130 };

enum { MOST_SETS = 64, MOST_OPERANDS = 64 };

/* Everything that can be said on the command line; each command uses what it accepts. Texts point
 * into argv. */
typedef struct cli_arguments {
    const char *operands[MOST_OPERANDS];
    size_t operand_count;
    const char *sets[MOST_SETS]; /* --set key=value */
    size_t set_count;
    int64_t threads;  /* 0: all processors */
    int64_t seed;     /* -1: the problem's */
    int64_t seeds;    /* how many, for compare */
    int64_t step;     /* of a checkpoint; -1: the newest */
    int64_t seconds;  /* to time steps in, for check */
    int64_t patience; /* seconds that a rank waits for the others */
    const char *out, *problem, *grid, *points, *fields, *variants, *precision, *isa;
    const char *budget, *only;
    bool resume, quiet, json, residuals, best, images, force, insist, help;
} cli_arguments;

typedef enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_COUNT, OPTION_SETS } option_kind;

typedef struct cli_option {
    const char *name; /* without the dashes */
    option_kind kind;
    size_t offset;     /* in arguments */
    const char *value; /* what the help calls its value; NULL for a flag */
    const char *help;
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *operands; /* "FILE", "RUN FILE" ... */
    size_t least, most;   /* operands */
    const char *options;  /* names it accepts, separated by spaces; --help is always one */
    const char *summary;  /* one line */
    const char *details;  /* for --help, may be NULL */
    int (*run)(const cli_arguments *arguments);
    bool trains; /* ranks do it together; other commands are the first rank's alone */
} cli_command;

extern const cli_command commands[];
extern const size_t command_count;
extern const cli_option options[];
extern const size_t option_count;

/* The command of that name, or NULL. */
const cli_command *find_command(const char *name);

/* Whether the command accepts the option. */
bool accepts(const cli_command *command, const char *option);

/* Reads argv[2..]. On a mistake says so on stderr and returns false. */
bool read_arguments(const cli_command *command, int argc, char **argv, cli_arguments *arguments);

/* Help for the program or for one command. */
void print_overview(FILE *to);
void print_help(const cli_command *command, FILE *to);

/* Says "stablegrad: ..." on stderr. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Says "warning: ..." on stderr. */
__attribute__((format(printf, 1, 2))) void warn(const char *format, ...);

/* Says what a diagnostic holds on stderr: with its place and the line of the file when it has them,
 * and otherwise as a sentence. */
void tell(const sg_diagnostic *diagnostic);

#endif
