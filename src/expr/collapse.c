/* Finding combinations of derivatives, so that the engine carries one channel for u_t - nu*u_xx
 * instead of one for each derivative.
 *
 * The engine has channels for the proper parts of every derivative anyway (u_x for u_xx), and a
 * combination of the others costs one channel whatever its length: see jet/plan.c. Here that means:
 *
 * A sum is a maximal tree of +, - and products with coefficients, which are constants and
 * expressions in the coordinates: what is known before the network is evaluated. The terms of a sum
 * and their coefficients come from one sweep from the top down, as in a reverse sweep, so shared
 * sub-sums cost nothing extra. The terms of a sum that are derivatives of one field are a form. A
 * derivative is needed as it is when it is a proper part of another one, is read outside of sums,
 * or is all that a form has beside needed ones. What is left of the forms after that becomes
 * combinations, unless these are as many as the derivatives in them. A combination is normalised,
 * so that multiples of it are recognised: its first coefficient is 1, and a factor that all
 * coefficients share is taken out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/basis.h"
#include "expr/expressions.h"

enum { MOST_COLUMNS = 64, MOST_FORMS = 64 };

/* A sum's derivatives of one field, by columns, and the sum's factor of a combination. */
typedef struct form {
    sgi_input sum; /* its parts; `index` and `side` are not compared */
    double number;
    sgi_expr factor; /* node 0: none */
} form;

typedef struct collapse {
    sgi_expressions *exprs;
    uint32_t count;                                 /* of nodes before rewriting */
    bool varying;                                   /* whether coefficients may vary */
    uint8_t *reached, *known, *guarded, *sum, *top; /* by node */
    uint8_t *terms;                       /* by node: is a term of the sum under the sweep */
    double *numbers;                      /* by node: its coefficient there is number * factor */
    sgi_expr *factors;                    /* node 0: none */
    sgi_expr *rewritten;                  /* by node */
    sgi_derivative columns[MOST_COLUMNS]; /* the derivatives, by order */
    int column_count;
    uint64_t needed; /* columns, as bits */
    form *forms;     /* (MOST_FORMS): different ones */
    int form_count;
} collapse;

/* ---- Nodes -------------------------------------------------------------------------------- */

/* The derivative if `expr` is one of a field, 0 otherwise. */
static sgi_derivative derivative_of(const sgi_expressions *exprs, sgi_expr expr)
{
    const sgi_input *input = sgi_expr_input(exprs, expr);
    return input && input->kind == SG_INPUT_FIELD ? input->derivative : 0;
}

static bool is_known(const collapse *c, sgi_expr i)
{
    const sgi_node *node = &c->exprs->nodes[i];
    const sgi_input *input = sgi_expr_input(c->exprs, i);
    if (input)
        return input->kind == SG_INPUT_COORDINATE && c->varying;
    bool known = true;
    for (int k = 0; k < sgi_op_arity(node->op); k++)
        known = known && c->known[node->arguments[k]];
    return known;
}

/* Whether node i may be a coefficient of node `under`. Behind a choice (where, min, max) it may not
 * vary: 1/r in the branch that is not taken may be infinite. */
static bool is_coefficient(const collapse *c, sgi_expr under, sgi_expr i)
{
    double value;
    return c->guarded[under] ? sgi_is_constant(c->exprs, i, &value) : c->known[i];
}

static bool is_sum(const collapse *c, sgi_expr i)
{
    const sgi_node *node = &c->exprs->nodes[i];
    if (c->known[i])
        return false;
    return node->op == SG_OP_ADD || node->op == SG_OP_SUB || node->op == SG_OP_NEG ||
           (node->op == SG_OP_MUL && (is_coefficient(c, i, node->arguments[0]) ||
                                      is_coefficient(c, i, node->arguments[1]))) ||
           (node->op == SG_OP_DIV && is_coefficient(c, i, node->arguments[1]));
}

