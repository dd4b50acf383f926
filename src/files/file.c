/* Files: see file.h. The writer gathers small pieces in a buffer of its own; large ones go straight
 * to the file. */
#include "files/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/memory.h"

enum { BUFFER_SIZE = 1 << 16, NAME_ATTEMPTS = 100 };

struct sgi_file {
    sg_allocator allocator;
    char *path, *temporary;
    char *buffer; /* (BUFFER_SIZE) */
    size_t used;
    int descriptor;
    int error; /* errno of the first failure, or 0 */
};

bool sgi_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

char *sgi_path_join(const sg_allocator *allocator, const char *folder, const char *name)
{
    size_t head = strlen(folder), size = head + strlen(name) + 2;
    char *path = sgi_allocate(allocator, size, 1);
    if (path)
        (void)snprintf(path, size, "%s%s%s", folder, head && folder[head - 1] != '/' ? "/" : "",
                       name);
    return path;
}

/* What a path that is not a regular file is; NULL for a regular file. */
static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* Whether it is something that can be read to its end: a pipe without a name, which has or had a
 * writer, or a terminal, where Ctrl-D ends the input. A named pipe may wait for ever. */
static bool is_stream(int descriptor, mode_t mode)
{
    struct statfs system;
    return S_ISFIFO(mode) ? fstatfs(descriptor, &system) == 0 && system.f_type == PIPEFS_MAGIC
                          : S_ISCHR(mode) && isatty(descriptor);
}

sg_status sgi_file_open(const char *path, bool streams, int *descriptor, sg_diagnostic *diagnostic)
{
    struct stat info;
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*descriptor < 0 && errno == ENXIO && stat(path, &info) == 0 && kind_of(info.st_mode))
        return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "is %s, not a file",
                             kind_of(info.st_mode));
    if (*descriptor < 0)
        return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
    sg_status status = SG_OK;
    if (fstat(*descriptor, &info) != 0)
        status = sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
    else if (kind_of(info.st_mode) && !(streams && is_stream(*descriptor, info.st_mode)))
        status = sgi_fail_file(diagnostic, SG_ERROR_IO, path, "is %s, not a file",
                               kind_of(info.st_mode));
    else if (fcntl(*descriptor, F_SETFL, 0) != 0) /* from here on reads may wait */
        status = sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
    if (status != SG_OK) {
        (void)close(*descriptor);
        *descriptor = -1;
    }
    return status;
}

/* Reads until the end of the file or `capacity` bytes; returns the number, or -1. */
static ssize_t read_all(int descriptor, char *data, size_t capacity)
{
    size_t size = 0;
    while (size < capacity) {
        ssize_t got = read(descriptor, data + size, capacity - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        size += (size_t)got;
    }
    return (ssize_t)size;
}

static sg_status too_large(sg_diagnostic *diagnostic, const char *path, intmax_t size, size_t limit)
{
    return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path, "has %jd bytes, at most %zu are read",
                         size, limit);
}

/* A pipe or a terminal, whose size is known when it ends. */
static sg_status read_stream(int descriptor, const char *path, size_t limit,
                             const sg_allocator *allocator, char **data, size_t *size,
                             sg_diagnostic *diagnostic)
{
    char *content = NULL;
    size_t used = 0, capacity = 0;
    for (;;) {
        size_t larger = capacity ? 2 * capacity : BUFFER_SIZE;
        char *grown = sgi_allocate(allocator, larger + 1, 1);
        if (grown && used)
            memcpy(grown, content, used);
        sgi_release(allocator, content);
        content = grown;
        capacity = larger;
        ssize_t got = content ? read_all(descriptor, content + used, capacity - used) : 0;
        if (content && got >= 0) {
            used += (size_t)got;
            if (used == capacity && used <= limit)
                continue;
            content[used] = 0;
        }
        if (content && got >= 0 && used <= limit)
            break;
        sg_status status = !content
                               ? sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory")
                           : got < 0 ? sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m")
                                     : too_large(diagnostic, path, (intmax_t)used, limit);
        sgi_release(allocator, content);
        return status;
    }
    *data = content;
    *size = used;
    return SG_OK;
}

static sg_status read_open(int descriptor, const char *path, size_t limit,
                           const sg_allocator *allocator, char **data, size_t *size,
                           sg_diagnostic *diagnostic)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
    if (!S_ISREG(info.st_mode))
        return read_stream(descriptor, path, limit, allocator, data, size, diagnostic);
    if ((uintmax_t)info.st_size > limit || (uintmax_t)info.st_size >= SIZE_MAX)
        return too_large(diagnostic, path, (intmax_t)info.st_size, limit);
    size_t expected = (size_t)info.st_size;
    char *content = sgi_allocate(allocator, expected + 1, 1);
    if (!content)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    ssize_t got = read_all(descriptor, content, expected);
    if (got < 0) {
        sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
        sgi_release(allocator, content);
        return SG_ERROR_IO;
    }
    content[got] = 0;
    *data = content;
    *size = (size_t)got;
    return SG_OK;
}

sg_status sgi_file_read(const char *path, size_t limit, const sg_allocator *given, char **data,
                        size_t *size, sg_diagnostic *diagnostic)
{
    *data = NULL;
    *size = 0;
    sg_allocator allocator = sgi_allocator_or_heap(given);
    int descriptor;
    sg_status status = sgi_file_open(path, true, &descriptor, diagnostic);
    if (status != SG_OK)
        return status;
    status = read_open(descriptor, path, limit, &allocator, data, size, diagnostic);
    (void)close(descriptor);
    return status;
}

