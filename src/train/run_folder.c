/* Run folders: see run_folder.h. */
#include "train/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diagnostic.h"
#include "files/file.h"
#include "train/run_lock.h"

enum { MOST_RUNS = 9999 };

const char *const sgi_run_files[SG_RUN_FILES] = {"problem.yaml",
                                                 "run.json",
                                                 "metrics.jsonl",
                                                 "last.safetensors",
                                                 "previous.safetensors",
                                                 "best.safetensors",
                                                 "weights.safetensors",
                                                 "field.npz",
                                                 "field.vti",
                                                 "points.npz",
                                                 "data.npz",
                                                 "report.html",
                                                 "compare.json"};

sg_status sgi_run_path(char path[SG_PATH_SIZE], const char *folder, const char *name)
{
    int length = snprintf(path, SG_PATH_SIZE, "%s/%s", folder, name);
    return length > 0 && length < SG_PATH_SIZE ? SG_OK : SG_ERROR_ARGUMENT;
}

/* Makes a folder and those above it; *made (may be NULL): it was not there. */
static int make_folders(const char *path, bool *made)
{
    char part[SG_PATH_SIZE];
    bool new = false;
    size_t length = strlen(path);
    if (length >= sizeof part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        new = mkdir(part, 0777) == 0;
        if (!new &&errno != EEXIST)
            return -1;
        if (new)
            sgi_file_sync_name(part);
    }
    struct stat info;
    if (stat(path, &info) != 0)
        return -1;
    errno = ENOTDIR;
    if (made)
        *made = new;
    return S_ISDIR(info.st_mode) ? 0 : -1;
}

static sg_status complain(sg_diagnostic *diagnostic, const char *what, const char *path)
{
    return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%s: %m", what);
}

/* The number of NAME-NNNN, 0 for any other entry. */
static int run_number(const char *entry, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0 || entry[length] != '-')
        return 0;
    const char *digits = entry + length + 1;
    size_t count = strspn(digits, "0123456789");
    if (count != 4 || digits[count] != '\0')
        return 0;
    return (int)strtol(digits, NULL, 10);
}

/* The largest number of the runs of that name in PARENT; 0 if there are none. */
static int newest_number(const char *parent, const char *name)
{
    int newest = 0;
    DIR *folder = opendir(parent);
    if (!folder)
        return 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        int number = run_number(entry->d_name, name);
        newest = number > newest ? number : newest;
    }
    closedir(folder);
    return newest;
}

static sg_status numbered(char path[SG_PATH_SIZE], const char *parent, const char *name, int number)
{
    int length = snprintf(path, SG_PATH_SIZE, "%s/%s-%04d", parent, name, number);
    return length > 0 && length < SG_PATH_SIZE ? SG_OK : SG_ERROR_ARGUMENT;
}

sg_status sgi_run_create(char path[SG_PATH_SIZE], const char *parent, const char *name,
                         sg_diagnostic *diagnostic)
{
    if (make_folders(parent, NULL) != 0)
        return complain(diagnostic, "the folder cannot be made", parent);
    for (int number = newest_number(parent, name) + 1; number <= MOST_RUNS; number++) {
        sg_status status = numbered(path, parent, name, number);
        if (status != SG_OK) {
            return sgi_fail_file(diagnostic, status, parent,
                                 "the path of a run of '%s' is too long", name);
        }
        if (mkdir(path, 0777) == 0) {
            sgi_file_sync_name(path);
            return SG_OK;
        }
        if (errno != EEXIST) /* EEXIST: another run was faster; take the next number */
            return complain(diagnostic, "the folder cannot be made", path);
    }
    return sgi_fail_file(diagnostic, SG_ERROR_IO, parent,
                         "holds %d runs of '%s' already; move some away", MOST_RUNS, name);
}

/* 1: nothing lies there but a lock, 0: something does, -1: it cannot be read. */
static int is_empty(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    int empty = 1;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, SG_LOCK_FILE) != 0)
            empty = 0;
    closedir(folder);
    return empty;
}

bool sgi_run_is_empty(const char *path)
{
    return is_empty(path) == 1;
}

sg_status sgi_run_create_at(const char *path, bool *made, sg_diagnostic *diagnostic)
{
    if (make_folders(path, made) != 0)
        return complain(diagnostic, "the folder cannot be made", path);
    int empty = is_empty(path);
    if (empty < 0)
        return complain(diagnostic, "the folder cannot be read", path);
    if (empty)
        return SG_OK;
    return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, path,
                         "the folder is not empty; nothing is overwritten");
}

sg_status sgi_run_newest(char path[SG_PATH_SIZE], const char *parent, const char *name,
                         sg_diagnostic *diagnostic)
{
    int number = newest_number(parent, name);
    if (number == 0) {
        return sgi_fail_file(diagnostic, SG_ERROR_IO, parent, "there is no run of '%s'", name);
    }
    return numbered(path, parent, name, number);
}
