/* Files that can be trained: see work.h. */
#include "work.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "config/document.h"
#include "task/recognise.h"

enum { MOST_MORE = 8 };

/* Reads a text and says whether it is a task on images; the caller releases it. */
static sg_status read_text(const char *path, sgi_source *source, char **text, bool *images,
                           sg_diagnostic *diagnostic)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    size_t size;
    sg_status status = sgi_document_text(path, &heap, text, &size, diagnostic);
    *source = (sgi_source){path, *text, size};
    *images = status == SG_OK && sgi_task_recognise(*text, size, NULL);
    return status;
}

static void release_text(char *text)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sgi_release(&heap, text);
}

bool is_image_task(const char *path)
{
    sgi_source source;
    char *text;
    bool images;
    if (read_text(path, &source, &text, &images, NULL) != SG_OK)
        return false;
    release_text(text);
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

/* Chooses the kind of a text and compiles it. */
static sg_status open_source(work *w, const sgi_source *source, bool images,
                             const char *const *sets, size_t count, sg_diagnostic *diagnostic)
{
    *w = (work){images ? image_work : &problem_work, NULL};
    if (!w->kind)
        return sgi_fail_file(diagnostic, SG_ERROR_UNSUPPORTED, source->name,
                             "a task on images, and this build has no networks for them: oneDNN "
                             "was not found when it was made");
    return w->kind->open(&w->file, source, sets, count, diagnostic);
}

sg_status load_work(work *w, const char *path, const char *const *sets, size_t count,
                    sg_diagnostic *diagnostic)
{
    sgi_source source;
    char *text;
    bool images;
    sg_status status = read_text(path, &source, &text, &images, diagnostic);
    if (status != SG_OK)
        return status;
    status = open_source(w, &source, images, sets, count, diagnostic);
    release_text(text);
    return status;
}

bool open_work(work *w, const cli_arguments *arguments, const char *path, const char *const *more,
               size_t count, int *exit_code)
{
    const char *sets[MOST_SETS + MOST_MORE + 1];
    char seed[64];
    sg_diagnostic diagnostic = {0};
    size_t n = list_sets(arguments, more, count, seed, sets);
    sg_status status = load_work(w, path, sets, n, &diagnostic);
    if (status == SG_OK && w->kind == image_work)
        wait_passively();
    /* A file that is not there is as wrong an input as one with a mistake in it. */
    *exit_code = status == SG_ERROR_IO ? EXIT_BAD_INPUT : exit_code_of(status);
    if (status == SG_OK)
        return true;
    if (!diagnostic.message[0])
        (void)sgi_fail_file(&diagnostic, status, path, "%s", sg_status_text(status));
    tell(&diagnostic);
    return false;
}

void close_work(work *w)
{
    if (w->file)
        w->kind->close(w->file);
    w->file = NULL;
}
