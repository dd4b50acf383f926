/* How a run in its folder stands: who writes to it, how far it came, what is missing. */
#ifndef SG_CLI_RUN_STATE_H
#define SG_CLI_RUN_STATE_H

#include "train/run_lock.h"
#include "work.h"

/* run.json of a run, or NULL. */
json_t *read_record(const char *folder);

/* "running", "complete", "interrupted", "failed"; or of one whose process is no more "killed" and,
 * when all its steps are taken and only files are missing, "unfinished". */
const char *state_of(const char *folder, const json_t *record);

/* Takes the lock of a run that is there, or of a comparison; false after saying who has it, with
 * *code what the program should end with. */
bool lock_folder(sgi_run_lock *lock, const char *folder, int *code);

/* The same for the folder of a run that may be part of a comparison: whoever trains that has it. */
bool lock_run(sgi_run_lock *lock, const char *folder, int *code);

/* Warns of files of a run that are not as it wrote them. */
void warn_of_changes(const char *folder);

/* Removes what a process that was killed at its very end left in the folder of a complete run. */
void tidy_folder(const char *folder);

/* How a run that is there has ended. */
typedef struct run_end {
    bool complete; /* all steps are taken, or */
    bool early;    /* a budget of seconds or the loss has ended them */
    bool failed;
    int64_t done, steps;
    char missing[160]; /* of a complete one: "field.npz, report.html"; "": nothing */
    bool trainable;    /* it has a checkpoint from which these can be made */
} run_end;

/* `report`: it should have one of its own. */
run_end end_of(const char *folder, const work *w, bool report);

#endif
