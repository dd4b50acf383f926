/* The expression graph: nodes, hashing, simplification. See expressions.h. */
#include "expr/expressions.h"

#include <math.h>
#include <string.h>

/* Whole powers up to this are products. */
enum { MOST_PRODUCT = 16 };

int sgi_derivative_total(sgi_derivative derivative)
{
    int total = 0;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        total += sgi_derivative_order(derivative, k);
    return total;
}

/* ---- Storage ------------------------------------------------------------------------------ */

sg_status sgi_expressions_create(sgi_expressions **out, const sg_allocator *given)
{
    *out = NULL;
    sgi_expressions *exprs = SGI_NEW(sgi_expressions, given);
    if (!exprs)
        return SG_ERROR_MEMORY;
    sgi_constant(exprs, 0);
    sg_status status = exprs->status;
    if (status != SG_OK)
        sgi_expressions_destroy(exprs);
    else
        *out = exprs;
    return status;
}

void sgi_expressions_destroy(sgi_expressions *exprs)
{
    if (!exprs)
        return;
    sgi_release(&exprs->allocator, exprs->nodes);
    sgi_release(&exprs->allocator, exprs->table);
    sgi_release(&exprs->allocator, exprs->inputs);
    sgi_release(&exprs->allocator, exprs);
}

sg_status sgi_expressions_status(const sgi_expressions *exprs)
{
    return exprs->status;
}

