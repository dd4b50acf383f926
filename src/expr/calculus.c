/* Derivatives of expressions: by a coordinate, and the reverse sweep. Both use one table of partial
 * derivatives, and both build ordinary nodes, so what they have in common is computed once. */
#include <string.h>

#include "expr/expressions.h"

static sgi_expr over(sgi_expressions *g, double numerator, sgi_expr denominator)
{
    return sgi_apply(g, SG_OP_DIV, sgi_constant(g, numerator), denominator, 0);
}

/* numerator / sqrt(a - b) */
static sgi_expr over_root(sgi_expressions *g, double numerator, sgi_expr a, sgi_expr b)
{
    return over(g, numerator, sgi_apply(g, SG_OP_SQRT, sgi_sub(g, a, b), 0, 0));
}

/* The derivatives of the inverse functions, the logarithms and their like. */
static sgi_expr inverse_slope(sgi_expressions *g, sgi_op op, sgi_expr a, sgi_expr value)
{
    static const double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402;
    sgi_expr one = sgi_constant(g, 1);
    switch (op) {
    case SG_OP_ASIN:
        return over_root(g, 1, one, sgi_mul(g, a, a));
    case SG_OP_ACOS:
        return over_root(g, -1, one, sgi_mul(g, a, a));
    case SG_OP_ATAN:
        return over(g, 1, sgi_add(g, one, sgi_mul(g, a, a)));
    case SG_OP_ASINH:
        return over_root(g, 1, sgi_mul(g, a, a), sgi_constant(g, -1));
    case SG_OP_ACOSH:
        return over_root(g, 1, sgi_mul(g, a, a), one);
    case SG_OP_ATANH:
        return over(g, 1, sgi_sub(g, one, sgi_mul(g, a, a)));
    case SG_OP_LOG:
        return over(g, 1, a);
    case SG_OP_LOG2:
        return over(g, 1 / ln2, a);
    case SG_OP_LOG10:
        return over(g, 1 / ln10, a);
    case SG_OP_LOG1P:
        return over(g, 1, sgi_add(g, one, a));
    case SG_OP_SQRT:
        return over(g, 0.5, value);
    default: /* cbrt */
        return over(g, 1 / 3.0, sgi_mul(g, value, value));
    }
}

