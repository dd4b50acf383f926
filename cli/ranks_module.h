/* What the module for MPI gives to the program. It is a file of its own, stablegrad-mpi.so, which
 * is loaded when the program was started as one of several ranks: so a program that runs alone
 * needs no MPI, and has none of its libraries in its memory. */
#ifndef SG_CLI_RANKS_MODULE_H
#define SG_CLI_RANKS_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/params.h"

/* The name of the file, and of the function in it. */
#define RANKS_MODULE_FILE  "stablegrad-mpi.so"
#define RANKS_MODULE_ENTRY "open_ranks_module"

enum { RANKS_HOST_SIZE = 64 };

typedef struct ranks_module {
    int rank, count;
    int neighbours; /* ranks on this host, this one included */
    bool crowded;   /* they have fewer processors than they are */
    char host[RANKS_HOST_SIZE];
    char version[64]; /* of the MPI library */

    /* Both wait for all ranks, at most `patience` seconds; 0 on success. */
    double patience;
    int (*sum)(void *module, void *values, sg_type type, size_t count);
    int (*broadcast)(void *module, void *bytes, size_t size, int from);

    /* Ends all ranks, this one at once, with an exit code. */
    void (*end_all)(int code);
    /* The orderly end, which all ranks take. */
    void (*leave)(void);
} ranks_module;

/* Joins the other ranks, and gives this one its share of the processors if nobody has yet. False
 * with a reason. */
typedef bool open_ranks_function(ranks_module *module, char *reason, size_t size);
open_ranks_function open_ranks_module;

#endif