/* Room for one more element; without memory the graph remembers it. */
static bool more_room(sgi_expressions *exprs, void *array, size_t count, size_t *capacity,
                      size_t least, size_t size)
{
    exprs->status = sgi_grow_array(&exprs->allocator, array, count, capacity, least, size);
    return exprs->status == SG_OK;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_node(const sgi_node *node)
{
    uint64_t bits;
    memcpy(&bits, &node->value, sizeof bits);
    uint64_t hash = mix(17, (uint64_t)node->op);
    hash = mix(hash, node->arguments[0]);
    hash = mix(hash, node->arguments[1]);
    hash = mix(hash, node->arguments[2]);
    return mix(mix(hash, bits), node->input);
}

static bool same_node(const sgi_node *a, const sgi_node *b)
{
    return a->op == b->op && memcmp(a->arguments, b->arguments, sizeof a->arguments) == 0 &&
           memcmp(&a->value, &b->value, sizeof a->value) == 0 && a->input == b->input;
}

/* The slot of the hash table where the node is, or where it belongs. */
static uint32_t *find_slot(const sgi_expressions *exprs, const sgi_node *node)
{
    uint32_t mask = exprs->table_size - 1;
    for (uint32_t i = (uint32_t)hash_node(node) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &exprs->table[i];
        if (*slot == 0 || same_node(&exprs->nodes[*slot - 1], node))
            return slot;
    }
}

static bool grow_table(sgi_expressions *exprs)
{
    uint32_t size = exprs->table_size ? 2 * exprs->table_size : 256;
    uint32_t *table = sgi_allocate(&exprs->allocator, size, sizeof *table);
    if (!table) {
        exprs->status = SG_ERROR_MEMORY;
        return false;
    }
    sgi_release(&exprs->allocator, exprs->table);
    exprs->table = table;
    exprs->table_size = size;
    for (uint32_t i = 0; i < exprs->count; i++)
        *find_slot(exprs, &exprs->nodes[i]) = i + 1;
    return true;
}

static bool make_room(sgi_expressions *exprs)
{
    if (exprs->count >= SG_MOST_NODES) {
        exprs->status = SG_ERROR_UNSUPPORTED;
        return false;
    }
    if (!more_room(exprs, &exprs->nodes, exprs->count, &exprs->capacity, 128, sizeof *exprs->nodes))
        return false;
    return 2 * exprs->count < exprs->table_size || grow_table(exprs);
}

void sgi_expressions_rewind(sgi_expressions *exprs, uint32_t nodes, uint32_t inputs)
{
    exprs->count = nodes;
    exprs->input_count = inputs;
    if (exprs->status == SG_ERROR_UNSUPPORTED)
        exprs->status = SG_OK;
    memset(exprs->table, 0, exprs->table_size * sizeof *exprs->table);
    for (uint32_t i = 0; i < exprs->count; i++)
        *find_slot(exprs, &exprs->nodes[i]) = i + 1;
}

/* The node's number: the equal one's if there is one. */
static sgi_expr intern(sgi_expressions *exprs, const sgi_node *node)
{
    if (exprs->status != SG_OK || !make_room(exprs))
        return 0;
    uint32_t *slot = find_slot(exprs, node);
    if (*slot == 0) {
        exprs->nodes[exprs->count++] = *node;
        *slot = exprs->count;
    }
    return *slot - 1;
}

sgi_expr sgi_constant(sgi_expressions *exprs, double value)
{
    sgi_node node = {.op = SG_OP_CONSTANT, .value = value == 0 ? 0 : value}; /* one zero */
    return intern(exprs, &node);
}

bool sgi_same_parts(const sgi_input *a, const sgi_input *b)
{
    return a->part_count == b->part_count &&
           memcmp(a->parts, b->parts, (size_t)a->part_count * sizeof *a->parts) == 0;
}

bool sgi_same_input(const sgi_input *a, const sgi_input *b)
{
    return a->kind == b->kind && a->index == b->index && a->side == b->side &&
           a->derivative == b->derivative && sgi_same_parts(a, b);
}

sgi_expr sgi_expressions_input(sgi_expressions *exprs, const sgi_input *input)
{
    if (exprs->status != SG_OK)
        return 0;
    uint32_t i = 0;
    while (i < exprs->input_count && !sgi_same_input(&exprs->inputs[i], input))
        i++;
    if (i == exprs->input_count) {
        if (!more_room(exprs, &exprs->inputs, i, &exprs->input_capacity, 32, sizeof *exprs->inputs))
            return 0;
        exprs->inputs[exprs->input_count++] = *input;
    }
    sgi_node node = {.op = SG_OP_INPUT, .input = i};
    return intern(exprs, &node);
}

bool sgi_is_constant(const sgi_expressions *exprs, sgi_expr expr, double *value)
{
    const sgi_node *node = &exprs->nodes[expr];
    if (node->op != SG_OP_CONSTANT)
        return false;
    *value = node->value;
    return true;
}

const sgi_input *sgi_expr_input(const sgi_expressions *exprs, sgi_expr expr)
{
    const sgi_node *node = &exprs->nodes[expr];
    return node->op == SG_OP_INPUT ? &exprs->inputs[node->input] : NULL;
}

void sgi_expressions_reach(const sgi_expressions *exprs, const sgi_expr *roots, size_t count,
                           uint8_t *reached)
{
    memset(reached, 0, exprs->count);
    for (size_t i = 0; i < count; i++)
        reached[roots[i]] = 1;
    for (uint32_t i = exprs->count; i-- > 0;) {
        const sgi_node *node = &exprs->nodes[i];
        for (int k = 0; reached[i] && k < sgi_op_arity(node->op); k++)
            reached[node->arguments[k]] = 1;
    }
}

/* Whether the value changes only in jumps with argument `k`. */
static bool is_flat(sgi_op op, int k)
{
    switch (op) {
    case SG_OP_LESS:
    case SG_OP_LESS_EQUAL:
    case SG_OP_EQUAL:
    case SG_OP_NOT_EQUAL:
    case SG_OP_SIGN:
    case SG_OP_FLOOR:
        return true;
    default:
        return op == SG_OP_WHERE && k == 0;
    }
}

/* Looks down from `expr` for an input of the kind, past flat operations or not. */
static bool leads_to(sgi_expressions *exprs, sgi_expr expr, sgi_input_kind kind, bool past_flat)
{
    uint8_t *reached = sgi_allocate(&exprs->allocator, exprs->count, 1);
    bool found = false;
    if (!reached) {
        exprs->status = SG_ERROR_MEMORY;
        return false;
    }
    reached[expr] = 1;
    for (uint32_t i = expr + 1; i-- > 0 && !found;) {
        const sgi_node *node = &exprs->nodes[i];
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        found = input && input->kind == kind;
        for (int k = 0; reached[i] && k < sgi_op_arity(node->op); k++)
            reached[node->arguments[k]] |= past_flat || !is_flat(node->op, k);
    }
    sgi_release(&exprs->allocator, reached);
    return found;
}

bool sgi_depends_on(sgi_expressions *exprs, sgi_expr expr, sgi_input_kind kind)
{
    return leads_to(exprs, expr, kind, true);
}

bool sgi_has_slope(sgi_expressions *exprs, sgi_expr expr, sgi_input_kind kind)
{
    return leads_to(exprs, expr, kind, false);
}

/* ---- Simplification ----------------------------------------------------------------------- */

/* Expressions are brought to a common form so that equal ones become the same node: the operand
 * with the smaller number first, constants first in a product and merged, minus signs moved out. A
 * product with the constant 0 is 0 and x - x is 0; that x may be infinite somewhere is not taken
 * into account. */

static sgi_expr plain(sgi_expressions *exprs, sgi_op op, sgi_expr a, sgi_expr b, sgi_expr c)
{
    sgi_node node = {.op = op, .arguments = {a, b, c}};
    return intern(exprs, &node);
}

static sgi_expr negate(sgi_expressions *exprs, sgi_expr a)
{
    const sgi_node *node = &exprs->nodes[a];
    if (node->op == SG_OP_NEG)
        return node->arguments[0];
    if (node->op == SG_OP_SUB)
        return plain(exprs, SG_OP_SUB, node->arguments[1], node->arguments[0], 0);
    double factor;
    if (node->op == SG_OP_MUL && sgi_is_constant(exprs, node->arguments[0], &factor)) {
        sgi_expr rest = node->arguments[1];
        return sgi_mul(exprs, sgi_constant(exprs, -factor), rest);
    }
    return plain(exprs, SG_OP_NEG, a, 0, 0);
}

static bool is_value(const sgi_expressions *exprs, sgi_expr expr, double wanted)
{
    double value;
    return sgi_is_constant(exprs, expr, &value) && value == wanted;
}

static sgi_expr simplify_sum(sgi_expressions *exprs, sgi_op op, sgi_expr a, sgi_expr b)
{
    const sgi_node *right = &exprs->nodes[b];
    if (is_value(exprs, b, 0))
        return a;
    if (is_value(exprs, a, 0))
        return op == SG_OP_ADD ? b : negate(exprs, b);
    if (a == b)
        return op == SG_OP_ADD ? sgi_mul(exprs, sgi_constant(exprs, 2), a) : sgi_constant(exprs, 0);
    if (right->op == SG_OP_NEG)
        return plain(exprs, op == SG_OP_ADD ? SG_OP_SUB : SG_OP_ADD, a, right->arguments[0], 0);
    if (op == SG_OP_ADD && exprs->nodes[a].op == SG_OP_NEG)
        return plain(exprs, SG_OP_SUB, b, exprs->nodes[a].arguments[0], 0);
    if (op == SG_OP_ADD && a > b)
        return plain(exprs, op, b, a, 0);
    return plain(exprs, op, a, b, 0);
}

/* Constants stand first in a product and are merged. */
static sgi_expr simplify_product(sgi_expressions *exprs, sgi_expr a, sgi_expr b)
{
    double left, right;
    if (sgi_is_constant(exprs, b, &right) || (!sgi_is_constant(exprs, a, &left) && a > b)) {
        sgi_expr swap = a;
        a = b;
        b = swap;
    }
    if (sgi_is_constant(exprs, a, &left)) {
        if (left == 0)
            return sgi_constant(exprs, 0);
        if (left == 1)
            return b;
        if (left == -1)
            return negate(exprs, b);
        const sgi_node node = exprs->nodes[b];
        if (node.op == SG_OP_MUL && sgi_is_constant(exprs, node.arguments[0], &right))
            return simplify_product(exprs, sgi_constant(exprs, left * right), node.arguments[1]);
        if (node.op == SG_OP_NEG)
            return simplify_product(exprs, sgi_constant(exprs, -left), node.arguments[0]);
        return plain(exprs, SG_OP_MUL, a, b, 0);
    }
    for (int k = 0; k < 2; k++) { /* (2 u) x is 2 (u x) */
        const sgi_node node = exprs->nodes[k == 0 ? a : b];
        if (node.op == SG_OP_MUL && sgi_is_constant(exprs, node.arguments[0], &left))
            return simplify_product(exprs, node.arguments[0],
                                    simplify_product(exprs, node.arguments[1], k == 0 ? b : a));
    }
    return plain(exprs, SG_OP_MUL, a, b, 0);
}

/* By repeated squaring: products are cheaper than pow(), and squares are shared between powers. */
static sgi_expr whole_power(sgi_expressions *exprs, sgi_expr a, int exponent)
{
    sgi_expr result = sgi_constant(exprs, 1);
    for (sgi_expr square = a; exponent > 0; exponent /= 2) {
        if (exponent % 2)
            result = sgi_mul(exprs, result, square);
        if (exponent > 1)
            square = sgi_mul(exprs, square, square);
    }
    return result;
}

static sgi_expr simplify_power(sgi_expressions *exprs, sgi_expr a, sgi_expr b)
{
    double exponent;
    if (!sgi_is_constant(exprs, b, &exponent))
        return plain(exprs, SG_OP_POW, a, b, 0);
    if (exponent == 0.5)
        return sgi_apply(exprs, SG_OP_SQRT, a, 0, 0);
    if (exponent != floor(exponent) || fabs(exponent) > MOST_PRODUCT)
        return plain(exprs, SG_OP_POW, a, b, 0);
    sgi_expr power = whole_power(exprs, a, (int)fabs(exponent));
    return exponent < 0 ? sgi_apply(exprs, SG_OP_DIV, sgi_constant(exprs, 1), power, 0) : power;
}

static sgi_expr simplify(sgi_expressions *exprs, sgi_op op, sgi_expr a, sgi_expr b, sgi_expr c)
{
    double value;
    switch (op) {
    case SG_OP_NEG:
        return negate(exprs, a);
    case SG_OP_ADD:
    case SG_OP_SUB:
        return simplify_sum(exprs, op, a, b);
    case SG_OP_MUL:
        return simplify_product(exprs, a, b);
    case SG_OP_DIV:
        if (is_value(exprs, b, 1) || is_value(exprs, a, 0))
            return a;
        return plain(exprs, op, a, b, 0);
    case SG_OP_POW:
        return simplify_power(exprs, a, b);
    case SG_OP_MIN:
    case SG_OP_MAX:
        return a == b ? a : plain(exprs, op, a < b ? a : b, a < b ? b : a, 0);
    case SG_OP_WHERE:
        if (sgi_is_constant(exprs, a, &value))
            return value != 0 ? b : c;
        return b == c ? b : plain(exprs, op, a, b, c);
    default:
        return plain(exprs, op, a, b, c);
    }
}

sgi_expr sgi_apply(sgi_expressions *exprs, sgi_op op, sgi_expr a, sgi_expr b, sgi_expr c)
{
    if (exprs->status != SG_OK)
        return 0;
    int arity = sgi_op_arity(op);
    b = arity > 1 ? b : 0;
    c = arity > 2 ? c : 0;
    double x = 0, y = 0, z = 0;
    if (sgi_is_constant(exprs, a, &x) && sgi_is_constant(exprs, b, &y) &&
        sgi_is_constant(exprs, c, &z))
        return sgi_constant(exprs, sgi_op_apply(op, x, y, z));
    return simplify(exprs, op, a, b, c);
}
