/* Reading expressions, sharing, derivatives, and collapsing second derivatives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/expressions.h"

enum { MOST_INPUTS = 256 };

static void fill(const workbench *bench, double *values, size_t point)
{
    assert_true(bench->exprs->input_count <= MOST_INPUTS);
    for (uint32_t i = 0; i < bench->exprs->input_count; i++)
        values[i] = workbench_value(&bench->exprs->inputs[i], point);
}

static double value_of(const workbench *bench, sgi_expr expr)
{
    double values[MOST_INPUTS];
    fill(bench, values, 0);
    return workbench_evaluate(bench, expr, values);
}

static void test_constants(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2*3", 7},
        {"(1 + 2)*3", 9},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"2^-1", 0.5},
        {"2^-1*4", 2},
        {"-3 - -4", 1},
        {"10/4/5", 0.5},
        {"1 - 2 - 3", -4},
        {"1.5e-3", 1.5e-3},
        {".5 + 5.", 5.5},
        {"2 < 3", 1},
        {"2 > 3", 0},
        {"3 <= 3", 1},
        {"3 >= 4", 0},
        {"1 + 1 == 2", 1},
        {"1 != 1", 0},
        {"where(1 < 2, 5, 6)", 5},
        {"min(3, 2) + max(3, 2)", 5},
        {"sin(pi/2)", 1},
        {"atan2(1, 1)*4", 3.14159265358979323846},
        {"abs(-2) + sign(-3) + floor(2.7)", 3},
        {"sqrt(16) + exp(0) + log(1)", 5},
        {"pow(2, 0.5)^2", 2},
        {"erf(0) + tanh(0) + sinh(0) + cosh(0) + sech(0) + tan(0) + cos(0)", 3},
        {"asin(1)*2 - acos(-1)", 0},
        {"atan(1)*4 - \xCF\x80", 0},
        {"sinh(asinh(0.7)) + cosh(acosh(1.5)) + tanh(atanh(0.3))", 2.5},
        {"log2(8) + log10(1000) + ln(exp(2))", 8},
        {"log1p(0) + expm1(0) + cbrt(-27)", -3},
        {"erf(0.3) + erfc(0.3)", 1},
        {"arcsin(0.5) - asin(0.5) + arccos(0.5) - acos(0.5) + arctan(2) - atan(2)", 0},
        {"arcsinh(2) - asinh(2) + arccosh(2) - acosh(2) + arctanh(0.5) - atanh(0.5)", 0},
        {"arctan2(1, 2) - atan2(1, 2) + power(2, 3) + minimum(1, 2) + maximum(1, 2)", 11},
        {"sec(1)*cos(1) + csc(1)*sin(1) + cot(1)*tan(1)", 3},
        {"csch(1)*sinh(1) + coth(1)*tanh(1)", 2},
        {"square(3) + exp2(3) + sigmoid(0) + relu(-2) + relu(2)", 19.5},
        {"ceil(1.2) + ceil(-1.2) + mod(5, 3) + mod(-1, 3)", 5},
        {"hypot(3, 4) + heaviside(-1, 7) + heaviside(0, 7) + heaviside(2, 7)", 13},
        {"1 = 3", -2},
        {"+4", 4},
    };
    workbench bench;
    workbench_open(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = NAN;
        assert_true(sgi_is_constant(bench.exprs, workbench_read(&bench, cases[i].text), &value));
        assert_close(value, cases[i].value, 1e-15);
    }
    workbench_close(&bench);
}

static void test_equal_expressions_are_one_node(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"u*x + x*u", "2*u*x"},
        {"sin(x + y)", "sin(y + x)"},
        {"u - u", "0"},
        {"u + 0*v", "u"},
        {"--u", "u"},
        {"u^3", "u*u*u"},
        {"u^0.5", "sqrt(u)"},
        {"u^-1", "1/u"},
        {"u_xt", "u_tx"},
        {"lap(u)", "u_xx + u_yy"},
        {"u_t = 3", "u_t - 3"},
        {"-(u - v)", "v - u"},
        {"2*(3*u)", "6*u"},
        {"u > v", "v < u"},
        {"where(1, u, v)", "u"},
        {"ln(u)", "log(u)"},
        {"arctan2(u, v)", "atan2(u, v)"},
        {"u*\xCF\x80", "pi*u"},
        {"lap(u^2)", "2*(u_x*u_x + u*u_xx) + 2*(u_y*u_y + u*u_yy)"},
    };
    workbench bench;
    workbench_open(&bench);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        sgi_expr a = workbench_read(&bench, pairs[i][0]), b = workbench_read(&bench, pairs[i][1]);
        assert_close(value_of(&bench, a), value_of(&bench, b), 1e-14);
        if (i + 1 < sizeof pairs / sizeof pairs[0])
            assert_int_equal(a, b);
    }
    workbench_close(&bench);
}

static void test_definitions_and_their_derivatives(void **state)
{
    (void)state;
    workbench bench;
    workbench_open(&bench);
    workbench_define(&bench, "nu", "k/2", true);
    workbench_define(&bench, "k", "0.1", true);
    workbench_define(&bench, "phi", "exp(-nu*t)*cos(pi*x)", false);
    workbench_define(&bench, "flux_1", "u*u_x", false);
    double nu;
    assert_true(sgi_is_constant(bench.exprs, workbench_read(&bench, "nu"), &nu));
    assert_close(nu, 0.05, 1e-16);
    assert_int_equal(workbench_read(&bench, "flux_1_x"),
                     workbench_read(&bench, "u_x*u_x + u*u_xx"));
    sgi_expr a = workbench_read(&bench, "phi_xxt");
    sgi_expr b = workbench_read(&bench, "nu*pi^2*exp(-nu*t)*cos(pi*x)");
    assert_close(value_of(&bench, a), value_of(&bench, b), 1e-14);
    assert_int_equal(workbench_read(&bench, "u_n"), workbench_read(&bench, "u_n + 0"));
    workbench_close(&bench);
}

/* Every operation differentiated to order 4 by x, against differences of the order below. */
static void test_symbolic_derivatives(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "asin(x/2)",    "acos(x/2)",       "atan(2*x)",        "asinh(x*y)",
        "acosh(x + 2)", "atanh(x/2)",      "log2(x + 1)",      "log10(x*y + 1)",
        "log1p(x)",     "expm1(x*t)",      "cbrt(x + 1)",      "erfc(x)",
        "sigmoid(3*x)", "sec(x)",          "hypot(x, y)",      "exp2(x)",
        "x*y + x/y",    "sin(2*x)",        "cos(x*y)",         "tan(x)",
        "tanh(3*x)",    "sinh(x)",         "cosh(x)",          "sech(2*x)",
        "exp(x*t)",     "log(x + y)",      "sqrt(x + 1)",      "abs(x - 2)*x",
        "erf(x)",       "min(x, 2*x)*x",   "max(x^2, x/9)",    "pow(x, 2.5)",
        "pow(x, x*y)",  "atan2(x, y + x)", "x^5 - x^-2",       "where(x < 0.9, x^3, sin(x))",
        "-(x - y)^3",   "sign(x)*x^4",     "(floor(x) + 1)*x", "exp(-x^2)/(1 + x^2)",
    };
    workbench bench;
    workbench_open(&bench);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        sgi_expr expr = workbench_read(&bench, cases[c]);
        workbench_read(&bench, "x + y + t");
        for (int order = 1; order <= 4; order++) {
            sgi_expr next = sgi_differentiate(bench.exprs, expr, 0, NULL);
            assert_ok(sgi_expressions_status(bench.exprs));
            double values[MOST_INPUTS], h = 1e-3;
            fill(&bench, values, c);
            double exact = workbench_evaluate(&bench, next, values), sum = 0;
            static const double weights[] = {-1, 9, -45, 0, 45, -9, 1};
            uint32_t x = bench.exprs->nodes[workbench_read(&bench, "x")].input;
            double centre = values[x];
            for (int k = 0; k < 7; k++) {
                values[x] = centre + (k - 3) * h;
                sum += weights[k] * workbench_evaluate(&bench, expr, values);
            }
            double scale = fabs(workbench_evaluate(&bench, expr, values)) + 1;
            if (fabs(sum / (60 * h) - exact) > 1e-9 * (fabs(exact) + 10 * scale))
                fail_msg("%s, order %d: %.12g, by differences %.12g", cases[c], order, exact,
                         sum / (60 * h));
            expr = next;
        }
    }
    workbench_close(&bench);
}

