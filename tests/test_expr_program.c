/* Programs: every operation against its definition in every instruction set, type and tail; the
 * reverse sweep against differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/program.h"
#include "support/expressions.h"

enum { MOST_INPUTS = 64, MOST_OUTPUTS = 64, POINTS = 200 };

/* Arrays for one program: inputs by slot, outputs, scratch; values in both types. */
typedef struct arrays {
    double in64[MOST_INPUTS][POINTS], out64[MOST_OUTPUTS][POINTS];
    float in32[MOST_INPUTS][POINTS], out32[MOST_OUTPUTS][POINTS];
    void *scratch;
} arrays;

static arrays *arrays_for(const sgi_program *program)
{
    arrays *a = calloc(1, sizeof *a);
    assert_non_null(a);
    assert_true(program->input_count <= MOST_INPUTS && program->output_count <= MOST_OUTPUTS);
    assert_int_equal(posix_memalign(&a->scratch, 64, sgi_program_scratch(program) + 64), 0);
    for (uint32_t s = 0; s < program->input_count; s++)
        for (size_t i = 0; i < POINTS; i++) {
            a->in32[s][i] = (float)workbench_value(&program->inputs[s], i);
            a->in64[s][i] = (double)a->in32[s][i];
        }
    return a;
}

static void arrays_free(arrays *a)
{
    free(a->scratch);
    free(a);
}

static void run(const sgi_program *program, arrays *a, sg_isa isa, sg_type type, size_t n,
                const double *parameters)
{
    const void *inputs[MOST_INPUTS] = {0};
    void *outputs[MOST_OUTPUTS] = {0};
    for (uint32_t s = 0; s < program->input_count; s++)
        inputs[s] = type == SG_FLOAT32 ? (void *)a->in32[s] : (void *)a->in64[s];
    for (uint32_t s = 0; s < program->output_count; s++)
        outputs[s] = type == SG_FLOAT32 ? (void *)a->out32[s] : (void *)a->out64[s];
    sgi_program_evaluate(program, isa, type, n, inputs, parameters, outputs, a->scratch);
}

static const char *const operations[] = {
    "-u",          "u + v",          "u - v",       "u*v",
    "u/v",         "u < v",          "u <= v",      "u == v",
    "u != v",      "sin(u)",         "cos(u)",      "tan(u)",
    "tanh(u)",     "sinh(u)",        "cosh(u)",     "sech(u)",
    "exp(u)",      "log(u)",         "sqrt(u)",     "abs(u - v)",
    "sign(u - v)", "floor(5*u)",     "erf(u)",      "min(u, v)",
    "max(u, v)",   "pow(u, v)",      "atan2(u, v)", "where(u < v, x, u_t)",
    "3 + u*0.25",  "asin(u)",        "acos(u)",     "atan(3*u)",
    "asinh(u)",    "acosh(u + 1.5)", "atanh(u)",    "log2(u)",
    "log10(u)",    "log1p(u)",       "expm1(u)",    "cbrt(u)",
    "erfc(u)",
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* Nothing of SG_OP_LIST is forgotten in the list above. */
static void test_the_list_is_whole(void **state)
{
    (void)state;
    bool seen[SG_OP_COUNT] = {false};
    workbench bench;
    workbench_open(&bench);
    for (size_t i = 0; i < OPERATIONS; i++)
        workbench_read(&bench, operations[i]);
    for (uint32_t i = 0; i < bench.exprs->count; i++)
        seen[bench.exprs->nodes[i].op] = true;
    for (int op = 0; op < SG_OP_COUNT; op++)
        if (!seen[op])
            fail_msg("operation %d, %s, is not tested", op, sgi_op_name((sgi_op)op));
    workbench_close(&bench);
}

static void test_operations_in_every_loop(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas);
    for (size_t op = 0; op < OPERATIONS; op++) {
        workbench bench;
        workbench_open(&bench);
        sgi_expr root = workbench_read(&bench, operations[op]);
        sgi_program *program;
        assert_ok(sgi_program_create(&program, bench.exprs, &root, 1, NULL));
        arrays *a = arrays_for(program);
        for (size_t k = 0; k < isa_count; k++) {
            for (size_t n = 1; n <= 150; n += n < 70 ? 1 : 13) {
                memset(a->out64, 0x55, sizeof a->out64);
                memset(a->out32, 0x55, sizeof a->out32);
                double beyond = a->out64[0][n];
                float beyond32 = a->out32[0][n];
                run(program, a, isas[k], SG_FLOAT64, n, NULL);
                run(program, a, isas[k], SG_FLOAT32, n, NULL);
                for (size_t i = 0; i < n; i++) {
                    double values[MOST_INPUTS];
                    for (uint32_t s = 0; s < bench.exprs->input_count; s++)
                        values[s] = (double)(float)workbench_value(&bench.exprs->inputs[s], i);
                    double exact = workbench_evaluate(&bench, root, values);
                    if (fabs(a->out64[0][i] - exact) > 1e-14 * (1 + fabs(exact)) ||
                        fabs((double)a->out32[0][i] - exact) > 1e-5 * (1 + fabs(exact)))
                        fail_msg("%s, %s, point %zu of %zu: %.17g and %.9g, not %.17g",
                                 operations[op], sg_isa_name(isas[k]), i, n, a->out64[0][i],
                                 (double)a->out32[0][i], exact);
                }
                assert_memory_equal(&a->out64[0][n], &beyond, sizeof beyond);
                assert_memory_equal(&a->out32[0][n], &beyond32, sizeof beyond32);
            }
        }
        arrays_free(a);
        sgi_program_destroy(program);
        workbench_close(&bench);
    }
}

