/* Expressions for tests: see expressions.h. */
#include "support/expressions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const fields[] = {"u", "v"};

void workbench_open(workbench *bench)
{
    memset(bench, 0, sizeof *bench);
    assert_ok(sgi_expressions_create(&bench->exprs, NULL));
    bench->names = (sgi_names){.exprs = bench->exprs,
                               .coordinates = {"x", "y", "t"},
                               .coordinate_count = 3,
                               .time = 2,
                               .fields = fields,
                               .field_count = 2,
                               .symbols = bench->symbols};
}

void workbench_close(workbench *bench)
{
    sgi_expressions_destroy(bench->exprs);
}

static sgi_yaml scalar(sgi_source *source, const char *text)
{
    *source = (sgi_source){"test", text, strlen(text)};
    return (sgi_yaml){.source = source, .end = source->size, .text = text, .length = source->size};
}

void workbench_define(workbench *bench, const char *name, const char *text, bool constant)
{
    int k = bench->names.symbol_count++;
    bench->values[k] = scalar(&bench->sources[k], text);
    bench->symbols[k] =
        (sgi_symbol){.name = name, .value = &bench->values[k], .constant = constant};
}

sg_status workbench_try(workbench *bench, const char *text, sgi_expr *expr)
{
    sgi_source source;
    sgi_yaml node = scalar(&source, text);
    sgi_scope scope = {&bench->names, "in a test", true, true, 3, false};
    return sgi_names_parse(&scope, &node, 0, node.length, SG_READ_QUANTITY, expr,
                           &bench->diagnostic);
}

sgi_expr workbench_read(workbench *bench, const char *text)
{
    sgi_expr expr = 0;
    if (workbench_try(bench, text, &expr) != SG_OK)
        fail_msg("'%s': %s", text, bench->diagnostic.message);
    return expr;
}

double workbench_value(const sgi_input *input, size_t point)
{
    double key = 1.3 * (double)input->kind + 0.7 * input->index + 0.31 * input->side +
                 0.017 * (double)(input->derivative % 4099) + 0.61 * (double)point;
    for (int k = 0; k < input->part_count; k++)
        key += 0.23 * (k + 1) * input->parts[k].coefficient;
    return 0.2 + 0.7 * fabs(sin(3 * key + 0.5));
}

double workbench_evaluate(const workbench *bench, sgi_expr expr, const double *values)
{
    double *results = calloc(expr + 1, sizeof *results);
    assert_non_null(results);
    for (sgi_expr i = 0; i <= expr; i++) {
        const sgi_node *node = &bench->exprs->nodes[i];
        if (node->op == SG_OP_CONSTANT)
            results[i] = node->value;
        else if (node->op == SG_OP_INPUT)
            results[i] = values[node->input];
        else
            results[i] = sgi_op_apply(node->op, results[node->arguments[0]],
                                      results[node->arguments[1]], results[node->arguments[2]]);
    }
    double result = results[expr];
    free(results);
    return result;
}
