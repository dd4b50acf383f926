/* Walking a file by the table of options: defaults, unknown keys, shorthands. See options.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/options.h"

const sgi_option *sgi_option_find(const sgi_option_table *table, const char *path)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].path, path) == 0)
            return &table->rows[i];
    return NULL;
}

/* The rest of `path` below `prefix`, NULL if it is elsewhere. */
static const char *below(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);
    if (n == 0)
        return path;
    return strncmp(path, prefix, n) == 0 && path[n] == '.' ? path + n + 1 : NULL;
}

static bool is_section(const sgi_option_table *table, const char *path)
{
    for (size_t i = 0; i < table->count; i++)
        if (below(table->rows[i].path, path))
            return true;
    return false;
}

sg_status sgi_options_default(sgi_reader *reader, const char *prefix, void *base)
{
    for (size_t i = 0; i < reader->table->count; i++) {
        const sgi_option *option = &reader->table->rows[i];
        const char *rest = below(option->path, prefix);
        if (!rest || !option->initial || strchr(rest, '*'))
            continue;
        sgi_source source = {"default", option->initial, strlen(option->initial)};
        sgi_yaml scalar = {
            .source = &source, .end = source.size, .text = option->initial, .length = source.size};
        sgi_yaml *node = &scalar;
        sg_status status = SG_OK;
        if (option->initial[0] == '[' || option->initial[0] == '{')
            status = sgi_yaml_parse(&node, &source, 0, reader->arena, reader->diagnostic);
        if (status == SG_OK)
            status = sgi_option_read(reader, option, node, base);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

bool sgi_option_is_key(const sgi_option_table *table, const sgi_yaml *key)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *path = table->rows[i].path;
        if (strncmp(path, key->text, key->length) == 0 &&
            (path[key->length] == 0 || path[key->length] == '.'))
            return true;
    }
    return false;
}

/* Calls for each key under `prefix` once: offers it, and adds it to the list. */
static void collect_keys(const sgi_option_table *table, const char *prefix, sgi_nearest *nearest,
                         char *list, size_t capacity)
{
    char last[64] = "";
    size_t used = 0;
    for (size_t i = 0; i < table->count; i++) {
        const char *rest = below(table->rows[i].path, prefix);
        if (!rest)
            continue;
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(rest, "."), rest);
        if (strcmp(key, last) == 0 || strcmp(key, "*") == 0)
            continue;
        memcpy(last, key, sizeof last);
        sgi_nearest_offer(nearest, key);
        if (used < capacity)
            used += (size_t)snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", key);
    }
}

sg_status sgi_options_unknown(sgi_reader *reader, const char *prefix, const char *what,
                              const sgi_yaml *key, const char *more)
{
    char list[300] = "";
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, key->text, key->length);
    collect_keys(reader->table, prefix, &nearest, list, sizeof list);
    sgi_yaml_place(reader->diagnostic, key, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "'%.60s' is not a key of %s", key->text, what);
    const char *also = more[0] ? ", " : "";
    if (nearest.best[0])
        sgi_diagnostic_suggest(reader->diagnostic, "did you mean '%s'?  keys here: %s%s%s",
                               nearest.best, list, also, more);
    else
        sgi_diagnostic_suggest(reader->diagnostic, "keys here: %s%s%s", list, also, more);
    return SG_ERROR_FORMAT;
}

static sg_status read_section(sgi_reader *reader, const char *path, const sgi_yaml *value,
                              void *base)
{
    if (value->kind == SG_YAML_MAPPING)
        return sgi_options_read(reader, path, path, value, base);
    sgi_yaml_place(reader->diagnostic, value, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "'%s' must be a mapping, not %s", path,
                       value->kind == SG_YAML_SCALAR ? "a single value"
                                                     : sgi_yaml_kind_name(value->kind));
    return SG_ERROR_FORMAT;
}

sg_status sgi_options_read(sgi_reader *reader, const char *prefix, const char *what,
                           const sgi_yaml *mapping, void *base)
{
    for (const sgi_yaml *key = mapping->first; key; key = key->next->next) {
        char path[128];
        snprintf(path, sizeof path, "%s%s%.60s", prefix, prefix[0] ? "." : "", key->text);
        const sgi_option *option = sgi_option_find(reader->table, path);
        sg_status status;
        if (option)
            status = sgi_option_read(reader, option, key->next, base);
        else if (key->length <= 60 && !strchr(key->text, '.') && is_section(reader->table, path))
            status = read_section(reader, path, key->next, base);
        else
            status = sgi_options_unknown(reader, prefix, what, key, "");
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static sgi_yaml *node_at(sgi_yaml *node, const char *path)
{
    while (node && node->kind == SG_YAML_MAPPING && *path) {
        char key[64];
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        node = sgi_yaml_get(node, key);
        path += n + (path[n] == '.');
    }
    return *path ? NULL : node;
}

const sgi_yaml *sgi_options_find(const sgi_yaml *root, const char *path)
{
    return node_at((sgi_yaml *)root, path);
}

static sg_status expand(sgi_reader *reader, sgi_yaml *root)
{
    for (size_t i = 0; i < reader->table->shorthand_count; i++) {
        const sgi_shorthand *shorthand = &reader->table->shorthands[i];
        sgi_yaml *node = node_at(root, shorthand->section);
        if (!node || node->kind == SG_YAML_MAPPING ||
            (shorthand->list && node->kind != SG_YAML_SEQUENCE))
            continue;
        sgi_yaml *value = sgi_arena_allocate(reader->arena, 1, sizeof *value);
        sgi_yaml *key = sgi_arena_allocate(reader->arena, 1, sizeof *key);
        if (!value || !key)
            return SG_ERROR_MEMORY;
        *value = *node;
        value->next = NULL;
        *key = (sgi_yaml){.source = node->source,
                          .begin = node->begin,
                          .end = node->end,
                          .text = shorthand->key,
                          .length = strlen(shorthand->key),
                          .next = value};
        *node = (sgi_yaml){.kind = SG_YAML_MAPPING,
                           .source = node->source,
                           .begin = node->begin,
                           .end = node->end,
                           .text = "",
                           .first = key,
                           .last = value,
                           .next = node->next,
                           .count = 2};
    }
    return SG_OK;
}

sg_status sgi_options_expand(sgi_reader *reader, sgi_yaml *root)
{
    const sgi_option_table *table = reader->table;
    sg_status status = expand(reader, root);
    sgi_yaml *list = table->repeated ? node_at(root, table->repeated) : NULL;
    sgi_yaml *item = list && list->kind == SG_YAML_SEQUENCE ? list->first : NULL;
    for (; item && status == SG_OK; item = item->next) {
        if (item->kind != SG_YAML_MAPPING)
            continue;
        sgi_yaml section = *item; /* in a root of its own, which shares the values */
        sgi_yaml key = {.text = table->repeats, .length = strlen(table->repeats), .next = &section};
        sgi_yaml own = {.kind = SG_YAML_MAPPING, .first = &key, .count = 2};
        section.next = NULL;
        status = expand(reader, &own);
    }
    return status;
}

sg_status sgi_refuse(sgi_reader *reader, const sgi_yaml *node, const char *suggestion,
                     const char *format, ...)
{
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s", message);
    if (suggestion)
        sgi_diagnostic_suggest(reader->diagnostic, "%s", suggestion);
    return SG_ERROR_FORMAT;
}
