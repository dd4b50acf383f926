/* The expression graph: nodes, hashing, simplification. See graph.h. */
#include "pinn/graph.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    int arity;
} operations[] = {
#define SG_OP_ROW(code, name, arity) {name, arity},
    SG_OP_LIST(SG_OP_ROW)
#undef SG_OP_ROW
};

/* Whole powers up to this are products. */
enum { MOST_PRODUCT = 16 };

const char *sg_op_name(sg_op op)
{
    return operations[op].name;
}

int sg_op_arity(sg_op op)
{
    return operations[op].arity;
}

int sg_derivative_total(sg_derivative derivative)
{
    int total = 0;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        total += sg_derivative_order(derivative, k);
    return total;
}

int sg_derivative_pure_second(sg_derivative derivative)
{
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        if (derivative == 2 * sg_derivative_unit(k))
            return k;
    return -1;
}

/* ---- Storage ------------------------------------------------------------------------------ */

sg_status sg_graph_create(sg_graph **out, const sg_allocator *given)
{
    sg_allocator allocator = sg_allocator_or_heap(given);
    *out = NULL;
    sg_graph *graph = sg_allocate(&allocator, 1, sizeof *graph);
    if (!graph)
        return SG_ERROR_MEMORY;
    graph->allocator = allocator;
    sg_constant(graph, 0);
    sg_status status = graph->status;
    if (status != SG_OK)
        sg_graph_destroy(graph);
    else
        *out = graph;
    return status;
}

void sg_graph_destroy(sg_graph *graph)
{
    if (!graph)
        return;
    sg_allocator allocator = graph->allocator;
    sg_release(&allocator, graph->nodes);
    sg_release(&allocator, graph->table);
    sg_release(&allocator, graph->inputs);
    sg_release(&allocator, graph);
}

sg_status sg_graph_status(const sg_graph *graph)
{
    return graph->status;
}

