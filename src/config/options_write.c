/* Writing option values as they would be written in a file: see settings.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"

typedef struct output {
    char *text;
    size_t capacity, length;
} output;

__attribute__((format(printf, 2, 3))) static void put(output *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t at = out->length < out->capacity ? out->length : out->capacity;
    int n = vsnprintf(out->text + at, out->capacity - at, format, arguments);
    va_end(arguments);
    out->length += n > 0 ? (size_t)n : 0;
}

/* 1e-08 as people write it: 1e-8. */
static void shorten_exponent(char *number)
{
    char *e = strchr(number, 'e');
    if (!e)
        return;
    char *digits = e + 1, *from;
    digits += *digits == '-';
    from = e + 1 + (e[1] == '-' || e[1] == '+');
    from += strspn(from, "0");
    memmove(digits, from, strlen(from) + 1);
}

size_t sgi_write_number(double value, char *text, size_t capacity)
{
    char number[40];
    bool whole = value > -1e15 && value < 1e15 && value == (double)(long long)value;
    for (int digits = 1; digits <= 17 && !whole; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value)
            break;
    }
    if (whole)
        snprintf(number, sizeof number, "%lld", (long long)value);
    else
        shorten_exponent(number);
    int n = snprintf(text, capacity, "%s", number);
    return n > 0 ? (size_t)n : 0;
}

static void put_number(output *out, double value)
{
    char number[40];
    sgi_write_number(value, number, sizeof number);
    put(out, "%s", number);
}

static void put_word(output *out, const char *words, int index)
{
    const char *at = words;
    for (; index > 0 && *at; index--) {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    put(out, "%.*s", (int)strcspn(at, "= "), at);
}

static void put_widths(output *out, const sgi_widths *widths)
{
    bool equal = widths->count > 0;
    for (int i = 1; i < widths->count; i++)
        equal = equal && widths->values[i] == widths->values[0];
    if (equal) {
        put(out, "%d x %d", widths->count, widths->values[0]);
        return;
    }
    put(out, "[");
    for (int i = 0; i < widths->count; i++)
        put(out, "%s%d", i ? ", " : "", widths->values[i]);
    put(out, "]");
}

static void put_numbers(output *out, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        put(out, "%s", i ? ", " : "[");
        put_number(out, values[i]);
    }
    put(out, "]");
}

static void put_frequencies(output *out, const sgi_frequencies *list)
{
    bool counted = true;
    for (int i = 0; i < list->count; i++)
        counted = counted && list->values[i] == i + 1;
    if (counted) {
        put(out, "%d", list->count);
        return;
    }
    put_numbers(out, list->values, list->count);
}

static void put_coordinates(output *out, const sgi_names *names, unsigned bits)
{
    unsigned all = (1u << names->coordinate_count) - 1;
    if (bits == 0 || bits == all) {
        put(out, bits ? "all" : "none");
        return;
    }
    const char *before = "[";
    for (int k = 0; k < names->coordinate_count; k++) {
        if (!(bits >> k & 1))
            continue;
        put(out, "%s%s", before, names->coordinates[k]);
        before = ", ";
    }
    put(out, "]");
}

static void put_harmonics(output *out, const sgi_names *names, const int *harmonics)
{
    const char *before = "";
    put(out, "{");
    for (int k = 0; k < names->coordinate_count; k++) {
        if (harmonics[k] == 0)
            continue;
        put(out, "%s%s: %d", before, names->coordinates[k], harmonics[k]);
        before = ", ";
    }
    put(out, "}");
}

static void put_grid(output *out, const sgi_names *names, const int64_t *grid)
{
    for (int k = 0; k < names->coordinate_count; k++)
        put(out, "%s%lld", k ? " x " : "", (long long)grid[k]);
}

static void put_pieces(output *out, const sgi_pieces *pieces)
{
    put(out, "[");
    for (int i = 0; i < pieces->count; i++) {
        const sg_schedule_term *term = &pieces->values[i];
        put(out, "%s{from: %llu, until: %llu, factor: ", i ? ", " : "",
            (unsigned long long)term->from, (unsigned long long)term->until);
        put_number(out, term->value);
        put(out, "}");
    }
    put(out, "]");
}

