/* Reading an ONNX file back and computing what its graph says, operator by operator and in double:
 * a second way to the values that the exported network must have. */
#ifndef SG_TESTS_ONNX_H
#define SG_TESTS_ONNX_H

#include <stddef.h>
#include <stdint.h>

enum { ONNX_MOST_VALUES = 2000 };

typedef struct onnx_value {
    char name[96];
    size_t rank, shape[2];
    double *data;
} onnx_value;

typedef struct onnx_model {
    int64_t form, opset;
    int type; /* of the inputs: 1 float, 11 double */
    const unsigned char *graph;
    size_t graph_size;
    onnx_value values[ONNX_MOST_VALUES];
    size_t value_count, input_count, output_count, node_count;
    char inputs[16][96], outputs[64][96];
} onnx_model;

/* Parses `size` bytes, which must stay; fails the test when they are no such file. */
onnx_model *onnx_read(const void *bytes, size_t size);

/* Runs the graph: inputs[k] (count) for input k, outputs[k] (count) for output k. */
void onnx_run(onnx_model *model, size_t count, const double *const *inputs, double **outputs);
void onnx_free(onnx_model *model);

#endif
