/* The names that expressions may use, and reading expressions.
 *
 *     sum      a + b, a - b          comparison  a < b, <=, >, >=, ==, !=  (1 or 0)
 *     product  a * b, a / b          power       a ^ b, binds tighter than the minus of -a^2
 *     call     sin(a), where(c, a, b), min(a, b), lap(u)
 *     name     coordinate, field, constant, definition, pi
 *     u_xxt    derivative of a field or of a definition, by coordinates in any order
 *     u_n      derivative along the outward normal, on faces
 *
 * Subscripts are split into coordinate names in every possible way; if two ways mean different
 * derivatives the name is refused as ambiguous. */
#ifndef SG_PINN_NAMES_H
#define SG_PINN_NAMES_H

#include "pinn/graph.h"
#include "pinn/yaml.h"

typedef enum sg_symbol_state { SG_SYMBOL_WAITING, SG_SYMBOL_OPEN, SG_SYMBOL_DONE } sg_symbol_state;

/* A constant or a definition; its expression is read when it is first used. */
typedef struct sg_symbol {
    const char *name;
    const sg_yaml *value;
    bool constant;
    sg_symbol_state state;
    sg_expr expr;
} sg_symbol;

typedef struct sg_names {
    sg_graph *graph;
    const char *coordinates[SG_MOST_COORDINATES];
    int coordinate_count;
    int time; /* the coordinate named t, which lap() and `boundary` leave out; -1: none */
    const char *const *fields;
    int field_count;
    sg_symbol *symbols;
    int symbol_count;
    int depth; /* of nesting while reading */
} sg_names;

/* Where an expression stands: what it may use, and how messages name it. */
typedef struct sg_scope {
    sg_names *names;
    const char *place; /* "in equation 'heat'" */
    bool coordinates;  /* may be used */
    bool fields;
    unsigned normals; /* coordinates along which a normal may point, as bits; 0: no u_n here */
} sg_scope;

/* Reads bytes [begin, end) of a scalar as an expression, or, with `equation`, as one or as two with
 * an = between them, which mean left - right. SG_ERROR_FORMAT with a diagnostic for a mistake. */
SG_CHECKED sg_status sg_names_parse(const sg_scope *scope, const sg_yaml *node, size_t begin,
                                    size_t end, bool equation, sg_expr *expr,
                                    sg_diagnostic *diagnostic);

/* The value of a constant or a definition. */
SG_CHECKED sg_status sg_names_resolve(sg_names *names, sg_symbol *symbol,
                                      sg_diagnostic *diagnostic);

/* The symbol of that name, or NULL. */
sg_symbol *sg_names_find(const sg_names *names, const char *name, size_t length);

/* What the name alone means: a coordinate, a field or a symbol. */
typedef enum sg_name_kind {
    SG_NAME_NONE,
    SG_NAME_COORDINATE,
    SG_NAME_FIELD,
    SG_NAME_SYMBOL,
    SG_NAME_FUNCTION
} sg_name_kind;
sg_name_kind sg_names_kind(const sg_names *names, const char *name, size_t length);

/* Whether the text is a name: a letter, then letters, digits and underscores; at most 40. */
bool sg_is_name(const char *text, size_t length);

/* Splits a subscript into coordinates. Returns how many different derivatives it may mean (2 for
 * more than one) and one of them; orders beyond 8 are not tried. */
int sg_names_subscript(const sg_names *names, const char *text, size_t length,
                       sg_derivative *derivative, int *order);

/* Offers every name of the scope, with first and second derivatives of fields and definitions. */
void sg_names_offer(const sg_scope *scope, sg_nearest *nearest);

#endif
