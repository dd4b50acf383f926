/* Reading expressions: precedence climbing over the tokens of scan.c. See names.h for the language.
 */
#include <math.h>
#include <string.h>

#include "expr/functions.h"
#include "expr/parser.h"

enum { MOST_DEPTH = 200, MOST_ARGUMENTS = 3 };

/* Binding strengths, weakest first. */
enum { COMPARISON = 1, SUM, PRODUCT, MINUS, POWER };

/* ---- Names -------------------------------------------------------------------------------- */

static sgi_expr coordinate_value(sgi_parser *p, sgi_token t, int index)
{
    if (!p->scope->coordinates)
        SG_PARSE_FAIL(p, t.begin, t.end, "'%s' is a coordinate and has no value %s",
                      p->scope->names->coordinates[index], p->scope->place);
    sgi_input input = {.kind = SG_INPUT_COORDINATE, .index = index};
    return sgi_expressions_input(p->exprs, &input);
}

static sgi_expr field_value(sgi_parser *p, sgi_token t, int index)
{
    if (!p->scope->fields)
        SG_PARSE_FAIL(p, t.begin, t.end, "'%s' is a field and cannot be used %s",
                      p->scope->names->fields[index], p->scope->place);
    sgi_input input = {.kind = SG_INPUT_FIELD, .index = index};
    return sgi_expressions_input(p->exprs, &input);
}

/* A definition may contain fields and coordinates that are not allowed at the place that uses it:
 * refuses it there. */
static void check_symbol(sgi_parser *p, sgi_token t, const sgi_symbol *symbol)
{
    const sgi_scope *scope = p->scope;
    if (p->status == SG_OK && symbol->unknown && !scope->fields)
        SG_PARSE_FAIL(p, t.begin, t.end,
                      "'%s' is an unknown constant, whose value training finds: it cannot be used "
                      "%s",
                      symbol->name, scope->place);
    if (symbol->constant || p->status != SG_OK)
        return;
    if (!scope->fields && sgi_depends_on(p->exprs, symbol->expr, SG_INPUT_UNKNOWN))
        SG_PARSE_FAIL(p, t.begin, t.end, "'%s' depends on unknown constants and cannot be used %s",
                      symbol->name, scope->place);
    if (!scope->fields && (sgi_depends_on(p->exprs, symbol->expr, SG_INPUT_FIELD)))
        SG_PARSE_FAIL(p, t.begin, t.end, "'%s' depends on the fields and cannot be used %s",
                      symbol->name, scope->place);
    if (!scope->coordinates && (sgi_depends_on(p->exprs, symbol->expr, SG_INPUT_COORDINATE)))
        SG_PARSE_FAIL(p, t.begin, t.end, "'%s' depends on the coordinates and cannot be used %s",
                      symbol->name, scope->place);
}

/* The value of a plain name; false when there is none of that name. `t` is where it is used. */
static bool plain_name(sgi_parser *p, sgi_token t, size_t length, sgi_expr *expr)
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

static void check_order(sgi_parser *p, sgi_token t, int order)
{
    if (order > SG_MOST_ORDER)
        SG_PARSE_FAIL(p, t.begin, t.end,
                      "'%.*s' needs a derivative of order %d; at most %d is possible",
                      sgi_token_length(t), p->text + t.begin, order, SG_MOST_ORDER);
}

/* Differentiates once for each unit of `derivative`. */
static sgi_expr differentiate_by(sgi_parser *p, sgi_token t, sgi_expr expr,
                                 sgi_derivative derivative)
{
    int order = 0;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        for (int i = 0; i < sgi_derivative_order(derivative, k) && p->status == SG_OK; i++)
            expr = sgi_differentiate(p->exprs, expr, k, &order);
    check_order(p, t, order);
    return expr;
}

/* The derivative of that order along the outward normal. On a plane face one component of the
 * normal is not 0, so mixed derivatives do not occur; elsewhere they do. */
static sgi_expr normal_derivative(sgi_parser *p, sgi_token t, sgi_expr expr, int times)
{
    if (!p->scope->normals) {
        SG_PARSE_FAIL(p, t.begin, t.end,
                      "'%.*s' is the derivative along the outward normal: it has a "
                      "meaning only on faces of the domain",
                      sgi_token_length(t), p->text + t.begin);
        return 0;
    }
    int at_once = p->scope->slanted ? 1 : times;
    for (int done = 0; done < times && p->status == SG_OK; done += at_once) {
        sgi_expr sum = 0;
        for (int k = 0; k < p->scope->names->coordinate_count && p->status == SG_OK; k++) {
            if (!(p->scope->normals >> k & 1))
                continue;
            sgi_input input = {.kind = SG_INPUT_NORMAL, .index = k};
            sgi_derivative derivative = (sgi_derivative)at_once * sgi_derivative_unit(k);
            sgi_expr slope = differentiate_by(p, t, expr, derivative);
            for (int i = 0; i < at_once; i++)
                slope = sgi_mul(p->exprs, sgi_expressions_input(p->exprs, &input), slope);
            sum = sgi_add(p->exprs, sum, slope);
        }
        expr = sum;
    }
    return expr;
}

