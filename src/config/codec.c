/* What codecs are made of, and the two functions that call them: see codec.h, options.h. */
#include "config/codec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Mistakes ----------------------------------------------------------------------------- */

const char *sgi_option_label(const sgi_reader *reader, const sgi_option *option, char text[96])
{
    const char *star = strstr(option->path, ".*.");
    const sgi_option_table *table = reader->table;
    if (!star)
        return option->path;
    size_t length = (size_t)(star - option->path), i = 0;
    while (i < table->item_count && (strlen(table->items[i].section) != length ||
                                     strncmp(table->items[i].section, option->path, length) != 0))
        i++;
    snprintf(text, 96, "'%s' of %s", star + 3,
             i < table->item_count ? table->items[i].what : "an item");
    return text;
}

sg_status sgi_option_wrong(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           const char *wanted)
{
    char text[96];
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    if (node->kind == SG_YAML_SCALAR)
        sgi_diagnostic_say(reader->diagnostic, "%s must be %s, not '%.60s'",
                           sgi_option_label(reader, option, text), wanted, node->text);
    else
        sgi_diagnostic_say(reader->diagnostic, "%s must be %s, not %s",
                           sgi_option_label(reader, option, text), wanted,
                           sgi_yaml_kind_name(node->kind));
    return SG_ERROR_FORMAT;
}

static sg_status out_of_range(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              bool above)
{
    char least[32], most[32], text[96];
    sgi_write_number(option->least, least, sizeof least);
    sgi_write_number(option->most, most, sizeof most);
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    /* A limit this far away is there for safety: it is named only to those who exceed it. */
    if (option->most >= (option->codec == &sgi_codec_integer ? 1e9 : 1e12))
        sgi_diagnostic_say(reader->diagnostic, "%s must be %s %s, not %.60s",
                           sgi_option_label(reader, option, text), above ? "at most" : "at least",
                           above ? most : least, node->text);
    else
        sgi_diagnostic_say(reader->diagnostic, "%s must lie between %s and %s, not %.60s",
                           sgi_option_label(reader, option, text), least, most, node->text);
    return SG_ERROR_FORMAT;
}

sg_status sgi_option_exceeds(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             const char *what, double most)
{
    char text[96];
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s in %s is at most %.0f, not %.60s", what,
                       sgi_option_label(reader, option, text), most, node->text);
    return SG_ERROR_FORMAT;
}

/* ---- Parts of reading --------------------------------------------------------------------- */

/* Reports a word such as auto, which is no name, where a number belongs. Of all names only those of
 * constants can stand there alone. */
static sg_status wrong_word(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node)
{
    const sgi_names *names = reader->names;
    sgi_nearest nearest;
    sg_status status = sgi_option_wrong(reader, option, node, "a number");
    sgi_nearest_begin(&nearest, node->text, node->length);
    for (int k = 0; k < names->symbol_count; k++)
        if (names->symbols[k].constant && !names->symbols[k].unknown)
            sgi_nearest_offer(&nearest, names->symbols[k].name);
    sgi_nearest_offer(&nearest, "pi");
    if (sgi_yaml_is(node, "auto") && option->initial)
        sgi_diagnostic_suggest(reader->diagnostic, "it is not chosen by itself; the default is %s",
                               option->initial);
    else
        sgi_nearest_suggest(&nearest, reader->diagnostic);
    return status;
}

sg_status sgi_read_real(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                        double *value)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_option_wrong(reader, option, node, "a number");
    if (option->codec->number && sgi_is_name(node->text, node->length) &&
        sgi_names_kind(reader->names, node->text, node->length) == SG_NAME_NONE)
        return wrong_word(reader, option, node);
    char place[128], text[96];
    snprintf(place, sizeof place, "in %s", sgi_option_label(reader, option, text));
    sgi_scope scope = {reader->names, place, false, false, 0, false};
    sgi_expr expr;
    sg_status status =
        sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, &expr, reader->diagnostic);
    if (status != SG_OK)
        return status;
    if (!sgi_is_constant(reader->names->exprs, expr, value) || !isfinite(*value))
        return sgi_option_wrong(reader, option, node, "a number");
    if (*value < option->least || *value > option->most)
        return out_of_range(reader, option, node, *value > option->most);
    return SG_OK;
}

