/* libFuzzer: any text as an expression is either refused with a diagnostic or compiles, with its
 * derivative and its reverse sweep, to a program that runs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/names.h"
#include "expr/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const sgi_program *program)
{
    enum { POINTS = 5, MOST = 512 };
    static double values[MOST][POINTS], results[MOST][POINTS];
    const void *inputs[MOST];
    void *outputs[MOST];
    double parameters[4] = {1, 0.5, 0.25, 2}; /* two for each root */
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
    if (posix_memalign(&scratch, 64, sgi_program_scratch(program) + 64) == 0)
        sgi_program_evaluate(program, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, POINTS, inputs,
                             parameters, outputs, scratch);
    free(scratch);
}

static void compile(sgi_expressions *exprs, sgi_expr root)
{
    sgi_expr roots[2] = {root, sgi_differentiate(exprs, root, 0, NULL)}, inputs[64];
    size_t count = 0;
    sgi_collapse(exprs, roots, 2);
    for (sgi_expr i = 0; i < exprs->count && count < 64; i++) {
        const sgi_input *input = sgi_expr_input(exprs, i);
        if (input && input->kind == SG_INPUT_FIELD)
            inputs[count++] = i;
    }
    sgi_program *program;
    if (sgi_program_create_gradient(&program, exprs, roots, 2, inputs, count, 0, NULL) == SG_OK)
        run(program);
    sgi_program_destroy(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"u", "v"};
    sgi_expressions *exprs;
    char *text = malloc(size + 1);
    if (!text || memchr(data, 0, size) || sgi_expressions_create(&exprs, NULL) != SG_OK) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    sgi_names names = {.exprs = exprs,
                       .coordinates = {"x", "xx", "t"},
                       .coordinate_count = 3,
                       .time = 2,
                       .fields = fields,
                       .field_count = 2};
    sgi_source source = {"fuzz", text, size};
    sgi_yaml node = {.source = &source, .end = size, .text = text, .length = size};
    sgi_scope scope = {&names, "here", true, true, 3, false};
    sg_diagnostic diagnostic;
    sgi_expr root;
    char message[2048];
    if (sgi_names_parse(&scope, &node, 0, size, true, &root, &diagnostic) == SG_OK)
        compile(exprs, root);
    else
        sg_diagnostic_format(&diagnostic, message, sizeof message);
    sgi_expressions_destroy(exprs);
    free(text);
    return 0;
}
