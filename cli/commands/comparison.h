/* A comparison: its variants, its runs and their folders, and how the runs are trained. */
#ifndef SG_CLI_COMPARISON_H
#define SG_CLI_COMPARISON_H

#include "run_state.h"
#include "training.h"

enum { MOST_VARIANTS = 8, MOST_SEEDS = 99 };

typedef struct comparison {
    const cli_arguments *arguments;
    const work_kind *kind;
    char problem_path[SG_PATH_SIZE];
    char folder[SG_PATH_SIZE];
    char go_on[SG_PATH_SIZE + 16]; /* "compare FOLDER" */
    json_t *index;                 /* compare.json, when it is resumed */
    sgi_run_lock lock;             /* of the folder */
    bool made;                     /* the folder was not there before */
    const variant *variants[MOST_VARIANTS];
    char labels[MOST_VARIANTS][64];
    size_t variant_count;
    int64_t first_seed, seeds;
    sg_pool *pool;
    sg_isa isa;
    int lanes, lane; /* how many train runs side by side, and which of them this process is */
    lane *place;     /* NULL: there is one lane */
    int threads;     /* of all lanes */
} comparison;

/* compare.c: "adamw", or with several seeds "adamw-0", by the seed. */
void run_name(const comparison *c, size_t v, int64_t k, char *name, size_t size);

/* The folder of a run, and the file that it is trained from. */
sg_status run_paths(const comparison *c, size_t v, int64_t k, char folder[SG_PATH_SIZE],
                    char file[SG_PATH_SIZE]);

/* The file of the comparison as run k of variant v trains it. */
bool open_variant(const comparison *c, size_t v, int64_t k, work *w, int *code);

/* Removes the comparison's folder, when no run in it was begun. */
void remove_folder(comparison *c);

/* compare_runs.c: trains the runs that are this lane's, one after the other. Exit codes. */
int train_ours(comparison *c);

/* Trains all of them, side by side where that is faster. */
int train_runs(comparison *c);

#endif