static void mark_guarded(collapse *c)
{
    for (sgi_expr i = c->count; i-- > 0;) {
        const sgi_node *node = &c->exprs->nodes[i];
        bool choice = node->op == SG_OP_WHERE || node->op == SG_OP_MIN || node->op == SG_OP_MAX;
        for (int k = 0; k < sgi_op_arity(node->op); k++)
            if (c->reached[i] && (choice || c->guarded[i]))
                c->guarded[node->arguments[k]] = 1;
    }
}

/* Points in pairs have two sets of coordinates: no coefficient varies then. */
static bool has_pairs(const collapse *c)
{
    for (sgi_expr i = 0; i < c->count; i++) {
        const sgi_input *input = c->reached[i] ? sgi_expr_input(c->exprs, i) : NULL;
        if (input && input->side != 0)
            return true;
    }
    return false;
}

/* Finds what is known, the sums and the tops of sums. */
static void classify(collapse *c, const sgi_expr *roots, size_t count)
{
    sgi_expressions_reach(c->exprs, roots, count, c->reached);
    c->varying = !has_pairs(c);
    mark_guarded(c);
    for (sgi_expr i = 0; i < c->count; i++) {
        const sgi_node *node = &c->exprs->nodes[i];
        c->known[i] = is_known(c, i);
        c->sum[i] = is_sum(c, i);
        for (int k = 0; c->reached[i] && !c->sum[i] && k < sgi_op_arity(node->op); k++)
            c->top[node->arguments[k]] = 1;
    }
    for (size_t i = 0; i < count; i++)
        c->top[roots[i]] = 1;
}

/* ---- Columns ------------------------------------------------------------------------------ */

static int column_of(const collapse *c, sgi_derivative derivative)
{
    int k = 0;
    while (k < c->column_count && c->columns[k] != derivative)
        k++;
    return k;
}

static bool is_needed(const collapse *c, sgi_derivative derivative)
{
    return c->needed >> column_of(c, derivative) & 1;
}

static int compare_derivatives(const void *left, const void *right)
{
    const sgi_derivative *a = left, *b = right;
    int by_order = sgi_derivative_total(*a) - sgi_derivative_total(*b);
    return by_order ? by_order : (*a > *b) - (*a < *b);
}

static bool is_proper_part(sgi_derivative part, sgi_derivative whole)
{
    bool inside = part != whole;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        inside = inside && sgi_derivative_order(part, k) <= sgi_derivative_order(whole, k);
    return inside;
}

/* Lists the derivatives and finds those that are needed as they are. False if there are too many.
 */
static bool list_columns(collapse *c)
{
    for (sgi_expr i = 0; i < c->count; i++) {
        sgi_derivative derivative = c->reached[i] ? derivative_of(c->exprs, i) : 0;
        if (derivative == 0 || column_of(c, derivative) < c->column_count)
            continue;
        if (c->column_count == MOST_COLUMNS)
            return false;
        c->columns[c->column_count++] = derivative;
    }
    qsort(c->columns, (size_t)c->column_count, sizeof *c->columns, compare_derivatives);
    for (int a = 0; a < c->column_count; a++)
        for (int b = 0; b < c->column_count; b++)
            c->needed |= (uint64_t)is_proper_part(c->columns[a], c->columns[b]) << a;
    for (sgi_expr i = 0; i < c->count; i++)
        if (c->top[i] && derivative_of(c->exprs, i))
            c->needed |= (uint64_t)1 << column_of(c, derivative_of(c->exprs, i));
    return true;
}

/* ---- Sums --------------------------------------------------------------------------------- */

/* The product of two factors, of which node 0 stands for none. */
static sgi_expr times(collapse *c, sgi_expr a, sgi_expr b)
{
    return a == 0 ? b : b == 0 ? a : sgi_mul(c->exprs, a, b);
}

/* number * factor as a node. */
static sgi_expr product(collapse *c, double number, sgi_expr factor)
{
    return times(c, sgi_constant(c->exprs, number), factor);
}

