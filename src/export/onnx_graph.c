/* Nodes of an ONNX graph: see onnx_graph.h. */
#include "export/onnx_graph.h"

#include <stdio.h>

#include "base/memory.h"

typedef sgi_onnx_value value;
typedef sgi_onnx_graph graph_type;

static const double PI = 3.141592653589793238462643383280;

/* ---- Values ------------------------------------------------------------------------------- */

value sgi_onnx_named(const char *name)
{
    value v;
    (void)snprintf(v.name, sizeof v.name, "%s", name);
    return v;
}

static value next_name(graph_type *g)
{
    value v;
    (void)snprintf(v.name, sizeof v.name, "/%zu", g->made++);
    return v;
}

static void keep_status(graph_type *g, sg_status status)
{
    if (g->file.nodes.status == SG_OK)
        g->file.nodes.status = status;
}

value sgi_onnx_numbers(graph_type *g, const char *name, size_t rank, const size_t *shape,
                       const double *values)
{
    size_t count = 1;
    for (size_t k = 0; k < rank; k++)
        count *= shape[k];
    if (g->type == SG_ONNX_DOUBLE) {
        sgi_onnx_tensor(&g->file, name, g->type, rank, shape, values);
        return sgi_onnx_named(name);
    }
    const sg_allocator *allocator = &g->file.nodes.allocator;
    float *rounded = sgi_allocate(allocator, count, sizeof *rounded);
    if (!rounded)
        keep_status(g, SG_ERROR_MEMORY);
    for (size_t k = 0; k < count && rounded; k++)
        rounded[k] = (float)values[k];
    if (rounded)
        sgi_onnx_tensor(&g->file, name, g->type, rank, shape, rounded);
    sgi_release(allocator, rounded);
    return sgi_onnx_named(name);
}

value sgi_onnx_number(graph_type *g, double number)
{
    return sgi_onnx_numbers(g, next_name(g).name, 0, NULL, &number);
}

value sgi_onnx_indices(graph_type *g, size_t rank, size_t count, const int64_t *values)
{
    value v = next_name(g);
    sgi_onnx_tensor(&g->file, v.name, SG_ONNX_INT64, rank, &count, values);
    return v;
}

value sgi_onnx_make(graph_type *g, const char *kind, size_t count, const value *inputs,
                    const char *attribute, int64_t number)
{
    const char *names[SG_MOST_COORDINATES + 3];
    value v = next_name(g);
    for (size_t k = 0; k < count; k++)
        names[k] = inputs[k].name;
    sgi_onnx_node(&g->file, kind, names, count, v.name, attribute, number);
    return v;
}

value sgi_onnx_unary(graph_type *g, const char *kind, value x)
{
    return sgi_onnx_make(g, kind, 1, &x, NULL, 0);
}

value sgi_onnx_binary(graph_type *g, const char *kind, value x, value y)
{
    return sgi_onnx_make(g, kind, 2, (value[]){x, y}, NULL, 0);
}

value sgi_onnx_choose(graph_type *g, value condition, value then, value otherwise)
{
    return sgi_onnx_make(g, "Where", 3, (value[]){condition, then, otherwise}, NULL, 0);
}

/* ---- Operations --------------------------------------------------------------------------- */

static value with_number(graph_type *g, const char *kind, value x, double y)
{
    return sgi_onnx_binary(g, kind, x, sgi_onnx_number(g, y));
}

/* A truth value as 1 or 0. */
static value as_number(graph_type *g, value truth)
{
    return sgi_onnx_make(g, "Cast", 1, &truth, "to", g->type);
}

static value equals(graph_type *g, value x, double y)
{
    return with_number(g, "Equal", x, y);
}

/* exp(x) + exp(-x) */
static value exponentials(graph_type *g, value x)
{
    return sgi_onnx_binary(g, "Add", sgi_onnx_unary(g, "Exp", x),
                           sgi_onnx_unary(g, "Exp", sgi_onnx_unary(g, "Neg", x)));
}

/* log(u) x / (u - 1), u = 1 + x as rounded, is right to the last digits; x itself where u is 1. */
static value log1p_of(graph_type *g, value x)
{
    value u = with_number(g, "Add", x, 1);
    value ratio = sgi_onnx_binary(g, "Div", x, with_number(g, "Sub", u, 1));
    value whole = sgi_onnx_binary(g, "Mul", sgi_onnx_unary(g, "Log", u), ratio);
    return sgi_onnx_choose(g, equals(g, u, 1), x, whole);
}

/* (u - 1) x / log(u), u = exp(x) as rounded; where that is 0 or infinite, u - 1. */
static value expm1_of(graph_type *g, value x)
{
    value u = sgi_onnx_unary(g, "Exp", x), less = with_number(g, "Sub", u, 1);
    value ratio = sgi_onnx_binary(g, "Div", x, sgi_onnx_unary(g, "Log", u));
    value whole = sgi_onnx_binary(g, "Mul", less, ratio);
    value large = sgi_onnx_binary(g, "Less", sgi_onnx_number(g, 30), sgi_onnx_unary(g, "Abs", x));
    whole = sgi_onnx_choose(g, large, less, whole);
    return sgi_onnx_choose(g, equals(g, u, 1), x, whole);
}