/* Takes the n off the end of a subscript: how many there are. */
static int take_normals(const char *subscript, size_t *length)
{
    int count = 0;
    for (; *length > 0 && subscript[*length - 1] == 'n' && count <= SG_MOST_ORDER; count++)
        --*length;
    return count;
}

/* base_subscript, split at the underscore at `at`; false when it means nothing. */
static bool subscripted(sgi_parser *p, sgi_token t, size_t at, sgi_expr *expr)
{
    const char *subscript = p->text + at + 1;
    size_t length = t.end - at - 1;
    const sgi_names *names = p->scope->names;
    sgi_derivative derivative;
    int order, normals = 0,
               ways = sgi_names_subscript(names, subscript, length, &derivative, &order);
    if (ways == 0) { /* u_n, u_nn, u_tn */
        normals = take_normals(subscript, &length);
        ways = sgi_names_subscript(names, subscript, length, &derivative, &order);
        ways = length == 0 && normals > 0 ? 1 : normals > 0 ? ways : 0;
    }
    sgi_name_kind kind = sgi_names_kind(names, p->text + t.begin, at - t.begin);
    if ((kind != SG_NAME_FIELD && kind != SG_NAME_SYMBOL) || ways == 0)
        return false;
    if (ways > 1)
        SG_PARSE_FAIL(p, t.begin, t.end, "'%.*s' can mean more than one derivative",
                      sgi_token_length(t), p->text + t.begin);
    if (kind == SG_NAME_FIELD)
        check_order(p, t, order + normals);
    if (p->status != SG_OK)
        return true;
    plain_name(p, t, at - t.begin, expr);
    if (p->status == SG_OK)
        *expr = differentiate_by(p, t, *expr, derivative);
    if (p->status == SG_OK && normals > 0)
        *expr = normal_derivative(p, t, *expr, normals);
    return true;
}

/* A subscript of a known field that names no coordinate: say so. */
static void fail_subscript(sgi_parser *p, sgi_token t)
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
        SG_PARSE_FAIL(
            p, t.begin, t.end, "'%.*s' is no derivative: '%.*s' is not made of coordinates",
            sgi_token_length(t), p->text + t.begin, (int)(t.end - at - 1), p->text + at + 1);
        sgi_nearest_suggest(&nearest, p->diagnostic);
    }
}

static sgi_expr parse_name(sgi_parser *p, sgi_token t)
{
    sgi_expr expr = 0;
    size_t length = t.end - t.begin;
    if (plain_name(p, t, length, &expr))
        return expr;
    if (length == 2 &&
        (memcmp(p->text + t.begin, "pi", 2) == 0 || memcmp(p->text + t.begin, SG_GREEK_PI, 2) == 0))
        return sgi_constant(p->exprs, 3.14159265358979323846);
    for (size_t at = t.end; at-- > t.begin;)
        if (p->text[at] == '_' && subscripted(p, t, at, &expr))
            return expr;
    if (p->scope->fields)
        fail_subscript(p, t);
    sgi_parse_fail_unknown(p, t);
    return 0;
}

/* ---- Calls -------------------------------------------------------------------------------- */

static sgi_expr parse_expression(sgi_parser *p, int strength);

static sgi_expr laplacian(sgi_parser *p, sgi_token t, sgi_expr expr)
{
    const sgi_names *names = p->scope->names;
    sgi_expr sum = 0;
    for (int k = 0; k < names->coordinate_count && p->status == SG_OK; k++)
        if (k != names->time)
            sum = sgi_add(p->exprs, sum, differentiate_by(p, t, expr, 2 * sgi_derivative_unit(k)));
    return sum;
}

static int parse_arguments(sgi_parser *p, sgi_expr *arguments)
{
    int count = 0;
    do {
        sgi_expr one = parse_expression(p, COMPARISON);
        if (count < MOST_ARGUMENTS)
            arguments[count] = one;
        count++;
    } while (p->status == SG_OK && sgi_parse_take(p, ","));
    if (p->status == SG_OK && !sgi_parse_take(p, ")"))
        sgi_parse_fail_unexpected(p);
    return count;
}

static void check_finite(sgi_parser *p, size_t begin, sgi_expr expr)
{
    double value;
    if (p->status == SG_OK && sgi_is_constant(p->exprs, expr, &value) && !isfinite(value))
        SG_PARSE_FAIL(p, begin, p->token.begin, "this is not a finite number %s", p->scope->place);
}