/* The loss sum_i scale_i / 2 root_i^2 + direct_i root_i at one point. */
static double loss(const workbench *bench, const sgi_expr *roots, size_t count,
                   const double *parameters, const double *values)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double r = workbench_evaluate(bench, roots[i], values);
        sum += (parameters[2 * i] * r / 2 + parameters[2 * i + 1]) * r;
    }
    return sum;
}

/* The adjoints of all inputs of `roots` against differences, in double and every loop; in float
 * against double. */
static void check_gradient(const char *const *texts, size_t count)
{
    workbench bench;
    workbench_open(&bench);
    sgi_expr roots[8], inputs[MOST_INPUTS];
    for (size_t i = 0; i < count; i++)
        roots[i] = workbench_read(&bench, texts[i]);
    size_t input_count = bench.exprs->input_count;
    for (uint32_t i = 0; i < input_count; i++) {
        sgi_input copy = bench.exprs->inputs[i];
        inputs[i] = sgi_expressions_input(bench.exprs, &copy);
    }
    sgi_program *program;
    assert_ok(sgi_program_create_gradient(&program, bench.exprs, roots, count, inputs, input_count,
                                          0, NULL));
    assert_int_equal(program->output_count, count + input_count);
    arrays *a = arrays_for(program);
    double parameters[16];
    for (size_t i = 0; i < 16; i++)
        parameters[i] = 0.3 + 0.2 * (double)i;
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas), n = 70;
    for (size_t k = 0; k < isa_count; k++) {
        run(program, a, isas[k], SG_FLOAT64, n, parameters);
        run(program, a, isas[k], SG_FLOAT32, n, parameters);
        for (size_t point = 0; point < n; point += 23) {
            double values[MOST_INPUTS];
            for (uint32_t s = 0; s < input_count; s++)
                values[s] = (double)(float)workbench_value(&bench.exprs->inputs[s], point);
            for (size_t i = 0; i < input_count; i++) {
                double centre = values[i], h = 1e-4, sum = 0;
                static const double weights[] = {-1, 9, -45, 0, 45, -9, 1};
                for (int j = 0; j < 7; j++) {
                    values[i] = centre + (j - 3) * h;
                    sum += weights[j] * loss(&bench, roots, count, parameters, values);
                }
                values[i] = centre;
                double exact = a->out64[count + i][point], by_difference = sum / (60 * h);
                double narrow = (double)a->out32[count + i][point];
                if (!(fabs(exact - by_difference) <= 1e-9 * (1 + fabs(exact))) ||
                    !(fabs(narrow - exact) <= 1e-4 * (1 + fabs(exact))))
                    fail_msg("%s, %s, input %zu: %.12g, by differences %.12g, in float %.7g",
                             texts[0], sg_isa_name(isas[k]), i, exact, by_difference, narrow);
            }
        }
    }
    arrays_free(a);
    sgi_program_destroy(program);
    workbench_close(&bench);
}

static void test_reverse_of_each_operation(void **state)
{
    (void)state;
    for (size_t op = 0; op < OPERATIONS; op++)
        check_gradient(&operations[op], 1);
}

