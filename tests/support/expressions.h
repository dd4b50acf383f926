/* Expressions from text, for tests of the room pinn. */
#ifndef SG_TESTS_EXPRESSIONS_H
#define SG_TESTS_EXPRESSIONS_H

#include "expr/names.h"
#include "support/support.h"

/* A graph with coordinates x, y, t and fields u, v, and symbols that a test may add. */
typedef struct workbench {
    sgi_expressions *exprs;
    sgi_names names;
    sgi_symbol symbols[8];
    sgi_source sources[8];
    sgi_yaml values[8];
    sg_diagnostic diagnostic;
} workbench;

void workbench_open(workbench *bench);
void workbench_close(workbench *bench);

/* Adds a constant or a definition. */
void workbench_define(workbench *bench, const char *name, const char *text, bool constant);

/* Reads an expression that may use everything; normals along x and y. */
sg_status workbench_try(workbench *bench, const char *text, sgi_expr *expr);

/* The same, and it must succeed. */
sgi_expr workbench_read(workbench *bench, const char *text);

/* A well-spread value for an input, different for each and for each point. */
double workbench_value(const sgi_input *input, size_t point);

/* The value of a node by the scalar definition, at `values` of the graph's inputs (by input). */
double workbench_evaluate(const workbench *bench, sgi_expr expr, const double *values);

#endif
