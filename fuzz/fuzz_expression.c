/* libFuzzer: any text as an expression is either refused with a diagnostic or compiles, with its
 * derivative and its reverse sweep, to a program that runs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/names.h"
#include "pinn/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const sg_program *program)
{
    enum { POINTS = 5, MOST = 512 };
    static double values[MOST][POINTS], results[MOST][POINTS];
    const void *inputs[MOST];
    void *outputs[MOST];
    double parameters[2] = {1, 0.5};
    if (program->input_count > MOST || program->output_count > MOST)
        return;
    for (uint32_t i = 0; i < program->input_count; i++) {
        inputs[i] = values[i];
        for (int k = 0; k < POINTS; k++)
            values[i][k] = 0.3 * (k - 2) + 0.1 * i;
    }
    for (uint32_t i = 0; i < program->output_count; i++)
        outputs[i] = results[i];
    void *scratch = NULL;
    if (posix_memalign(&scratch, 64, sg_program_scratch(program) + 64) == 0)
        sg_program_evaluate(program, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, POINTS, inputs,
                            parameters, outputs, scratch);
    free(scratch);
}

static void compile(sg_graph *graph, sg_expr root)
{
    sg_expr roots[2] = {root, sg_differentiate(graph, root, 0, NULL)}, inputs[64];
    size_t count = 0;
    sg_collapse(graph, roots, 2);
    for (sg_expr i = 0; i < graph->count && count < 64; i++) {
        const sg_input *input = sg_expr_input(graph, i);
        if (input && input->kind == SG_INPUT_FIELD)
            inputs[count++] = i;
    }
    sg_program *program;
    if (sg_program_create_gradient(&program, graph, roots, 1, inputs, count, 0, NULL) == SG_OK)
        run(program);
    sg_program_destroy(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"u", "v"};
    sg_graph *graph;
    char *text = malloc(size + 1);
    if (!text || memchr(data, 0, size) || sg_graph_create(&graph, NULL) != SG_OK) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    sg_names names = {.graph = graph,
                      .coordinates = {"x", "xx", "t"},
                      .coordinate_count = 3,
                      .time = 2,
                      .fields = fields,
                      .field_count = 2};
    sg_source source = {"fuzz", text, size};
    sg_yaml node = {.source = &source, .end = size, .text = text, .length = size};
    sg_scope scope = {&names, "here", true, true, 3};
    sg_diagnostic diagnostic;
    sg_expr root;
    char message[2048];
    if (sg_names_parse(&scope, &node, 0, size, true, &root, &diagnostic) == SG_OK)
        compile(graph, root);
    else
        sg_diagnostic_format(&diagnostic, message, sizeof message);
    sg_graph_destroy(graph);
    free(text);
    return 0;
}
