/* Finding fixed combinations of pure second derivatives, so that the engine carries one channel for
 * a Laplacian instead of one for each coordinate.
 *
 * A sum is a maximal tree of +, - and multiplications by constants. Its terms and their
 * coefficients come from one sweep from the top down, as in a reverse sweep, so shared sub-sums
 * cost nothing extra. Within a sum the terms c_k u_xk_xk of one field with at least two coordinates
 * are a combination, normalised so that its first coefficient is 1. Combinations replace the
 * separate derivatives only if that leaves fewer channels, counting the second derivatives that are
 * read on their own or that a higher derivative contains. */
#include <string.h>

#include "pinn/graph.h"

enum { MOST_COMBINATIONS = 16 };

typedef struct collapse {
    sg_graph *graph;
    uint32_t count;               /* of nodes before rewriting */
    uint8_t *reached, *sum, *top; /* by node */
    double *coefficients;         /* by node: in the sum under the sweep */
    uint8_t *terms;               /* by node: is a term of that sum */
    sg_expr *rewritten;           /* by node */
    unsigned pure, alone;         /* coordinates, as bits */
    int combination_count;        /* different ones */
    double combinations[MOST_COMBINATIONS][SG_MOST_COORDINATES];
} collapse;

static bool is_sum(const sg_graph *graph, const sg_node *node)
{
    double value;
    return node->op == SG_OP_ADD || node->op == SG_OP_SUB || node->op == SG_OP_NEG ||
           (node->op == SG_OP_MUL && sg_is_constant(graph, node->arguments[0], &value));
}

/* The coordinate if `expr` is a pure second derivative of a field, -1 otherwise. */
static int pure_second(const sg_graph *graph, sg_expr expr)
{
    const sg_input *input = sg_expr_input(graph, expr);
    return input && input->kind == SG_INPUT_FIELD ? sg_derivative_pure_second(input->derivative)
                                                  : -1;
}

/* Finds the sums, the tops of sums, and the second derivatives that are read on their own. */
static void classify(collapse *c, const sg_expr *roots, size_t count)
{
    const sg_graph *graph = c->graph;
    sg_graph_reach(graph, roots, count, c->reached);
    for (sg_expr i = 0; i < c->count; i++) {
        const sg_node *node = &graph->nodes[i];
        if (!c->reached[i])
            continue;
        c->sum[i] = is_sum(graph, node);
        for (int k = 0; !c->sum[i] && k < sg_op_arity(node->op); k++)
            c->top[node->arguments[k]] = 1;
        const sg_input *input = sg_expr_input(graph, i);
        if (!input || input->kind != SG_INPUT_FIELD)
            continue;
        int pure = pure_second(graph, i);
        for (int k = 0; k < SG_MOST_COORDINATES; k++) {
            bool inside = sg_derivative_order(input->derivative, k) >= 2 && pure < 0;
            c->alone |= (unsigned)inside << k;
            c->pure |= (unsigned)(inside || pure == k) << k;
        }
    }
    for (size_t i = 0; i < count; i++)
        c->top[roots[i]] = 1;
    for (sg_expr i = 0; i < c->count; i++) {
        int pure = pure_second(graph, i);
        if (c->top[i] && pure >= 0)
            c->alone |= 1u << pure;
    }
}

/* The terms of the sum at `top`, into `terms` and `coefficients`. */
static void sweep_sum(collapse *c, sg_expr top)
{
    memset(c->terms, 0, c->count);
    memset(c->coefficients, 0, c->count * sizeof *c->coefficients);
    c->terms[top] = 1;
    c->coefficients[top] = 1;
    for (sg_expr i = top + 1; i-- > 0;) {
        if (!c->terms[i] || !c->sum[i])
            continue;
        const sg_node *node = &c->graph->nodes[i];
        bool product = node->op == SG_OP_MUL;
        double factor = 1;
        if (product)
            sg_is_constant(c->graph, node->arguments[0], &factor);
        for (int k = product; k < sg_op_arity(node->op); k++) {
            bool minus = node->op == SG_OP_NEG || (node->op == SG_OP_SUB && k == 1);
            c->terms[node->arguments[k]] = 1;
            c->coefficients[node->arguments[k]] += (minus ? -factor : factor) * c->coefficients[i];
        }
        c->terms[i] = 0;
    }
}

/* The second derivatives of the same field and side as term `first`: the normalised combination
 * and its factor. Returns the number of coordinates in it; `members` says which terms they are. */
static int gather(const collapse *c, sg_expr first, sg_expr top, sg_input *combination,
                  double *factor)
{
    const sg_input *one = sg_expr_input(c->graph, first);
    *combination = (sg_input){.kind = SG_INPUT_COMBINATION, .index = one->index, .side = one->side};
    double all[SG_MOST_COORDINATES] = {0};
    int members = 0;
    for (sg_expr i = 0; i <= top; i++) {
        int k = c->terms[i] && c->coefficients[i] != 0 ? pure_second(c->graph, i) : -1;
        const sg_input *other = k >= 0 ? sg_expr_input(c->graph, i) : NULL;
        if (!other || other->index != one->index || other->side != one->side)
            continue;
        all[k] = c->coefficients[i];
        members++;
    }
    *factor = 0;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        if (*factor == 0)
            *factor = all[k];
    for (int k = 0; k < SG_MOST_COORDINATES && *factor != 0; k++)
        combination->coefficients[k] = all[k] == 0 ? 0 : all[k] / *factor; /* no -0 */
    return members;
}