static value atan2_of(graph_type *g, value y, value x)
{
    value zero = sgi_onnx_number(g, 0);
    value quotient = sgi_onnx_unary(g, "Atan", sgi_onnx_binary(g, "Div", y, x));
    value left = sgi_onnx_choose(g, sgi_onnx_binary(g, "Less", y, zero), sgi_onnx_number(g, -PI),
                                 sgi_onnx_number(g, PI));
    value turned = sgi_onnx_binary(g, "Add", quotient, left);
    value upright = with_number(g, "Mul", sgi_onnx_unary(g, "Sign", y), PI / 2);
    value either = sgi_onnx_choose(g, sgi_onnx_binary(g, "Less", x, zero), turned, quotient);
    return sgi_onnx_choose(g, equals(g, x, 0), upright, either);
}

value sgi_onnx_softplus(graph_type *g, value x)
{
    value small = sgi_onnx_unary(g, "Neg", sgi_onnx_unary(g, "Abs", x));
    value tail = log1p_of(g, sgi_onnx_unary(g, "Exp", small));
    return sgi_onnx_binary(g, "Add", with_number(g, "Max", x, 0), tail);
}

/* The operator of ONNX that is the same operation, or NULL. */
static const char *operator_of(sgi_op op)
{
    static const char *const names[SG_OP_COUNT] = {
        [SG_OP_NEG] = "Neg",     [SG_OP_ADD] = "Add",     [SG_OP_SUB] = "Sub",
        [SG_OP_MUL] = "Mul",     [SG_OP_DIV] = "Div",     [SG_OP_SIN] = "Sin",
        [SG_OP_COS] = "Cos",     [SG_OP_TANH] = "Tanh",   [SG_OP_SINH] = "Sinh",
        [SG_OP_ASIN] = "Asin",   [SG_OP_ACOS] = "Acos",   [SG_OP_ATAN] = "Atan",
        [SG_OP_ASINH] = "Asinh", [SG_OP_ACOSH] = "Acosh", [SG_OP_ATANH] = "Atanh",
        [SG_OP_EXP] = "Exp",     [SG_OP_LOG] = "Log",     [SG_OP_SQRT] = "Sqrt",
        [SG_OP_ABS] = "Abs",     [SG_OP_SIGN] = "Sign",   [SG_OP_FLOOR] = "Floor",
        [SG_OP_ERF] = "Erf",     [SG_OP_MIN] = "Min",     [SG_OP_MAX] = "Max",
        [SG_OP_POW] = "Pow"};
    return names[op];
}

value sgi_onnx_apply(graph_type *g, sgi_op op, const value *a)
{
    const char *same = operator_of(op);
    if (same)
        return sgi_onnx_make(g, same, (size_t)sgi_op_arity(op), a, NULL, 0);
    switch (op) {
    case SG_OP_LESS:
        return as_number(g, sgi_onnx_binary(g, "Less", a[0], a[1]));
    case SG_OP_LESS_EQUAL:
        return as_number(g, sgi_onnx_binary(g, "LessOrEqual", a[0], a[1]));
    case SG_OP_EQUAL:
        return as_number(g, sgi_onnx_binary(g, "Equal", a[0], a[1]));
    case SG_OP_NOT_EQUAL:
        return as_number(g, sgi_onnx_unary(g, "Not", sgi_onnx_binary(g, "Equal", a[0], a[1])));
    case SG_OP_TAN:
        return sgi_onnx_binary(g, "Div", sgi_onnx_unary(g, "Sin", a[0]),
                               sgi_onnx_unary(g, "Cos", a[0]));
    case SG_OP_COSH:
        return with_number(g, "Div", exponentials(g, a[0]), 2);
    case SG_OP_SECH:
        return sgi_onnx_binary(g, "Div", sgi_onnx_number(g, 2), exponentials(g, a[0]));
    case SG_OP_LOG2:
        return with_number(g, "Div", sgi_onnx_unary(g, "Log", a[0]), 0.69314718055994530942);
    case SG_OP_LOG10:
        return with_number(g, "Div", sgi_onnx_unary(g, "Log", a[0]), 2.30258509299404568402);
    case SG_OP_LOG1P:
        return log1p_of(g, a[0]);
    case SG_OP_EXPM1:
        return expm1_of(g, a[0]);
    case SG_OP_CBRT:
        return sgi_onnx_binary(g, "Mul", sgi_onnx_unary(g, "Sign", a[0]),
                               with_number(g, "Pow", sgi_onnx_unary(g, "Abs", a[0]), 1.0 / 3));
    case SG_OP_ERFC:
        return sgi_onnx_binary(g, "Sub", sgi_onnx_number(g, 1), sgi_onnx_unary(g, "Erf", a[0]));
    case SG_OP_ATAN2:
        return atan2_of(g, a[0], a[1]);
    default: /* where() */
        return sgi_onnx_choose(g, equals(g, a[0], 0), a[2], a[1]);
    }
}