/* Takes a constant factor into the number. */
static void take_constant(collapse *c, sgi_expr factor, double *number, sgi_expr *rest)
{
    double value;
    const sgi_node *node = &c->exprs->nodes[factor];
    *rest = factor;
    if (factor == 0)
        return;
    if (sgi_is_constant(c->exprs, factor, &value)) {
        *number *= value;
        *rest = 0;
    } else if (node->op == SG_OP_MUL && sgi_is_constant(c->exprs, node->arguments[0], &value)) {
        *number *= value;
        *rest = node->arguments[1];
    } else if (node->op == SG_OP_NEG) {
        *number = -*number;
        *rest = node->arguments[0];
    }
}

/* Adds number * factor to the coefficient of node i. */
static void add_coefficient(collapse *c, sgi_expr i, double number, sgi_expr factor)
{
    take_constant(c, factor, &number, &factor);
    if (!c->terms[i]) {
        c->terms[i] = 1;
        c->numbers[i] = number;
        c->factors[i] = factor;
    } else if (c->factors[i] == factor) {
        c->numbers[i] += number;
    } else {
        sgi_expr sum =
            sgi_add(c->exprs, product(c, c->numbers[i], c->factors[i]), product(c, number, factor));
        c->numbers[i] = 1;
        take_constant(c, sum, &c->numbers[i], &c->factors[i]);
    }
}

/* The terms of the sum at `top`, into `terms`, `numbers` and `factors`. */
static void sweep_sum(collapse *c, sgi_expr top)
{
    memset(c->terms, 0, c->count);
    add_coefficient(c, top, 1, 0);
    for (sgi_expr i = top + 1; i-- > 0;) {
        if (!c->terms[i] || !c->sum[i])
            continue;
        const sgi_node node = c->exprs->nodes[i];
        double number = c->numbers[i];
        sgi_expr factor = c->factors[i], one = sgi_constant(c->exprs, 1);
        int first = 0, last = sgi_op_arity(node.op) - 1;
        if (node.op == SG_OP_MUL) {
            first = last = is_coefficient(c, i, node.arguments[0]);
            factor = times(c, factor, node.arguments[1 - first]);
        } else if (node.op == SG_OP_DIV) {
            last = 0;
            factor = times(c, factor, sgi_apply(c->exprs, SG_OP_DIV, one, node.arguments[1], 0));
        }
        for (int k = first; k <= last; k++) {
            bool minus = node.op == SG_OP_NEG || (node.op == SG_OP_SUB && k == 1);
            add_coefficient(c, node.arguments[k], minus ? -number : number, factor);
        }
        c->terms[i] = 0;
    }
}

/* Whether node j is a term of the sum under the sweep: a derivative of the same field as node i. */
static bool belongs(const collapse *c, sgi_expr i, sgi_expr j)
{
    if (!c->terms[j] || c->numbers[j] == 0 || derivative_of(c->exprs, j) == 0)
        return false;
    const sgi_input *a = sgi_expr_input(c->exprs, i), *b = sgi_expr_input(c->exprs, j);
    return a->index == b->index && a->side == b->side;
}

static int compare_parts(const void *left, const void *right)
{
    return compare_derivatives(&((const sgi_part *)left)->derivative,
                               &((const sgi_part *)right)->derivative);
}

/* The form of the field that node i is a derivative of. False if it has too many parts. */
static bool gather(const collapse *c, sgi_expr i, sgi_expr top, form *f)
{
    const sgi_input *field = sgi_expr_input(c->exprs, i);
    *f = (form){
        .sum = {.kind = SG_INPUT_COMBINATION, .index = field->index, .side = field->side},
        .number = 1,
    };
    for (sgi_expr j = 0; j <= top; j++) {
        if (!belongs(c, i, j))
            continue;
        if (f->sum.part_count == SG_MOST_PARTS)
            return false;
        f->sum.parts[f->sum.part_count++] =
            (sgi_part){c->numbers[j], derivative_of(c->exprs, j), c->factors[j]};
    }
    qsort(f->sum.parts, (size_t)f->sum.part_count, sizeof *f->sum.parts, compare_parts);
    return true;
}

