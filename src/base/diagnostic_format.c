/* A diagnostic as text: see stablegrad/diagnostic.h. */
#include <stdio.h>
#include <string.h>

#include "stablegrad/diagnostic.h"

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

size_t sg_diagnostic_format(const sg_diagnostic *d, char *text, size_t capacity)
{
    char place[32] = "", line[1024] = "", marks[sizeof d->source + 1];
    if (d->line > 0) {
        snprintf(place, sizeof place, ":%d:%d", d->line, d->column);
        underline(d, marks, sizeof marks);
        snprintf(line, sizeof line, "%5d | %s\n      | %*s%s\n", d->line, d->source,
                 d->source_column - 1, "", marks);
    }
    const char *end = d->suggestion[0] ? "\n" : "";
    int n = snprintf(text, capacity, "%s%s: error: %s\n%s%s%s", d->file, place, d->message, line,
                     d->suggestion, end);
    return n < 0 ? 0 : (size_t)n;
}