static void put_step(output *out, int64_t step)
{
    if (step < 0)
        put(out, step == SG_STEP_HALF ? "half" : "forever");
    else
        put(out, "%lld", (long long)step);
}

/* Text in double quotes: control characters have escapes there only. */
static void put_escaped(output *out, const char *text)
{
    put(out, "\"");
    for (; *text; text++) {
        bool control = (unsigned char)*text < ' ' || *text == 0x7f;
        if (control)
            put(out, "\\x%02x", (unsigned)*text);
        else
            put(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    put(out, "\"");
}

/* Text in quotes: YAML could take it for something else. */
static void put_text(output *out, const char *text)
{
    bool control = false;
    for (const char *at = text; *at; at++)
        control = control || (unsigned char)*at < ' ' || *at == 0x7f;
    if (control) {
        put_escaped(out, text);
        return;
    }
    put(out, "'");
    for (; *text; text++)
        put(out, *text == '\'' ? "''" : "%c", *text);
    put(out, "'");
}

/* A number, or auto where it has the value `own`. */
static void put_or_auto(output *out, double value, double own)
{
    if (value == own)
        put(out, "auto");
    else
        put_number(out, value);
}

static void put_paths(output *out, const sgi_paths *paths)
{
    bool list = paths->count != 1;
    for (int i = 0; i < paths->count; i++) {
        put(out, "%s", i ? ", " : list ? "[" : "");
        put_text(out, paths->values[i]);
    }
    put(out, "%s", list ? "]" : "");
}

static void put_scale(output *out, const sgi_option *option, const sgi_reference_choice *choice)
{
    if (choice->kind == SG_REFERENCE_CONSTANT)
        put_number(out, choice->constant);
    else
        put_word(out, option->words, choice->kind);
}

size_t sgi_option_write(const sgi_option *option, const sgi_names *names, const void *base,
                        char *text, size_t capacity)
{
    output out = {text, capacity, 0};
    const void *at = (const char *)base + option->offset;
    if (capacity)
        text[0] = 0;
    switch (option->type) {
    case SG_OPTION_SECTION:
        break;
    case SG_OPTION_TEXT:
        put_text(&out, *(const char *const *)at);
        break;
    case SG_OPTION_BOOL:
        put(&out, *(const bool *)at ? "true" : "false");
        break;
    case SG_OPTION_INTEGER:
        put(&out, "%lld", (long long)*(const int64_t *)at);
        break;
    case SG_OPTION_REAL:
        put_number(&out, *(const double *)at);
        break;
    case SG_OPTION_CHOICE:
        put_word(&out, option->words, *(const int *)at);
        break;
    case SG_OPTION_GAIN:
        put_or_auto(&out, *(const double *)at, 0);
        break;
    case SG_OPTION_SHARE:
        put_or_auto(&out, *(const double *)at, -1);
        break;
    case SG_OPTION_STEP:
        put_step(&out, *(const int64_t *)at);
        break;
    case SG_OPTION_SCALE:
        put_scale(&out, option, at);
        break;
    case SG_OPTION_PAIR:
        put_numbers(&out, at, 2);
        break;
    case SG_OPTION_TRIPLE:
        put_numbers(&out, at, 3);
        break;
    case SG_OPTION_WIDTHS:
        put_widths(&out, at);
        break;
    case SG_OPTION_FREQUENCIES:
        put_frequencies(&out, at);
        break;
    case SG_OPTION_COORDINATES:
        put_coordinates(&out, names, *(const unsigned *)at);
        break;
    case SG_OPTION_HARMONICS:
        put_harmonics(&out, names, at);
        break;
    case SG_OPTION_GRID:
        put_grid(&out, names, at);
        break;
    case SG_OPTION_PIECES:
        put_pieces(&out, at);
        break;
    case SG_OPTION_PATHS:
        put_paths(&out, at);
        break;
    }
    return out.length;
}
