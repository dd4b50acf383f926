/* Nodes of an ONNX graph as values that can be computed with. */
#ifndef SG_EXPORT_ONNX_GRAPH_H
#define SG_EXPORT_ONNX_GRAPH_H

#include "expr/expressions.h"
#include "files/onnx.h"

/* What a name stands for in the graph. Names of the user have at most 40 letters, digits and
 * lines; those made here have a slash or a full stop. */
typedef struct sgi_onnx_value {
    char name[64];
} sgi_onnx_value;

typedef struct sgi_onnx_graph {
    sgi_onnx file;
    sgi_onnx_type type; /* of all values that are no indices */
    size_t made;        /* names so far */
} sgi_onnx_graph;

sgi_onnx_value sgi_onnx_named(const char *name);

/* A constant: a number, numbers in rows, or indices. */
sgi_onnx_value sgi_onnx_number(sgi_onnx_graph *graph, double value);
sgi_onnx_value sgi_onnx_numbers(sgi_onnx_graph *graph, const char *name, size_t rank,
                                const size_t *shape, const double *values);
sgi_onnx_value sgi_onnx_indices(sgi_onnx_graph *graph, size_t rank, size_t count,
                                const int64_t *values);

/* The output of a node with `count` inputs; `attribute` as in sgi_onnx_node. */
sgi_onnx_value sgi_onnx_make(sgi_onnx_graph *graph, const char *kind, size_t count,
                             const sgi_onnx_value *inputs, const char *attribute, int64_t value);
sgi_onnx_value sgi_onnx_unary(sgi_onnx_graph *graph, const char *kind, sgi_onnx_value x);
sgi_onnx_value sgi_onnx_binary(sgi_onnx_graph *graph, const char *kind, sgi_onnx_value x,
                               sgi_onnx_value y);
/* `then` where the truth value holds, else `otherwise`. */
sgi_onnx_value sgi_onnx_choose(sgi_onnx_graph *graph, sgi_onnx_value condition, sgi_onnx_value then,
                               sgi_onnx_value otherwise);

/* An operation of the problem language (arity 1 to 3). Those that ONNX has no operator for, or
 * that runtimes commonly have in single precision alone, are made of others where that loses no
 * digits. */
sgi_onnx_value sgi_onnx_apply(sgi_onnx_graph *graph, sgi_op op, const sgi_onnx_value *arguments);

/* max(x, 0) + log(1 + exp(-|x|)) */
sgi_onnx_value sgi_onnx_softplus(sgi_onnx_graph *graph, sgi_onnx_value x);

#endif
