/* The tree of a problem file: see yaml.h. */
#include "text/yaml.h"

#include <libfyaml.h>
#include <string.h>

typedef struct builder {
    const sgi_source *source;
    size_t base; /* source byte of the parsed text's first byte */
    sgi_arena *arena;
    sg_diagnostic *diagnostic;
    sgi_yaml *open[SG_YAML_MOST_DEPTH]; /* containers that have not ended */
    int depth;
    int nodes;
    sgi_yaml *root;
} builder;

const char *sgi_yaml_kind_name(sgi_yaml_kind kind)
{
    static const char *const names[] = {"a value", "a list", "a mapping"};
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

/* Where the event stands. A value that is left out stands nowhere: at its key then, or at what it
 * is part of. */
static void find_place(const builder *b, struct fy_event *event, size_t *from, size_t *to)
{
    const struct fy_mark *begin = fy_event_start_mark(event), *end = fy_event_end_mark(event);
    const sgi_yaml *parent = b->depth ? b->open[b->depth - 1] : NULL;
    const sgi_yaml *near = parent && parent->last ? parent->last : parent;
    *from = begin ? b->base + begin->input_pos : near ? near->begin : b->base;
    *to = end ? b->base + end->input_pos : near && !begin ? near->end : *from;
}

static sg_status add_node(builder *b, sgi_yaml_kind kind, struct fy_event *event, sgi_yaml **out)
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

static sgi_yaml_style style_of(enum fy_scalar_style style)
{
    switch (style) {
    case FYSS_SINGLE_QUOTED:
        return SG_YAML_SINGLE_QUOTED;
    case FYSS_DOUBLE_QUOTED:
        return SG_YAML_DOUBLE_QUOTED;
    case FYSS_LITERAL:
    case FYSS_FOLDED:
        return SG_YAML_BLOCK;
    default:
        return SG_YAML_PLAIN;
    }
}

static sg_status add_scalar(builder *b, struct fy_event *event)
{
    sgi_yaml *node;
    sg_status status = add_node(b, SG_YAML_SCALAR, event, &node);
    if (status != SG_OK)
        return status;
    size_t length = 0;
    const char *text = fy_token_get_text(event->scalar.value, &length);
    if (!text)
        length = 0;
    if (memchr(text ? text : "", 0, length))
        return refuse(b, node->begin, node->end, "a value contains a zero byte");
    node->style = style_of(fy_token_scalar_style(event->scalar.value));
    if (node->style == SG_YAML_BLOCK) /* the final line break is no part of an expression */
        while (length && text[length - 1] == '\n')
            length--;
    node->text = sgi_arena_text(b->arena, text, length);
    node->length = length;
    return node->text ? attach(b, node) : SG_ERROR_MEMORY;
}

static sg_status open_container(builder *b, sgi_yaml_kind kind, struct fy_event *event)
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

static sg_status take_event(builder *b, struct fy_event *event)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    size_t at = b->base + (mark ? mark->input_pos : 0);
    switch (event->type) {
    case FYET_SCALAR:
        return add_scalar(b, event);
    case FYET_SEQUENCE_START:
        return open_container(b, SG_YAML_SEQUENCE, event);
    case FYET_MAPPING_START:
        return open_container(b, SG_YAML_MAPPING, event);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        b->depth--;
        return SG_OK;
    case FYET_ALIAS:
        return refuse(b, at > 0 ? at - 1 : 0, at + 1, "aliases are not part of problem files");
    default:
        return SG_OK;
    }
}

/* What libfyaml found wrong; lines and columns are those of the parsed part. */
static sg_status report_syntax(builder *b, struct fy_diag *diag)
{
    void *iterator = NULL;
    struct fy_diag_error *error = fy_diag_errors_iterate(diag, &iterator);
    size_t at = b->base;
    for (int line = 1; error && line < error->line && at < b->source->size; at++)
        line += b->source->text[at] == '\n';
    if (error && error->column > 0)
        at += (size_t)error->column - 1;
    if (at > b->source->size)
        at = b->source->size;
    sgi_diagnostic_place(b->diagnostic, b->source, at, 1);
    sgi_diagnostic_say(b->diagnostic, "not valid YAML: %s",
                       error && error->msg ? error->msg : "it cannot be read");
    return SG_ERROR_FORMAT;
}

