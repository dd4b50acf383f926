/* Writing options to a text that grows: see document.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/document.h"

static bool reserve(sgi_writer *w, size_t more)
{
    if (w->failed || w->length + more < w->capacity)
        return !w->failed;
    size_t capacity = 2 * (w->length + more) + 4096;
    char *larger = sgi_enlarge(&w->allocator, w->text, w->length, capacity, 1);
    if (!larger) {
        w->failed = true;
        return false;
    }
    w->text = larger;
    w->capacity = capacity;
    return true;
}

void sgi_writer_put(sgi_writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0 || !reserve(w, (size_t)n + 1))
        return;
    va_start(arguments, format);
    vsnprintf(w->text + w->length, w->capacity - w->length, format, arguments);
    va_end(arguments);
    w->length += (size_t)n;
}

void sgi_writer_value(sgi_writer *w, const sgi_option *option, const void *base)
{
    char small[256];
    size_t n = sgi_option_write(option, w->names, base, small, sizeof small);
    if (n < sizeof small) {
        sgi_writer_put(w, "%s", small);
    } else if (reserve(w, n + 1)) {
        sgi_option_write(option, w->names, base, w->text + w->length, w->capacity - w->length);
        w->length += n;
    }
}

void sgi_writer_option(sgi_writer *w, const char *previous, const sgi_option *option,
                       const void *base)
{
    const char *path = option->path;
    int depth = 0;
    bool same = true;
    while (strchr(path, '.')) {
        size_t n = strcspn(path, ".") + 1;
        same = same && strncmp(previous, path, n) == 0;
        if (!same)
            sgi_writer_put(w, "%*s%.*s:\n", 2 * depth, "", (int)n - 1, path);
        path += n;
        previous += same ? n : 0;
        depth++;
    }
    sgi_writer_put(w, "%*s%s: ", 2 * depth, "", path);
    sgi_writer_value(w, option, base);
    sgi_writer_put(w, "\n");
}

sg_status sgi_writer_finish(sgi_writer *w, char **text)
{
    if (w->failed) {
        sgi_release(&w->allocator, w->text);
        w->text = NULL;
    }
    *text = w->text;
    return w->failed ? SG_ERROR_MEMORY : SG_OK;
}