sg_status sgi_read_whole(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                         int64_t *value)
{
    double real = 0;
    sg_status status = sgi_read_real(reader, option, node, &real);
    if (status != SG_OK)
        return status;
    if (real != floor(real))
        return sgi_option_wrong(reader, option, node, "a whole number");
    *value = (int64_t)real;
    return SG_OK;
}

/* The index of the choice that a word names, -1 if none; offers every word to `nearest`. */
static int find_word(const char *words, const char *text, sgi_nearest *nearest)
{
    int index = 0, found = -1;
    for (const char *at = words; *at; index++) {
        while (*at && *at != ' ') {
            char word[48];
            size_t n = strcspn(at, "= ");
            snprintf(word, sizeof word, "%.*s", (int)n, at);
            if (strcmp(word, "#") != 0) {
                if (strcmp(word, text) == 0)
                    found = index;
                sgi_nearest_offer(nearest, word);
            }
            at += n + (at[n] == '=');
        }
        at += *at == ' ';
    }
    return found;
}

/* "a, b, c": the first word of each choice. */
static void list_words(const char *words, char *text, size_t capacity)
{
    size_t used = 0;
    for (const char *at = words; *at && used < capacity;) {
        size_t n = strcspn(at, " "), word = strcspn(at, "= ");
        if (*at != '#')
            used += (size_t)snprintf(text + used, capacity - used, "%s%.*s", used ? ", " : "",
                                     (int)word, at);
        at += n + (at[n] == ' ');
    }
}

sg_status sgi_read_choice(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                          int *value)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_option_wrong(reader, option, node, "one word");
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, node->text, node->length);
    *value = find_word(option->words, node->text, &nearest);
    if (*value >= 0)
        return SG_OK;
    char words[160];
    list_words(option->words, words, sizeof words);
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "'%.60s' is not a value of %s", node->text,
                       option->path);
    if (nearest.best[0])
        sgi_diagnostic_suggest(reader->diagnostic, "did you mean '%s'?  values: %s", nearest.best,
                               words);
    else
        sgi_diagnostic_suggest(reader->diagnostic, "values: %s", words);
    return SG_ERROR_FORMAT;
}

int sgi_split_product(const char *text, double *numbers, int most)
{
    int count = 0, used = 0;
    while (count < most && sscanf(text, " %lf %n", &numbers[count], &used) == 1) {
        count++;
        text += used;
        if (*text == 0)
            return count;
        if (*text++ != 'x')
            return 0;
    }
    return 0;
}

bool sgi_is_whole(double value, const sgi_option *option)
{
    return value == floor(value) && value >= option->least && value <= option->most;
}

/* ---- Parts of writing --------------------------------------------------------------------- */

void sgi_put(sgi_output *out, const char *format, ...)
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
    bool whole = value > -1e16 && value < 1e16 && value == (double)(long long)value;
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

void sgi_put_number(sgi_output *out, double value)
{
    char number[40];
    sgi_write_number(value, number, sizeof number);
    sgi_put(out, "%s", number);
}

void sgi_put_numbers(sgi_output *out, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        sgi_put(out, "%s", i ? ", " : "[");
        sgi_put_number(out, values[i]);
    }
    sgi_put(out, "]");
}

void sgi_put_word(sgi_output *out, const char *words, int index)
{
    const char *at = words;
    for (; index > 0 && *at; index--) {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    sgi_put(out, "%.*s", (int)strcspn(at, "= "), at);
}

/* ---- By the row's codec ------------------------------------------------------------------- */

const char *sgi_option_takes(const sgi_option *option)
{
    return option->codec->takes;
}

sg_status sgi_option_read(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                          void *base)
{
    return option->codec->read(reader, option, node, (char *)base + option->offset);
}

size_t sgi_option_write(const sgi_option *option, const sgi_names *names, const void *base,
                        char *text, size_t capacity)
{
    sgi_output out = {text, capacity, 0, option, names};
    if (capacity)
        text[0] = 0;
    option->codec->write(&out, (const char *)base + option->offset);
    return out.length;
}
