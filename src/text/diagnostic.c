/* Diagnostics: see diagnostic.h. */
#include "text/diagnostic.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Longer source lines are cut to a window around the mistake. */
enum { WINDOW = 160, LEAD = 100, MOST_NAME = 63 };

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
static void copy_line(sgi_diagnostic *d, const char *text, size_t begin, size_t end)
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

void sgi_diagnostic_place(sgi_diagnostic *d, const sgi_source *source, size_t offset, size_t length)
{
    memset(d, 0, sizeof *d);
    snprintf(d->file, sizeof d->file, "%s", source->name);
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

void sgi_diagnostic_say(sgi_diagnostic *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->message, sizeof d->message, format, arguments);
    va_end(arguments);
}

void sgi_diagnostic_suggest(sgi_diagnostic *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->suggestion, sizeof d->suggestion, format, arguments);
    va_end(arguments);
}

/* The underline: a caret, then tildes. */
static void underline(const sgi_diagnostic *d, char *text, size_t capacity)
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

size_t sgi_diagnostic_format(const sgi_diagnostic *d, char *text, size_t capacity)
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

/* ---- The nearest name --------------------------------------------------------------------- */

void sgi_nearest_begin(sgi_nearest *nearest, const char *name, size_t length)
{
    if (length > MOST_NAME)
        length = MOST_NAME;
    *nearest = (sgi_nearest){name, length, (length < 6 ? 1 : (int)(length / 3)) + 1, ""};
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance of two names of at most MOST_NAME characters. */
static int distance(const char *a, size_t m, const char *b, size_t n)
{
    int rows[3][MOST_NAME + 1];
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int cost = a[i - 1] != b[j - 1];
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

void sgi_nearest_offer(sgi_nearest *nearest, const char *candidate)
{
    size_t n = strlen(candidate);
    if (n == 0 || n > MOST_NAME || nearest->length == 0)
        return;
    int d = distance(nearest->name, nearest->length, candidate, n);
    bool nearer = d < nearest->distance;
    bool alike = d == nearest->distance && nearest->best[0] && n == nearest->length &&
                 strlen(nearest->best) != n;
    if ((!nearer && !alike) || (size_t)d >= n)
        return;
    nearest->distance = d;
    memcpy(nearest->best, candidate, n + 1);
}

void sgi_nearest_suggest(const sgi_nearest *nearest, sgi_diagnostic *diagnostic)
{
    if (nearest->best[0])
        sgi_diagnostic_suggest(diagnostic, "did you mean '%s'?", nearest->best);
}