/* d op(a, b, c) / d argument k as an expression; never asked of where(). */
static sgi_expr partial(sgi_expressions *g, sgi_expr expr, int k)
{
    const sgi_node node = g->nodes[expr];
    sgi_expr a = node.arguments[0], b = node.arguments[1];
    sgi_expr one = sgi_constant(g, 1), less;
    switch (node.op) {
    case SG_OP_NEG:
        return sgi_constant(g, -1);
    case SG_OP_ADD:
        return one;
    case SG_OP_SUB:
        return sgi_constant(g, k == 0 ? 1 : -1);
    case SG_OP_MUL:
        return k == 0 ? b : a;
    case SG_OP_DIV:
        if (k == 0)
            return sgi_apply(g, SG_OP_DIV, one, b, 0);
        return sgi_apply(g, SG_OP_NEG, sgi_apply(g, SG_OP_DIV, expr, b, 0), 0, 0);
    case SG_OP_SIN:
        return sgi_apply(g, SG_OP_COS, a, 0, 0);
    case SG_OP_COS:
        return sgi_apply(g, SG_OP_NEG, sgi_apply(g, SG_OP_SIN, a, 0, 0), 0, 0);
    case SG_OP_TAN:
        return sgi_add(g, one, sgi_mul(g, expr, expr));
    case SG_OP_TANH:
        return sgi_sub(g, one, sgi_mul(g, expr, expr));
    case SG_OP_SINH:
        return sgi_apply(g, SG_OP_COSH, a, 0, 0);
    case SG_OP_COSH:
        return sgi_apply(g, SG_OP_SINH, a, 0, 0);
    case SG_OP_SECH:
        return sgi_apply(g, SG_OP_NEG, sgi_mul(g, expr, sgi_apply(g, SG_OP_TANH, a, 0, 0)), 0, 0);
    case SG_OP_EXP:
        return expr;
    case SG_OP_EXPM1:
        return sgi_apply(g, SG_OP_EXP, a, 0, 0);
    case SG_OP_ASIN:
    case SG_OP_ACOS:
    case SG_OP_ATAN:
    case SG_OP_ASINH:
    case SG_OP_ACOSH:
    case SG_OP_ATANH:
    case SG_OP_LOG:
    case SG_OP_LOG2:
    case SG_OP_LOG10:
    case SG_OP_LOG1P:
    case SG_OP_SQRT:
    case SG_OP_CBRT:
        return inverse_slope(g, node.op, a, expr);
    case SG_OP_ABS:
        return sgi_apply(g, SG_OP_SIGN, a, 0, 0);
    case SG_OP_ERF: /* 2 / sqrt(pi) exp(-a^2) */
    case SG_OP_ERFC:
        return sgi_mul(
            g, sgi_constant(g, (node.op == SG_OP_ERF ? 1 : -1) * 1.12837916709551257390),
            sgi_apply(g, SG_OP_EXP, sgi_apply(g, SG_OP_NEG, sgi_mul(g, a, a), 0, 0), 0, 0));
    case SG_OP_MIN:
    case SG_OP_MAX: /* the value's own choice: the second one unless the first wins */
        less = node.op == SG_OP_MIN ? sgi_apply(g, SG_OP_LESS, a, b, 0)
                                    : sgi_apply(g, SG_OP_LESS, b, a, 0);
        return k == 0 ? less : sgi_sub(g, one, less);
    case SG_OP_POW:
        if (k == 0)
            return sgi_mul(g, b, sgi_apply(g, SG_OP_POW, a, sgi_sub(g, b, one), 0));
        return sgi_mul(g, expr, sgi_apply(g, SG_OP_LOG, a, 0, 0));
    case SG_OP_ATAN2: {
        sgi_expr square = sgi_add(g, sgi_mul(g, a, a), sgi_mul(g, b, b));
        sgi_expr share = sgi_apply(g, SG_OP_DIV, k == 0 ? b : a, square, 0);
        return k == 0 ? share : sgi_apply(g, SG_OP_NEG, share, 0, 0);
    }
    default: /* comparisons, sign, floor: flat wherever they have a derivative */
        return sgi_constant(g, 0);
    }
}

/* ---- By a coordinate ---------------------------------------------------------------------- */

static sgi_expr differentiate_input(sgi_expressions *g, sgi_expr expr, int coordinate, int *order)
{
    sgi_input input = *sgi_expr_input(g, expr);
    if (input.kind == SG_INPUT_COORDINATE)
        return sgi_constant(g, input.index == coordinate ? 1 : 0);
    if (input.kind != SG_INPUT_FIELD)
        return sgi_constant(g, 0);
    int total = sgi_derivative_total(input.derivative) + 1;
    if (order && total > *order)
        *order = total;
    if (total > SG_MOST_ORDER)
        return sgi_constant(g, 0);
    input.derivative += sgi_derivative_unit(coordinate);
    return sgi_expressions_input(g, &input);
}

static sgi_expr differentiate_node(sgi_expressions *g, sgi_expr expr, const sgi_expr *derivatives)
{
    const sgi_node node = g->nodes[expr];
    if (node.op == SG_OP_WHERE)
        return sgi_apply(g, SG_OP_WHERE, node.arguments[0], derivatives[node.arguments[1]],
                         derivatives[node.arguments[2]]);
    sgi_expr sum = 0;
    for (int k = 0; k < sgi_op_arity(node.op); k++) {
        sgi_expr inner = derivatives[node.arguments[k]];
        if (inner != 0)
            sum = sgi_add(g, sum, sgi_mul(g, partial(g, expr, k), inner));
    }
    return sum;
}

sgi_expr sgi_differentiate(sgi_expressions *g, sgi_expr expr, int coordinate, int *order)
{
    if (g->status != SG_OK)
        return 0;
    uint32_t count = expr + 1;
    uint8_t *reached = sgi_allocate(&g->allocator, g->count, 1);
    sgi_expr *derivatives = sgi_allocate(&g->allocator, count, sizeof *derivatives);
    if (reached && derivatives) {
        sgi_expressions_reach(g, &expr, 1, reached);
        for (sgi_expr i = 0; i < count; i++) {
            if (!reached[i])
                continue;
            if (sgi_expr_input(g, i))
                derivatives[i] = differentiate_input(g, i, coordinate, order);
            else
                derivatives[i] = differentiate_node(g, i, derivatives);
        }
    } else {
        g->status = SG_ERROR_MEMORY;
    }
    sgi_expr result = g->status == SG_OK ? derivatives[expr] : 0;
    sgi_release(&g->allocator, reached);
    sgi_release(&g->allocator, derivatives);
    return result;
}

