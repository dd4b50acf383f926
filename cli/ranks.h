/* The program as one of several ranks, which train together: started by mpirun or srun.
 *
 * The first rank runs the command as if it were alone: it reads, writes and prints. Where it comes
 * to train, it tells the others what, and all of them call sgi_train. The others do nothing else.
 */
#ifndef SG_CLI_RANKS_H
#define SG_CLI_RANKS_H

#include "arguments.h"
#include "session.h"
#include "stablegrad/ranks.h"

/* Runs the command, alone or as a rank. */
int run_as_rank(const cli_command *command, const cli_arguments *arguments);

/* The ranks; NULL: alone. */
const sg_ranks *our_ranks(void);

/* The best instruction set that all of them have; SG_ISA_AUTO when alone. */
sg_isa isa_of_ranks(void);

/* How many there are and what connects them; false when alone. */
bool describe_ranks(char *text, size_t size);

/* What the first rank has the others train; they answer whether they can. */
typedef struct rank_job {
    const char *origin; /* of the work: see work.h */
    size_t origin_size;
    const char *folder;
    bool resume, insist;
    sg_isa isa;
} rank_job;

/* Nothing when alone. */
void announce_job(const rank_job *job);

/* Whether all ranks have come this far, which each calls it with; on the first, what another one
 * has to complain of is said. */
bool all_are_ready(sg_status status, const sg_diagnostic *diagnostic);

/* Every rank does `what` on a folder by itself, as lane `rank` of as many as there are ranks, and
 * is no rank meanwhile. Returns the largest exit code. The others come to it by compare_as_lane. */
int run_ranks_as_lanes(const char *folder, int (*what)(void *context), void *context);

/* Says that others have not answered, and how to go on with the run. */
void complain_of_lost_ranks(const char *go_on);

/* This rank cannot go on, and has said why: ends all others. Returns when alone. */
void end_all_ranks(int code);

#endif
