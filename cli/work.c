/* Files that can be trained: see work.h. */
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/document.h"

enum { MOST_MORE = 8 };

/* The first that recognises a text has it, and the last takes what no other does. */
static const work_kind *const kinds[] = {&image_work, &problem_work};

static const work_kind *kind_of_text(const char *text, size_t size)
{
    size_t k = 0, last = sizeof kinds / sizeof kinds[0] - 1;
    while (k < last && !(kinds[k]->recognise && kinds[k]->recognise(text, size)))
        k++;
    return kinds[k];
}

/* Notes path and sets. */
static sg_status keep_origin(work *w, const char *path, const char *const *sets, size_t count)
{
    size_t size = strlen(path) + 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(sets[i]) + 1;
    char *at = w->origin = malloc(size);
    if (!at)
        return SG_ERROR_MEMORY;
    w->origin_size = size;
    at = stpcpy(at, path) + 1;
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, sets[i]) + 1;
    return SG_OK;
}

sg_status load_origin(work *w, const char *origin, size_t size, sg_diagnostic *diagnostic)
{
    const char *sets[MOST_SETS + MOST_MORE + 1];
    const char *end = origin + size, *at = origin + strnlen(origin, size) + 1;
    size_t count = 0;
    *w = (work){0};
    if (size == 0 || end[-1] != '\0')
        return SG_ERROR_FORMAT;
    for (; at < end && count < sizeof sets / sizeof *sets; at += strlen(at) + 1)
        sets[count++] = at;
    return at < end ? SG_ERROR_FORMAT : load_work(w, origin, sets, count, diagnostic);
}

sg_status load_work(work *w, const char *path, const char *const *sets, size_t count,
                    sg_diagnostic *diagnostic)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *text;
    size_t size;
    *w = (work){0};
    sg_status status = sgi_document_text(path, &heap, &text, &size, diagnostic);
    if (status != SG_OK)
        return status;
    sgi_source source = {path, text, size};
    w->kind = kind_of_text(text, size);
    status = w->kind->open(&w->file, &source, sets, count, diagnostic);
    sgi_release(&heap, text);
    if (status == SG_OK)
        status = keep_origin(w, path, sets, count);
    if (status != SG_OK)
        close_work(w);
    return status;
}

const work_kind *kind_of(const char *path)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *text;
    size_t size;
    if (sgi_document_text(path, &heap, &text, &size, NULL) != SG_OK)
        return kinds[sizeof kinds / sizeof kinds[0] - 1];
    const work_kind *kind = kind_of_text(text, size);
    sgi_release(&heap, text);
    return kind;
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

bool open_work_with(work *w, const char *path, const char *const *sets, size_t count,
                    int *exit_code)
{
    sg_diagnostic diagnostic = {0};
    sg_status status = load_work(w, path, sets, count, &diagnostic);
    if (status == SG_OK && w->kind->waits)
        wait_passively();
    *exit_code = exit_code_of_input(status);
    if (status == SG_OK)
        return true;
    if (!diagnostic.message[0])
        (void)sgi_fail_file(&diagnostic, status, path, "%s", sg_status_text(status));
    if (status == SG_ERROR_IO)
        explain_path(path, &diagnostic);
    tell(&diagnostic);
    return false;
}

bool open_work(work *w, const cli_arguments *arguments, const char *path, const char *const *more,
               size_t count, int *exit_code)
{
    const char *sets[MOST_SETS + MOST_MORE + 1];
    char seed[64];
    size_t n = list_sets(arguments, more, count, seed, sets);
    return open_work_with(w, path, sets, n, exit_code);
}

void close_work(work *w)
{
    if (w->file)
        w->kind->close(w->file);
    w->file = NULL;
    free(w->origin);
    w->origin = NULL;
}

void *take_file(work *w)
{
    void *file = w->file;
    w->file = NULL;
    close_work(w);
    return file;
}