/* What is left of the form without needed derivatives, normalised. */
static form reduced(const collapse *c, const form *from)
{
    form f = {.sum = {.kind = from->sum.kind, .index = from->sum.index, .side = from->sum.side}};
    bool common = true;
    for (int i = 0; i < from->sum.part_count; i++) {
        sgi_part part = from->sum.parts[i];
        if (is_needed(c, part.derivative))
            continue;
        if (f.sum.part_count == 0)
            f.number = part.coefficient;
        part.coefficient /= f.number;
        common = common && (f.sum.part_count == 0 || part.varying == f.sum.parts[0].varying);
        f.sum.parts[f.sum.part_count++] = part;
    }
    if (common && f.sum.part_count > 0) {
        f.factor = f.sum.parts[0].varying;
        for (int i = 0; i < f.sum.part_count; i++)
            f.sum.parts[i].varying = 0;
    }
    return f;
}

/* ---- Choosing ----------------------------------------------------------------------------- */

static uint64_t columns_of(const collapse *c, const form *f)
{
    uint64_t columns = 0;
    for (int i = 0; i < f->sum.part_count; i++)
        columns |= (uint64_t)1 << column_of(c, f->sum.parts[i].derivative);
    return columns;
}

static void record(collapse *c, const form *f)
{
    int k = 0;
    while (k < c->form_count && !sgi_same_parts(&c->forms[k].sum, &f->sum))
        k++;
    if (k == MOST_FORMS)
        c->needed |= columns_of(c, f);
    else if (k == c->form_count)
        c->forms[c->form_count++] = *f;
}

static void record_forms(collapse *c)
{
    for (sgi_expr top = 0; top < c->count; top++) {
        if (!c->top[top] || !c->sum[top] || !c->reached[top])
            continue;
        sweep_sum(c, top);
        for (sgi_expr i = 0; i <= top; i++) {
            form f;
            if (!belongs(c, i, i))
                continue;
            if (gather(c, i, top, &f))
                record(c, &f);
            else
                c->needed |= columns_of(c, &f) | (uint64_t)1
                                                     << column_of(c, derivative_of(c->exprs, i));
        }
    }
}

/* A form with one derivative left needs it, until there are no more. */
static void need_lone(collapse *c)
{
    for (uint64_t before = ~c->needed; before != c->needed;) {
        before = c->needed;
        for (int k = 0; k < c->form_count; k++) {
            form f = reduced(c, &c->forms[k]);
            if (f.sum.part_count == 1)
                c->needed |= columns_of(c, &f);
        }
    }
}

static bool varies(const form *f)
{
    for (int i = 0; i < f->sum.part_count; i++)
        if (f->sum.parts[i].varying)
            return true;
    return false;
}

/* All columns that are connected to column `column` by forms that contain both. Whether combining
 * saves channels is decided for each such group by itself. */
static uint64_t component_of(const collapse *c, int column)
{
    uint64_t component = (uint64_t)1 << column;
    for (uint64_t before = 0; before != component;) {
        before = component;
        for (int k = 0; k < c->form_count; k++) {
            form f = reduced(c, &c->forms[k]);
            uint64_t columns = columns_of(c, &f);
            component |= columns & component ? columns : 0;
        }
    }
    return component;
}

/* Channels that the forms of a component take: independent ones, and each that varies. */
static int count_channels(collapse *c, uint64_t component, sgi_basis *basis)
{
    double vector[MOST_COLUMNS], coefficients[MOST_FORMS];
    int varying = 0;
    basis->count = 0;
    for (int k = 0; k < c->form_count; k++) {
        form f = reduced(c, &c->forms[k]), other;
        if (!(columns_of(c, &f) & component))
            continue;
        memset(vector, 0, sizeof vector);
        for (int i = 0; i < f.sum.part_count; i++)
            vector[column_of(c, f.sum.parts[i].derivative)] = f.sum.parts[i].coefficient;
        bool seen = false;
        for (int q = 0; q < k && !seen && varies(&f); q++) {
            other = reduced(c, &c->forms[q]);
            seen = sgi_same_parts(&f.sum, &other.sum);
        }
        if (varies(&f))
            varying += !seen;
        else
            sgi_basis_add(basis, vector, coefficients);
    }
    return (int)basis->count + varying;
}