static size_t count_inputs(workbench *bench, sgi_expr *roots, size_t count, sgi_input_kind kind,
                           int order)
{
    uint8_t *reached = calloc(bench->exprs->count, 1);
    assert_non_null(reached);
    sgi_expressions_reach(bench->exprs, roots, count, reached);
    size_t found = 0;
    for (sgi_expr i = 0; i < bench->exprs->count; i++) {
        const sgi_input *input = reached[i] ? sgi_expr_input(bench->exprs, i) : NULL;
        found += input && input->kind == kind &&
                 (order < 0 || sgi_derivative_total(input->derivative) == order);
    }
    free(reached);
    return found;
}

/* Values of combinations follow from those of the derivatives, so that rewriting can be checked. */
static double value_with_combinations(const workbench *bench, sgi_expr expr)
{
    double values[MOST_INPUTS];
    fill(bench, values, 0);
    for (uint32_t i = 0; i < bench->exprs->input_count; i++) {
        const sgi_input *input = &bench->exprs->inputs[i];
        if (input->kind != SG_INPUT_COMBINATION)
            continue;
        values[i] = 0;
        for (int k = 0; k < input->part_count; k++) {
            sgi_input one = {.kind = SG_INPUT_FIELD,
                             .index = input->index,
                             .side = input->side,
                             .derivative = input->parts[k].derivative};
            sgi_expr varying = input->parts[k].varying;
            double factor = varying ? workbench_evaluate(bench, varying, values) : 1;
            values[i] += factor * input->parts[k].coefficient * workbench_value(&one, 0);
        }
    }
    return workbench_evaluate(bench, expr, values);
}

