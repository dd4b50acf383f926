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

#include "expr/expressions.h"

enum { MOST_COMBINATIONS = 16 };

typedef struct collapse {
    sgi_expressions *exprs;
    uint32_t count;               /* of nodes before rewriting */
    uint8_t *reached, *sum, *top; /* by node */
    double *coefficients;         /* by node: in the sum under the sweep */
    uint8_t *terms;               /* by node: is a term of that sum */
    sgi_expr *rewritten;          /* by node */
    unsigned pure, alone;         /* coordinates, as bits */
    int combination_count;        /* different ones */
    double combinations[MOST_COMBINATIONS][SG_MOST_COORDINATES];
} collapse;

static bool is_sum(const sgi_expressions *exprs, const sgi_node *node)
{
    double value;
    return node->op == SG_OP_ADD || node->op == SG_OP_SUB || node->op == SG_OP_NEG ||
           (node->op == SG_OP_MUL && sgi_is_constant(exprs, node->arguments[0], &value));
}

/* The coordinate if `expr` is a pure second derivative of a field, -1 otherwise. */
static int pure_second(const sgi_expressions *exprs, sgi_expr expr)
{
    const sgi_input *input = sgi_expr_input(exprs, expr);
    return input && input->kind == SG_INPUT_FIELD ? sgi_derivative_pure_second(input->derivative)
                                                  : -1;
}

/* Finds the sums, the tops of sums, and the second derivatives that are read on their own. */
static void classify(collapse *c, const sgi_expr *roots, size_t count)
{
    const sgi_expressions *exprs = c->exprs;
    sgi_expressions_reach(exprs, roots, count, c->reached);
    for (sgi_expr i = 0; i < c->count; i++) {
        const sgi_node *node = &exprs->nodes[i];
        if (!c->reached[i])
            continue;
        c->sum[i] = is_sum(exprs, node);
        for (int k = 0; !c->sum[i] && k < sgi_op_arity(node->op); k++)
            c->top[node->arguments[k]] = 1;
        const sgi_input *input = sgi_expr_input(exprs, i);
        if (!input || input->kind != SG_INPUT_FIELD)
            continue;
        int pure = pure_second(exprs, i);
        for (int k = 0; k < SG_MOST_COORDINATES; k++) {
            bool inside = sgi_derivative_order(input->derivative, k) >= 2 && pure < 0;
            c->alone |= (unsigned)inside << k;
            c->pure |= (unsigned)(inside || pure == k) << k;
        }
    }
    for (size_t i = 0; i < count; i++)
        c->top[roots[i]] = 1;
    for (sgi_expr i = 0; i < c->count; i++) {
        int pure = pure_second(exprs, i);
        if (c->top[i] && pure >= 0)
            c->alone |= 1u << pure;
    }
}

/* The terms of the sum at `top`, into `terms` and `coefficients`. */
static void sweep_sum(collapse *c, sgi_expr top)
{
    memset(c->terms, 0, c->count);
    memset(c->coefficients, 0, c->count * sizeof *c->coefficients);
    c->terms[top] = 1;
    c->coefficients[top] = 1;
    for (sgi_expr i = top + 1; i-- > 0;) {
        if (!c->terms[i] || !c->sum[i])
            continue;
        const sgi_node *node = &c->exprs->nodes[i];
        bool product = node->op == SG_OP_MUL;
        double factor = 1;
        if (product)
            sgi_is_constant(c->exprs, node->arguments[0], &factor);
        for (int k = product; k < sgi_op_arity(node->op); k++) {
            bool minus = node->op == SG_OP_NEG || (node->op == SG_OP_SUB && k == 1);
            c->terms[node->arguments[k]] = 1;
            c->coefficients[node->arguments[k]] += (minus ? -factor : factor) * c->coefficients[i];
        }
        c->terms[i] = 0;
    }
}

/* The second derivatives of the same field and side as term `first`: the normalised combination
 * and its factor. Returns the number of coordinates in it; `members` says which terms they are. */
