/* Writing options to a text that grows: see document.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pinn/document.h"

static bool reserve(sg_writer *w, size_t more)
{
    if (w->failed || w->length + more < w->capacity)
        return !w->failed;
    size_t capacity = 2 * (w->length + more) + 4096;
    char *larger = sg_allocate(&w->allocator, capacity, 1);
    if (!larger) {
        w->failed = true;
        return false;
    }
    if (w->length)
        memcpy(larger, w->text, w->length);
    sg_release(&w->allocator, w->text);
    w->text = larger;
    w->capacity = capacity;
    return true;
}

void sg_writer_put(sg_writer *w, const char *format, ...)
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

void sg_writer_value(sg_writer *w, const sg_option *option, const void *base)
{
    char small[256];
    size_t n = sg_option_write(option, w->names, base, small, sizeof small);
    if (n < sizeof small) {
        sg_writer_put(w, "%s", small);
    } else if (reserve(w, n + 1)) {
        sg_option_write(option, w->names, base, w->text + w->length, w->capacity - w->length);
        w->length += n;
    }
}

void sg_writer_option(sg_writer *w, const char *previous, const sg_option *option, const void *base)
{
    const char *path = option->path;
    int depth = 0;
    bool same = true;
    while (strchr(path, '.')) {
        size_t n = strcspn(path, ".") + 1;
        same = same && strncmp(previous, path, n) == 0;
        if (!same)
            sg_writer_put(w, "%*s%.*s:\n", 2 * depth, "", (int)n - 1, path);
        path += n;
        previous += same ? n : 0;
        depth++;
    }
    sg_writer_put(w, "%*s%s: ", 2 * depth, "", path);
    sg_writer_value(w, option, base);
    sg_writer_put(w, "\n");
}

sg_status sg_writer_finish(sg_writer *w, char **text)
{
    if (w->failed) {
        sg_release(&w->allocator, w->text);
        w->text = NULL;
    }
    *text = w->text;
    return w->failed ? SG_ERROR_MEMORY : SG_OK;
}
