/* The lock of a run folder: see run_lock.h.
 *
 * Locks of open file descriptions: they belong to the open file, not to the process, so that
 * another look at the same file from this process does not end them, and whether one is held can be
 * asked without taking it. */
#include "train/run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "files/file.h"

enum { ATTEMPTS = 100 };

void sgi_run_holder_own(sgi_run_holder *holder)
{
    *holder = (sgi_run_holder){.process = (long)getpid()};
    if (gethostname(holder->host, sizeof holder->host - 1) != 0)
        holder->host[0] = '\0';
}

static void read_holder(int descriptor, sgi_run_holder *holder)
{
    char text[SG_HOST_SIZE + 32];
    *holder = (sgi_run_holder){0};
    ssize_t length = pread(descriptor, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    if (sscanf(text, "%ld %255[^\n]", &holder->process, holder->host) < 1 || holder->process < 0)
        holder->process = 0;
    for (char *c = holder->host; *c; c++) /* it will be printed */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

/* A lock without a name still locks: a disk that is full is told by the files that matter. */
static void write_holder(int descriptor)
{
    char text[SG_HOST_SIZE + 32];
    sgi_run_holder own;
    sgi_run_holder_own(&own);
    int length = snprintf(text, sizeof text, "%ld %s\n", own.process, own.host);
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, (size_t)length, 0) != length)
        return;
}

/* By the process that the file names, where locks do not work. */
static sgi_run_use use_by_process(const sgi_run_holder *holder)
{
    sgi_run_holder own;
    sgi_run_holder_own(&own);
    if (holder->process == 0)
        return SG_RUN_FREE;
    if (strcmp(holder->host, own.host) != 0)
        return SG_RUN_UNKNOWN;
    bool there =
        holder->process != own.process && (kill((pid_t)holder->process, 0) == 0 || errno != ESRCH);
    return there ? SG_RUN_HELD : SG_RUN_FREE;
}

static bool is_regular(int descriptor)
{
    struct stat info;
    return fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

sgi_run_use sgi_run_lock_test(const char *folder, sgi_run_holder *holder)
{
    char path[SG_PATH_SIZE];
    sgi_run_holder unread;
    holder = holder ? holder : &unread;
    *holder = (sgi_run_holder){0};
    if (sgi_run_path(path, folder, SG_LOCK_FILE) != SG_OK)
        return SG_RUN_FREE;
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return SG_RUN_FREE;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    sgi_run_use use = SG_RUN_FREE;
    if (is_regular(descriptor)) {
        read_holder(descriptor, holder);
        if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0)
            use = use_by_process(holder);
        else
            use = lock.l_type == F_UNLCK ? SG_RUN_FREE : SG_RUN_HELD;
    }
    (void)close(descriptor);
    return use;
}

/* Who removes the file does so while holding it: one that was removed between opening and locking
 * it is another's, and the next attempt opens the one in its place. */
static bool is_in_place(int descriptor, const char *path)
{
    struct stat open_file, named;
    return fstat(descriptor, &open_file) == 0 && stat(path, &named) == 0 &&
           open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

static sg_status refuse(const char *folder, const sgi_run_holder *holder, sgi_run_use use,
                        sg_diagnostic *diagnostic)
{
    if (use == SG_RUN_UNKNOWN) {
        (void)sgi_fail_file(diagnostic, SG_ERROR_STATE, folder,
                            "process %ld on '%s' wrote here last, and this file system has no "
                            "locks that tell whether it still does",
                            holder->process, holder->host);
        sgi_diagnostic_suggest(diagnostic, "if it does not, remove " SG_LOCK_FILE " there");
    } else if (holder->process == 0) {
        (void)sgi_fail_file(diagnostic, SG_ERROR_STATE, folder,
                            "another process is training this run");
    } else {
        (void)sgi_fail_file(diagnostic, SG_ERROR_STATE, folder,
                            "process %ld is training this run, on '%s'", holder->process,
                            holder->host);
    }
    return SG_ERROR_STATE;
}

/* Locks the open file; what it says of its holder is in lock->before. */
static sgi_run_use try_lock(sgi_run_lock *lock)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int failed = fcntl(lock->descriptor, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
    read_holder(lock->descriptor, &lock->before);
    if (failed == 0)
        return SG_RUN_FREE;
    return failed == EAGAIN || failed == EACCES ? SG_RUN_HELD : use_by_process(&lock->before);
}

sg_status sgi_run_lock_take(sgi_run_lock *lock, const char *folder, sg_diagnostic *diagnostic)
{
    *lock = (sgi_run_lock){.descriptor = -1};
    if (sgi_run_path(lock->path, folder, SG_LOCK_FILE) != SG_OK)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, folder, "the path is too long");
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        lock->descriptor =
            open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (lock->descriptor < 0)
            return sgi_fail_file(diagnostic, SG_ERROR_IO, lock->path, "%m");
        sgi_run_use use = SG_RUN_FREE;
        if (!is_regular(lock->descriptor)) {
            (void)close(lock->descriptor);
            return sgi_fail_file(diagnostic, SG_ERROR_IO, lock->path, "not a regular file");
        }
        use = try_lock(lock);
        if (use == SG_RUN_FREE && is_in_place(lock->descriptor, lock->path)) {
            write_holder(lock->descriptor);
            lock->held = true;
            return SG_OK;
        }
        (void)close(lock->descriptor);
        if (use != SG_RUN_FREE)
            return refuse(folder, &lock->before, use, diagnostic);
    }
    return sgi_fail_file(diagnostic, SG_ERROR_IO, lock->path, "cannot be locked");
}

void sgi_run_lock_release(sgi_run_lock *lock)
{
    if (!lock->held)
        return;
    (void)unlink(lock->path); /* while it is held: see is_in_place */
    (void)close(lock->descriptor);
    lock->held = false;
}

sg_status sgi_run_claim(sgi_run_lock *lock, const char *path, bool *made, sg_diagnostic *diagnostic)
{
    sgi_run_holder holder = {0};
    *lock = (sgi_run_lock){.descriptor = -1};
    sg_status status = sgi_run_create_at(path, made, diagnostic);
    if (status == SG_ERROR_ARGUMENT && sgi_run_lock_test(path, &holder) == SG_RUN_HELD)
        return refuse(path, &holder, SG_RUN_HELD, diagnostic);
    /* One with a lock that is not held was begun here and killed: perhaps before its first file. */
    bool killed = status == SG_ERROR_ARGUMENT && holder.process > 0;
    if (status != SG_OK && !killed)
        return status;
    status = sgi_run_lock_take(lock, path, diagnostic);
    if (status == SG_OK && killed)
        (void)sgi_file_remove_temporaries(path, sgi_run_files, SG_RUN_FILES);
    if (status == SG_OK && !sgi_run_is_empty(path)) { /* or another was faster, and is done */
        status = sgi_run_create_at(path, NULL, diagnostic);
        sgi_run_lock_release(lock);
    }
    return status;
}