/* ---- The reverse sweep -------------------------------------------------------------------- */

/* For each node: its adjoint so far, whether an adjoint that may be 0 by a choice (where, min, max)
 * went into it, and whether it leads to one of the inputs asked for. */
typedef struct sweep {
    sgi_expr *adjoints;
    uint8_t *guarded;
    uint8_t *wanted;
} sweep;

/* Behind a choice the branch not taken may have an infinite slope, and 0 times that is no zero: the
 * product is taken only where the adjoint is not 0. */
static sgi_expr times(sgi_expressions *g, sgi_expr adjoint, sgi_expr slope, bool guarded)
{
    sgi_expr product = sgi_mul(g, adjoint, slope);
    double value;
    if (!guarded || product == adjoint || sgi_is_constant(g, slope, &value))
        return product;
    return sgi_apply(g, SG_OP_WHERE, adjoint, product, sgi_constant(g, 0));
}

static void pass_down(sgi_expressions *g, sweep *s, sgi_expr expr)
{
    const sgi_node node = g->nodes[expr];
    sgi_expr adjoint = s->adjoints[expr];
    bool where = node.op == SG_OP_WHERE;
    bool choice = where || node.op == SG_OP_MIN || node.op == SG_OP_MAX;
    for (int k = where; k < sgi_op_arity(node.op); k++) {
        sgi_expr argument = node.arguments[k], share;
        if (!s->wanted[argument])
            continue;
        if (where)
            share = sgi_apply(g, SG_OP_WHERE, node.arguments[0], k == 1 ? adjoint : 0,
                              k == 2 ? adjoint : 0);
        else
            share = times(g, adjoint, partial(g, expr, k), s->guarded[expr]);
        s->adjoints[argument] = sgi_add(g, s->adjoints[argument], share);
        s->guarded[argument] |= choice || s->guarded[expr];
    }
}

/* Marks the nodes that depend on one of the inputs. */
static void mark_wanted(const sgi_expressions *g, uint32_t count, const sgi_expr *inputs,
                        size_t input_count, uint8_t *wanted)
{
    for (size_t i = 0; i < input_count; i++)
        if (inputs[i] < count)
            wanted[inputs[i]] = 1;
    for (sgi_expr i = 0; i < count; i++)
        for (int k = 0; k < sgi_op_arity(g->nodes[i].op); k++)
            wanted[i] |= wanted[g->nodes[i].arguments[k]];
}

void sgi_adjoints(sgi_expressions *g, const sgi_expr *roots, const sgi_expr *seeds, size_t count,
                  const sgi_expr *inputs, size_t input_count, sgi_expr *adjoints)
{
    memset(adjoints, 0, input_count * sizeof *adjoints);
    uint32_t nodes = g->count;
    sweep s = {sgi_allocate(&g->allocator, nodes, sizeof *s.adjoints),
               sgi_allocate(&g->allocator, nodes, 1), sgi_allocate(&g->allocator, nodes, 1)};
    if (s.adjoints && s.guarded && s.wanted) {
        mark_wanted(g, nodes, inputs, input_count, s.wanted);
        for (size_t i = 0; i < count; i++)
            s.adjoints[roots[i]] = sgi_add(g, s.adjoints[roots[i]], seeds[i]);
        for (sgi_expr i = nodes; i-- > 0 && g->status == SG_OK;)
            if (s.adjoints[i] != 0 && s.wanted[i])
                pass_down(g, &s, i);
        for (size_t i = 0; i < input_count && g->status == SG_OK; i++)
            adjoints[i] = s.adjoints[inputs[i]];
    } else {
        g->status = SG_ERROR_MEMORY;
    }
    sgi_release(&g->allocator, s.adjoints);
    sgi_release(&g->allocator, s.guarded);
    sgi_release(&g->allocator, s.wanted);
}
