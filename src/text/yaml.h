/* A problem file as a tree of nodes that know where they stand in the source.
 *
 * libyaml reads the text event by event; the tree is ours. No code runs from a file: tags and
 * anchors are read over, aliases and directives are refused, and size, depth and number of nodes
 * are bounded. Scalars keep their decoded text; a position in it is traced back to the source
 * through quotes, escapes, folded lines and block indentation when a diagnostic needs it. */
#ifndef SG_TEXT_YAML_H
#define SG_TEXT_YAML_H

#include "stablegrad/status.h"
#include <stdbool.h>

#include "text/arena.h"
#include "text/nearest.h"

enum { SG_YAML_MOST_BYTES = 1 << 20, SG_YAML_MOST_NODES = 20000, SG_YAML_MOST_DEPTH = 32 };

typedef enum sgi_yaml_kind { SG_YAML_SCALAR, SG_YAML_SEQUENCE, SG_YAML_MAPPING } sgi_yaml_kind;

typedef enum sgi_yaml_style {
    SG_YAML_PLAIN,
    SG_YAML_SINGLE_QUOTED,
    SG_YAML_DOUBLE_QUOTED,
    SG_YAML_BLOCK
} sgi_yaml_style;

typedef struct sgi_yaml {
    sgi_yaml_kind kind;
    sgi_yaml_style style;     /* of a scalar */
    const sgi_source *source; /* outlives the tree */
    size_t begin, end;        /* bytes of the source */
    const char *text;         /* scalar: decoded and terminated */
    size_t length;
    struct sgi_yaml *first, *last; /* children: items, or keys each followed by its value */
    struct sgi_yaml *next;         /* sibling */
    int count;                     /* of children; keys and values count one each */
} sgi_yaml;

/* Parses bytes [begin, source->size) of `source` into a tree in `arena`. SG_ERROR_FORMAT with a
 * diagnostic when the text is not one YAML document; an empty text gives an empty mapping. */
SG_CHECKED sg_status sgi_yaml_parse(sgi_yaml **root, const sgi_source *source, size_t begin,
                                    sgi_arena *arena, sg_diagnostic *diagnostic);

/* Places a diagnostic at `length` characters of the scalar's text from `offset`; for other nodes,
 * and with length 0, at the node itself. */
void sgi_yaml_place(sg_diagnostic *diagnostic, const sgi_yaml *node, size_t offset, size_t length);

/* The value under `key` of a mapping, or NULL. */
sgi_yaml *sgi_yaml_get(const sgi_yaml *mapping, const char *key);

/* Whether a scalar's text is exactly `text`. */
bool sgi_yaml_is(const sgi_yaml *node, const char *text);

/* "a mapping", "a list", "a value". */
const char *sgi_yaml_kind_name(sgi_yaml_kind kind);

/* Puts `value` under the dotted path `path` (length bytes) of a mapping, replacing what is there
 * and making the mappings on the way; `source` and `offset` say where the path is written. A scalar
 * on the way is replaced too. Of a list, a number in the path is one of its items, counted from 1:
 * SG_ERROR_FORMAT with a diagnostic when it is no such number. */
SG_CHECKED sg_status sgi_yaml_put(sgi_yaml *root, const char *path, size_t length, sgi_yaml *value,
                                  const sgi_source *source, size_t offset, sgi_arena *arena,
                                  sg_diagnostic *diagnostic);

#endif
