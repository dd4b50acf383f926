/* Reading expressions: a scanner and precedence climbing. See names.h for the language. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/names.h"

enum { MOST_DEPTH = 200, MOST_ARGUMENTS = 3 };

typedef enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN, TOKEN_BAD } token_kind;

typedef struct token {
    token_kind kind;
    size_t begin, end; /* bytes of the node's text */
    double value;
} token;

typedef struct parser {
    const sgi_scope *scope;
    sgi_expressions *exprs;
    const sgi_yaml *node;
    const char *text;
    size_t end;
    token token; /* the next one */
    sg_diagnostic *diagnostic;
    sg_status status;
} parser;

/* Binding strengths, weakest first. */
enum { COMPARISON = 1, SUM, PRODUCT, MINUS, POWER };

/* ---- Mistakes ----------------------------------------------------------------------------- */

/* Records the first mistake; whoever calls it goes on to return. */
#define FAIL(p, begin, end, ...)                                                                   \
    do {                                                                                           \
        if (fail_at(p, begin, end))                                                                \
            sgi_diagnostic_say((p)->diagnostic, __VA_ARGS__);                                      \
    } while (0)

static bool fail_at(parser *p, size_t begin, size_t end)
{
    if (p->status != SG_OK)
        return false;
    p->status = SG_ERROR_FORMAT;
    sgi_yaml_place(p->diagnostic, p->node, begin, end > begin ? end - begin : 1);
    return true;
}

static int length_of(token t)
{
    size_t n = t.end - t.begin;
    return n > 60 ? 60 : (int)n;
}

static void fail_unexpected(parser *p)
{
    token t = p->token;
    if (p->status != SG_OK)
        return;
    if (t.kind == TOKEN_END)
        FAIL(p, t.begin, t.end, "the expression ends too early %s", p->scope->place);
    else
        FAIL(p, t.begin, t.end, "unexpected '%.*s' %s", length_of(t), p->text + t.begin,
             p->scope->place);
    const sgi_source *source = p->node->source;
    if (t.kind == TOKEN_END && p->node->style == SG_YAML_PLAIN && p->node->end < source->size &&
        source->text[p->node->end] == ',')
        sgi_diagnostic_suggest(p->diagnostic,
                               "inside { } a comma ends the value: put the expression in quotes");
    if (t.kind == TOKEN_SIGN && p->text[t.begin] == '*' && t.begin > 0 &&
        p->text[t.begin - 1] == '*')
        sgi_diagnostic_suggest(p->diagnostic, "powers are written with ^");
    if (t.kind == TOKEN_SIGN && p->text[t.begin] == '=' && t.end == t.begin + 1)
        sgi_diagnostic_suggest(p->diagnostic, "comparisons are written with ==");
}

/* ---- Scanner ------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t scan_digits(const parser *p, size_t at)
{
    while (at < p->end && is_digit(p->text[at]))
        at++;
    return at;
}

static void scan_number(parser *p, token *t)
{
    char copy[64];
    size_t at = scan_digits(p, t->begin);
    if (at < p->end && p->text[at] == '.')
        at = scan_digits(p, at + 1);
    if (at < p->end && (p->text[at] == 'e' || p->text[at] == 'E')) {
        size_t exponent = at + 1;
        if (exponent < p->end && (p->text[exponent] == '+' || p->text[exponent] == '-'))
            exponent++;
        if (exponent < p->end && is_digit(p->text[exponent]))
            at = scan_digits(p, exponent);
    }
    t->kind = TOKEN_NUMBER;
    t->end = at;
    size_t n = at - t->begin;
    if (n >= sizeof copy) {
        FAIL(p, t->begin, t->end, "a number of more than 60 digits");
        return;
    }
    memcpy(copy, p->text + t->begin, n);
    copy[n] = 0;
    char *stop;
    t->value = strtod(copy, &stop);
    if (*stop || !isfinite(t->value))
        FAIL(p, t->begin, t->end, "'%s' is not a number that can be used", copy);
    if (at < p->end && is_word(p->text[at])) {
        size_t word = at;
        while (word < p->end && is_word(p->text[word]))
            word++;
        FAIL(p, t->begin, word, "an operator is missing between '%s' and '%.*s'", copy,
             (int)(word - at > 40 ? 40 : word - at), p->text + at);
        sgi_diagnostic_suggest(p->diagnostic, "a product is written %s*%.*s", copy,
                               (int)(word - at > 40 ? 40 : word - at), p->text + at);
    }
}

static void scan_sign(parser *p, token *t)
{
    static const char *const pairs[] = {"<=", ">=", "==", "!="};
    const char *at = p->text + t->begin;
    t->end = t->begin + 1;
    t->kind = strchr("+-*/^(),<>=", *at) ? TOKEN_SIGN : TOKEN_BAD;
    for (size_t i = 0; i < 4 && t->end < p->end; i++) {
        if (memcmp(pairs[i], at, 2) == 0) {
            t->end = t->begin + 2;
            t->kind = TOKEN_SIGN;
        }
    }
    while (t->kind == TOKEN_BAD && t->end < p->end &&
           ((unsigned char)p->text[t->end] & 0xC0) == 0x80)
        t->end++; /* a whole UTF-8 character */
}