static void test_collapse(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;  /* two equations of one set */
        size_t combinations, others; /* others: derivatives that are read on their own */
    } cases[] = {
        {"u_t - 0.1*(u_xx + u_yy)", "0", 1, 0},
        {"lap(u) + 9*u", "0", 1, 0},
        {"(lap(u) + u)/9", "0", 1, 0},
        {"0.1*u_xx + 0.1*u_yy - x", "0", 1, 0},
        {"u_xx + 3*u_yy", "0", 1, 0},
        {"-u_xx - u_yy", "2*lap(u)", 1, 0},
        {"lap(u)", "u_xx", 0, 2},          /* u_xx is read on its own: two channels either way */
        {"lap(u)*u_xy + u_xy", "0", 1, 1}, /* the mixed derivative stays */
        {"u_xx*u_yy", "0", 0, 2},
        {"lap(u)", "lap(v)", 2, 0}, /* one channel for both fields */
        {"lap(u)", "v_xx - v_yy", 0, 4},
        {"lap(u) + u_xxx", "0", 1, 1}, /* u_xx is part of u_xxx, u_yy is not */
        {"u_xx + u_tt + u_yy", "u_tt", 1, 1},
        {"sin(lap(u)) + exp(u_xx + u_yy)", "0", 1, 0},
        {"u_t*u_t", "0", 0, 1},
        {"u_t + u*u_x - 0.1*u_xx", "0", 1, 1},
        {"u_t + u*u_x + 0.1*u_xxx", "0", 1, 1},
        {"u_t + u*u_x + u_xx + u_xxxx", "0", 1, 2},
        {"u_t + u*u_x + v*u_y - 0.1*lap(u)", "v_t + u*v_x + v*v_y - 0.1*lap(v)", 2, 4},
        {"u_t - 0.1*lap(u)", "v_t - 0.2*lap(v)", 2, 0}, /* of three derivatives */
        {"u_t - 0.1*u_xx", "v_t - 0.2*v_xx", 0, 4},     /* two of two: as they are */
        {"u_t - 0.1*u_xx + u_t*u_t", "0", 0, 2},
        {"u_xxxx + 2*u_xxyy + u_yyyy - x", "0", 1, 0},
        {"u_t + 2*u_x", "0", 1, 0},
        {"u_tt - u_xx + u_t", "0", 1, 1},
        /* Coefficients in the coordinates. */
        {"x*u_xx + x*u_yy", "0", 1, 0},
        {"x*u_xx - 2*y*u_yy", "0", 1, 0},
        {"u_xx + u_x/x + u_yy/x^2", "0", 1, 1},
        {"u_t - (1 + x)*u_xx - u_x", "0", 1, 1},
        {"u_t - x*u_xx", "u_t - y*u_xx", 0, 2},
        {"u_t - x*u_xx", "2*u_t - 2*x*u_xx + u^2", 1, 0},
        {"u*(u_xx + u_yy) + x*(u_xx + u_yy)", "0", 1, 0},
        {"u*u_t - u*x*u_xx", "0", 0, 2}, /* two products, not a sum times u */
        {"where(x < 1, u_xx/x + u_yy, u)", "0", 0,
         2}, /* 1/x may be infinite where it is not read */
        {"where(x < 1, u_xx/2 + u_yy, u)", "0", 1, 0},
        {"u_t - where(x < 1, 2, 3)*u_xx", "0", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        workbench bench;
        workbench_open(&bench);
        sgi_expr roots[2] = {workbench_read(&bench, cases[i].first),
                             workbench_read(&bench, cases[i].second)};
        double before[2] = {value_of(&bench, roots[0]), value_of(&bench, roots[1])};
        sgi_collapse(bench.exprs, roots, 2);
        assert_ok(sgi_expressions_status(bench.exprs));
        size_t combinations = count_inputs(&bench, roots, 2, SG_INPUT_COMBINATION, -1);
        size_t others = count_inputs(&bench, roots, 2, SG_INPUT_FIELD, -1) -
                        count_inputs(&bench, roots, 2, SG_INPUT_FIELD, 0);
        if (combinations != cases[i].combinations || others != cases[i].others)
            fail_msg("'%s' and '%s': %zu combinations and %zu other derivatives", cases[i].first,
                     cases[i].second, combinations, others);
        for (int k = 0; k < 2; k++)
            assert_close(value_with_combinations(&bench, roots[k]), before[k], 1e-14);
        workbench_close(&bench);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message, *suggestion;
        int column, length;
    } cases[] = {
        {"u_t - k*u_tt_", "unknown name 'k' in a test", "", 7, 1},
        {"u_t - 2*u_tt_", "unknown name 'u_tt_' in a test", "did you mean 'u_tt'?", 9, 5},
        {"u +", "the expression ends too early in a test", "", 4, 1},
        {"", "the expression ends too early in a test", "", 1, 1},
        {"(u", "the expression ends too early in a test", "", 3, 1},
        {"u)", "unexpected ')' in a test", "", 2, 1},
        {"2x", "an operator is missing between '2' and 'x'", "a product is written 2*x", 1, 2},
        {"u**2", "unexpected '*' in a test", "powers are written with ^", 3, 1},
        {"sin u", "the function 'sin' needs its argument in parentheses in a test", "as in  sin(u)",
         1, 3},
        {"2*sin", "the function 'sin' needs its argument in parentheses in a test", "as in  sin(x)",
         3, 3},
        {"lap u", "the function 'lap' needs its argument in parentheses in a test", "as in  lap(u)",
         1, 3},
        {"e^x", "unknown name 'e' in a test", "powers of e are written exp(x)", 1, 1},
        {"np.sin(x)", "unknown name 'np' in a test", "functions stand alone: sin(x), not np.sin(x)",
         1, 2},
        {"u v", "unexpected 'v' in a test", "a product is written with *", 3, 1},
        {"(u)(v)", "unexpected '(' in a test", "a product is written with *", 4, 1},
        {"2\xCF\x80", "an operator is missing between '2' and '\xCF\x80'",
         "a product is written 2*\xCF\x80", 1, 2},
        {"u\xC2\xB2", "unexpected '\xC2\xB2' in a test", "powers are written with ^, as u^2", 2, 1},
        {"u \xE2\x88\x92 v", "unexpected '\xE2\x88\x92' in a test", "a minus is written -", 3, 1},
        {"where(u = 0, 1, 2)", "unexpected '=' in a test", "comparisons are written with ==", 9, 1},
        {"sin(u, v)", "'sin' takes 1 argument and is given 2", "", 1, 3},
        {"where(u, v)", "'where' takes 3 arguments and is given 2", "", 1, 5},
        {"sni(u)", "unknown name 'sni' in a test", "did you mean 'sin'?", 1, 3},
        {"u(x)", "'u' is not a function in a test", "", 1, 1},
        {"u_xxxxx", "'u_xxxxx' needs a derivative of order 5; at most 4 is possible", "", 1, 7},
        {"lap(u_xxx)", "'lap' needs a derivative of order 5; at most 4 is possible", "", 1, 3},
        {"u_z", "'u_z' is no derivative: 'z' is not made of coordinates", "did you mean 'u_x'?", 1,
         3},
        {"1/0", "this is not a finite number in a test", "", 1, 3},
        {"u + log(-1)", "this is not a finite number in a test", "", 5, 7},
        {"u < v < 1", "unexpected '<' in a test", "", 7, 1},
        {"u = v = 1", "unexpected '=' in a test", "one = is enough", 7, 1},
        {"u ? v", "unexpected '?' in a test", "", 3, 1},
        {"u \xC3\xA9 v", "unexpected '\xC3\xA9' in a test", "", 3, 1},
        {"1e999", "'1e999' is not a number that can be used", "", 1, 5},
    };
    workbench bench;
    workbench_open(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_expr expr;
        memset(&bench.diagnostic, 0, sizeof bench.diagnostic);
        assert_status(workbench_try(&bench, cases[i].text, &expr), SG_ERROR_FORMAT);
        assert_string_equal(bench.diagnostic.message, cases[i].message);
        assert_string_equal(bench.diagnostic.suggestion, cases[i].suggestion);
        assert_int_equal(bench.diagnostic.column, cases[i].column);
        assert_int_equal(bench.diagnostic.length, cases[i].length);
    }
    workbench_close(&bench);
}