static void test_reverse_of_systems(void **state)
{
    (void)state;
    static const char *const systems[][3] = {
        {"u_t + u*u_x - 1e-2*u_xx", "u - sin(pi*x)", "u_n*u"},
        {"u_t + u*u_x + v*u_y - 0.1*lap(u)", "v_t + u*v_x + v*v_y - 0.1*lap(v)", "u_x + v_y"},
        {"exp(u*v)/(1 + u^2) + where(u > v, u^3, v*u_x)", "tanh(u_xy)*u_xxxx",
         "max(u, v)*min(u_x, 1)"},
        {"sqrt(u^2 + v^2)*atan2(u, v)", "pow(u, v) + erf(u*u_t)", "(u + v)^4"},
    };
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        check_gradient(systems[i], 3);
}

/* The branch that a where() does not take may have an infinite slope there. */
static void test_where_keeps_infinite_slopes_out(void **state)
{
    (void)state;
    workbench bench;
    workbench_open(&bench);
    sgi_expr root = workbench_read(&bench, "where(u > 0, sqrt(u), 2*u)");
    sgi_expr u = workbench_read(&bench, "u");
    sgi_program *program;
    assert_ok(sgi_program_create_gradient(&program, bench.exprs, &root, 1, &u, 1, 0, NULL));
    arrays *a = arrays_for(program);
    a->in64[0][0] = -1;
    a->in64[0][1] = 0;
    a->in64[0][2] = 4;
    double parameters[2] = {0, 1};
    run(program, a, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, 3, parameters);
    assert_close(a->out64[1][0], 2, 1e-15);
    assert_close(a->out64[1][1], 2, 1e-15);
    assert_close(a->out64[1][2], 0.25, 1e-15);
    arrays_free(a);
    sgi_program_destroy(program);
    workbench_close(&bench);
}

static void test_registers_are_reused(void **state)
{
    (void)state;
    workbench bench;
    workbench_open(&bench);
    char text[2048] = "u";
    for (int i = 0; i < 40; i++) {
        char more[32];
        snprintf(more, sizeof more, " + sin(%d*u)", i + 2);
        strcat(text, more);
    }
    sgi_expr root = workbench_read(&bench, text);
    sgi_program *program;
    assert_ok(sgi_program_create(&program, bench.exprs, &root, 1, NULL));
    assert_true(program->instruction_count > 100);
    assert_true(program->registers < 50); /* the constants come first and wait for their reader */
    sgi_program_destroy(program);
    workbench_close(&bench);
}

/* A graph of its own allocator, all the way to a program. */
static sg_status build(const sg_allocator *allocator, sgi_program **program)
{
    sgi_expressions *exprs;
    *program = NULL;
    sg_status status = sgi_expressions_create(&exprs, allocator);
    if (status != SG_OK)
        return status;
    sgi_input u = {.kind = SG_INPUT_FIELD}, x = {.kind = SG_INPUT_COORDINATE};
    sgi_input uxx = {.kind = SG_INPUT_FIELD, .derivative = 2};
    sgi_input uyy = {.kind = SG_INPUT_FIELD, .derivative = 32};
    sgi_expr fields[] = {sgi_expressions_input(exprs, &u), sgi_expressions_input(exprs, &uxx),
                         sgi_expressions_input(exprs, &uyy)};
    sgi_expr sum = sgi_add(exprs, fields[1], fields[2]);
    for (int i = 0; i < 200; i++) {
        sgi_expr term =
            sgi_mul(exprs, sgi_constant(exprs, i + 2), sgi_expressions_input(exprs, &x));
        sum = sgi_add(exprs, sum, sgi_apply(exprs, SG_OP_SIN, term, 0, 0));
    }
    sum = sgi_add(exprs, sum, sgi_differentiate(exprs, sum, 0, NULL));
    sgi_collapse(exprs, &sum, 1);
    status = sgi_expressions_status(exprs);
    if (status == SG_OK)
        status = sgi_program_create_gradient(program, exprs, &sum, 1, fields, 3, 0, allocator);
    sgi_expressions_destroy(exprs);
    return status;
}

static sg_status build_and_destroy(const sg_allocator *allocator, void *context)
{
    (void)context;
    sgi_program *program;
    sg_status status = build(allocator, &program);
    sgi_program_destroy(program);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    each_allocation_fails(build_and_destroy, NULL, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_list_is_whole),
        cmocka_unit_test(test_operations_in_every_loop),
        cmocka_unit_test(test_reverse_of_each_operation),
        cmocka_unit_test(test_reverse_of_systems),
        cmocka_unit_test(test_where_keeps_infinite_slopes_out),
        cmocka_unit_test(test_registers_are_reused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