/* The name has been read, the opening parenthesis too. */
static sgi_expr parse_call(sgi_parser *p, sgi_token t)
{
    const char *name = p->text + t.begin;
    size_t length = t.end - t.begin;
    sgi_expr arguments[MOST_ARGUMENTS] = {0, 0, 0};
    sgi_function function = sgi_function_find(name, length);
    bool lap = length == 3 && memcmp(name, "lap", 3) == 0;
    if (!function.name && !lap) {
        if (sgi_names_kind(p->scope->names, name, length) != SG_NAME_NONE)
            SG_PARSE_FAIL(p, t.begin, t.end, "'%.*s' is not a function %s", sgi_token_length(t),
                          name, p->scope->place);
        sgi_parse_fail_unknown(p, t);
        return 0;
    }
    int count = parse_arguments(p, arguments), wanted = lap ? 1 : function.arity;
    if (p->status == SG_OK && count != wanted)
        SG_PARSE_FAIL(p, t.begin, t.end, "'%.*s' takes %d argument%s and is given %d",
                      sgi_token_length(t), name, wanted, wanted == 1 ? "" : "s", count);
    if (p->status != SG_OK)
        return 0;
    sgi_expr expr =
        lap ? laplacian(p, t, arguments[0]) : sgi_function_call(p->exprs, &function, arguments);
    check_finite(p, t.begin, expr);
    return expr;
}

/* ---- Expressions -------------------------------------------------------------------------- */

static sgi_expr parse_operand(sgi_parser *p)
{
    sgi_token t = p->token;
    if (sgi_parse_take(p, "-"))
        return sgi_apply(p->exprs, SG_OP_NEG, parse_expression(p, MINUS), 0, 0);
    if (sgi_parse_take(p, "+"))
        return parse_expression(p, MINUS);
    if (sgi_parse_take(p, "(")) {
        sgi_expr inner = parse_expression(p, COMPARISON);
        if (p->status == SG_OK && !sgi_parse_take(p, ")"))
            sgi_parse_fail_unexpected(p);
        return inner;
    }
    if (t.kind == SG_TOKEN_NUMBER) {
        sgi_parse_advance(p);
        return sgi_constant(p->exprs, t.value);
    }
    if (t.kind == SG_TOKEN_NAME) {
        sgi_parse_advance(p);
        return sgi_parse_take(p, "(") ? parse_call(p, t) : parse_name(p, t);
    }
    sgi_parse_fail_unexpected(p);
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

static int binary_at(const sgi_parser *p)
{
    int i = 0;
    while (i < BINARY_COUNT && !sgi_parse_at(p, binary[i].sign))
        i++;
    return i;
}

static sgi_expr parse_expression(sgi_parser *p, int strength)
{
    sgi_names *names = p->scope->names;
    size_t begin = p->token.begin;
    if (p->status != SG_OK)
        return 0;
    if (++names->depth > MOST_DEPTH)
        SG_PARSE_FAIL(p, begin, begin + 1, "the expression is nested too deeply %s",
                      p->scope->place);
    sgi_expr left = p->status == SG_OK ? parse_operand(p) : 0;
    for (int i = binary_at(p); i < BINARY_COUNT && p->status == SG_OK; i = binary_at(p)) {
        int own = binary[i].strength;
        if (own < strength)
            break;
        sgi_parse_advance(p);
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

/* Refuses an equation that is a comparison as a whole, such as (u < 1): in parentheses no sign at
 * the top level shows it. */
static void refuse_comparison(sgi_parser *p, size_t begin, size_t end, sgi_expr expr)
{
    sgi_op op = p->exprs->nodes[expr].op;
    if (p->status != SG_OK || op < SG_OP_LESS || op > SG_OP_NOT_EQUAL)
        return;
    SG_PARSE_FAIL(p, begin, end, "a comparison %s gives 1 or 0, and no equation", p->scope->place);
    sgi_diagnostic_suggest(p->diagnostic, "write =");
}

sg_status sgi_names_parse(const sgi_scope *scope, const sgi_yaml *node, size_t begin, size_t end,
                          sgi_reading reading, sgi_expr *expr, sg_diagnostic *diagnostic)
{
    int strength = reading == SG_READ_EQUATION ? SUM : COMPARISON;
    sgi_parser p = {.scope = scope,
                    .exprs = scope->names->exprs,
                    .node = node,
                    .text = node->text,
                    .end = end,
                    .token = {.end = begin},
                    .reading = reading,
                    .diagnostic = diagnostic};
    sgi_parse_advance(&p);
    *expr = parse_expression(&p, strength);
    p.equated = reading != SG_READ_VALUE && p.status == SG_OK && sgi_parse_take(&p, "=");
    if (p.equated)
        *expr = sgi_sub(p.exprs, *expr, parse_expression(&p, strength));
    else if (reading == SG_READ_EQUATION && p.token.kind == SG_TOKEN_END)
        refuse_comparison(&p, begin, end, *expr);
    if (p.status == SG_OK && p.token.kind != SG_TOKEN_END)
        sgi_parse_fail_unexpected(&p);
    if (p.status == SG_OK && p.exprs->status == SG_ERROR_UNSUPPORTED)
        SG_PARSE_FAIL(&p, begin, end, "the expression is too large %s", scope->place);
    if (p.status == SG_OK)
        p.status = p.exprs->status;
    return p.status;
}
