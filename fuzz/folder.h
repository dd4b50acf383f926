/* Bytes as the files of a run folder, for the fuzzers of what reads one: lines "@@ NAME" begin the
 * files that a run may have; what stands before the first is run.json. */
#ifndef SG_FUZZ_FOLDER_H
#define SG_FUZZ_FOLDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const folder_files[] = {"run.json",     "metrics.jsonl", "problem.yaml",
                                           "compare.json", "field.npz",     "points.npz"};
enum { FOLDER_FILES = sizeof folder_files / sizeof folder_files[0] };

static char folder_name[64];

static void folder_remove(void)
{
    char path[128];
    for (int f = 0; f <= FOLDER_FILES; f++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder_name,
                       f < FOLDER_FILES ? folder_files[f] : "report.html");
        (void)remove(path);
    }
    (void)rmdir(folder_name);
}

/* The folder, made once and emptied for every input. */
static const char *folder_path(void)
{
    char *path = folder_name;
    if (!path[0]) {
        struct stat info;
        const char *parent = stat("/dev/shm", &info) == 0 ? "/dev/shm" : "/tmp";
        (void)snprintf(path, sizeof folder_name, "%s/sg_fuzz_%ld", parent, (long)getpid());
        if (mkdir(path, 0700) != 0 || atexit(folder_remove) != 0)
            abort();
    }
    return path;
}

static void folder_file(const char *name, const uint8_t *data, size_t size)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder_path(), name);
    FILE *file = data ? fopen(path, "wb") : NULL;
    if (!data)
        (void)remove(path);
    if (file) {
        (void)fwrite(data, 1, size, file);
        (void)fclose(file);
    }
}

/* The end of the part that begins at `at`: the next line of "@@ NAME", whose file it says. */
static size_t folder_part(const uint8_t *data, size_t size, size_t at, size_t *next, int *file)
{
    for (size_t i = at; i + 4 < size; i++) {
        if (memcmp(data + i, "@@ ", 3) != 0 || (i > 0 && data[i - 1] != '\n'))
            continue;
        for (int f = 0; f < FOLDER_FILES; f++) {
            size_t length = strlen(folder_files[f]);
            if (i + 4 + length <= size && memcmp(data + i + 3, folder_files[f], length) == 0 &&
                data[i + 3 + length] == '\n') {
                *next = i + 4 + length;
                *file = f;
                return i;
            }
        }
    }
    *next = size;
    return size;
}

static void folder_fill(const uint8_t *data, size_t size)
{
    for (int f = 0; f < FOLDER_FILES; f++)
        folder_file(folder_files[f], NULL, 0);
    folder_file("report.html", NULL, 0);
    int file = 0;
    for (size_t at = 0; at < size;) {
        size_t next;
        int following = file;
        size_t end = folder_part(data, size, at, &next, &following);
        folder_file(folder_files[file], data + at, end - at);
        at = next;
        file = following;
    }
}

#endif