static int gather(const collapse *c, sgi_expr first, sgi_expr top, sgi_input *combination,
                  double *factor)
{
    const sgi_input *one = sgi_expr_input(c->exprs, first);
    *combination =
        (sgi_input){.kind = SG_INPUT_COMBINATION, .index = one->index, .side = one->side};
    double all[SG_MOST_COORDINATES] = {0};
    int members = 0;
    for (sgi_expr i = 0; i <= top; i++) {
        int k = c->terms[i] && c->coefficients[i] != 0 ? pure_second(c->exprs, i) : -1;
        const sgi_input *other = k >= 0 ? sgi_expr_input(c->exprs, i) : NULL;
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

static void record(collapse *c, const sgi_input *combination)
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
    for (sgi_expr top = 0; top < c->count; top++) {
        if (!c->top[top] || !c->sum[top])
            continue;
        sweep_sum(c, top);
        for (sgi_expr i = 0; i <= top; i++) {
            sgi_input combination;
            double factor;
            int k = c->terms[i] ? pure_second(c->exprs, i) : -1;
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
static sgi_expr rebuild_sum(collapse *c, sgi_expr top)
{
    sgi_expressions *exprs = c->exprs;
    sweep_sum(c, top);
    sgi_expr sum = 0;
    for (sgi_expr i = 0; i <= top; i++) {
        if (!c->terms[i] || c->coefficients[i] == 0)
            continue;
        sgi_expr term = c->rewritten[i];
        double factor = c->coefficients[i];
        sgi_input combination;
        if (pure_second(exprs, i) >= 0 && gather(c, i, top, &combination, &factor) >= 2) {
            int index = combination.index, side = combination.side;
            for (sgi_expr j = i; j <= top; j++) { /* all members go at once */
                const sgi_input *other =
                    pure_second(exprs, j) >= 0 ? sgi_expr_input(exprs, j) : NULL;
                if (other && other->index == index && other->side == side)
                    c->terms[j] = 0;
            }
            term = sgi_expressions_input(exprs, &combination);
        } else {
            factor = c->coefficients[i];
        }
        term = sgi_mul(exprs, sgi_constant(exprs, factor < 0 ? -factor : factor), term);
        sum = factor < 0 ? sgi_sub(exprs, sum, term) : sgi_add(exprs, sum, term);
    }
    return sum;
}

static bool has_combination(collapse *c, sgi_expr top)
{
    sweep_sum(c, top);
    for (sgi_expr i = 0; i <= top; i++) {
        sgi_input combination;
        double factor;
        if (c->terms[i] && c->coefficients[i] != 0 && pure_second(c->exprs, i) >= 0 &&
            gather(c, i, top, &combination, &factor) >= 2)
            return true;
    }
    return false;
}

static void rewrite(collapse *c, sgi_expr *roots, size_t count)
{
    sgi_expressions *exprs = c->exprs;
    for (sgi_expr i = 0; i < c->count && exprs->status == SG_OK; i++) {
        c->rewritten[i] = i;
        const sgi_node node = exprs->nodes[i];
        if (!c->reached[i] || sgi_op_arity(node.op) == 0)
            continue;
        if (c->top[i] && c->sum[i] && has_combination(c, i))
            c->rewritten[i] = rebuild_sum(c, i);
        else
            c->rewritten[i] =
                sgi_apply(exprs, node.op, c->rewritten[node.arguments[0]],
                          c->rewritten[node.arguments[1]], c->rewritten[node.arguments[2]]);
    }
    for (size_t i = 0; i < count && exprs->status == SG_OK; i++)
        roots[i] = c->rewritten[roots[i]];
}

void sgi_collapse(sgi_expressions *exprs, sgi_expr *roots, size_t count)
{
    if (exprs->status != SG_OK)
        return;
    uint32_t n = exprs->count;
    const sg_allocator *allocator = &exprs->allocator;
    collapse c = {.exprs = exprs,
                  .count = n,
                  .reached = sgi_allocate(allocator, n, 1),
                  .sum = sgi_allocate(allocator, n, 1),
                  .top = sgi_allocate(allocator, n, 1),
                  .coefficients = sgi_allocate(allocator, n, sizeof(double)),
                  .terms = sgi_allocate(allocator, n, 1),
                  .rewritten = sgi_allocate(allocator, n, sizeof(sgi_expr))};
    if (c.reached && c.sum && c.top && c.coefficients && c.terms && c.rewritten) {
        classify(&c, roots, count);
        if (__builtin_popcount(c.pure) > 1)
            survey(&c);
        if (c.combination_count > 0 &&
            c.combination_count + __builtin_popcount(c.alone) < __builtin_popcount(c.pure))
            rewrite(&c, roots, count);
    } else {
        exprs->status = SG_ERROR_MEMORY;
    }
    sgi_release(allocator, c.reached);
    sgi_release(allocator, c.sum);
    sgi_release(allocator, c.top);
    sgi_release(allocator, c.coefficients);
    sgi_release(allocator, c.terms);
    sgi_release(allocator, c.rewritten);
}