/* Decides which derivatives stay. Returns whether there is anything to combine. */
static bool choose(collapse *c)
{
    sgi_basis basis = {0};
    need_lone(c);
    if (sgi_basis_create(&basis, MOST_COLUMNS, MOST_FORMS, &c->exprs->allocator) != SG_OK)
        c->exprs->status = SG_ERROR_MEMORY;
    uint64_t done = c->needed;
    for (int k = 0; k < c->column_count && c->exprs->status == SG_OK; k++) {
        if (done >> k & 1)
            continue;
        uint64_t component = component_of(c, k);
        if (count_channels(c, component, &basis) >= __builtin_popcountll(component))
            c->needed |= component;
        done |= component;
    }
    sgi_basis_release(&basis, &c->exprs->allocator);
    return c->exprs->status == SG_OK && __builtin_popcountll(c->needed) < c->column_count;
}

/* ---- Rewriting ---------------------------------------------------------------------------- */

/* Whether the sum under the sweep has a derivative that is no longer read on its own. */
static bool has_combination(const collapse *c, sgi_expr top)
{
    for (sgi_expr i = 0; i <= top; i++)
        if (belongs(c, i, i) && !is_needed(c, derivative_of(c->exprs, i)))
            return true;
    return false;
}

/* The sum at `top`, swept, with its combinations as inputs, from rewritten terms. */
static sgi_expr rebuild_sum(collapse *c, sgi_expr top)
{
    sgi_expr sum = 0;
    for (sgi_expr i = 0; i <= top; i++) {
        if (!c->terms[i] || c->numbers[i] == 0)
            continue;
        form f = {.number = c->numbers[i], .factor = c->factors[i]};
        sgi_expr term = c->rewritten[i];
        if (belongs(c, i, i) && !is_needed(c, derivative_of(c->exprs, i))) {
            form all;
            gather(c, i, top, &all); /* a form with too many parts has needed ones only */
            f = reduced(c, &all);
            for (sgi_expr j = top + 1; j-- > i;) /* all members go at once */
                if (belongs(c, i, j) && !is_needed(c, derivative_of(c->exprs, j)))
                    c->terms[j] = 0;
            term = sgi_expressions_input(c->exprs, &f.sum);
        }
        term = times(c, f.factor, term);
        term = product(c, f.number < 0 ? -f.number : f.number, term);
        sum = f.number < 0 ? sgi_sub(c->exprs, sum, term) : sgi_add(c->exprs, sum, term);
    }
    return sum;
}

static void rewrite(collapse *c, sgi_expr *roots, size_t count)
{
    sgi_expressions *exprs = c->exprs;
    for (sgi_expr i = 0; i < c->count && exprs->status == SG_OK; i++) {
        c->rewritten[i] = i;
        const sgi_node node = exprs->nodes[i];
        if (!c->reached[i] || sgi_op_arity(node.op) == 0)
            continue;
        bool swept = c->top[i] && c->sum[i];
        if (swept)
            sweep_sum(c, i);
        if (swept && has_combination(c, i))
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
                  .known = sgi_allocate(allocator, n, 1),
                  .guarded = sgi_allocate(allocator, n, 1),
                  .sum = sgi_allocate(allocator, n, 1),
                  .top = sgi_allocate(allocator, n, 1),
                  .terms = sgi_allocate(allocator, n, 1),
                  .numbers = sgi_allocate(allocator, n, sizeof(double)),
                  .factors = sgi_allocate(allocator, n, sizeof(sgi_expr)),
                  .rewritten = sgi_allocate(allocator, n, sizeof(sgi_expr)),
                  .forms = sgi_allocate(allocator, MOST_FORMS, sizeof(form))};
    void *parts[] = {c.reached, c.known,   c.guarded, c.sum,       c.top,
                     c.terms,   c.numbers, c.factors, c.rewritten, c.forms};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!parts[i])
            exprs->status = SG_ERROR_MEMORY;
    if (exprs->status == SG_OK) {
        classify(&c, roots, count);
        if (list_columns(&c)) {
            record_forms(&c);
            if (choose(&c))
                rewrite(&c, roots, count);
        }
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(allocator, parts[i]);
}
