/* The functions of the language: see functions.h. */
#include "expr/functions.h"

#include <string.h>

static sgi_expr make_square(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    (void)b;
    return sgi_mul(g, a, a);
}

static sgi_expr make_exp2(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    (void)b;
    return sgi_apply(g, SG_OP_POW, sgi_constant(g, 2), a, 0);
}

/* (1 + tanh(a / 2)) / 2, which overflows nowhere */
static sgi_expr make_sigmoid(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    (void)b;
    sgi_expr half = sgi_constant(g, 0.5);
    return sgi_mul(
        g, half,
        sgi_add(g, sgi_constant(g, 1), sgi_apply(g, SG_OP_TANH, sgi_mul(g, half, a), 0, 0)));
}

static sgi_expr make_relu(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    (void)b;
    return sgi_apply(g, SG_OP_MAX, a, sgi_constant(g, 0), 0);
}

static sgi_expr make_ceil(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    (void)b;
    sgi_expr down = sgi_apply(g, SG_OP_FLOOR, sgi_apply(g, SG_OP_NEG, a, 0, 0), 0, 0);
    return sgi_apply(g, SG_OP_NEG, down, 0, 0);
}

/* With the sign of b, as NumPy's. */
static sgi_expr make_mod(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    sgi_expr whole = sgi_apply(g, SG_OP_FLOOR, sgi_apply(g, SG_OP_DIV, a, b, 0), 0, 0);
    return sgi_sub(g, a, sgi_mul(g, b, whole));
}

static sgi_expr make_hypot(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    return sgi_apply(g, SG_OP_SQRT, sgi_add(g, sgi_mul(g, a, a), sgi_mul(g, b, b)), 0, 0);
}

/* 0 below 0, b at 0, 1 above, as NumPy's. */
static sgi_expr make_heaviside(sgi_expressions *g, sgi_expr a, sgi_expr b)
{
    sgi_expr zero = sgi_constant(g, 0);
    return sgi_apply(g, SG_OP_WHERE, sgi_apply(g, SG_OP_EQUAL, a, zero, 0), b,
                     sgi_apply(g, SG_OP_LESS, zero, a, 0));
}

/* Other names of operations and of one over them, with the operation's arity; then what is made of
 * several. */
static const sgi_function more[] = {
    {"ln", 0, SG_OP_LOG, false, NULL},
    {"arcsin", 0, SG_OP_ASIN, false, NULL},
    {"arccos", 0, SG_OP_ACOS, false, NULL},
    {"arctan", 0, SG_OP_ATAN, false, NULL},
    {"arctan2", 0, SG_OP_ATAN2, false, NULL},
    {"arcsinh", 0, SG_OP_ASINH, false, NULL},
    {"arccosh", 0, SG_OP_ACOSH, false, NULL},
    {"arctanh", 0, SG_OP_ATANH, false, NULL},
    {"power", 0, SG_OP_POW, false, NULL},
    {"minimum", 0, SG_OP_MIN, false, NULL},
    {"maximum", 0, SG_OP_MAX, false, NULL},
    {"sec", 0, SG_OP_COS, true, NULL},
    {"csc", 0, SG_OP_SIN, true, NULL},
    {"cot", 0, SG_OP_TAN, true, NULL},
    {"csch", 0, SG_OP_SINH, true, NULL},
    {"coth", 0, SG_OP_TANH, true, NULL},
    {"square", 1, SG_OP_COUNT, false, make_square},
    {"exp2", 1, SG_OP_COUNT, false, make_exp2},
    {"sigmoid", 1, SG_OP_COUNT, false, make_sigmoid},
    {"relu", 1, SG_OP_COUNT, false, make_relu},
    {"ceil", 1, SG_OP_COUNT, false, make_ceil},
    {"mod", 2, SG_OP_COUNT, false, make_mod},
    {"hypot", 2, SG_OP_COUNT, false, make_hypot},
    {"heaviside", 2, SG_OP_COUNT, false, make_heaviside},
};

enum { OWN = SG_OP_COUNT - SG_OP_SIN, MORE = sizeof more / sizeof more[0] };

sgi_function sgi_function_at(int index)
{
    sgi_op op = index < OWN ? (sgi_op)(SG_OP_SIN + index) : SG_OP_COUNT;
    if (op < SG_OP_COUNT)
        return (sgi_function){sgi_op_name(op), sgi_op_arity(op), op, false, NULL};
    if (index >= OWN + MORE)
        return (sgi_function){NULL, 0, SG_OP_COUNT, false, NULL};
    sgi_function found = more[index - OWN];
    if (!found.make)
        found.arity = sgi_op_arity(found.op);
    return found;
}

sgi_function sgi_function_find(const char *name, size_t length)
{
    sgi_function found = sgi_function_at(0);
    for (int i = 1; found.name; found = sgi_function_at(i++))
        if (strlen(found.name) == length && memcmp(found.name, name, length) == 0)
            break;
    return found;
}

sgi_expr sgi_function_call(sgi_expressions *exprs, const sgi_function *function,
                           const sgi_expr arguments[3])
{
    if (function->make)
        return function->make(exprs, arguments[0], arguments[1]);
    sgi_expr value = sgi_apply(exprs, function->op, arguments[0], arguments[1], arguments[2]);
    return function->inverted ? sgi_apply(exprs, SG_OP_DIV, sgi_constant(exprs, 1), value, 0)
                              : value;
}