static sg_status read_events(builder *b, struct fy_parser *parser, struct fy_diag *diag)
{
    sg_status status = SG_OK;
    while (status == SG_OK) {
        struct fy_event *event = fy_parser_parse(parser);
        if (!event)
            return fy_parser_get_stream_error(parser) ? report_syntax(b, diag) : SG_OK;
        status = take_event(b, event);
        fy_parser_event_free(parser, event);
    }
    return status;
}

static sg_status parse_with(builder *b, struct fy_diag *diag)
{
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_DISABLE_MMAP_OPT |
                                           FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE |
                                           FYPCF_ALLOW_DUPLICATE_KEYS,
                                  .diag = diag};
    struct fy_parser *parser = fy_parser_create(&config);
    if (!parser)
        return SG_ERROR_MEMORY;
    sg_status status = SG_ERROR_MEMORY;
    if (fy_parser_set_string(parser, b->source->text + b->base, b->source->size - b->base) == 0)
        status = read_events(b, parser, diag);
    fy_parser_destroy(parser);
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

/* What libfyaml is not given: bytes that are no text, on some of which it does not return, and
 * directives, which a problem file has no use for. */
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
    struct fy_diag_cfg config;
    fy_diag_cfg_default(&config);
    config.fp = NULL;
    config.colorize = false;
    struct fy_diag *diag = fy_diag_create(&config);
    if (!diag)
        return SG_ERROR_MEMORY;
    status = parse_with(&b, diag);
    fy_diag_destroy(diag);
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

/* Turns what is in the way into an empty mapping; a list is not overwritten by a dotted path. */
static sg_status make_mapping(sgi_yaml *node, const sgi_source *source, size_t begin, size_t end,
                              sg_diagnostic *diagnostic)
{
    if (node->kind == SG_YAML_MAPPING)
        return SG_OK;
    if (node->kind == SG_YAML_SEQUENCE) {
        sgi_diagnostic_place(diagnostic, source, begin, end - begin);
        sgi_diagnostic_say(diagnostic, "'%.*s' is a list: give the whole list", (int)(end - begin),
                           source->text + begin);
        return SG_ERROR_FORMAT;
    }
    struct sgi_yaml *next = node->next;
    *node = (sgi_yaml){.kind = SG_YAML_MAPPING,
                       .source = source,
                       .begin = begin,
                       .end = end,
                       .text = "",
                       .next = next};
    return SG_OK;
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
    sgi_yaml *mapping = root;
    for (size_t begin = 0;;) {
        size_t end = begin;
        while (end < length && path[end] != '.')
            end++;
        char *name = sgi_arena_text(arena, path + begin, end - begin);
        if (!name)
            return SG_ERROR_MEMORY;
        sgi_yaml *child = sgi_yaml_get(mapping, name);
        bool last = end == length;
        if (child && last) {
            replace(child, value);
            return SG_OK;
        }
        if (!child) {
            sgi_yaml *key = new_node(arena, SG_YAML_SCALAR, source, offset + begin, offset + end);
            child = last ? value
                         : new_node(arena, SG_YAML_MAPPING, source, offset + begin, offset + end);
            if (key) {
                key->text = name;
                key->length = end - begin;
            }
            sg_status status = append_pair(mapping, key, child);
            if (status != SG_OK || last)
                return status;
        }
        sg_status status = make_mapping(child, source, offset + begin, offset + end, diagnostic);
        if (status != SG_OK)
            return status;
        mapping = child;
        begin = end + 1;
    }
}
