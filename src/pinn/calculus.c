/* Derivatives of expressions: by a coordinate, and the reverse sweep. Both use one table of partial
 * derivatives, and both build ordinary nodes, so what they have in common is computed once. */
#include <string.h>

#include "pinn/graph.h"

/* d op(a, b, c) / d argument k as an expression; never asked of where(). */
static sg_expr partial(sg_graph *g, sg_expr expr, int k)
{
    const sg_node node = g->nodes[expr];
    sg_expr a = node.arguments[0], b = node.arguments[1];
    sg_expr one = sg_constant(g, 1), less;
    switch (node.op) {
    case SG_OP_NEG:
        return sg_constant(g, -1);
    case SG_OP_ADD:
        return one;
    case SG_OP_SUB:
        return sg_constant(g, k == 0 ? 1 : -1);
    case SG_OP_MUL:
        return k == 0 ? b : a;
    case SG_OP_DIV:
        if (k == 0)
            return sg_apply(g, SG_OP_DIV, one, b, 0);
        return sg_apply(g, SG_OP_NEG, sg_apply(g, SG_OP_DIV, expr, b, 0), 0, 0);
    case SG_OP_SIN:
        return sg_apply(g, SG_OP_COS, a, 0, 0);
    case SG_OP_COS:
        return sg_apply(g, SG_OP_NEG, sg_apply(g, SG_OP_SIN, a, 0, 0), 0, 0);
    case SG_OP_TAN:
        return sg_add(g, one, sg_mul(g, expr, expr));
    case SG_OP_TANH:
        return sg_sub(g, one, sg_mul(g, expr, expr));
    case SG_OP_SINH:
        return sg_apply(g, SG_OP_COSH, a, 0, 0);
    case SG_OP_COSH:
        return sg_apply(g, SG_OP_SINH, a, 0, 0);
    case SG_OP_SECH:
        return sg_apply(g, SG_OP_NEG, sg_mul(g, expr, sg_apply(g, SG_OP_TANH, a, 0, 0)), 0, 0);
    case SG_OP_EXP:
        return expr;
    case SG_OP_LOG:
        return sg_apply(g, SG_OP_DIV, one, a, 0);
    case SG_OP_SQRT:
        return sg_apply(g, SG_OP_DIV, sg_constant(g, 0.5), expr, 0);
    case SG_OP_ABS:
        return sg_apply(g, SG_OP_SIGN, a, 0, 0);
    case SG_OP_ERF: /* 2 / sqrt(pi) exp(-a^2) */
        return sg_mul(g, sg_constant(g, 1.12837916709551257390),
                      sg_apply(g, SG_OP_EXP, sg_apply(g, SG_OP_NEG, sg_mul(g, a, a), 0, 0), 0, 0));
    case SG_OP_MIN:
    case SG_OP_MAX: /* the value's own choice: the second one unless the first wins */
        less = node.op == SG_OP_MIN ? sg_apply(g, SG_OP_LESS, a, b, 0)
                                    : sg_apply(g, SG_OP_LESS, b, a, 0);
        return k == 0 ? less : sg_sub(g, one, less);
    case SG_OP_POW:
        if (k == 0)
            return sg_mul(g, b, sg_apply(g, SG_OP_POW, a, sg_sub(g, b, one), 0));
        return sg_mul(g, expr, sg_apply(g, SG_OP_LOG, a, 0, 0));
    case SG_OP_ATAN2: {
        sg_expr square = sg_add(g, sg_mul(g, a, a), sg_mul(g, b, b));
        sg_expr over = sg_apply(g, SG_OP_DIV, k == 0 ? b : a, square, 0);
        return k == 0 ? over : sg_apply(g, SG_OP_NEG, over, 0, 0);
    }
    default: /* comparisons, sign, floor: flat wherever they have a derivative */
        return sg_constant(g, 0);
    }
}

/* ---- By a coordinate ---------------------------------------------------------------------- */

static sg_expr differentiate_input(sg_graph *g, sg_expr expr, int coordinate, int *order)
{
    sg_input input = *sg_expr_input(g, expr);
    if (input.kind == SG_INPUT_COORDINATE)
        return sg_constant(g, input.index == coordinate ? 1 : 0);
    if (input.kind != SG_INPUT_FIELD)
        return sg_constant(g, 0);
    int total = sg_derivative_total(input.derivative) + 1;
    if (order && total > *order)
        *order = total;
    if (total > SG_MOST_ORDER)
        return sg_constant(g, 0);
    input.derivative += sg_derivative_unit(coordinate);
    return sg_graph_input(g, &input);
}

static sg_expr differentiate_node(sg_graph *g, sg_expr expr, const sg_expr *derivatives)
{
    const sg_node node = g->nodes[expr];
    if (node.op == SG_OP_WHERE)
        return sg_apply(g, SG_OP_WHERE, node.arguments[0], derivatives[node.arguments[1]],
                        derivatives[node.arguments[2]]);
    sg_expr sum = 0;
    for (int k = 0; k < sg_op_arity(node.op); k++) {
        sg_expr inner = derivatives[node.arguments[k]];
        if (inner != 0)
            sum = sg_add(g, sum, sg_mul(g, partial(g, expr, k), inner));
    }
    return sum;
}