static void advance(parser *p)
{
    token t = {.begin = p->token.end};
    while (t.begin < p->end && strchr(" \t\r\n", p->text[t.begin]))
        t.begin++;
    t.end = t.begin;
    char c = t.begin < p->end ? p->text[t.begin] : 0;
    if (c == 0) {
        t.kind = TOKEN_END;
    } else if (is_digit(c) ||
               (c == '.' && t.begin + 1 < p->end && is_digit(p->text[t.begin + 1]))) {
        scan_number(p, &t);
    } else if (is_word(c) && c != '_') {
        t.kind = TOKEN_NAME;
        while (t.end < p->end && is_word(p->text[t.end]))
            t.end++;
    } else {
        scan_sign(p, &t);
    }
    p->token = t;
}

static bool at_sign(const parser *p, const char *sign)
{
    return p->token.kind == TOKEN_SIGN && strlen(sign) == p->token.end - p->token.begin &&
           memcmp(sign, p->text + p->token.begin, strlen(sign)) == 0;
}

static bool take_sign(parser *p, const char *sign)
{
    if (!at_sign(p, sign))
        return false;
    advance(p);
    return true;
}

/* ---- Names -------------------------------------------------------------------------------- */

static void fail_unknown(parser *p, token t)
{
    if (p->status != SG_OK)
        return;
    FAIL(p, t.begin, t.end, "unknown name '%.*s' %s", length_of(t), p->text + t.begin,
         p->scope->place);
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, p->text + t.begin, t.end - t.begin);
    sgi_names_offer(p->scope, &nearest);
    sgi_nearest_suggest(&nearest, p->diagnostic);
}

static sgi_expr coordinate_value(parser *p, token t, int index)
{
    if (!p->scope->coordinates)
        FAIL(p, t.begin, t.end, "'%s' is a coordinate and has no value %s",
             p->scope->names->coordinates[index], p->scope->place);
    sgi_input input = {.kind = SG_INPUT_COORDINATE, .index = index};
    return sgi_expressions_input(p->exprs, &input);
}

static sgi_expr field_value(parser *p, token t, int index)
{
    if (!p->scope->fields)
        FAIL(p, t.begin, t.end, "'%s' is a field and cannot be used %s",
             p->scope->names->fields[index], p->scope->place);
    sgi_input input = {.kind = SG_INPUT_FIELD, .index = index};
    return sgi_expressions_input(p->exprs, &input);
}

/* Definitions may use what the place that uses them may not. */
static void check_symbol(parser *p, token t, const sgi_symbol *symbol)
{
    const sgi_scope *scope = p->scope;
    if (symbol->constant || p->status != SG_OK)
        return;
    if (!scope->fields && (sgi_depends_on(p->exprs, symbol->expr, SG_INPUT_FIELD)))
        FAIL(p, t.begin, t.end, "'%s' depends on the fields and cannot be used %s", symbol->name,
             scope->place);
    if (!scope->coordinates && (sgi_depends_on(p->exprs, symbol->expr, SG_INPUT_COORDINATE)))
        FAIL(p, t.begin, t.end, "'%s' depends on the coordinates and cannot be used %s",
             symbol->name, scope->place);
}

