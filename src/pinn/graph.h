/* Expressions as one graph in which equal sub-expressions are the same node (hash-consing).
 *
 * A node is an operation on earlier nodes, a constant, or an input: a coordinate, a component of
 * the outward normal, a field or one of its derivatives at the point, a fixed combination of pure
 * second derivatives, or a number that is the same for all points. Arguments always have smaller
 * numbers than the node, so every pass over a graph is a loop and none recurses.
 *
 * Building cannot fail half-way: when memory or the limit on nodes runs out the graph remembers it,
 * every further node is node 0, and sg_graph_status tells. */
#ifndef SG_PINN_GRAPH_H
#define SG_PINN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "stablegrad/status.h"

enum {
    SG_MOST_COORDINATES = 8,
    SG_MOST_ORDER = 4, /* of a derivative of a field */
    SG_MOST_NODES = 1 << 16
};

/* The one list of operations: code, name, number of arguments. Those from SG_OP_SIN on are
 * functions of the language. Comparisons give 1 or 0; where(c, a, b) is a when c is not 0. */
#define SG_OP_LIST(X)                                                                              \
    X(SG_OP_CONSTANT, "constant", 0)                                                               \
    X(SG_OP_INPUT, "input", 0)                                                                     \
    X(SG_OP_NEG, "-", 1)                                                                           \
    X(SG_OP_ADD, "+", 2)                                                                           \
    X(SG_OP_SUB, "-", 2)                                                                           \
    X(SG_OP_MUL, "*", 2)                                                                           \
    X(SG_OP_DIV, "/", 2)                                                                           \
    X(SG_OP_LESS, "<", 2)                                                                          \
    X(SG_OP_LESS_EQUAL, "<=", 2)                                                                   \
    X(SG_OP_EQUAL, "==", 2)                                                                        \
    X(SG_OP_NOT_EQUAL, "!=", 2)                                                                    \
    X(SG_OP_SIN, "sin", 1)                                                                         \
    X(SG_OP_COS, "cos", 1)                                                                         \
    X(SG_OP_TAN, "tan", 1)                                                                         \
    X(SG_OP_TANH, "tanh", 1)                                                                       \
    X(SG_OP_SINH, "sinh", 1)                                                                       \
    X(SG_OP_COSH, "cosh", 1)                                                                       \
    X(SG_OP_SECH, "sech", 1)                                                                       \
    X(SG_OP_EXP, "exp", 1)                                                                         \
    X(SG_OP_LOG, "log", 1)                                                                         \
    X(SG_OP_SQRT, "sqrt", 1)                                                                       \
    X(SG_OP_ABS, "abs", 1)                                                                         \
    X(SG_OP_SIGN, "sign", 1)                                                                       \
    X(SG_OP_FLOOR, "floor", 1)                                                                     \
    X(SG_OP_ERF, "erf", 1)                                                                         \
    X(SG_OP_MIN, "min", 2)                                                                         \
    X(SG_OP_MAX, "max", 2)                                                                         \
    X(SG_OP_POW, "pow", 2)                                                                         \
    X(SG_OP_ATAN2, "atan2", 2)                                                                     \
    X(SG_OP_WHERE, "where", 3)

typedef enum sg_op {
#define SG_OP_ENUM(code, name, arity) code,
    SG_OP_LIST(SG_OP_ENUM)
#undef SG_OP_ENUM
        SG_OP_COUNT
} sg_op;

const char *sg_op_name(sg_op op);
int sg_op_arity(sg_op op);

/* The value of an operation on numbers: the definition that the vector loops are tested against. */
double sg_op_apply(sg_op op, double x, double y, double z);

/* Orders of differentiation by each coordinate, four bits each: coordinate k at bit 4 k. */
typedef uint32_t sg_derivative;

static inline int sg_derivative_order(sg_derivative derivative, int coordinate)
{
    return (int)(derivative >> (4 * coordinate) & 15);
}

static inline sg_derivative sg_derivative_unit(int coordinate)
{
    return (sg_derivative)1 << (4 * coordinate);
}

/* The total order. */
int sg_derivative_total(sg_derivative derivative);

/* The coordinate of a pure second derivative, -1 for any other. */
int sg_derivative_pure_second(sg_derivative derivative);

