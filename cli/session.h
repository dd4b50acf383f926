/* What the commands that train or evaluate share: the problem, threads, signals, messages. */
#ifndef SG_CLI_SESSION_H
#define SG_CLI_SESSION_H

#include <signal.h>

#include "arguments.h"
#include "pinn/problem.h"
#include "train/run_folder.h"

/* The file that `name` means: a path, or the name of a shipped problem ("burgers"). */
void find_problem(const char *name, char path[SG_PATH_SIZE]);

/* Where the shipped problems are; false if they are nowhere to be found. */
bool problem_folder(char path[SG_PATH_SIZE]);

/* Reads a problem with --set, --seed and `more` (count) applied. On a mistake says so on stderr and
 * returns NULL; *exit_code is then what the program should end with. */
sg_problem *open_problem(const cli_arguments *arguments, const char *path, const char *const *more,
                         size_t count, int *exit_code);

/* A pool of --threads; NULL, with a message, if it cannot be made. */
sg_pool *open_pool(const cli_arguments *arguments);

/* The instruction set of --isa; false, with a message, if it is not one or cannot run here. */
bool read_isa(const cli_arguments *arguments, sg_isa *isa);

/* Set once Ctrl-C or a termination signal came; a second one ends the program at once. */
extern volatile sig_atomic_t stop_requested;
void watch_signals(void);

/* The command line as typed, for run.json. */
void remember_command(int argc, char **argv);
const char *command_text(void);

/* Exit code for a library status: bad input, or a failed run. */
int exit_code_of(sg_status status);

/* Prints a number with thousands separated: 30,723. */
void format_thousands(uint64_t value, char *text, size_t size);

#endif
