/* The tree of a problem file: see yaml.h. */
#include "text/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct builder {
    const sgi_source *source;
    size_t base;            /* source byte of the parsed text's first byte */
    size_t character, byte; /* the place that was asked for last: its character, its source byte */
    sgi_arena *arena;
    sg_diagnostic *diagnostic;
    sgi_yaml *open[SG_YAML_MOST_DEPTH]; /* containers that have not ended */
    int depth;
    int nodes;
    sgi_yaml *root;
} builder;

const char *sgi_yaml_kind_name(sgi_yaml_kind kind)
{
    static const char *const names[] = {[SG_YAML_SCALAR] = "a value",
                                        [SG_YAML_SEQUENCE] = "a list",
                                        [SG_YAML_MAPPING] = "a mapping"};
    return names[kind];
}

bool sgi_yaml_is(const sgi_yaml *node, const char *text)
{
    return node->kind == SG_YAML_SCALAR && strcmp(node->text, text) == 0;
}

sgi_yaml *sgi_yaml_get(const sgi_yaml *mapping, const char *key)
{
    for (sgi_yaml *k = mapping->first; k; k = k->next->next)
        if (sgi_yaml_is(k, key))
            return k->next;
    return NULL;
}

static sg_status refuse(builder *b, size_t begin, size_t end, const char *message)
{
    sgi_diagnostic_place(b->diagnostic, b->source, begin, end - begin);
    sgi_diagnostic_say(b->diagnostic, "%s", message);
    return SG_ERROR_FORMAT;
}

/* A key must be a scalar and new to its mapping. */
static sg_status check_key(builder *b, const sgi_yaml *mapping, const sgi_yaml *key)
{
    if (key->kind != SG_YAML_SCALAR)
        return refuse(b, key->begin, key->begin + 1, "a key must be a plain name");
    if (key->length == 0)
        return refuse(b, key->begin, key->end, "a key is missing");
    if (!sgi_yaml_get(mapping, key->text))
        return SG_OK;
    sgi_diagnostic_place(b->diagnostic, b->source, key->begin, key->end - key->begin);
    sgi_diagnostic_say(b->diagnostic, "the key '%.60s' is given twice", key->text);
    return SG_ERROR_FORMAT;
}

static sg_status attach(builder *b, sgi_yaml *node)
{
    if (b->depth == 0) {
        if (b->root)
            return refuse(b, node->begin, node->end, "a problem file is one YAML document");
        b->root = node;
        return SG_OK;
    }
    sgi_yaml *parent = b->open[b->depth - 1];
    if (parent->kind == SG_YAML_MAPPING && parent->count % 2 == 0) {
        sg_status status = check_key(b, parent, node);
        if (status != SG_OK)
            return status;
    }
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    parent->count++;
    return SG_OK;
}

/* The source byte of a mark. libyaml counts characters, and leaves a byte order mark out. */
static size_t place_of(builder *b, yaml_mark_t mark)
{
    if (b->byte == 0 || mark.index < b->character) {
        size_t left = b->source->size - b->base;
        bool marked = left >= 3 && memcmp(b->source->text + b->base, "\xEF\xBB\xBF", 3) == 0;
        b->byte = b->base + (marked ? 3 : 0);
        b->character = 0;
    }
    for (; b->character < mark.index && b->byte < b->source->size; b->character++)
        do
            b->byte++;
        while (b->byte < b->source->size && (b->source->text[b->byte] & 0xC0) == 0x80);
    return b->byte;
}

/* From the anchor or tag that an event starts with to what it is put before. */
static size_t skip_properties(const builder *b, size_t at, size_t end)
{
    const char *text = b->source->text;
    while (at < end && (text[at] == '&' || text[at] == '!')) {
        while (at < end && !strchr(" \t\r\n", text[at]))
            at++;
        while (at < end && strchr(" \t\r\n", text[at]))
            at++;
    }
    return at;
}

/* A scalar stands where its text does: inside its quotes, below the line of `|` or `>`. */
static void find_text(const builder *b, const yaml_event_t *event, size_t *from, size_t *to)
{
    const char *text = b->source->text;
    if (event->data.scalar.anchor || event->data.scalar.tag)
        *from = skip_properties(b, *from, *to);
    switch (event->data.scalar.style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        *from += *from < *to;
        *to -= *from < *to;
        break;
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE:
        while (*from < *to && text[*from] != '\n' && text[*from] != '\r')
            ++*from;
        break;
    default:
        break;
    }
}