/* A larger copy of an array; the old one is released. NULL, and no change, without memory. */
static void *enlarge(sg_graph *graph, void *array, size_t count, size_t capacity, size_t size)
{
    void *larger = sg_allocate(&graph->allocator, capacity, size);
    if (!larger) {
        graph->status = SG_ERROR_MEMORY;
        return NULL;
    }
    if (count)
        memcpy(larger, array, count * size);
    sg_release(&graph->allocator, array);
    return larger;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_node(const sg_node *node)
{
    uint64_t bits;
    memcpy(&bits, &node->value, sizeof bits);
    uint64_t hash = mix(17, (uint64_t)node->op);
    hash = mix(hash, node->arguments[0]);
    hash = mix(hash, node->arguments[1]);
    hash = mix(hash, node->arguments[2]);
    return mix(mix(hash, bits), node->input);
}

static bool same_node(const sg_node *a, const sg_node *b)
{
    return a->op == b->op && memcmp(a->arguments, b->arguments, sizeof a->arguments) == 0 &&
           memcmp(&a->value, &b->value, sizeof a->value) == 0 && a->input == b->input;
}

/* The slot where the node is, or where it belongs. */
static uint32_t *find_slot(const sg_graph *graph, const sg_node *node)
{
    uint32_t mask = graph->table_size - 1;
    for (uint32_t i = (uint32_t)hash_node(node) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &graph->table[i];
        if (*slot == 0 || same_node(&graph->nodes[*slot - 1], node))
            return slot;
    }
}

static bool grow_table(sg_graph *graph)
{
    uint32_t size = graph->table_size ? 2 * graph->table_size : 256;
    uint32_t *table = sg_allocate(&graph->allocator, size, sizeof *table);
    if (!table) {
        graph->status = SG_ERROR_MEMORY;
        return false;
    }
    sg_release(&graph->allocator, graph->table);
    graph->table = table;
    graph->table_size = size;
    for (uint32_t i = 0; i < graph->count; i++)
        *find_slot(graph, &graph->nodes[i]) = i + 1;
    return true;
}

static bool make_room(sg_graph *graph)
{
    if (graph->count >= SG_MOST_NODES) {
        graph->status = SG_ERROR_UNSUPPORTED;
        return false;
    }
    if (graph->count == graph->capacity) {
        uint32_t capacity = graph->capacity ? 2 * graph->capacity : 128;
        sg_node *nodes = enlarge(graph, graph->nodes, graph->count, capacity, sizeof *nodes);
        if (!nodes)
            return false;
        graph->nodes = nodes;
        graph->capacity = capacity;
    }
    return 2 * graph->count < graph->table_size || grow_table(graph);
}

/* The node's number: the equal one's if there is one. */
static sg_expr intern(sg_graph *graph, const sg_node *node)
{
    if (graph->status != SG_OK || !make_room(graph))
        return 0;
    uint32_t *slot = find_slot(graph, node);
    if (*slot == 0) {
        graph->nodes[graph->count++] = *node;
        *slot = graph->count;
    }
    return *slot - 1;
}

sg_expr sg_constant(sg_graph *graph, double value)
{
    sg_node node = {.op = SG_OP_CONSTANT, .value = value == 0 ? 0 : value}; /* one zero */
    return intern(graph, &node);
}

static bool same_input(const sg_input *a, const sg_input *b)
{
    return a->kind == b->kind && a->index == b->index && a->side == b->side &&
           a->derivative == b->derivative &&
           memcmp(a->coefficients, b->coefficients, sizeof a->coefficients) == 0;
}

sg_expr sg_graph_input(sg_graph *graph, const sg_input *input)
{
    if (graph->status != SG_OK)
        return 0;
    uint32_t i = 0;
    while (i < graph->input_count && !same_input(&graph->inputs[i], input))
        i++;
    if (i == graph->input_count) {
        if (i == graph->input_capacity) {
            uint32_t capacity = i ? 2 * i : 32;
            sg_input *inputs = enlarge(graph, graph->inputs, i, capacity, sizeof *inputs);
            if (!inputs)
                return 0;
            graph->inputs = inputs;
            graph->input_capacity = capacity;
        }
        graph->inputs[graph->input_count++] = *input;
    }
    sg_node node = {.op = SG_OP_INPUT, .input = i};
    return intern(graph, &node);
}

bool sg_is_constant(const sg_graph *graph, sg_expr expr, double *value)
{
    const sg_node *node = &graph->nodes[expr];
    if (node->op != SG_OP_CONSTANT)
        return false;
    *value = node->value;
    return true;
}

const sg_input *sg_expr_input(const sg_graph *graph, sg_expr expr)
{
    const sg_node *node = &graph->nodes[expr];
    return node->op == SG_OP_INPUT ? &graph->inputs[node->input] : NULL;
}

void sg_graph_reach(const sg_graph *graph, const sg_expr *roots, size_t count, uint8_t *reached)
{
    memset(reached, 0, graph->count);
    for (size_t i = 0; i < count; i++)
        reached[roots[i]] = 1;
    for (uint32_t i = graph->count; i-- > 0;) {
        const sg_node *node = &graph->nodes[i];
        for (int k = 0; reached[i] && k < sg_op_arity(node->op); k++)
            reached[node->arguments[k]] = 1;
    }
}

bool sg_depends_on(sg_graph *graph, sg_expr expr, sg_input_kind kind)
{
    uint8_t *reached = sg_allocate(&graph->allocator, graph->count, 1);
    if (!reached) {
        graph->status = SG_ERROR_MEMORY;
        return false;
    }
    sg_graph_reach(graph, &expr, 1, reached);
    bool found = false;
    for (sg_expr i = 0; i < graph->count && !found; i++) {
        const sg_input *input = reached[i] ? sg_expr_input(graph, i) : NULL;
        found = input && input->kind == kind;
    }
    sg_release(&graph->allocator, reached);
    return found;
}

/* ---- Simplification ----------------------------------------------------------------------- */

static sg_expr plain(sg_graph *graph, sg_op op, sg_expr a, sg_expr b, sg_expr c)
{
    sg_node node = {.op = op, .arguments = {a, b, c}};
    return intern(graph, &node);
}

static sg_expr negate(sg_graph *graph, sg_expr a)
{
    const sg_node *node = &graph->nodes[a];
    if (node->op == SG_OP_NEG)
        return node->arguments[0];
    if (node->op == SG_OP_SUB)
        return plain(graph, SG_OP_SUB, node->arguments[1], node->arguments[0], 0);
    double factor;
    if (node->op == SG_OP_MUL && sg_is_constant(graph, node->arguments[0], &factor)) {
        sg_expr rest = node->arguments[1];
        return sg_mul(graph, sg_constant(graph, -factor), rest);
    }
    return plain(graph, SG_OP_NEG, a, 0, 0);
}

static bool is_value(const sg_graph *graph, sg_expr expr, double wanted)
{
    double value;
    return sg_is_constant(graph, expr, &value) && value == wanted;
}

static sg_expr simplify_sum(sg_graph *graph, sg_op op, sg_expr a, sg_expr b)
{
    const sg_node *right = &graph->nodes[b];
    if (is_value(graph, b, 0))
        return a;
    if (is_value(graph, a, 0))
        return op == SG_OP_ADD ? b : negate(graph, b);
    if (a == b)
        return op == SG_OP_ADD ? sg_mul(graph, sg_constant(graph, 2), a) : sg_constant(graph, 0);
    if (right->op == SG_OP_NEG)
        return plain(graph, op == SG_OP_ADD ? SG_OP_SUB : SG_OP_ADD, a, right->arguments[0], 0);
    if (op == SG_OP_ADD && graph->nodes[a].op == SG_OP_NEG)
        return plain(graph, SG_OP_SUB, b, graph->nodes[a].arguments[0], 0);
    if (op == SG_OP_ADD && a > b)
        return plain(graph, op, b, a, 0);
    return plain(graph, op, a, b, 0);
}

/* Constants stand first in a product and are merged. */
static sg_expr simplify_product(sg_graph *graph, sg_expr a, sg_expr b)
{
    double left, right;
    if (sg_is_constant(graph, b, &right) || (!sg_is_constant(graph, a, &left) && a > b)) {
        sg_expr swap = a;
        a = b;
        b = swap;
    }
    if (sg_is_constant(graph, a, &left)) {
        if (left == 0)
            return sg_constant(graph, 0);
        if (left == 1)
            return b;
        if (left == -1)
            return negate(graph, b);
        const sg_node node = graph->nodes[b];
        if (node.op == SG_OP_MUL && sg_is_constant(graph, node.arguments[0], &right))
            return simplify_product(graph, sg_constant(graph, left * right), node.arguments[1]);
        if (node.op == SG_OP_NEG)
            return simplify_product(graph, sg_constant(graph, -left), node.arguments[0]);
        return plain(graph, SG_OP_MUL, a, b, 0);
    }
    for (int k = 0; k < 2; k++) { /* (2 u) x is 2 (u x) */
        const sg_node node = graph->nodes[k == 0 ? a : b];
        if (node.op == SG_OP_MUL && sg_is_constant(graph, node.arguments[0], &left))
            return simplify_product(graph, node.arguments[0],
                                    simplify_product(graph, node.arguments[1], k == 0 ? b : a));
    }
    return plain(graph, SG_OP_MUL, a, b, 0);
}

static sg_expr whole_power(sg_graph *graph, sg_expr a, int exponent)
{
    sg_expr result = sg_constant(graph, 1);
    for (sg_expr square = a; exponent > 0; exponent /= 2) {
        if (exponent % 2)
            result = sg_mul(graph, result, square);
        if (exponent > 1)
            square = sg_mul(graph, square, square);
    }
    return result;
}

static sg_expr simplify_power(sg_graph *graph, sg_expr a, sg_expr b)
{
    double exponent;
    if (!sg_is_constant(graph, b, &exponent))
        return plain(graph, SG_OP_POW, a, b, 0);
    if (exponent == 0.5)
        return sg_apply(graph, SG_OP_SQRT, a, 0, 0);
    if (exponent != floor(exponent) || fabs(exponent) > MOST_PRODUCT)
        return plain(graph, SG_OP_POW, a, b, 0);
    sg_expr power = whole_power(graph, a, (int)fabs(exponent));
    return exponent < 0 ? sg_apply(graph, SG_OP_DIV, sg_constant(graph, 1), power, 0) : power;
}

static sg_expr simplify(sg_graph *graph, sg_op op, sg_expr a, sg_expr b, sg_expr c)
{
    double value;
    switch (op) {
    case SG_OP_NEG:
        return negate(graph, a);
    case SG_OP_ADD:
    case SG_OP_SUB:
        return simplify_sum(graph, op, a, b);
    case SG_OP_MUL:
        return simplify_product(graph, a, b);
    case SG_OP_DIV:
        if (is_value(graph, b, 1) || is_value(graph, a, 0))
            return a;
        return plain(graph, op, a, b, 0);
    case SG_OP_POW:
        return simplify_power(graph, a, b);
    case SG_OP_MIN:
    case SG_OP_MAX:
        return a == b ? a : plain(graph, op, a < b ? a : b, a < b ? b : a, 0);
    case SG_OP_WHERE:
        if (sg_is_constant(graph, a, &value))
            return value != 0 ? b : c;
        return b == c ? b : plain(graph, op, a, b, c);
    default:
        return plain(graph, op, a, b, c);
    }
}

sg_expr sg_apply(sg_graph *graph, sg_op op, sg_expr a, sg_expr b, sg_expr c)
{
    if (graph->status != SG_OK)
        return 0;
    int arity = sg_op_arity(op);
    b = arity > 1 ? b : 0;
    c = arity > 2 ? c : 0;
    double x = 0, y = 0, z = 0;
    if (sg_is_constant(graph, a, &x) && sg_is_constant(graph, b, &y) &&
        sg_is_constant(graph, c, &z))
        return sg_constant(graph, sg_op_apply(op, x, y, z));
    return simplify(graph, op, a, b, c);
}

double sg_op_apply(sg_op op, double x, double y, double z)
{
    switch (op) {
    case SG_OP_NEG:
        return -x;
    case SG_OP_ADD:
        return x + y;
    case SG_OP_SUB:
        return x - y;
    case SG_OP_MUL:
        return x * y;
    case SG_OP_DIV:
        return x / y;
    case SG_OP_LESS:
        return x < y;
    case SG_OP_LESS_EQUAL:
        return x <= y;
    case SG_OP_EQUAL:
        return x == y;
    case SG_OP_NOT_EQUAL:
        return x != y;
    case SG_OP_SIN:
        return sin(x);
    case SG_OP_COS:
        return cos(x);
    case SG_OP_TAN:
        return tan(x);
    case SG_OP_TANH:
        return tanh(x);
    case SG_OP_SINH:
        return sinh(x);
    case SG_OP_COSH:
        return cosh(x);
    case SG_OP_SECH:
        return 1 / cosh(x);
    case SG_OP_EXP:
        return exp(x);
    case SG_OP_LOG:
        return log(x);
    case SG_OP_SQRT:
        return sqrt(x);
    case SG_OP_ABS:
        return fabs(x);
    case SG_OP_SIGN:
        return (x > 0) - (x < 0);
    case SG_OP_FLOOR:
        return floor(x);
    case SG_OP_ERF:
        return erf(x);
    case SG_OP_MIN:
        return x < y ? x : y;
    case SG_OP_MAX:
        return x > y ? x : y;
    case SG_OP_POW:
        return pow(x, y);
    case SG_OP_ATAN2:
        return atan2(x, y);
    case SG_OP_WHERE:
        return x != 0 ? y : z;
    case SG_OP_CONSTANT:
    case SG_OP_INPUT:
    case SG_OP_COUNT:
        break;
    }
    return 0;
}
