/* A problem file as a tree of nodes that know where they stand in the source.
 *
 * libfyaml reads the text event by event; the tree is ours. No code runs from a file: tags and
 * anchors are read over, aliases and directives are refused, and size, depth and number of nodes
 * are bounded. Scalars keep their decoded text; a position in it is traced back to the source
 * through quotes, escapes, folded lines and block indentation when a diagnostic needs it. */
#ifndef SG_PINN_YAML_H
#define SG_PINN_YAML_H

#include "pinn/arena.h"
#include "pinn/diagnostic.h"
#include "stablegrad/status.h"

enum { SG_YAML_MOST_BYTES = 1 << 20, SG_YAML_MOST_NODES = 20000, SG_YAML_MOST_DEPTH = 32 };

typedef enum sg_yaml_kind { SG_YAML_SCALAR, SG_YAML_SEQUENCE, SG_YAML_MAPPING } sg_yaml_kind;

typedef enum sg_yaml_style {
    SG_YAML_PLAIN,
    SG_YAML_SINGLE_QUOTED,
    SG_YAML_DOUBLE_QUOTED,
    SG_YAML_BLOCK
} sg_yaml_style;

typedef struct sg_yaml {
    sg_yaml_kind kind;
    sg_yaml_style style;     /* of a scalar */
    const sg_source *source; /* outlives the tree */
    size_t begin, end;       /* bytes of the source */
    const char *text;        /* scalar: decoded and terminated */
    size_t length;
    struct sg_yaml *first, *last; /* children: items, or keys each followed by its value */
    struct sg_yaml *next;         /* sibling */
    int count;                    /* of children; keys and values count one each */
} sg_yaml;

/* Parses bytes [begin, source->size) of `source` into a tree in `arena`. SG_ERROR_FORMAT with a
 * diagnostic when the text is not one YAML document; an empty text gives an empty mapping. */
SG_CHECKED sg_status sg_yaml_parse(sg_yaml **root, const sg_source *source, size_t begin,
                                   sg_arena *arena, sg_diagnostic *diagnostic);

/* Places a diagnostic at `length` characters of the scalar's text from `offset`; for other nodes,
 * and with length 0, at the node itself. */
void sg_yaml_place(sg_diagnostic *diagnostic, const sg_yaml *node, size_t offset, size_t length);

/* The value under `key` of a mapping, or NULL. */
sg_yaml *sg_yaml_get(const sg_yaml *mapping, const char *key);

/* Whether a scalar's text is exactly `text`. */
bool sg_yaml_is(const sg_yaml *node, const char *text);

/* "a mapping", "a list", "a value". */
const char *sg_yaml_kind_name(sg_yaml_kind kind);

/* Puts `value` under the dotted path `path` (length bytes) of a mapping, replacing what is there
 * and making the mappings on the way; `source` and `offset` say where the path is written. A scalar
 * on the way is replaced too. SG_ERROR_FORMAT with a diagnostic when a list is in the way. */
SG_CHECKED sg_status sg_yaml_put(sg_yaml *root, const char *path, size_t length, sg_yaml *value,
                                 const sg_source *source, size_t offset, sg_arena *arena,
                                 sg_diagnostic *diagnostic);

#endif
