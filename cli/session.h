/* What the commands that train or evaluate share: the problem, threads, signals, messages. */
#ifndef SG_CLI_SESSION_H
#define SG_CLI_SESSION_H

#include <jansson.h>
#include <signal.h>

#include "arguments.h"
#include "stablegrad/cpu.h"
#include "stablegrad/pool.h"
#include "train/run_folder.h"

/* The file that `name` means: a path, or the name of a shipped problem ("burgers"). */
void find_problem(const char *name, char path[SG_PATH_SIZE]);

/* Whether `path` is the folder of a run, of a comparison, or of a reproduction. */
bool is_a_run(const char *path);
bool is_a_comparison(const char *path);
bool is_a_reproduction(const char *path);

bool is_folder(const char *path);

/* The file at `path` cannot be read: says in the diagnostic what it is instead, if it is a folder,
 * or which shipped problem was probably meant. */
void explain_path(const char *path, sg_diagnostic *diagnostic);

/* A JSON file of a folder, or NULL. */
json_t *read_json(const char *folder, const char *name);

/* Copies a path that was typed; false, and says so, when it is too long. */
bool copy_path(char path[SG_PATH_SIZE], const char *from);

/* Where the shipped problems are; false if they are nowhere to be found. */
bool problem_folder(char path[SG_PATH_SIZE]);

/* A pool of --threads; NULL, with a diagnostic, if it cannot be made. */
sg_pool *open_pool(const cli_arguments *arguments);

/* The instruction set of --isa, or the best one that all ranks have; false, with a diagnostic, if
 * it is not one or cannot run here. */
bool read_isa(const cli_arguments *arguments, sg_isa *isa);

/* Set once Ctrl-C or a termination signal came; a second one ends the program at once. */
extern volatile sig_atomic_t stop_requested;
void watch_signals(void);
/* This process says nothing of signals: another one that gets them too does. */
void leave_signals_to_others(void);

/* The command line as typed, for run.json. */
void remember_command(int argc, char **argv);
const char *command_text(void);

/* The threads of oneDNN wait in a loop unless the environment says otherwise before the program
 * starts, and one such loop on a busy processor holds up all of them: starts the program anew with
 * OMP_WAIT_POLICY=passive if nothing is set. Call before anything is done. */
void wait_passively(void);

/* Exit code for a library status: bad input, or a failed run. */
int exit_code_of(sg_status status);
/* The same for reading what the user named. */
int exit_code_of_input(sg_status status);

/* Prints a number with thousands separated: 30,723. */
void format_thousands(uint64_t value, char *text, size_t size);

/* An object as a line on stdout, with so many digits (0: all); it is released. */
void print_line(json_t *object, int digits);

#endif
