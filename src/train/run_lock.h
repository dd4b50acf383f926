/* The lock of a run folder, or of a comparison: one process writes there at a time.
 *
 * The file run.lock in the folder is kept open and locked while the folder is written, and says
 * which process on which machine that is. The lock ends with the process, however it ends: a file
 * that a killed one left behind is not locked, and is taken over. Network file systems with locks
 * share them between machines; on one without, the process that the file names decides.
 *
 * Reading a folder needs no lock: every file in it is whole at any time. */
#ifndef SG_TRAIN_RUN_LOCK_H
#define SG_TRAIN_RUN_LOCK_H

#include <stdbool.h>

#include "train/run_folder.h"

#define SG_LOCK_FILE "run.lock"

enum { SG_HOST_SIZE = 256 };

/* Who wrote a lock; process 0: the file does not say. */
typedef struct sgi_run_holder {
    long process;
    char host[SG_HOST_SIZE];
} sgi_run_holder;

typedef struct sgi_run_lock {
    bool held;
    int descriptor;
    char path[SG_PATH_SIZE];
    sgi_run_holder before; /* of the lock that was left behind and taken over; process 0: none */
} sgi_run_lock;

/* Takes the lock of a folder. SG_ERROR_STATE when another process has it; the diagnostic says who.
 * A lock that is not held may be released. */
SG_CHECKED sg_status sgi_run_lock_take(sgi_run_lock *lock, const char *folder,
                                       sg_diagnostic *diagnostic);
void sgi_run_lock_release(sgi_run_lock *lock);

/* sgi_run_create_at with its lock: who is writing to the folder is told rather than that it is not
 * empty, and it is still empty when the lock is taken. */
SG_CHECKED sg_status sgi_run_claim(sgi_run_lock *lock, const char *path, bool *made,
                                   sg_diagnostic *diagnostic);

typedef enum sgi_run_use {
    SG_RUN_FREE,   /* nobody holds the lock */
    SG_RUN_HELD,   /* a process does */
    SG_RUN_UNKNOWN /* locks do not work here, and the file names another machine */
} sgi_run_use;

/* Whether a folder is being written, without disturbing who does it; `holder` may be NULL. */
sgi_run_use sgi_run_lock_test(const char *folder, sgi_run_holder *holder);

/* Who this process is. */
void sgi_run_holder_own(sgi_run_holder *holder);

#endif
