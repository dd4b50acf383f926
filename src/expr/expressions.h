/* Expressions as one graph in which equal sub-expressions are the same node (hash-consing).
 *
 * A node is an operation on earlier nodes, a constant, or an input: a coordinate, a component of
 * the outward normal, a field or one of its derivatives at the point, a combination of a field's
 * derivatives, an unknown constant, or another number that is the same for all points. Arguments
 * always have smaller numbers than the node, so every pass over a graph is a loop and none
 * recurses.
 *
 * Building cannot fail half-way: when memory or the limit on nodes runs out the graph remembers it,
 * every further node is node 0, and sgi_expressions_status tells. */
#ifndef SG_EXPR_EXPRESSIONS_H
#define SG_EXPR_EXPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "stablegrad/status.h"

enum {
    SG_MOST_COORDINATES = 16,
    SG_MOST_ORDER = 4, /* of a derivative of a field */
    SG_MOST_PARTS =
        40, /* of a combination: a Laplacian in all coordinates, all second derivatives in eight */
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
    X(SG_OP_ASIN, "asin", 1)                                                                       \
    X(SG_OP_ACOS, "acos", 1)                                                                       \
    X(SG_OP_ATAN, "atan", 1)                                                                       \
    X(SG_OP_ASINH, "asinh", 1)                                                                     \
    X(SG_OP_ACOSH, "acosh", 1)                                                                     \
    X(SG_OP_ATANH, "atanh", 1)                                                                     \
    X(SG_OP_EXP, "exp", 1)                                                                         \
    X(SG_OP_LOG, "log", 1)                                                                         \
    X(SG_OP_LOG2, "log2", 1)                                                                       \
    X(SG_OP_LOG10, "log10", 1)                                                                     \
    X(SG_OP_LOG1P, "log1p", 1)                                                                     \
    X(SG_OP_EXPM1, "expm1", 1)                                                                     \
    X(SG_OP_SQRT, "sqrt", 1)                                                                       \
    X(SG_OP_CBRT, "cbrt", 1)                                                                       \
    X(SG_OP_ABS, "abs", 1)                                                                         \
    X(SG_OP_SIGN, "sign", 1)                                                                       \
    X(SG_OP_FLOOR, "floor", 1)                                                                     \
    X(SG_OP_ERF, "erf", 1)                                                                         \
    X(SG_OP_ERFC, "erfc", 1)                                                                       \
    X(SG_OP_MIN, "min", 2)                                                                         \
    X(SG_OP_MAX, "max", 2)                                                                         \
    X(SG_OP_POW, "pow", 2)                                                                         \
    X(SG_OP_ATAN2, "atan2", 2)                                                                     \
    X(SG_OP_WHERE, "where", 3)

typedef enum sgi_op {
#define SG_OP_ENUM(code, name, arity) code,
    SG_OP_LIST(SG_OP_ENUM)
#undef SG_OP_ENUM
        SG_OP_COUNT
} sgi_op;

const char *sgi_op_name(sgi_op op);
int sgi_op_arity(sgi_op op);

/* The value of an operation on numbers: the definition that the vector loops are tested against. */
double sgi_op_apply(sgi_op op, double x, double y, double z);

/* Orders of differentiation by each coordinate, four bits each: coordinate k at bit 4 k. */
typedef uint64_t sgi_derivative;

static inline int sgi_derivative_order(sgi_derivative derivative, int coordinate)
{
    return (int)(derivative >> (4 * coordinate) & 15);
}

static inline sgi_derivative sgi_derivative_unit(int coordinate)
{
    return (sgi_derivative)1 << (4 * coordinate);
}

/* The total order. */
int sgi_derivative_total(sgi_derivative derivative);

typedef enum sgi_input_kind {
    SG_INPUT_COORDINATE,  /* `index`: which */
    SG_INPUT_NORMAL,      /* `index`: which component of the outward normal */
    SG_INPUT_FIELD,       /* `index`: field, `derivative`: 0 for the value */
    SG_INPUT_COMBINATION, /* the sum of `parts`, derivatives of field `index` */
    SG_INPUT_UNKNOWN,     /* `index`: a constant that is trained */
    SG_INPUT_DATA,        /* `index`: a number that is given for each point */
    SG_INPUT_EARLIER,     /* field `index` or its `derivative` in the window before */
    SG_INPUT_PARAMETER    /* `index`: a number that is the same for all points */
} sgi_input_kind;

typedef uint32_t sgi_expr; /* the number of a node */

/* coefficient * derivative, and times `varying` when that is not node 0: an expression in the
 * coordinates alone. */
typedef struct sgi_part {
    double coefficient;
    sgi_derivative derivative;
    sgi_expr varying;
} sgi_part;

typedef struct sgi_input {
    sgi_input_kind kind;
    int index;
    int side; /* of a pair of points: 0 or 1 */
    sgi_derivative derivative;
    int part_count; /* of a combination */
    sgi_part parts[SG_MOST_PARTS];
} sgi_input;

bool sgi_same_input(const sgi_input *a, const sgi_input *b);
bool sgi_same_parts(const sgi_input *a, const sgi_input *b);

typedef struct sgi_node {
    sgi_op op;
    sgi_expr arguments[3]; /* unused ones are 0 */
    double value;          /* of a constant */
    uint32_t input;        /* index into the graph's inputs */
} sgi_node;

typedef struct sgi_expressions {
    sg_allocator allocator;
    sgi_node *nodes; /* node 0 is the constant 0 */
    uint32_t count;
    size_t capacity;
    uint32_t *table; /* open addressing: node + 1, 0 for empty */
    uint32_t table_size;
    sgi_input *inputs; /* each different one once */
    uint32_t input_count;
    size_t input_capacity;
    sg_status status;
} sgi_expressions;

SG_CHECKED sg_status sgi_expressions_create(sgi_expressions **exprs, const sg_allocator *allocator);
void sgi_expressions_destroy(sgi_expressions *exprs); /* NULL is allowed */

/* Forgets what was added since the graph had that many nodes and inputs, and that the limit on
 * nodes was met on the way. */
void sgi_expressions_rewind(sgi_expressions *exprs, uint32_t nodes, uint32_t inputs);

/* SG_OK, SG_ERROR_MEMORY, or SG_ERROR_UNSUPPORTED when the graph grew beyond SG_MOST_NODES. */
sg_status sgi_expressions_status(const sgi_expressions *exprs);

sgi_expr sgi_constant(sgi_expressions *exprs, double value);
sgi_expr sgi_expressions_input(sgi_expressions *exprs, const sgi_input *input);

/* The node op(a, b, c), simplified: constants are folded, neutral elements vanish, small whole
 * powers become products. Arguments that the operation does not take are ignored. */
sgi_expr sgi_apply(sgi_expressions *exprs, sgi_op op, sgi_expr a, sgi_expr b, sgi_expr c);

static inline sgi_expr sgi_add(sgi_expressions *exprs, sgi_expr a, sgi_expr b)
{
    return sgi_apply(exprs, SG_OP_ADD, a, b, 0);
}

static inline sgi_expr sgi_sub(sgi_expressions *exprs, sgi_expr a, sgi_expr b)
{
    return sgi_apply(exprs, SG_OP_SUB, a, b, 0);
}

static inline sgi_expr sgi_mul(sgi_expressions *exprs, sgi_expr a, sgi_expr b)
{
    return sgi_apply(exprs, SG_OP_MUL, a, b, 0);
}

/* Whether the node is a constant, and which. */
bool sgi_is_constant(const sgi_expressions *exprs, sgi_expr expr, double *value);

/* The input of an input node, NULL for others. Valid until another input is added. */
const sgi_input *sgi_expr_input(const sgi_expressions *exprs, sgi_expr expr);

/* Marks in `reached` (exprs->count bytes) every node that the roots depend on, and the roots. */
void sgi_expressions_reach(const sgi_expressions *exprs, const sgi_expr *roots, size_t count,
                           uint8_t *reached);

/* Whether `expr` depends on an input of that kind. */
bool sgi_depends_on(sgi_expressions *exprs, sgi_expr expr, sgi_input_kind kind);

/* Whether it depends on one with a slope, and not only through comparisons, sign() and floor(),
 * which change in jumps: their derivative is zero, and training could not follow it. */
bool sgi_has_slope(sgi_expressions *exprs, sgi_expr expr, sgi_input_kind kind);

/* ---- Calculus (calculus.c) ---------------------------------------------------------------- */

/* The derivative of `expr` by a coordinate. Fields depend on every coordinate: the derivative of
 * u_x by t is u_xt. `order` receives the highest order of a field's derivative in the result, which
 * may be beyond SG_MOST_ORDER; NULL when it does not matter. */
sgi_expr sgi_differentiate(sgi_expressions *exprs, sgi_expr expr, int coordinate, int *order);

/* The exact reverse sweep: given the adjoint `seeds[i]` of each root, adds up the adjoints of
 * `inputs` (input nodes), and writes them to `adjoints`. */
void sgi_adjoints(sgi_expressions *exprs, const sgi_expr *roots, const sgi_expr *seeds,
                  size_t count, const sgi_expr *inputs, size_t input_count, sgi_expr *adjoints);

/* ---- Collapsing derivatives (collapse.c) -------------------------------------------------- */

/* Rewrites the roots in place so that sums such as u_t - nu*(u_xx + u_yy) read one combined input
 * where the engine then carries fewer channels than for the separate derivatives. A root's value
 * does not change, but for the order of sums. */
void sgi_collapse(sgi_expressions *exprs, sgi_expr *roots, size_t count);

#endif
