/* Run folders: runs/NAME-0001 and so on, and the files in them that this room writes.
 *
 *     problem.yaml    the resolved problem        run.json          what was run, and how it ended
 *     metrics.jsonl   one object a line           best.safetensors  weights of the best evaluation
 *     last.safetensors, previous.safetensors      the two newest checkpoints
 *     weights.safetensors                         the weights at the end
 *     field.npz, field.vti                        a problem's solution on a grid
 *     points.npz      a problem's domain and points, for the report
 *     run.lock       while it is being written: see run_lock.h
 *
 * Functions that fail say in `diagnostic` which file it is and why. */
#ifndef SG_TRAIN_RUN_FOLDER_H
#define SG_TRAIN_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/status.h"

enum { SG_PATH_SIZE = 1024 };

/* Every file that a run, or a comparison, may have, but for the lock. */
enum { SG_RUN_FILES = 13 };
extern const char *const sgi_run_files[SG_RUN_FILES];

/* Writes folder/name to `path`; SG_ERROR_ARGUMENT if it is too long. */
SG_CHECKED sg_status sgi_run_path(char path[SG_PATH_SIZE], const char *folder, const char *name);

/* Makes the next free folder PARENT/NAME-NNNN, and PARENT if need be, and writes its path. */
SG_CHECKED sg_status sgi_run_create(char path[SG_PATH_SIZE], const char *parent, const char *name,
                                    sg_diagnostic *diagnostic);

/* Makes the folder `path` itself, and its parents; an existing empty folder is taken. *made (may be
 * NULL) says whether it is new. */
SG_CHECKED sg_status sgi_run_create_at(const char *path, bool *made, sg_diagnostic *diagnostic);

/* Whether nothing lies in a folder but its lock; false if it cannot be read. */
bool sgi_run_is_empty(const char *path);

/* Writes the path of the newest PARENT/NAME-NNNN; SG_ERROR_IO if there is none. */
SG_CHECKED sg_status sgi_run_newest(char path[SG_PATH_SIZE], const char *parent, const char *name,
                                    sg_diagnostic *diagnostic);

#endif