typedef enum sg_input_kind {
    SG_INPUT_COORDINATE,  /* `index`: which */
    SG_INPUT_NORMAL,      /* `index`: which component of the outward normal */
    SG_INPUT_FIELD,       /* `index`: field, `derivative`: 0 for the value */
    SG_INPUT_COMBINATION, /* sum over k of coefficients[k] d^2 field / dx_k^2; `index`: field */
    SG_INPUT_PARAMETER    /* `index`: a number that is the same for all points */
} sg_input_kind;

typedef struct sg_input {
    sg_input_kind kind;
    int index;
    int side; /* of a pair of points: 0 or 1 */
    sg_derivative derivative;
    double coefficients[SG_MOST_COORDINATES]; /* of a combination */
} sg_input;

typedef uint32_t sg_expr; /* the number of a node */

typedef struct sg_node {
    sg_op op;
    sg_expr arguments[3]; /* unused ones are 0 */
    double value;         /* of a constant */
    uint32_t input;       /* index into the graph's inputs */
} sg_node;

typedef struct sg_graph {
    sg_allocator allocator;
    sg_node *nodes; /* node 0 is the constant 0 */
    uint32_t count, capacity;
    uint32_t *table; /* open addressing: node + 1, 0 for empty */
    uint32_t table_size;
    sg_input *inputs; /* each different one once */
    uint32_t input_count, input_capacity;
    sg_status status;
} sg_graph;

SG_CHECKED sg_status sg_graph_create(sg_graph **graph, const sg_allocator *allocator);
void sg_graph_destroy(sg_graph *graph); /* NULL is allowed */

/* SG_OK, SG_ERROR_MEMORY, or SG_ERROR_UNSUPPORTED when the graph grew beyond SG_MOST_NODES. */
sg_status sg_graph_status(const sg_graph *graph);

sg_expr sg_constant(sg_graph *graph, double value);
sg_expr sg_graph_input(sg_graph *graph, const sg_input *input);

/* The node op(a, b, c), simplified: constants are folded, neutral elements vanish, small whole
 * powers become products. Arguments that the operation does not take are ignored. */
sg_expr sg_apply(sg_graph *graph, sg_op op, sg_expr a, sg_expr b, sg_expr c);

static inline sg_expr sg_add(sg_graph *graph, sg_expr a, sg_expr b)
{
    return sg_apply(graph, SG_OP_ADD, a, b, 0);
}

static inline sg_expr sg_sub(sg_graph *graph, sg_expr a, sg_expr b)
{
    return sg_apply(graph, SG_OP_SUB, a, b, 0);
}

static inline sg_expr sg_mul(sg_graph *graph, sg_expr a, sg_expr b)
{
    return sg_apply(graph, SG_OP_MUL, a, b, 0);
}

/* Whether the node is a constant, and which. */
bool sg_is_constant(const sg_graph *graph, sg_expr expr, double *value);

/* The input of an input node, NULL for others. Valid until another input is added. */
const sg_input *sg_expr_input(const sg_graph *graph, sg_expr expr);

/* Marks in `reached` (graph->count bytes) every node that the roots depend on, themselves too. */
void sg_graph_reach(const sg_graph *graph, const sg_expr *roots, size_t count, uint8_t *reached);

/* Whether `expr` depends on an input of that kind. */
bool sg_depends_on(sg_graph *graph, sg_expr expr, sg_input_kind kind);

/* ---- Calculus (calculus.c) ---------------------------------------------------------------- */

/* The derivative of `expr` by a coordinate. Fields depend on every coordinate: the derivative of
 * u_x by t is u_xt. `order` receives the highest order of a field's derivative in the result, which
 * may be beyond SG_MOST_ORDER; NULL when it does not matter. */
sg_expr sg_differentiate(sg_graph *graph, sg_expr expr, int coordinate, int *order);

/* The exact reverse sweep: given the adjoint `seeds[i]` of each root, adds up the adjoints of
 * `inputs` (input nodes), and writes them to `adjoints`. */
void sg_adjoints(sg_graph *graph, const sg_expr *roots, const sg_expr *seeds, size_t count,
                 const sg_expr *inputs, size_t input_count, sg_expr *adjoints);

/* ---- Collapsing second derivatives (collapse.c) ------------------------------------------- */

/* Rewrites the roots in place so that sums such as nu*(u_xx + u_yy) read one combined input where
 * that needs fewer inputs than the separate derivatives. A root's value does not change. */
void sg_collapse(sg_graph *graph, sg_expr *roots, size_t count);

#endif
