/* Writing a graph of operators as an ONNX file, a protocol-buffers message whose bytes are made
 * here.
 *
 * A graph is a list of nodes in the order in which they are computed. Every value has a name, and
 * is an input of the graph, a tensor of constants, or the output of one node. Inputs and outputs
 * have one dimension, N, whose size is free. A failure is remembered, so that only the end needs
 * checking. */
#ifndef SG_FILES_ONNX_H
#define SG_FILES_ONNX_H

#include <stdint.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/params.h"
#include "text/text.h"

/* The version of ONNX's operators that the nodes mean, and of the file's form. */
enum { SG_ONNX_OPSET = 13, SG_ONNX_FORM = 7 };

/* The numbers of element types, as a Cast names them. */
typedef enum sgi_onnx_type {
    SG_ONNX_FLOAT = 1,
    SG_ONNX_INT64 = 7,
    SG_ONNX_DOUBLE = 11
} sgi_onnx_type;

typedef struct sgi_onnx {
    sgi_text nodes, tensors, inputs, outputs; /* fields of the graph's message */
    sgi_text part, inner;                     /* for messages within them */
} sgi_onnx;

void sgi_onnx_begin(sgi_onnx *onnx, const sg_allocator *allocator);
void sgi_onnx_release(sgi_onnx *onnx);

void sgi_onnx_input(sgi_onnx *onnx, const char *name, sgi_onnx_type type);
void sgi_onnx_output(sgi_onnx *onnx, const char *name, sgi_onnx_type type);

/* A constant: `values` of the product of `shape` (rank) elements, row by row. */
void sgi_onnx_tensor(sgi_onnx *onnx, const char *name, sgi_onnx_type type, size_t rank,
                     const size_t *shape, const void *values);

/* A node `kind` with one output; `attribute` is NULL or the name of its one whole number. */
void sgi_onnx_node(sgi_onnx *onnx, const char *kind, const char *const *inputs, size_t count,
                   const char *output, const char *attribute, int64_t value);

/* Writes the file, all or nothing. `about` is for people. */
SG_CHECKED sg_status sgi_onnx_write(sgi_onnx *onnx, const char *path, const char *name,
                                    const char *version, const char *about,
                                    sg_diagnostic *diagnostic);

#endif