/* A comparison is a value, and no equation. */
static void test_equations_do_not_compare(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message, *suggestion;
    } cases[] = {
        {"u_t == u_xx", "'==' in a test compares: its value is 1 or 0, and no equation", "write ="},
        {"u_t <= u_xx", "'<=' in a test compares: its value is 1 or 0, and no equation", "write ="},
        {"u_t = u_xx > 1", "'>' in a test compares: its value is 1 or 0, and no equation",
         "a comparison that is meant stands in parentheses"},
        {"(u_t == u_xx)", "a comparison in a test gives 1 or 0, and no equation", "write ="},
    };
    workbench bench;
    workbench_open(&bench);
    sgi_scope scope = {&bench.names, "in a test", true, true, 3, false};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_source source = {"test", cases[i].text, strlen(cases[i].text)};
        sgi_yaml node = {
            .source = &source, .end = source.size, .text = source.text, .length = source.size};
        sgi_expr expr;
        assert_status(sgi_names_parse(&scope, &node, 0, node.length, SG_READ_EQUATION, &expr,
                                      &bench.diagnostic),
                      SG_ERROR_FORMAT);
        assert_string_equal(bench.diagnostic.message, cases[i].message);
        assert_string_equal(bench.diagnostic.suggestion, cases[i].suggestion);
        assert_ok(workbench_try(&bench, cases[i].text, &expr)); /* as a quantity it may */
    }
    assert_true(sgi_has_slope(bench.exprs, workbench_read(&bench, "u*(x < 1)"), SG_INPUT_FIELD));
    static const char *const flat[] = {"u < 1", "sign(u - v)*x", "floor(u) + x",
                                       "where(u > 0, x, 2)"};
    for (size_t i = 0; i < sizeof flat / sizeof flat[0]; i++) {
        sgi_expr expr = workbench_read(&bench, flat[i]);
        assert_false(sgi_has_slope(bench.exprs, expr, SG_INPUT_FIELD));
        assert_true(sgi_depends_on(bench.exprs, expr, SG_INPUT_FIELD));
    }
    workbench_close(&bench);
}