/* The value of a plain name; false when there is none of that name. `t` is where it is used. */
static bool plain_name(parser *p, token t, size_t length, sgi_expr *expr)
{
    sgi_names *names = p->scope->names;
    const char *text = p->text + t.begin;
    for (int k = 0; k < names->coordinate_count; k++) {
        if (strlen(names->coordinates[k]) == length &&
            memcmp(names->coordinates[k], text, length) == 0) {
            *expr = coordinate_value(p, t, k);
            return true;
        }
    }
    for (int k = 0; k < names->field_count; k++) {
        if (strlen(names->fields[k]) == length && memcmp(names->fields[k], text, length) == 0) {
            *expr = field_value(p, t, k);
            return true;
        }
    }
    sgi_symbol *symbol = sgi_names_find(names, text, length);
    if (!symbol)
        return false;
    if (p->status == SG_OK)
        p->status = sgi_names_resolve(names, symbol, p->diagnostic);
    *expr = symbol->expr;
    check_symbol(p, t, symbol);
    return true;
}

static void check_order(parser *p, token t, int order)
{
    if (order > SG_MOST_ORDER)
        FAIL(p, t.begin, t.end, "'%.*s' needs a derivative of order %d; at most %d is possible",
             length_of(t), p->text + t.begin, order, SG_MOST_ORDER);
}

/* Differentiates once for each unit of `derivative`. */
static sgi_expr differentiate_by(parser *p, token t, sgi_expr expr, sgi_derivative derivative)
{
    int order = 0;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        for (int i = 0; i < sgi_derivative_order(derivative, k) && p->status == SG_OK; i++)
            expr = sgi_differentiate(p->exprs, expr, k, &order);
    check_order(p, t, order);
    return expr;
}

static sgi_expr normal_derivative(parser *p, token t, sgi_expr expr)
{
    sgi_expr sum = 0;
    if (!p->scope->normals) {
        FAIL(p, t.begin, t.end,
             "'%.*s' is the derivative along the outward normal: it has a "
             "meaning only on faces of the domain",
             length_of(t), p->text + t.begin);
        return 0;
    }
    int order = 0;
    for (int k = 0; k < p->scope->names->coordinate_count; k++) {
        if (!(p->scope->normals >> k & 1))
            continue;
        sgi_input input = {.kind = SG_INPUT_NORMAL, .index = k};
        sgi_expr slope = sgi_differentiate(p->exprs, expr, k, &order);
        sum = sgi_add(p->exprs, sum,
                      sgi_mul(p->exprs, sgi_expressions_input(p->exprs, &input), slope));
    }
    check_order(p, t, order);
    return sum;
}

/* base_subscript, split at the underscore at `at`; false when it means nothing. */
static bool subscripted(parser *p, token t, size_t at, sgi_expr *expr)
{
    const char *subscript = p->text + at + 1;
    size_t length = t.end - at - 1;
    sgi_derivative derivative;
    int order, ways = sgi_names_subscript(p->scope->names, subscript, length, &derivative, &order);
    bool normal = ways == 0 && length == 1 && *subscript == 'n';
    sgi_name_kind kind = sgi_names_kind(p->scope->names, p->text + t.begin, at - t.begin);
    if ((kind != SG_NAME_FIELD && kind != SG_NAME_SYMBOL) || (ways == 0 && !normal))
        return false;
    if (ways > 1)
        FAIL(p, t.begin, t.end, "'%.*s' can mean more than one derivative", length_of(t),
             p->text + t.begin);
    if (kind == SG_NAME_FIELD)
        check_order(p, t, order);
    if (p->status != SG_OK)
        return true;
    plain_name(p, t, at - t.begin, expr);
    if (p->status == SG_OK)
        *expr = normal ? normal_derivative(p, t, *expr) : differentiate_by(p, t, *expr, derivative);
    return true;
}

