/* The names that expressions may use, and reading expressions.
 *
 *     sum      a + b, a - b          comparison  a < b, <=, >, >=, ==, !=  (1 or 0)
 *     product  a * b, a / b          power       a ^ b, binds tighter than the minus of -a^2
 *     call     sin(a), where(c, a, b), min(a, b), lap(u); functions.h lists them
 *     name     coordinate, field, constant, definition, pi
 *     u_xxt    derivative of a field or of a definition, by coordinates in any order
 *     u_n      derivative along the outward normal, on faces; u_nn the second, u_tn mixed
 *
 * Subscripts are split into coordinate names in every possible way; if two ways mean different
 * derivatives the name is refused as ambiguous. */
#ifndef SG_EXPR_NAMES_H
#define SG_EXPR_NAMES_H

#include "expr/expressions.h"
#include "text/yaml.h"

typedef enum sgi_symbol_state {
    SG_SYMBOL_WAITING,
    SG_SYMBOL_OPEN,
    SG_SYMBOL_DONE
} sgi_symbol_state;

/* A constant, an unknown constant or a definition; its expression is read when it is first used. */
typedef struct sgi_symbol {
    const char *name;
    const sgi_yaml *value;
    bool constant; /* unknown ones are, too */
    bool unknown;  /* its expression is an input */
    sgi_symbol_state state;
    sgi_expr expr;
} sgi_symbol;

typedef struct sgi_names {
    sgi_expressions *exprs;
    const char *coordinates[SG_MOST_COORDINATES];
    int coordinate_count;
    int time; /* the coordinate named t, which lap() and `boundary` leave out; -1: none */
    const char *const *fields;
    int field_count;
    sgi_symbol *symbols;
    int symbol_count;
    int depth; /* of nesting while reading */
} sgi_names;

/* Where an expression stands: what it may use, and how messages name it. */
typedef struct sgi_scope {
    sgi_names *names;
    const char *place; /* "in equation 'heat'" */
    bool coordinates;  /* may be used */
    bool fields;       /* and unknown constants */
    unsigned normals;  /* coordinates along which a normal may point, as bits; 0: no u_n here */
    bool slanted;      /* it may point along several of them at once */
} sgi_scope;

/* The Greek letter, another way to write pi. */
#define SG_GREEK_PI "\xCF\x80"

/* What a text is read as. An equation is an expression that should be 0, or two with an = between
 * them, which mean left - right; a comparison, which gives 1 or 0, is none. A quantity is an
 * equation or a value, whatever it is. */
typedef enum sgi_reading { SG_READ_VALUE, SG_READ_EQUATION, SG_READ_QUANTITY } sgi_reading;

/* Reads bytes [begin, end) of a scalar. SG_ERROR_FORMAT with a diagnostic for a mistake. */
SG_CHECKED sg_status sgi_names_parse(const sgi_scope *scope, const sgi_yaml *node, size_t begin,
                                     size_t end, sgi_reading reading, sgi_expr *expr,
                                     sg_diagnostic *diagnostic);

/* The value of a constant or a definition. */
SG_CHECKED sg_status sgi_names_resolve(sgi_names *names, sgi_symbol *symbol,
                                       sg_diagnostic *diagnostic);

/* The symbol of that name, or NULL. */
sgi_symbol *sgi_names_find(const sgi_names *names, const char *name, size_t length);

/* What the name alone means: a coordinate, a field or a symbol. */
typedef enum sgi_name_kind {
    SG_NAME_NONE,
    SG_NAME_COORDINATE,
    SG_NAME_FIELD,
    SG_NAME_SYMBOL,
    SG_NAME_FUNCTION
} sgi_name_kind;
sgi_name_kind sgi_names_kind(const sgi_names *names, const char *name, size_t length);

/* Whether the text is a name: a letter, then letters, digits and underscores; at most 40. */
bool sgi_is_name(const char *text, size_t length);

/* Splits a subscript into coordinates. Returns how many different derivatives it may mean (2 for
 * more than one) and one of them; orders beyond 8 are not tried. */
int sgi_names_subscript(const sgi_names *names, const char *text, size_t length,
                        sgi_derivative *derivative, int *order);

/* Offers every name of the scope, with first and second derivatives of fields and definitions. */
void sgi_names_offer(const sgi_scope *scope, sgi_nearest *nearest);

#endif
