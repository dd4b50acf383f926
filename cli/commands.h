/* The commands, each in a file of its own, and what they share. */
#ifndef SG_CLI_COMMANDS_H
#define SG_CLI_COMMANDS_H

#include "arguments.h"

int run_train(const cli_arguments *arguments);
/* Trains the runs of the comparison in `folder` that are those of one lane of `count`. */
int compare_as_lane(const cli_arguments *arguments, const char *folder, int index, int count);
int run_compare(const cli_arguments *arguments);
int run_eval(const cli_arguments *arguments);
int run_export(const cli_arguments *arguments);
int run_diagnose(const cli_arguments *arguments);
int run_check(const cli_arguments *arguments);
int run_reproduce(const cli_arguments *arguments);
int run_report(const cli_arguments *arguments);
int run_new(const cli_arguments *arguments);
int run_list(const cli_arguments *arguments);
int run_help(const cli_arguments *arguments);

extern const char train_details[], compare_details[], eval_details[], export_details[];
extern const char diagnose_details[], reproduce_details[];

#endif
