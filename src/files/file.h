/* Whole files, read with a limit and written all or nothing.
 *
 * A file is written under a temporary name in its own folder, synced, renamed over the old one, and
 * the folder is synced: a reader, or a crash, finds the old content or the new, never a part.
 *
 * Functions here and in the rest of the room take a `diagnostic`, which may be NULL. On failure it
 * holds the file and one English sentence without a full stop; on success it is left as it was. */
#ifndef SG_FILES_FILE_H
#define SG_FILES_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

/* Whether something by that name exists and can be looked at. */
bool sgi_file_exists(const char *path);

/* "folder/name", to be released with sgi_release; NULL when memory runs out. */
char *sgi_path_join(const sg_allocator *allocator, const char *folder, const char *name);

/* Opens a regular file to be read; with `streams` also a pipe without a name (as /dev/stdin and the
 * shell's <(...) are) and a terminal. Everything else is refused, and nothing is waited for: a FIFO
 * that nobody writes to, or a device, would hold up the program for ever. Close *descriptor. */
SG_CHECKED sg_status sgi_file_open(const char *path, bool streams, int *descriptor,
                                   sg_diagnostic *diagnostic);

/* Reads a whole file, or a pipe without a name to its end, of at most `limit` bytes. *data has a
 * zero byte after its *size bytes and is released with sgi_release(allocator, ...). */
SG_CHECKED sg_status sgi_file_read(const char *path, size_t limit, const sg_allocator *allocator,
                                   char **data, size_t *size, sg_diagnostic *diagnostic);

/* A file being written. A failed put is remembered, so that only the commit needs checking. */
typedef struct sgi_file sgi_file;

/* What stands at `path` and is not a regular file, as a device, is refused; a link is replaced. */
SG_CHECKED sg_status sgi_file_create(sgi_file **out, const char *path,
                                     const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_file_put(sgi_file *file, const void *data, size_t size);
/* Syncs, renames and destroys the handle. When it fails the old file is still there; when it does
 * not, the new one is in its place. */
SG_CHECKED sg_status sgi_file_commit(sgi_file *file, sg_diagnostic *diagnostic);
/* Removes the temporary file and destroys the handle. NULL is allowed. */
void sgi_file_abandon(sgi_file *file);

/* Makes the file at `path`, if there is one, known as `other` too, in place of what was there:
 * `path` exists throughout where the file system has links, and is renamed where it has not. */
SG_CHECKED sg_status sgi_file_keep(const char *path, const char *other, sg_diagnostic *diagnostic);

/* Removes from `folder` the temporary files of the names (count) that a killed process left behind:
 * those of this room's pattern whose process is no more. Returns how many. */
size_t sgi_file_remove_temporaries(const char *folder, const char *const *names, size_t count);

/* Syncs the folder that `path` lies in, so that a new name in it outlives a crash of the machine.
 * The name is there whether or not that works (some file systems cannot sync a folder, and a folder
 * that may be written but not read cannot be opened), so it is tried and not asked about. */
void sgi_file_sync_name(const char *path);

/* All of it in one call. */
SG_CHECKED sg_status sgi_file_write(const char *path, const void *data, size_t size,
                                    const sg_allocator *allocator, sg_diagnostic *diagnostic);

#endif