/* Where the event stands. A value that is left out stands nowhere: at its key then, or at what it
 * is part of. */
static void find_place(builder *b, const yaml_event_t *event, size_t *from, size_t *to)
{
    const sgi_yaml *parent = b->depth ? b->open[b->depth - 1] : NULL;
    const sgi_yaml *near = parent && parent->last ? parent->last : parent;
    *from = place_of(b, event->start_mark);
    *to = place_of(b, event->end_mark);
    if (event->type == YAML_SCALAR_EVENT && *from == *to && near) {
        *from = near->begin;
        *to = near->end;
    } else if (event->type == YAML_SCALAR_EVENT) {
        find_text(b, event, from, to);
    }
}

static sg_status add_node(builder *b, sgi_yaml_kind kind, const yaml_event_t *event, sgi_yaml **out)
{
    size_t from, to;
    find_place(b, event, &from, &to);
    if (++b->nodes > SG_YAML_MOST_NODES)
        return refuse(b, from, to, "the file has too many values");
    sgi_yaml *node = sgi_arena_allocate(b->arena, 1, sizeof *node);
    if (!node)
        return SG_ERROR_MEMORY;
    *node = (sgi_yaml){.kind = kind, .source = b->source, .begin = from, .end = to, .text = ""};
    *out = node;
    return SG_OK;
}

static sgi_yaml_style style_of(yaml_scalar_style_t style)
{
    switch (style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        return SG_YAML_SINGLE_QUOTED;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return SG_YAML_DOUBLE_QUOTED;
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE:
        return SG_YAML_BLOCK;
    default:
        return SG_YAML_PLAIN;
    }
}

static sg_status add_scalar(builder *b, const yaml_event_t *event)
{
    sgi_yaml *node;
    sg_status status = add_node(b, SG_YAML_SCALAR, event, &node);
    if (status != SG_OK)
        return status;
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length))
        return refuse(b, node->begin, node->end, "a value contains a zero byte");
    node->style = style_of(event->data.scalar.style);
    if (node->style == SG_YAML_BLOCK) /* the final line break is no part of an expression */
        while (length && text[length - 1] == '\n')
            length--;
    node->text = sgi_arena_text(b->arena, text, length);
    node->length = length;
    return node->text ? attach(b, node) : SG_ERROR_MEMORY;
}

static sg_status open_container(builder *b, sgi_yaml_kind kind, const yaml_event_t *event)
{
    sgi_yaml *node;
    sg_status status = add_node(b, kind, event, &node);
    if (status == SG_OK && b->depth == SG_YAML_MOST_DEPTH)
        status = refuse(b, node->begin, node->end, "values are nested too deeply");
    if (status == SG_OK)
        status = attach(b, node);
    if (status == SG_OK)
        b->open[b->depth++] = node;
    return status;
}

static sg_status take_event(builder *b, const yaml_event_t *event)
{
    size_t at;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(b, SG_YAML_SEQUENCE, event);
    case YAML_MAPPING_START_EVENT:
        return open_container(b, SG_YAML_MAPPING, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return SG_OK;
    case YAML_ALIAS_EVENT:
        at = place_of(b, event->start_mark);
        return refuse(b, at, at + 2, "aliases are not part of problem files");
    default:
        return SG_OK;
    }
}

/* The mistakes that are made often in other words than libyaml's: how its sentence begins, what is
 * said, and what is said when the text ended there. */
static const char *const plain_words[][3] = {
    {"did not find expected ',' or '}'", "missing comma in flow mapping",
     "flow mapping without a closing brace"},
    {"did not find expected ',' or ']'", "missing comma in flow sequence",
     "flow sequence without a closing bracket"},
    {"found unexpected end of stream", "quoted text without its closing quote",
     "quoted text without its closing quote"},
    {"could not find expected ':'", "a key without a colon", "a key without a colon"},
    {"did not find expected key", "a line that is indented less or more than those it belongs to",
     "a line that is indented less or more than those it belongs to"},
    {"found character that cannot start",
     "a character that cannot stand here (spaces indent, tabs do not)",
     "a character that cannot stand here"},
    {"mapping values are not allowed", "a colon where no key can stand",
     "a colon where no key can stand"},
};