/* On a face u_nn is the second derivative along its normal, and mixed subscripts end in n. */
static void test_normal_derivatives(void **state)
{
    (void)state;
    static const struct {
        const char *normal, *along_x;
        double sign; /* on the lower face of x, where the normal is -1 */
    } cases[] = {{"u_n", "u_x", -1},
                 {"u_nn", "u_xx", 1},
                 {"u_nnn", "u_xxx", -1},
                 {"u_tn", "u_xt", -1},
                 {"w_nn", "2*(u_x*u_x + u*u_xx)", 1}};
    workbench bench;
    workbench_open(&bench);
    workbench_define(&bench, "w", "u^2", false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_expr a = workbench_read(&bench, cases[i].normal);
        sgi_expr b = workbench_read(&bench, cases[i].along_x);
        double values[MOST_INPUTS];
        fill(&bench, values, i);
        for (uint32_t k = 0; k < bench.exprs->input_count; k++)
            if (bench.exprs->inputs[k].kind == SG_INPUT_NORMAL)
                values[k] = bench.exprs->inputs[k].index == 0 ? -1 : 0;
        assert_close(workbench_evaluate(&bench, a, values),
                     cases[i].sign * workbench_evaluate(&bench, b, values), 1e-14);
    }
    workbench_close(&bench);
}

