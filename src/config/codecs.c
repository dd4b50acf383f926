/* Kinds of values that every table may have: see codec.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/codec.h"
#include "config/document.h"

/* ---- Sections, texts ---------------------------------------------------------------------- */

static sg_status read_section(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              void *value)
{
    (void)reader, (void)option, (void)node, (void)value;
    return SG_OK;
}

static void write_section(sgi_output *out, const void *value)
{
    (void)out, (void)value;
}

const sgi_codec sgi_codec_section = {
    .takes = "a section of its own", .read = read_section, .write = write_section};

static sg_status read_text(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    const char **text = value;
    if (node->kind != SG_YAML_SCALAR || node->length > 200)
        return sgi_option_wrong(reader, option, node, "a short text");
    *text = sgi_arena_text(reader->arena, node->text, node->length);
    return *text ? SG_OK : SG_ERROR_MEMORY;
}

/* Text in double quotes: control characters have escapes there only. */
static void put_escaped(sgi_output *out, const char *text)
{
    sgi_put(out, "\"");
    for (; *text; text++) {
        bool control = (unsigned char)*text < ' ' || *text == 0x7f;
        if (control)
            sgi_put(out, "\\x%02x", (unsigned)*text);
        else
            sgi_put(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    sgi_put(out, "\"");
}

/* Text in quotes: YAML could take it for something else. */
void sgi_put_text(sgi_output *out, const char *text)
{
    bool control = false;
    for (const char *at = text; *at; at++)
        control = control || (unsigned char)*at < ' ' || *at == 0x7f;
    if (control) {
        put_escaped(out, text);
        return;
    }
    sgi_put(out, "'");
    for (; *text; text++)
        sgi_put(out, *text == '\'' ? "''" : "%c", *text);
    sgi_put(out, "'");
}

static void write_text(sgi_output *out, const void *value)
{
    sgi_put_text(out, *(const char *const *)value);
}

const sgi_codec sgi_codec_text = {.takes = "a short text", .read = read_text, .write = write_text};

/* ---- Numbers and switches ----------------------------------------------------------------- */

static sg_status read_bool(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off"};
    for (int i = 0; i < 3; i++) {
        if (sgi_yaml_is(node, yes[i]) || sgi_yaml_is(node, no[i])) {
            *(bool *)value = sgi_yaml_is(node, yes[i]);
            return SG_OK;
        }
    }
    return sgi_option_wrong(reader, option, node, "true or false");
}

static void write_bool(sgi_output *out, const void *value)
{
    sgi_put(out, *(const bool *)value ? "true" : "false");
}

const sgi_codec sgi_codec_bool = {.takes = "true or false", .read = read_bool, .write = write_bool};

static sg_status read_integer(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              void *value)
{
    return sgi_read_whole(reader, option, node, value);
}

static void write_integer(sgi_output *out, const void *value)
{
    sgi_put(out, "%lld", (long long)*(const int64_t *)value);
}

const sgi_codec sgi_codec_integer = {
    .takes = "a whole number", .read = read_integer, .write = write_integer, .number = true};

static sg_status read_real(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    return sgi_read_real(reader, option, node, value);
}

static void write_real(sgi_output *out, const void *value)
{
    sgi_put_number(out, *(const double *)value);
}

const sgi_codec sgi_codec_real = {
    .takes = "a number", .read = read_real, .write = write_real, .number = true};

static sg_status read_choice(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             void *value)
{
    return sgi_read_choice(reader, option, node, value);
}

static void write_choice(sgi_output *out, const void *value)
{
    sgi_put_word(out, out->option->words, *(const int *)value);
}

const sgi_codec sgi_codec_choice = {
    .takes = "one word", .read = read_choice, .write = write_choice};

/* A number, or auto for `own`. */
static sg_status read_or_auto(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              double own, double *value)
{
    *value = own;
    return sgi_yaml_is(node, "auto") ? SG_OK : sgi_read_real(reader, option, node, value);
}

/* A number, or auto where it has the value `own`. */
static void put_or_auto(sgi_output *out, double value, double own)
{
    if (value == own)
        sgi_put(out, "auto");
    else
        sgi_put_number(out, value);
}

static sg_status read_gain(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    return read_or_auto(reader, option, node, 0, value);
}

static void write_gain(sgi_output *out, const void *value)
{
    put_or_auto(out, *(const double *)value, 0);
}

const sgi_codec sgi_codec_gain = {
    .takes = "a number, or auto", .read = read_gain, .write = write_gain, .number = true};

static sg_status read_share(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            void *value)
{
    return read_or_auto(reader, option, node, -1, value);
}

static void write_share(sgi_output *out, const void *value)
{
    put_or_auto(out, *(const double *)value, -1);
}

const sgi_codec sgi_codec_share = {
    .takes = "a number, or auto", .read = read_share, .write = write_share, .number = true};

/* ---- Lists -------------------------------------------------------------------------------- */

/* A list of exactly `count` numbers. */
static sg_status read_numbers(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              int count, double *values)
{
    if (node->kind != SG_YAML_SEQUENCE || node->count != count)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    sg_status status = SG_OK;
    for (const sgi_yaml *item = node->first; item && status == SG_OK; item = item->next)
        status = sgi_read_real(reader, option, item, values++);
    return status;
}

static sg_status read_pair(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    return read_numbers(reader, option, node, 2, value);
}

static void write_pair(sgi_output *out, const void *value)
{
    sgi_put_numbers(out, value, 2);
}

const sgi_codec sgi_codec_pair = {
    .takes = "a list of two numbers", .read = read_pair, .write = write_pair};

static sg_status read_triple(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             void *value)
{
    return read_numbers(reader, option, node, 3, value);
}

static void write_triple(sgi_output *out, const void *value)
{
    sgi_put_numbers(out, value, 3);
}

const sgi_codec sgi_codec_triple = {
    .takes = "a list of three numbers", .read = read_triple, .write = write_triple};

static sg_status read_widths(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             void *value)
{
    sgi_widths *widths = value;
    double numbers[2];
    widths->count = 0;
    if (node->kind == SG_YAML_SCALAR) {
        bool product = sgi_split_product(node->text, numbers, 2) == 2;
        if (product && numbers[1] > option->most)
            return sgi_option_exceeds(reader, option, node, "a width", option->most);
        if (product && numbers[0] > SG_MOST_HIDDEN)
            return sgi_option_exceeds(reader, option, node, "the number of layers", SG_MOST_HIDDEN);
        if (!product || !sgi_is_whole(numbers[1], option) || numbers[0] != floor(numbers[0]) ||
            numbers[0] < 0)
            return sgi_option_wrong(reader, option, node, option->codec->takes);
        for (int i = 0; i < (int)numbers[0]; i++)
            widths->values[widths->count++] = (int)numbers[1];
        return SG_OK;
    }
    if (node->kind != SG_YAML_SEQUENCE || node->count > SG_MOST_HIDDEN)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    for (const sgi_yaml *item = node->first; item; item = item->next) {
        int64_t width = 0;
        sg_status status = sgi_read_whole(reader, option, item, &width);
        if (status != SG_OK)
            return status;
        widths->values[widths->count++] = (int)width;
    }
    return SG_OK;
}

static void write_widths(sgi_output *out, const void *value)
{
    const sgi_widths *widths = value;
    bool equal = widths->count > 0;
    for (int i = 1; i < widths->count; i++)
        equal = equal && widths->values[i] == widths->values[0];
    if (equal) {
        sgi_put(out, "%d x %d", widths->count, widths->values[0]);
        return;
    }
    sgi_put(out, "[");
    for (int i = 0; i < widths->count; i++)
        sgi_put(out, "%s%d", i ? ", " : "", widths->values[i]);
    sgi_put(out, "]");
}

const sgi_codec sgi_codec_widths = {.takes = "layers x width, as 6 x 64, or a list of widths",
                                    .read = read_widths,
                                    .write = write_widths};

/* ---- Paths -------------------------------------------------------------------------------- */

static sg_status read_path(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           const char **path)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_option_wrong(reader, option, node, "a path");
    return sgi_document_path(reader, option->path, node, path);
}

static sg_status read_paths(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            void *value)
{
    sgi_paths *paths = value;
    bool list = node->kind == SG_YAML_SEQUENCE;
    paths->count = 0;
    if (node->kind == SG_YAML_MAPPING ||
        (list && (node->count == 0 || node->count > SG_MOST_DATA_FILES)))
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    for (const sgi_yaml *item = list ? node->first : node; item; item = list ? item->next : NULL) {
        sg_status status = read_path(reader, option, item, &paths->values[paths->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static void write_paths(sgi_output *out, const void *value)
{
    const sgi_paths *paths = value;
    bool list = paths->count != 1;
    for (int i = 0; i < paths->count; i++) {
        sgi_put(out, "%s", i ? ", " : list ? "[" : "");
        sgi_put_text(out, paths->values[i]);
    }
    sgi_put(out, "%s", list ? "]" : "");
}

const sgi_codec sgi_codec_paths = {
    .takes = "a path or a list of 1 to 64 paths", .read = read_paths, .write = write_paths};