/* A subscript of a known field that names no coordinate: say so. */
static void fail_subscript(parser *p, token t)
{
    const sgi_names *names = p->scope->names;
    for (size_t at = t.end; at-- > t.begin && p->status == SG_OK;) {
        if (p->text[at] != '_' || at + 1 == t.end ||
            sgi_names_kind(names, p->text + t.begin, at - t.begin) != SG_NAME_FIELD)
            continue;
        bool single = true; /* of single letters that are no coordinates: not a misspelling */
        for (size_t i = at + 1; i < t.end; i++)
            single = single && p->text[i] != '_';
        sgi_nearest nearest;
        sgi_nearest_begin(&nearest, p->text + t.begin, t.end - t.begin);
        sgi_names_offer(p->scope, &nearest);
        if (!single)
            return;
        FAIL(p, t.begin, t.end, "'%.*s' is no derivative: '%.*s' is not made of coordinates",
             length_of(t), p->text + t.begin, (int)(t.end - at - 1), p->text + at + 1);
        sgi_nearest_suggest(&nearest, p->diagnostic);
    }
}

static sgi_expr parse_name(parser *p, token t)
{
    sgi_expr expr = 0;
    size_t length = t.end - t.begin;
    if (plain_name(p, t, length, &expr))
        return expr;
    if (length == 2 && memcmp(p->text + t.begin, "pi", 2) == 0)
        return sgi_constant(p->exprs, 3.14159265358979323846);
    for (size_t at = t.end; at-- > t.begin;)
        if (p->text[at] == '_' && subscripted(p, t, at, &expr))
            return expr;
    if (p->scope->fields)
        fail_subscript(p, t);
    fail_unknown(p, t);
    return 0;
}

/* ---- Calls -------------------------------------------------------------------------------- */

static sgi_expr parse_expression(parser *p, int strength);

static sgi_expr laplacian(parser *p, token t, sgi_expr expr)
{
    const sgi_names *names = p->scope->names;
    sgi_expr sum = 0;
    for (int k = 0; k < names->coordinate_count && p->status == SG_OK; k++)
        if (k != names->time)
            sum = sgi_add(p->exprs, sum, differentiate_by(p, t, expr, 2 * sgi_derivative_unit(k)));
    return sum;
}

static int parse_arguments(parser *p, sgi_expr *arguments)
{
    int count = 0;
    do {
        sgi_expr one = parse_expression(p, COMPARISON);
        if (count < MOST_ARGUMENTS)
            arguments[count] = one;
        count++;
    } while (p->status == SG_OK && take_sign(p, ","));
    if (p->status == SG_OK && !take_sign(p, ")"))
        fail_unexpected(p);
    return count;
}

static void check_finite(parser *p, size_t begin, sgi_expr expr)
{
    double value;
    if (p->status == SG_OK && sgi_is_constant(p->exprs, expr, &value) && !isfinite(value))
        FAIL(p, begin, p->token.begin, "this is not a finite number %s", p->scope->place);
}

/* The name has been read, the opening parenthesis too. */
static sgi_expr parse_call(parser *p, token t)
{
    const char *name = p->text + t.begin;
    size_t length = t.end - t.begin;
    sgi_expr arguments[MOST_ARGUMENTS] = {0, 0, 0};
    int op = SG_OP_SIN, count;
    while (op < SG_OP_COUNT && (strlen(sgi_op_name((sgi_op)op)) != length ||
                                memcmp(sgi_op_name((sgi_op)op), name, length) != 0))
        op++;
    bool lap = length == 3 && memcmp(name, "lap", 3) == 0;
    if (op == SG_OP_COUNT && !lap) {
        if (sgi_names_kind(p->scope->names, name, length) != SG_NAME_NONE)
            FAIL(p, t.begin, t.end, "'%.*s' is not a function %s", length_of(t), name,
                 p->scope->place);
        fail_unknown(p, t);
        return 0;
    }
    count = parse_arguments(p, arguments);
    int wanted = lap ? 1 : sgi_op_arity((sgi_op)op);
    if (p->status == SG_OK && count != wanted)
        FAIL(p, t.begin, t.end, "'%.*s' takes %d argument%s and is given %d", length_of(t), name,
             wanted, wanted == 1 ? "" : "s", count);
    if (p->status != SG_OK)
        return 0;
    sgi_expr expr = lap ? laplacian(p, t, arguments[0])
                        : sgi_apply(p->exprs, (sgi_op)op, arguments[0], arguments[1], arguments[2]);
    check_finite(p, t.begin, expr);
    return expr;
}

