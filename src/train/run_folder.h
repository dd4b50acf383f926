/* Run folders: runs/NAME-0001 and so on, and the files in them that this room writes.
 *
 *     problem.yaml   the resolved problem         run.json        what was run, and how it ended
 *     metrics.jsonl  one object a line            last, best, weights.safetensors
 *
 * Functions that fail leave a sentence that names the file in `message`. */
#ifndef SG_TRAIN_RUN_FOLDER_H
#define SG_TRAIN_RUN_FOLDER_H

#include <stddef.h>

#include "stablegrad/status.h"

enum { SG_PATH_SIZE = 1024, SG_MESSAGE_SIZE = 1600 };

/* A sentence for the user. */
typedef struct sgi_message {
    char text[SG_MESSAGE_SIZE];
} sgi_message;

__attribute__((format(printf, 2, 3))) void sgi_message_set(sgi_message *message, const char *format,
                                                           ...);

/* Writes folder/name to `path`; SG_ERROR_ARGUMENT if it is too long. */
SG_CHECKED sg_status sgi_run_path(char path[SG_PATH_SIZE], const char *folder, const char *name);

/* Makes the next free folder PARENT/NAME-NNNN, and PARENT if need be, and writes its path. */
SG_CHECKED sg_status sgi_run_create(char path[SG_PATH_SIZE], const char *parent, const char *name,
                                    sgi_message *message);

/* Makes the folder `path` itself, and its parents; an existing empty folder is taken. */
SG_CHECKED sg_status sgi_run_create_at(const char *path, sgi_message *message);

/* Writes the path of the newest PARENT/NAME-NNNN; SG_ERROR_IO if there is none. */
SG_CHECKED sg_status sgi_run_newest(char path[SG_PATH_SIZE], const char *parent, const char *name,
                                    sgi_message *message);

#endif
