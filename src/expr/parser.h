/* What reading an expression works with: tokens one at a time, and the first mistake. Shared by
 * scan.c and parse.c. */
#ifndef SG_EXPR_PARSER_H
#define SG_EXPR_PARSER_H

#include "expr/names.h"

typedef enum sgi_token_kind {
    SG_TOKEN_END,
    SG_TOKEN_NUMBER,
    SG_TOKEN_NAME,
    SG_TOKEN_SIGN,
    SG_TOKEN_BAD
} sgi_token_kind;

typedef struct sgi_token {
    sgi_token_kind kind;
    size_t begin, end; /* bytes of the node's text */
    double value;
} sgi_token;

typedef struct sgi_parser {
    const sgi_scope *scope;
    sgi_expressions *exprs;
    const sgi_yaml *node;
    const char *text;
    size_t end;
    sgi_token token; /* the next one */
    sgi_reading reading;
    bool equated; /* the = of an equation has been read */
    int open;     /* parentheses that have not been closed */
    sg_diagnostic *diagnostic;
    sg_status status;
} sgi_parser;

/* Records the first mistake; whoever calls it goes on to return. */
#define SG_PARSE_FAIL(p, begin, end, ...)                                                          \
    do {                                                                                           \
        if (sgi_parse_fail_at(p, begin, end))                                                      \
            sgi_diagnostic_say((p)->diagnostic, __VA_ARGS__);                                      \
    } while (0)

/* Places the first mistake; false when there was one before. */
bool sgi_parse_fail_at(sgi_parser *p, size_t begin, size_t end);

/* Says that the next token cannot stand here, with a hint where one is known. */
void sgi_parse_fail_unexpected(sgi_parser *p);

/* Says that the name means nothing here, with the nearest one or a hint. */
void sgi_parse_fail_unknown(sgi_parser *p, sgi_token t);

/* Characters of a token that a message repeats. */
int sgi_token_length(sgi_token t);

/* Steps to the next token. */
void sgi_parse_advance(sgi_parser *p);

bool sgi_parse_at(const sgi_parser *p, const char *sign);
bool sgi_parse_take(sgi_parser *p, const char *sign); /* and steps over it */

#endif
