/* Whole files: all or nothing, with limits and messages. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "support/folders.h"
#include "support/support.h"

static size_t files_in(const char *folder)
{
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void content_comes_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300001};
    char *folder = folder_temporary();
    sg_diagnostic diagnostic = {0};
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "file");
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *data = malloc(sizes[s] + 1), *back;
        for (size_t i = 0; i < sizes[s]; i++)
            data[i] = (char)(i * 7 + s);
        size_t size;
        assert_ok(sgi_file_write(path, data, sizes[s], NULL, &diagnostic));
        assert_ok(sgi_file_read(path, sizes[s], NULL, &back, &size, &diagnostic));
        assert_int_equal(size, sizes[s]);
        assert_memory_equal(data, back, size);
        assert_int_equal(back[size], 0);
        assert_string_equal(said(&diagnostic), "");
        sgi_release(&heap, back);
        free(data);
    }
    assert_int_equal(files_in(folder), 1);
    sgi_release(&heap, path);
    folder_remove(folder);
}

/* Pieces smaller and larger than the buffer, mixed, arrive in order. */
static void pieces_arrive_in_order(void **state)
{
    (void)state;
    char *folder = folder_temporary(), *back;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "file");
    static const size_t pieces[] = {10, 65530, 7, 100000, 1, 65536, 3};
    size_t total = 0, size;
    sgi_file *file;
    assert_ok(sgi_file_create(&file, path, NULL, NULL));
    static char data[110000];
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
        for (size_t i = 0; i < pieces[p]; i++)
            data[i] = (char)((total + i) % 251);
        sgi_file_put(file, data, pieces[p]);
        total += pieces[p];
    }
    assert_false(sgi_file_exists(path));
    assert_ok(sgi_file_commit(file, NULL));
    assert_ok(sgi_file_read(path, total, NULL, &back, &size, NULL));
    assert_int_equal(size, total);
    for (size_t i = 0; i < total; i++)
        assert_int_equal((unsigned char)back[i], i % 251);
    sgi_release(&heap, back);
    sgi_release(&heap, path);
    folder_remove(folder);
}

static void the_old_file_stays_until_the_commit(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "file");
    assert_ok(sgi_file_write(path, "old", 3, NULL, NULL));
    sgi_file *file, *other;
    assert_ok(sgi_file_create(&file, path, NULL, NULL));
    assert_ok(sgi_file_create(&other, path, NULL, NULL)); /* two writers do not meet */
    sgi_file_put(file, "new", 3);
    char *text = folder_text(folder, "file");
    assert_string_equal(text, "old");
    free(text);
    sgi_file_abandon(other);
    assert_ok(sgi_file_commit(file, NULL));
    text = folder_text(folder, "file");
    assert_string_equal(text, "new");
    free(text);
    assert_int_equal(files_in(folder), 1);
    sgi_release(&heap, path);
    folder_remove(folder);
}

static void failures_name_the_file(void **state)
{
    (void)state;
    char *folder = folder_temporary(), *data;
    sg_diagnostic diagnostic = {0};
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "absent");
    size_t size;
    assert_status(sgi_file_read(path, 10, NULL, &data, &size, &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "absent: No such file"));
    assert_status(sgi_file_read(folder, 10, NULL, &data, &size, &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "not a file"));
    assert_ok(sgi_file_write(path, "12345", 5, NULL, NULL));
    assert_status(sgi_file_read(path, 4, NULL, &data, &size, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(said(&diagnostic), "has 5 bytes, at most 4"));
    char *below = sgi_path_join(&heap, path, "file");
    assert_status(sgi_file_write(below, "", 0, NULL, &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "absent/file: Not a directory"));
    /* The commit fails when a folder has taken the name; nothing is left behind. */
    char *taken = sgi_path_join(&heap, folder, "taken");
    assert_int_equal(mkdir(taken, 0777), 0);
    assert_status(sgi_file_write(taken, "1", 1, NULL, &diagnostic), SG_ERROR_IO);
    assert_int_equal(files_in(folder), 2);
    assert_string_equal(sg_status_name(sgi_fail(NULL, SG_ERROR_IO, "x")), "SG_ERROR_IO");
    sgi_release(&heap, taken);
    sgi_release(&heap, below);
    sgi_release(&heap, path);
    folder_remove(folder);
}

/* Runs `work` in a process of its own, without the rights of root. */
static int in_child(int (*work)(const char *path), const char *path)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        bool dropped = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        _exit(dropped ? work(path) : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int write_new(const char *path)
{
    return sgi_file_write(path, "new", 3, NULL, NULL) == SG_OK ? 0 : 1;
}

/* Such a folder cannot be opened to sync it, and the file is written all the same. */
static void a_folder_that_cannot_be_synced_takes_files(void **state)
{
    (void)state;
    char *folder = folder_temporary(), *text;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "file");
    assert_int_equal(chmod(folder, 0333), 0);
    int code = in_child(write_new, path);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(code, 0);
    text = folder_text(folder, "file");
    assert_string_equal(text, "new");
    free(text);
    sgi_release(&heap, path);
    folder_remove(folder);
}

static int feed(int pipe)
{
    static char data[200000];
    memset(data, 'p', sizeof data);
    for (size_t done = 0; done < sizeof data;) {
        ssize_t put = write(pipe, data + done, sizeof data - done);
        if (put < 0)
            return 1;
        done += (size_t)put;
    }
    return 0;
}