static void test_depth_and_size_are_bounded(void **state)
{
    (void)state;
    workbench bench;
    workbench_open(&bench);
    char text[4096];
    memset(text, '(', 2000);
    strcpy(text + 2000, "u");
    sgi_expr expr;
    assert_status(workbench_try(&bench, text, &expr), SG_ERROR_FORMAT);
    assert_string_equal(bench.diagnostic.message, "the expression is nested too deeply in a test");
    workbench_close(&bench);
    workbench_open(&bench);
    workbench_define(&bench, "a", "b + 1", false);
    workbench_define(&bench, "b", "2*a", false);
    assert_status(workbench_try(&bench, "a", &expr), SG_ERROR_FORMAT);
    assert_string_equal(bench.diagnostic.message, "'a' is defined in terms of itself");
    workbench_close(&bench);
}

static void test_multi_letter_coordinates(void **state)
{
    (void)state;
    workbench bench;
    workbench_open(&bench);
    bench.names.coordinates[0] = "r";
    bench.names.coordinates[1] = "rr";
    bench.names.coordinates[2] = "time";
    sgi_expr expr;
    assert_ok(workbench_try(&bench, "u_timetime", &expr));
    assert_int_equal(sgi_expr_input(bench.exprs, expr)->derivative, 2 * sgi_derivative_unit(2));
    assert_ok(workbench_try(&bench, "u_rtime", &expr));
    assert_status(workbench_try(&bench, "u_rr", &expr), SG_ERROR_FORMAT);
    assert_string_equal(bench.diagnostic.message, "'u_rr' can mean more than one derivative");
    workbench_close(&bench);
}

static void test_rendering(void **state)
{
    (void)state;
    static const char file[] = "name: heat\nequations:\n  heat: u_t - k*u_tt_\n";
    sgi_source source = {"heat.yaml", file, sizeof file - 1};
    sg_diagnostic diagnostic;
    sgi_diagnostic_place(&diagnostic, &source, 38, 5);
    sgi_diagnostic_say(&diagnostic, "unknown name '%s'", "u_tt_");
    sgi_diagnostic_suggest(&diagnostic, "did you mean '%s'?", "u_tt");
    char text[512];
    size_t length = sg_diagnostic_format(&diagnostic, text, sizeof text);
    assert_string_equal(text, "heat.yaml:3:17: error: unknown name 'u_tt_'\n"
                              "    3 |   heat: u_t - k*u_tt_\n"
                              "      |                 ^~~~~\n"
                              "did you mean 'u_tt'?\n");
    assert_int_equal(length, strlen(text));
    char small[8];
    assert_int_equal(sg_diagnostic_format(&diagnostic, small, sizeof small), length);
    assert_string_equal(small, "heat.ya");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_equal_expressions_are_one_node),
        cmocka_unit_test(test_definitions_and_their_derivatives),
        cmocka_unit_test(test_symbolic_derivatives),
        cmocka_unit_test(test_collapse),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_equations_do_not_compare),
        cmocka_unit_test(test_normal_derivatives),
        cmocka_unit_test(test_depth_and_size_are_bounded),
        cmocka_unit_test(test_multi_letter_coordinates),
        cmocka_unit_test(test_rendering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