static void destroy(sgi_file *file)
{
    sgi_release(&file->allocator, file->path);
    sgi_release(&file->allocator, file->temporary);
    sgi_release(&file->allocator, file->buffer);
    sgi_release(&file->allocator, file);
}

/* Opens a temporary file beside the path, under a name that nobody has. */
static bool open_temporary(sgi_file *file, size_t capacity)
{
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        (void)snprintf(file->temporary, capacity, "%s.%ld-%d.part", file->path, (long)getpid(),
                       attempt);
        file->descriptor =
            open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)0666);
        if (file->descriptor >= 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* Renaming over a device, a pipe or a socket would take its place. */
static bool may_replace(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
}

sg_status sgi_file_create(sgi_file **out, const char *path, const sg_allocator *given,
                          sg_diagnostic *diagnostic)
{
    *out = NULL;
    if (!may_replace(path))
        return sgi_fail_file(diagnostic, SG_ERROR_IO, path,
                             "not a regular file, and not replaced by one");
    sgi_file *file = SGI_NEW(sgi_file, given);
    if (!file)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    size_t capacity = strlen(path) + 48;
    file->descriptor = -1;
    file->path = sgi_copy_text(&file->allocator, path);
    file->temporary = sgi_allocate(&file->allocator, capacity, 1);
    file->buffer = sgi_allocate(&file->allocator, BUFFER_SIZE, 1);
    sg_status status = SG_OK;
    if (!file->path || !file->temporary || !file->buffer)
        status = sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    else if (!open_temporary(file, capacity))
        status = sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
    if (status == SG_OK)
        *out = file;
    else
        destroy(file);
    return status;
}

static void write_out(sgi_file *file, const char *data, size_t size)
{
    while (size > 0 && file->error == 0) {
        ssize_t put = write(file->descriptor, data, size);
        if (put < 0 && errno != EINTR)
            file->error = errno;
        if (put > 0) {
            data += put;
            size -= (size_t)put;
        }
    }
}

static void flush(sgi_file *file)
{
    write_out(file, file->buffer, file->used);
    file->used = 0;
}

void sgi_file_put(sgi_file *file, const void *data, size_t size)
{
    if (size > BUFFER_SIZE - file->used)
        flush(file);
    if (size > BUFFER_SIZE) {
        write_out(file, data, size);
    } else if (size > 0) {
        memcpy(file->buffer + file->used, data, size);
        file->used += size;
    }
}

void sgi_file_sync_name(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder)
        return;
    memcpy(folder, path, length);
    folder[length] = 0;
    const char *name = !slash ? "." : length == 0 ? "/" : folder;
    int descriptor = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        (void)close(descriptor);
    }
}

sg_status sgi_file_commit(sgi_file *file, sg_diagnostic *diagnostic)
{
    flush(file);
    if (file->error == 0 && fsync(file->descriptor) != 0)
        file->error = errno;
    if (close(file->descriptor) != 0 && file->error == 0)
        file->error = errno;
    if (file->error == 0 && rename(file->temporary, file->path) != 0)
        file->error = errno;
    if (file->error == 0)
        sgi_file_sync_name(file->path);
    else
        (void)unlink(file->temporary);
    sg_status status = SG_OK;
    if (file->error != 0) {
        errno = file->error;
        status = sgi_fail_file(diagnostic, SG_ERROR_IO, file->path, "%m");
    }
    destroy(file);
    return status;
}

void sgi_file_abandon(sgi_file *file)
{
    if (!file)
        return;
    (void)close(file->descriptor);
    (void)unlink(file->temporary);
    destroy(file);
}

sg_status sgi_file_write(const char *path, const void *data, size_t size,
                         const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    sgi_file *file;
    sg_status status = sgi_file_create(&file, path, allocator, diagnostic);
    if (!file)
        return status;
    sgi_file_put(file, data, size);
    return sgi_file_commit(file, diagnostic);
}

/* The process of NAME.PROCESS-ATTEMPT.part or NAME.PROCESS.part, 0 for any other entry. */
static long process_of(const char *entry, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0 || entry[length] != '.')
        return 0;
    char *end;
    const char *digits = entry + length + 1;
    long process = strtol(digits, &end, 10);
    if (end == digits || digits[0] == '-' || digits[0] == '+' || digits[0] == ' ')
        return 0;
    if (*end == '-')
        end += 1 + strspn(end + 1, "0123456789");
    return strcmp(end, ".part") == 0 ? process : 0;
}

size_t sgi_file_remove_temporaries(const char *path, const char *const *names, size_t count)
{
    size_t removed = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        long process = 0;
        for (size_t i = 0; i < count && process == 0; i++)
            process = process_of(entry->d_name, names[i]);
        bool gone = process > 0 &&
                    (process == (long)getpid() || (kill((pid_t)process, 0) != 0 && errno == ESRCH));
        if (gone && unlinkat(dirfd(folder), entry->d_name, 0) == 0)
            removed++;
    }
    if (folder)
        closedir(folder);
    return removed;
}

sg_status sgi_file_keep(const char *path, const char *other, sg_diagnostic *diagnostic)
{
    char link_name[PATH_MAX];
    int length = snprintf(link_name, sizeof link_name, "%s.%ld.part", other, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof link_name)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, other, "the path is too long");
    (void)unlink(link_name);
    if (link(path, link_name) == 0) {
        if (rename(link_name, other) == 0) {
            (void)unlink(link_name); /* rename leaves it where both were one file already */
            return SG_OK;
        }
        (void)unlink(link_name);
        return sgi_fail_file(diagnostic, SG_ERROR_IO, other, "%m");
    }
    if (errno == ENOENT || rename(path, other) == 0)
        return SG_OK;
    return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%m");
}
