/* A diagnostic as text: see stablegrad/diagnostic.h. */
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"

/* The underline: a caret, then tildes. */
static void underline(const sg_diagnostic *d, char *text, size_t capacity)
{
    size_t n = (size_t)d->length < capacity - 1 ? (size_t)d->length : capacity - 1;
    size_t room = strlen(d->source) + 1;
    size_t column = (size_t)d->source_column;
    if (column + n > room + 1 && room >= column)
        n = room - column;
    if (n < 1)
        n = 1;
    memset(text, '~', n);
    text[0] = '^';
    text[n] = 0;
}

/* ":9:17", ":9" when the column is not known, or nothing. */
static void place_text(const sg_diagnostic *d, char *text, size_t capacity)
{
    text[0] = 0;
    if (d->line > 0 && d->column > 0)
        snprintf(text, capacity, ":%d:%d", d->line, d->column);
    else if (d->line > 0)
        snprintf(text, capacity, ":%d", d->line);
}

void sgi_diagnostic_line(const sg_diagnostic *d, char *text, size_t capacity)
{
    char place[32];
    place_text(d, place, sizeof place);
    snprintf(text, capacity, "%s%s%s%s", d->file, place, d->file[0] ? ": " : "", d->message);
}

size_t sg_diagnostic_format(const sg_diagnostic *d, char *text, size_t capacity)
{
    if (!d || (!text && capacity))
        return 0;
    char place[32], line[1024] = "", marks[sizeof d->source + 1];
    place_text(d, place, sizeof place);
    if (d->line > 0 && d->source_column > 0) {
        underline(d, marks, sizeof marks);
        snprintf(line, sizeof line, "%5d | %s\n      | %*s%s\n", d->line, d->source,
                 d->source_column - 1, "", marks);
    }
    const char *end = d->suggestion[0] ? "\n" : "";
    int n = snprintf(text, capacity, "%s%s%serror: %s\n%s%s%s", d->file, place,
                     d->file[0] ? ": " : "", d->message, line, d->suggestion, end);
    return n < 0 ? 0 : (size_t)n;
}
