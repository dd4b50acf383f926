/* Lanes: processes that train whole runs side by side. A run on several threads is a little slower
 * than as many runs on one thread each, so several runs that are to be trained anyway are spread
 * over the processors, or over ranks, where these divide them well. */
#ifndef SG_CLI_LANES_H
#define SG_CLI_LANES_H

#include <stdbool.h>
#include <stddef.h>

/* What a lane tells of itself, in memory that all share. */
typedef struct lane {
    volatile double share; /* of its runs that is done, in [0, 1] */
    volatile double loss;  /* of the run that it is at, ... */
    char label[24];        /* ... and what that is called */
} lane;

/* How many lanes `runs` runs are best trained in, with so many workers, which the lanes divide
 * among themselves; `whole`: a lane is one worker or all of them. */
int choose_lanes(size_t runs, int workers, bool whole);

/* Does work(context, lane, place) in `lanes` processes, and shows how far they are on a terminal
 * unless `quiet`. Returns the largest exit code. A signal that asks to stop is passed on to them.
 * The caller has no other thread: a lock that one holds at the moment would be held in the lanes
 * for ever. */
typedef int lane_work(void *context, int lane, struct lane *place);
int run_lanes(int lanes, lane_work *work, void *context, bool quiet);

#endif