/* What libyaml found wrong. */
static sg_status report_syntax(builder *b, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return SG_ERROR_MEMORY;
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    size_t at = parser->error == YAML_READER_ERROR ? b->base + parser->problem_offset
                                                   : place_of(b, parser->problem_mark);
    if (at >= b->source->size && parser->error == YAML_SCANNER_ERROR && parser->context)
        at = place_of(b, parser->context_mark); /* where it began, not where the file ends */
    for (size_t i = 0; i < sizeof plain_words / sizeof plain_words[0]; i++)
        if (strncmp(problem, plain_words[i][0], strlen(plain_words[i][0])) == 0)
            problem = plain_words[i][at >= b->source->size ? 2 : 1];
    sgi_diagnostic_place(b->diagnostic, b->source, at, 1);
    sgi_diagnostic_say(b->diagnostic, "not valid YAML: %s", problem);
    return SG_ERROR_FORMAT;
}

static sg_status read_events(builder *b, yaml_parser_t *parser)
{
    sg_status status = SG_OK;
    for (bool end = false; status == SG_OK && !end;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return report_syntax(b, parser);
        end = event.type == YAML_STREAM_END_EVENT;
        status = take_event(b, &event);
        yaml_event_delete(&event);
    }
    return status;
}

static sg_status read_text(builder *b)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return SG_ERROR_MEMORY;
    yaml_parser_set_input_string(&parser, (const unsigned char *)b->source->text + b->base,
                                 b->source->size - b->base);
    sg_status status = read_events(b, &parser);
    yaml_parser_delete(&parser);
    return status;
}

/* Bytes of the UTF-8 character at `at`, 0 if it is not one that text may contain. */
static size_t character_length(const unsigned char *at, size_t left)
{
    size_t n = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    bool control = at[0] < ' ' && at[0] != '\t' && at[0] != '\n' && at[0] != '\r';
    if (n == 0 || n > left || at[0] > 0xF4 || at[0] == 0x7F || control)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
    bool beyond = (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF4 && at[1] > 0x8F);
    return overlong || beyond ? 0 : n;
}