sg_expr sg_differentiate(sg_graph *g, sg_expr expr, int coordinate, int *order)
{
    if (g->status != SG_OK)
        return 0;
    uint32_t count = expr + 1;
    uint8_t *reached = sg_allocate(&g->allocator, g->count, 1);
    sg_expr *derivatives = sg_allocate(&g->allocator, count, sizeof *derivatives);
    if (reached && derivatives) {
        sg_graph_reach(g, &expr, 1, reached);
        for (sg_expr i = 0; i < count; i++) {
            if (!reached[i])
                continue;
            if (sg_expr_input(g, i))
                derivatives[i] = differentiate_input(g, i, coordinate, order);
            else
                derivatives[i] = differentiate_node(g, i, derivatives);
        }
    } else {
        g->status = SG_ERROR_MEMORY;
    }
    sg_expr result = g->status == SG_OK ? derivatives[expr] : 0;
    sg_release(&g->allocator, reached);
    sg_release(&g->allocator, derivatives);
    return result;
}

/* ---- The reverse sweep -------------------------------------------------------------------- */

/* For each node: its adjoint so far, whether an adjoint that may be 0 by a choice (where, min, max)
 * went into it, and whether it leads to one of the inputs asked for. */
typedef struct sweep {
    sg_expr *adjoints;
    uint8_t *guarded;
    uint8_t *wanted;
} sweep;

/* Behind a choice the branch not taken may have an infinite slope, and 0 times that is no zero: the
 * product is taken only where the adjoint is not 0. */
static sg_expr times(sg_graph *g, sg_expr adjoint, sg_expr slope, bool guarded)
{
    sg_expr product = sg_mul(g, adjoint, slope);
    double value;
    if (!guarded || product == adjoint || sg_is_constant(g, slope, &value))
        return product;
    return sg_apply(g, SG_OP_WHERE, adjoint, product, sg_constant(g, 0));
}

static void pass_down(sg_graph *g, sweep *s, sg_expr expr)
{
    const sg_node node = g->nodes[expr];
    sg_expr adjoint = s->adjoints[expr];
    bool where = node.op == SG_OP_WHERE;
    bool choice = where || node.op == SG_OP_MIN || node.op == SG_OP_MAX;
    for (int k = where; k < sg_op_arity(node.op); k++) {
        sg_expr argument = node.arguments[k], share;
        if (!s->wanted[argument])
            continue;
        if (where)
            share = sg_apply(g, SG_OP_WHERE, node.arguments[0], k == 1 ? adjoint : 0,
                             k == 2 ? adjoint : 0);
        else
            share = times(g, adjoint, partial(g, expr, k), s->guarded[expr]);
        s->adjoints[argument] = sg_add(g, s->adjoints[argument], share);
        s->guarded[argument] |= choice || s->guarded[expr];
    }
}

/* Marks the nodes that depend on one of the inputs. */
static void mark_wanted(const sg_graph *g, uint32_t count, const sg_expr *inputs,
                        size_t input_count, uint8_t *wanted)
{
    for (size_t i = 0; i < input_count; i++)
        if (inputs[i] < count)
            wanted[inputs[i]] = 1;
    for (sg_expr i = 0; i < count; i++)
        for (int k = 0; k < sg_op_arity(g->nodes[i].op); k++)
            wanted[i] |= wanted[g->nodes[i].arguments[k]];
}

void sg_adjoints(sg_graph *g, const sg_expr *roots, const sg_expr *seeds, size_t count,
                 const sg_expr *inputs, size_t input_count, sg_expr *adjoints)
{
    memset(adjoints, 0, input_count * sizeof *adjoints);
    uint32_t nodes = g->count;
    sweep s = {sg_allocate(&g->allocator, nodes, sizeof *s.adjoints),
               sg_allocate(&g->allocator, nodes, 1), sg_allocate(&g->allocator, nodes, 1)};
    if (s.adjoints && s.guarded && s.wanted) {
        mark_wanted(g, nodes, inputs, input_count, s.wanted);
        for (size_t i = 0; i < count; i++)
            s.adjoints[roots[i]] = sg_add(g, s.adjoints[roots[i]], seeds[i]);
        for (sg_expr i = nodes; i-- > 0 && g->status == SG_OK;)
            if (s.adjoints[i] != 0 && s.wanted[i])
                pass_down(g, &s, i);
        for (size_t i = 0; i < input_count && g->status == SG_OK; i++)
            adjoints[i] = s.adjoints[inputs[i]];
    } else {
        g->status = SG_ERROR_MEMORY;
    }
    sg_release(&g->allocator, s.adjoints);
    sg_release(&g->allocator, s.guarded);
    sg_release(&g->allocator, s.wanted);
}
