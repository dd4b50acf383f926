/* Filling a diagnostic: see diagnostic.h. */
#include "base/diagnostic.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Longer source lines are cut to a window around the mistake. */
enum { WINDOW = 160, LEAD = 100 };

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static int characters(const char *text, size_t size)
{
    int count = 0;
    for (size_t i = 0; i < size; i++)
        count += !continues_character(text[i]);
    return count;
}

/* Copies the bytes from `begin` to `end` of the line, as far as they fit, tabs as spaces. */
static void copy_line(sg_diagnostic *d, const char *text, size_t begin, size_t end)
{
    size_t n = end - begin;
    if (n > sizeof d->source - 1)
        n = sizeof d->source - 1;
    for (size_t i = 0; i < n; i++) {
        char c = text[begin + i];
        d->source[i] = (unsigned char)c < ' ' || c == 127 ? ' ' : c;
    }
    d->source[n] = 0;
}

void sgi_diagnostic_name(sg_diagnostic *d, const char *path)
{
    if (!d || d->file[0])
        return;
    size_t length = strlen(path), most = sizeof d->file - 1;
    if (length > most)
        snprintf(d->file, sizeof d->file, "...%s", path + length - (most - 3));
    else
        memcpy(d->file, path, length + 1);
}

void sgi_diagnostic_place(sg_diagnostic *d, const sgi_source *source, size_t offset, size_t length)
{
    if (!d)
        return;
    memset(d, 0, sizeof *d);
    sgi_diagnostic_name(d, source->name);
    if (offset > source->size)
        offset = source->size;
    size_t begin = 0, end = offset;
    d->line = 1;
    for (size_t i = 0; i < offset; i++) {
        if (source->text[i] == '\n') {
            d->line++;
            begin = i + 1;
        }
    }
    while (end < source->size && source->text[end] != '\n' && source->text[end] != '\r')
        end++;
    d->column = 1 + characters(source->text + begin, offset - begin);
    size_t marked = length < end - offset ? length : end - offset;
    d->length = characters(source->text + offset, marked);
    if (d->length < 1)
        d->length = 1;
    size_t first = offset - begin > WINDOW ? offset - LEAD : begin;
    while (first < offset && continues_character(source->text[first]))
        first++;
    if (end - first > WINDOW + LEAD)
        end = first + WINDOW + LEAD;
    d->source_column = 1 + characters(source->text + first, offset - first);
    copy_line(d, source->text, first, end);
}

void sgi_diagnostic_file(sg_diagnostic *d, const char *path)
{
    if (!d)
        return;
    memset(d, 0, sizeof *d);
    sgi_diagnostic_name(d, path);
}

void sgi_diagnostic_say(sg_diagnostic *d, const char *format, ...)
{
    if (!d)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->message, sizeof d->message, format, arguments);
    va_end(arguments);
}

void sgi_diagnostic_suggest(sg_diagnostic *d, const char *format, ...)
{
    if (!d)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->suggestion, sizeof d->suggestion, format, arguments);
    va_end(arguments);
}

static sg_status fail(sg_diagnostic *d, sg_status status, const char *path, const char *format,
                      va_list arguments)
{
    int error = errno;
    if (!d)
        return status;
    sgi_diagnostic_file(d, path);
    errno = error;
    vsnprintf(d->message, sizeof d->message, format, arguments);
    return status;
}

sg_status sgi_fail(sg_diagnostic *d, sg_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(d, status, "", format, arguments);
    va_end(arguments);
    return status;
}

sg_status sgi_fail_file(sg_diagnostic *d, sg_status status, const char *path, const char *format,
                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(d, status, path, format, arguments);
    va_end(arguments);
    return status;
}
