/* Files that can be trained: see work.h. */
#include "work.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "files/file.h"
#include "task/recognise.h"
#include "text/yaml.h"

enum { MOST_MORE = 8 };

bool is_image_task(const char *path)
{
    char *text;
    size_t size;
    if (sgi_file_read(path, SG_YAML_MOST_BYTES, NULL, &text, &size, NULL, 0) != SG_OK)
        return false;
    bool images = sgi_task_recognise(text, size, NULL);
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sgi_release(&heap, text);
    return images;
}

/* --set, --seed, then what the command adds. */
static size_t list_sets(const cli_arguments *arguments, const char *const *more, size_t count,
                        char seed[64], const char **sets)
{
    size_t n = 0;
    for (size_t i = 0; i < arguments->set_count; i++)
        sets[n++] = arguments->sets[i];
    if (arguments->seed >= 0) {
        snprintf(seed, 64, "training.seed=%" PRId64, arguments->seed);
        sets[n++] = seed;
    }
    for (size_t i = 0; i < count && i < MOST_MORE; i++)
        sets[n++] = more[i];
    return n;
}

bool open_work(work *w, const cli_arguments *arguments, const char *path, const char *const *more,
               size_t count, int *exit_code)
{
    const char *sets[MOST_SETS + MOST_MORE + 1];
    char seed[64];
    sg_diagnostic diagnostic;
    memset(&diagnostic, 0, sizeof diagnostic);
    size_t n = list_sets(arguments, more, count, seed, sets);
    *w = (work){&problem_work, NULL};
    if (is_image_task(path)) {
        if (!image_work) {
            complain("%s is a task on images, and this build has no networks for them: oneDNN was "
                     "not found when it was made",
                     path);
            *exit_code = EXIT_BAD_INPUT;
            return false;
        }
        wait_passively();
        w->kind = image_work;
    }
    sg_status status = w->kind->open(&w->file, path, sets, n, &diagnostic);
    /* A file that is not there is as wrong an input as one with a mistake in it. */
    *exit_code = status == SG_ERROR_IO ? EXIT_BAD_INPUT : exit_code_of(status);
    if (status == SG_OK)
        return true;
    if (diagnostic.message[0]) {
        char text[2048];
        sg_diagnostic_format(&diagnostic, text, sizeof text);
        fputs(text, stderr);
    } else {
        complain("%s: %s", path, sg_status_text(status));
    }
    return false;
}

void close_work(work *w)
{
    if (w->file)
        w->kind->close(w->file);
    w->file = NULL;
}