static void record(collapse *c, const sg_input *combination)
{
    int i = 0;
    while (i < c->combination_count && memcmp(c->combinations[i], combination->coefficients,
                                              sizeof combination->coefficients) != 0)
        i++;
    if (i == c->combination_count && i < MOST_COMBINATIONS) {
        memcpy(c->combinations[i], combination->coefficients, sizeof combination->coefficients);
        c->combination_count++;
    }
}

/* Counts what collapsing would leave. */
static void survey(collapse *c)
{
    for (sg_expr top = 0; top < c->count; top++) {
        if (!c->top[top] || !c->sum[top])
            continue;
        sweep_sum(c, top);
        for (sg_expr i = 0; i <= top; i++) {
            sg_input combination;
            double factor;
            int k = c->terms[i] ? pure_second(c->graph, i) : -1;
            if (k < 0 || c->coefficients[i] == 0)
                continue;
            if (gather(c, i, top, &combination, &factor) < 2)
                c->alone |= 1u << k;
            else
                record(c, &combination);
        }
    }
}

/* The sum at `top` with its combinations as inputs, from rewritten terms. */
static sg_expr rebuild_sum(collapse *c, sg_expr top)
{
    sg_graph *graph = c->graph;
    sweep_sum(c, top);
    sg_expr sum = 0;
    for (sg_expr i = 0; i <= top; i++) {
        if (!c->terms[i] || c->coefficients[i] == 0)
            continue;
        sg_expr term = c->rewritten[i];
        double factor = c->coefficients[i];
        sg_input combination;
        if (pure_second(graph, i) >= 0 && gather(c, i, top, &combination, &factor) >= 2) {
            int index = combination.index, side = combination.side;
            for (sg_expr j = i; j <= top; j++) { /* all members go at once */
                const sg_input *other = pure_second(graph, j) >= 0 ? sg_expr_input(graph, j) : NULL;
                if (other && other->index == index && other->side == side)
                    c->terms[j] = 0;
            }
            term = sg_graph_input(graph, &combination);
        } else {
            factor = c->coefficients[i];
        }
        term = sg_mul(graph, sg_constant(graph, factor < 0 ? -factor : factor), term);
        sum = factor < 0 ? sg_sub(graph, sum, term) : sg_add(graph, sum, term);
    }
    return sum;
}

static bool has_combination(collapse *c, sg_expr top)
{
    sweep_sum(c, top);
    for (sg_expr i = 0; i <= top; i++) {
        sg_input combination;
        double factor;
        if (c->terms[i] && c->coefficients[i] != 0 && pure_second(c->graph, i) >= 0 &&
            gather(c, i, top, &combination, &factor) >= 2)
            return true;
    }
    return false;
}

static void rewrite(collapse *c, sg_expr *roots, size_t count)
{
    sg_graph *graph = c->graph;
    for (sg_expr i = 0; i < c->count && graph->status == SG_OK; i++) {
        c->rewritten[i] = i;
        const sg_node node = graph->nodes[i];
        if (!c->reached[i] || sg_op_arity(node.op) == 0)
            continue;
        if (c->top[i] && c->sum[i] && has_combination(c, i))
            c->rewritten[i] = rebuild_sum(c, i);
        else
            c->rewritten[i] =
                sg_apply(graph, node.op, c->rewritten[node.arguments[0]],
                         c->rewritten[node.arguments[1]], c->rewritten[node.arguments[2]]);
    }
    for (size_t i = 0; i < count && graph->status == SG_OK; i++)
        roots[i] = c->rewritten[roots[i]];
}

void sg_collapse(sg_graph *graph, sg_expr *roots, size_t count)
{
    if (graph->status != SG_OK)
        return;
    uint32_t n = graph->count;
    const sg_allocator *allocator = &graph->allocator;
    collapse c = {.graph = graph,
                  .count = n,
                  .reached = sg_allocate(allocator, n, 1),
                  .sum = sg_allocate(allocator, n, 1),
                  .top = sg_allocate(allocator, n, 1),
                  .coefficients = sg_allocate(allocator, n, sizeof(double)),
                  .terms = sg_allocate(allocator, n, 1),
                  .rewritten = sg_allocate(allocator, n, sizeof(sg_expr))};
    if (c.reached && c.sum && c.top && c.coefficients && c.terms && c.rewritten) {
        classify(&c, roots, count);
        if (__builtin_popcount(c.pure) > 1)
            survey(&c);
        if (c.combination_count > 0 &&
            c.combination_count + __builtin_popcount(c.alone) < __builtin_popcount(c.pure))
            rewrite(&c, roots, count);
    } else {
        graph->status = SG_ERROR_MEMORY;
    }
    sg_release(allocator, c.reached);
    sg_release(allocator, c.sum);
    sg_release(allocator, c.top);
    sg_release(allocator, c.coefficients);
    sg_release(allocator, c.terms);
    sg_release(allocator, c.rewritten);
}