/* Bytes that are no text are not repeated to the user. */
static sg_status refuse_bytes(builder *b, size_t at)
{
    sg_status status = refuse(b, at, at + 1, "this is not UTF-8 text");
    for (char *c = b->diagnostic->source; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    return status;
}

/* What libyaml is not given: bytes that are no text, and directives, which a problem file has no
 * use for. */
static sg_status check_text(builder *b)
{
    const sgi_source *source = b->source;
    if (source->size > SG_YAML_MOST_BYTES)
        return refuse(b, 0, 0, "the file is larger than one megabyte");
    for (size_t at = b->base, n; at < source->size; at += n) {
        n = character_length((const unsigned char *)source->text + at, source->size - at);
        if (n == 0)
            return refuse_bytes(b, at);
        if (source->text[at] == '%' &&
            (at == b->base || source->text[at - 1] == '\n' || source->text[at - 1] == '\r'))
            return refuse(b, at, at + 1, "YAML directives are not part of problem files");
    }
    return SG_OK;
}

sg_status sgi_yaml_parse(sgi_yaml **root, const sgi_source *source, size_t begin, sgi_arena *arena,
                         sg_diagnostic *diagnostic)
{
    *root = NULL;
    builder b = {.source = source, .base = begin, .arena = arena, .diagnostic = diagnostic};
    sg_status status = check_text(&b);
    if (status != SG_OK)
        return status;
    if (source->size == begin) {
        b.root = sgi_arena_allocate(arena, 1, sizeof *b.root);
        if (!b.root)
            return SG_ERROR_MEMORY;
        *b.root = (sgi_yaml){.kind = SG_YAML_MAPPING, .source = source, .begin = begin, .text = ""};
        *root = b.root;
        return SG_OK;
    }
    status = read_text(&b);
    if (status == SG_OK && !b.root)
        status = refuse(&b, begin, begin, "the file is empty");
    if (status == SG_OK)
        *root = b.root;
    return status;
}

static sgi_yaml *new_node(sgi_arena *arena, sgi_yaml_kind kind, const sgi_source *source,
                          size_t begin, size_t end)
{
    sgi_yaml *node = sgi_arena_allocate(arena, 1, sizeof *node);
    if (node)
        *node = (sgi_yaml){.kind = kind, .source = source, .begin = begin, .end = end, .text = ""};
    return node;
}

/* Turns a value that is in the way into an empty mapping. */
static void make_mapping(sgi_yaml *node, const sgi_source *source, size_t begin, size_t end)
{
    struct sgi_yaml *next = node->next;
    if (node->kind != SG_YAML_SCALAR)
        return;
    *node = (sgi_yaml){.kind = SG_YAML_MAPPING,
                       .source = source,
                       .begin = begin,
                       .end = end,
                       .text = "",
                       .next = next};
}

static bool is_number(const char *name)
{
    return name[0] && name[strspn(name, "0123456789")] == 0;
}

/* What a step of a path leads to: the value under a key, or an item of a list, counted from 1. */
static sgi_yaml *child_of(const sgi_yaml *parent, const char *name)
{
    if (parent->kind == SG_YAML_MAPPING)
        return sgi_yaml_get(parent, name);
    long number = is_number(name) && strlen(name) < 9 ? strtol(name, NULL, 10) : 0;
    if (number < 1 || number > parent->count)
        return NULL;
    sgi_yaml *item = parent->first;
    while (--number > 0)
        item = item->next;
    return item;
}

/* A list is not overwritten by a path through it. `place` is where its own path is written. */
static sg_status refuse_item(const sgi_yaml *list, const char *name, const sgi_source *source,
                             size_t place, size_t length, sg_diagnostic *diagnostic)
{
    const char *path = source->text + place;
    sgi_diagnostic_place(diagnostic, source, place, length);
    if (is_number(name)) {
        sgi_diagnostic_say(diagnostic, "'%.*s' is a list of %d, and there is no number %.9s",
                           (int)length, path, list->count, name);
        sgi_diagnostic_suggest(diagnostic, "the first is number 1");
    } else {
        sgi_diagnostic_say(diagnostic, "'%.*s' is a list: give the whole list", (int)length, path);
        sgi_diagnostic_suggest(diagnostic, "or one item by its number, the first as %.*s.1",
                               (int)length, path);
    }
    return SG_ERROR_FORMAT;
}

/* Appends key and value to a mapping. */
static sg_status append_pair(sgi_yaml *mapping, sgi_yaml *key, sgi_yaml *value)
{
    if (!key || !value)
        return SG_ERROR_MEMORY;
    key->next = value;
    value->next = NULL;
    if (mapping->last)
        mapping->last->next = key;
    else
        mapping->first = key;
    mapping->last = value;
    mapping->count += 2;
    return SG_OK;
}

/* Replaces a child in place, so that pointers of its neighbours stay good. */
static void replace(sgi_yaml *old, const sgi_yaml *value)
{
    struct sgi_yaml *next = old->next;
    *old = *value;
    old->next = next;
}

sg_status sgi_yaml_put(sgi_yaml *root, const char *path, size_t length, sgi_yaml *value,
                       const sgi_source *source, size_t offset, sgi_arena *arena,
                       sg_diagnostic *diagnostic)
{
    sgi_yaml *parent = root;
    for (size_t begin = 0;;) {
        size_t end = begin;
        while (end < length && path[end] != '.')
            end++;
        char *name = sgi_arena_text(arena, path + begin, end - begin);
        if (!name)
            return SG_ERROR_MEMORY;
        sgi_yaml *child = child_of(parent, name);
        bool last = end == length;
        if (child && last) {
            replace(child, value);
            return SG_OK;
        }
        if (!child && parent->kind == SG_YAML_SEQUENCE)
            return refuse_item(parent, name, source, offset, begin - 1, diagnostic);
        if (!child) {
            sgi_yaml *key = new_node(arena, SG_YAML_SCALAR, source, offset + begin, offset + end);
            child = last ? value
                         : new_node(arena, SG_YAML_MAPPING, source, offset + begin, offset + end);
            if (key) {
                key->text = name;
                key->length = end - begin;
            }
            sg_status status = append_pair(parent, key, child);
            if (status != SG_OK || last)
                return status;
        }
        make_mapping(child, source, offset + begin, offset + end);
        parent = child;
        begin = end + 1;
    }
}
