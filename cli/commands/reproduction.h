/* What `stablegrad reproduce` works on: the experiment, its folder, and its runs. */
#ifndef SG_CLI_REPRODUCTION_H
#define SG_CLI_REPRODUCTION_H

#include "reproduce/reproduction.h"
#include "run_state.h"
#include "work.h"

typedef struct reproduction {
    const cli_arguments *arguments;
    const sgi_experiment *experiment;
    sgi_budget budget;
    int64_t seeds;
    bool chosen[SG_EXPERIMENT_PARTS][SG_PART_ARMS]; /* the runs that --only names, or all */
    char folder[SG_PATH_SIZE];
    char go_on[SG_PATH_SIZE + 2048]; /* what to type to go on, without the program's name */
    json_t *index;                   /* reproduce.json */
    sg_pool *pool;
    sg_isa isa;
} reproduction;

/* The values of one run: when to write checkpoints, those of its arm, the derived one, --set, and
 * the seed. */
enum { MOST_RUN_SETS = SG_MOST_ARM_SETS + MOST_SETS + 3 };

/* Opens the file of an arm as it is to be trained with the seed after the file's own by `k`;
 * `derived` may be NULL. Returns false after saying what is wrong. */
bool open_arm(const reproduction *r, size_t part, size_t arm, int64_t k, const char *derived,
              work *w, int *code);

/* "adamw", and for further seeds "adamw-1". */
void run_name_of(const sgi_arm *arm, int64_t k, char *name, size_t size);

/* The folder of a part. False when its path is too long, after saying so. */
bool part_folder(const reproduction *r, size_t part, char folder[SG_PATH_SIZE]);

/* How many arms of a part are chosen. */
size_t chosen_arms(const reproduction *r, size_t part);

/* Trains what is left of the chosen arms. Returns an exit code. */
int train_parts(reproduction *r);

/* Seconds that the runs which are not complete will take, by a step of each part; NaN: not known.
 * `folder` "": none was begun. */
double expected_seconds(const reproduction *r);

/* Makes the tables of what is in the folder, writes them and the report. NULL after saying what
 * went wrong; else to be released. */
json_t *write_tables(const reproduction *r);

/* The tables and the report of a folder anew: `stablegrad report` of a reproduction. */
int report_reproduction(const char *folder, bool quiet);

/* A table on the terminal. */
void print_table(const json_t *table);

#endif