/* ---- Expressions -------------------------------------------------------------------------- */

static sgi_expr parse_operand(parser *p)
{
    token t = p->token;
    if (take_sign(p, "-"))
        return sgi_apply(p->exprs, SG_OP_NEG, parse_expression(p, MINUS), 0, 0);
    if (take_sign(p, "+"))
        return parse_expression(p, MINUS);
    if (take_sign(p, "(")) {
        sgi_expr inner = parse_expression(p, COMPARISON);
        if (p->status == SG_OK && !take_sign(p, ")"))
            fail_unexpected(p);
        return inner;
    }
    if (t.kind == TOKEN_NUMBER) {
        advance(p);
        return sgi_constant(p->exprs, t.value);
    }
    if (t.kind == TOKEN_NAME) {
        advance(p);
        return take_sign(p, "(") ? parse_call(p, t) : parse_name(p, t);
    }
    fail_unexpected(p);
    return 0;
}

static const struct {
    const char *sign;
    sgi_op op;
    int strength;
    bool swapped; /* a > b is b < a */
} binary[] = {
    {"+", SG_OP_ADD, SUM, false},
    {"-", SG_OP_SUB, SUM, false},
    {"*", SG_OP_MUL, PRODUCT, false},
    {"/", SG_OP_DIV, PRODUCT, false},
    {"^", SG_OP_POW, POWER, false},
    {"<", SG_OP_LESS, COMPARISON, false},
    {"<=", SG_OP_LESS_EQUAL, COMPARISON, false},
    {">", SG_OP_LESS, COMPARISON, true},
    {">=", SG_OP_LESS_EQUAL, COMPARISON, true},
    {"==", SG_OP_EQUAL, COMPARISON, false},
    {"!=", SG_OP_NOT_EQUAL, COMPARISON, false},
};

enum { BINARY_COUNT = sizeof binary / sizeof binary[0] };

static int binary_at(const parser *p)
{
    int i = 0;
    while (i < BINARY_COUNT && !at_sign(p, binary[i].sign))
        i++;
    return i;
}

static sgi_expr parse_expression(parser *p, int strength)
{
    sgi_names *names = p->scope->names;
    size_t begin = p->token.begin;
    if (p->status != SG_OK)
        return 0;
    if (++names->depth > MOST_DEPTH)
        FAIL(p, begin, begin + 1, "the expression is nested too deeply %s", p->scope->place);
    sgi_expr left = p->status == SG_OK ? parse_operand(p) : 0;
    for (int i = binary_at(p); i < BINARY_COUNT && p->status == SG_OK; i = binary_at(p)) {
        int own = binary[i].strength;
        if (own < strength)
            break;
        advance(p);
        /* A power's right side may be a negative number; it takes other powers with it. */
        sgi_expr right = parse_expression(p, own == POWER ? MINUS : own + 1);
        left = binary[i].swapped ? sgi_apply(p->exprs, binary[i].op, right, left, 0)
                                 : sgi_apply(p->exprs, binary[i].op, left, right, 0);
        check_finite(p, begin, left);
        if (own == COMPARISON)
            break; /* a < b < c is a mistake */
    }
    names->depth--;
    return left;
}

sg_status sgi_names_parse(const sgi_scope *scope, const sgi_yaml *node, size_t begin, size_t end,
                          bool equation, sgi_expr *expr, sg_diagnostic *diagnostic)
{
    parser p = {.scope = scope,
                .exprs = scope->names->exprs,
                .node = node,
                .text = node->text,
                .end = end,
                .token = {.end = begin},
                .diagnostic = diagnostic};
    advance(&p);
    *expr = parse_expression(&p, COMPARISON);
    if (equation && p.status == SG_OK && take_sign(&p, "="))
        *expr = sgi_sub(p.exprs, *expr, parse_expression(&p, COMPARISON));
    if (p.status == SG_OK && p.token.kind != TOKEN_END)
        fail_unexpected(&p);
    if (p.status == SG_OK && p.exprs->status == SG_ERROR_UNSUPPORTED)
        FAIL(&p, begin, end, "the expression is too large %s", scope->place);
    if (p.status == SG_OK)
        p.status = p.exprs->status;
    return p.status;
}
