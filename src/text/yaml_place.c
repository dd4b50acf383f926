/* From a position in a scalar's decoded text back to the source.
 *
 * The decoded text and the raw bytes are walked together. White space is where they differ without
 * a sign: line breaks and indentation fold to one space or vanish. So raw white space is skipped
 * before each decoded character that is not white space itself, and escapes of quoted scalars are
 * stepped over as a whole. */
#include <string.h>

#include "text/yaml.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Bytes of the escape that starts at the backslash `raw[0]`. */
static size_t escape_length(const char *raw, size_t left)
{
    if (left < 2)
        return left;
    size_t length = raw[1] == 'x' ? 4 : raw[1] == 'u' ? 6 : raw[1] == 'U' ? 10 : 2;
    return length < left ? length : left;
}

/* Bytes of an escaped line break, which stands for nothing; 0 when there is none. */
static size_t continuation(const char *raw, size_t left)
{
    return left >= 2 && raw[0] == '\\' && (raw[1] == '\n' || raw[1] == '\r') ? 2 : 0;
}

/* Bytes of raw text that make the decoded character `c`, 0 when they do not match. */
static size_t raw_length(const sgi_yaml *node, const char *raw, size_t left, char c)
{
    if (left == 0)
        return 0;
    if (node->style == SG_YAML_DOUBLE_QUOTED && raw[0] == '\\')
        return escape_length(raw, left);
    if (node->style == SG_YAML_SINGLE_QUOTED && c == '\'')
        return left >= 2 && raw[1] == '\'' ? 2 : 0;
    return raw[0] == c ? 1 : 0;
}

/* The source byte of decoded byte `offset`; the node's start when the trace is lost. */
static size_t trace(const sgi_yaml *node, size_t offset)
{
    const char *raw = node->source->text;
    size_t at = node->begin;
    for (size_t i = 0;; i++) {
        bool space = i < node->length && is_space(node->text[i]);
        while (!space && at < node->end) {
            size_t skipped = continuation(raw + at, node->end - at);
            if (!skipped)
                skipped = is_space(raw[at]);
            if (!skipped)
                break;
            at += skipped;
        }
        if (i == offset || i >= node->length)
            return at;
        if (space) {
            if (at < node->end && (is_space(raw[at]) || raw[at] == '\\'))
                at += raw[at] == '\\' ? escape_length(raw + at, node->end - at) : 1;
            continue;
        }
        size_t n = raw_length(node, raw + at, node->end - at, node->text[i]);
        if (n == 0)
            return node->begin;
        at += n;
    }
}

void sgi_yaml_place(sg_diagnostic *diagnostic, const sgi_yaml *node, size_t offset, size_t length)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0) {
        size_t bytes = node->kind == SG_YAML_SCALAR ? node->end - node->begin : 1;
        sgi_diagnostic_place(diagnostic, node->source, node->begin, bytes ? bytes : 1);
        return;
    }
    if (length == 0 && offset == 0)
        length = node->length;
    if (offset > node->length)
        offset = node->length;
    size_t begin = trace(node, offset), end = begin;
    if (length > 0 && offset < node->length) {
        size_t last = offset + length - 1 < node->length ? offset + length - 1 : node->length - 1;
        end = trace(node, last) + 1;
    }
    sgi_diagnostic_place(diagnostic, node->source, begin, end > begin ? end - begin : 1);
}