/* As `stablegrad check /dev/stdin` and <(...) have it: a pipe without a name. */
static void a_pipe_is_read_to_its_end(void **state)
{
    (void)state;
    char path[64], *data;
    sg_diagnostic diagnostic = {0};
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    size_t size;
    for (int round = 0; round < 2; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            (void)signal(SIGPIPE, SIG_IGN);
            (void)close(ends[0]);
            _exit(feed(ends[1]));
        }
        assert_int_equal(close(ends[1]), 0);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
        size_t limit = round ? 1000 : 200000;
        sg_status status = sgi_file_read(path, limit, NULL, &data, &size, &diagnostic);
        assert_int_equal(close(ends[0]), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_status(status, round ? SG_ERROR_FORMAT : SG_OK);
        if (status == SG_OK) {
            assert_int_equal(size, 200000);
            assert_int_equal(data[size - 1], 'p');
            assert_int_equal(data[size], 0);
            sgi_release(&heap, data);
        }
    }
}

static void refused(const char *path, bool streams, const char *words)
{
    sg_diagnostic diagnostic = {0};
    int descriptor;
    assert_status(sgi_file_open(path, streams, &descriptor, &diagnostic), SG_ERROR_IO);
    assert_int_equal(descriptor, -1);
    assert_non_null(strstr(said(&diagnostic), words));
}

/* Opening a FIFO that nobody writes to would wait for ever: the alarm ends the test then. */
static void what_is_no_file_is_refused_at_once(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *fifo = sgi_path_join(&heap, folder, "fifo"), *link = sgi_path_join(&heap, folder, "link");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int ends[2], plug = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    (void)alarm(20);
    assert_int_equal(mkfifo(fifo, 0666), 0);
    assert_int_equal(symlink(fifo, link), 0);
    assert_int_equal(bind(plug, (struct sockaddr *)&address, sizeof address), 0);
    for (int streams = 0; streams < 2; streams++) {
        refused(fifo, streams, "is a pipe, not a file");
        refused(link, streams, "is a pipe, not a file");
        refused(address.sun_path, streams, "is a socket, not a file");
        refused("/dev/zero", streams, "is a device, not a file");
        refused(folder, streams, "is a folder, not a file");
    }
    char *data;
    size_t size;
    assert_status(sgi_file_read(fifo, 10, NULL, &data, &size, NULL), SG_ERROR_IO);
    assert_int_equal(pipe(ends), 0);
    char unnamed[64];
    (void)snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", ends[0]);
    refused(unnamed, false, "is a pipe, not a file");
    (void)alarm(0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(plug);
    (void)unlink(address.sun_path);
    sgi_release(&heap, fifo);
    sgi_release(&heap, link);
    folder_remove(folder);
}

/* A file-size limit plays the full disk: the first failed write is remembered to the commit. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    sg_diagnostic diagnostic = {0};
    static char data[200000];
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "file");
    assert_ok(sgi_file_write(path, "old", 3, NULL, NULL));
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = (struct rlimit){100000, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    sg_status status = sgi_file_write(path, data, sizeof data, NULL, &diagnostic);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_status(status, SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "file: File too large"));
    char *text = folder_text(folder, "file");
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(files_in(folder), 1);
    sgi_release(&heap, path);
    folder_remove(folder);
}

/* As root a rename would take the place of a device. */
static void what_is_not_a_file_is_left_alone(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    sg_diagnostic diagnostic = {0};
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "pipe"),
         *other = sgi_path_join(&heap, folder, "link");
    struct stat info;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(symlink(path, other), 0);
    assert_status(sgi_file_write(path, "x", 1, NULL, &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "not a regular file"));
    assert_status(sgi_file_write(other, "x", 1, NULL, &diagnostic), SG_ERROR_IO);
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(files_in(folder), 2);
    sgi_release(&heap, path);
    sgi_release(&heap, other);
    folder_remove(folder);
}

typedef struct rewriting {
    char *path;
    int calls;
} rewriting;

/* 1 the first time, which succeeds, and then 2. */
static sg_status rewrite(const sg_allocator *allocator, void *context)
{
    rewriting *r = context;
    return sgi_file_write(r->path, r->calls++ ? "2" : "1", 1, allocator, NULL);
}

static void allocations_fail_in_turn(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    failing_allocator counter = {.fail_at = 0};
    sg_allocator allocator = failing(&counter), heap = sgi_allocator_or_heap(NULL);
    char *path = sgi_path_join(&heap, folder, "file");
    each_allocation_fails(rewrite, &(rewriting){path, 0}, 1);
    char *data;
    size_t size;
    assert_status(sgi_file_read(path, 10, &allocator, &data, &size, NULL), SG_ERROR_MEMORY);
    assert_null(data);
    char *text = folder_text(folder, "file");
    assert_string_equal(text, "1");
    free(text);
    sgi_release(&heap, path);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_comes_back),
        cmocka_unit_test(pieces_arrive_in_order),
        cmocka_unit_test(the_old_file_stays_until_the_commit),
        cmocka_unit_test(failures_name_the_file),
        cmocka_unit_test(a_folder_that_cannot_be_synced_takes_files),
        cmocka_unit_test(a_pipe_is_read_to_its_end),
        cmocka_unit_test(what_is_no_file_is_refused_at_once),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(what_is_not_a_file_is_left_alone),
        cmocka_unit_test(allocations_fail_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
