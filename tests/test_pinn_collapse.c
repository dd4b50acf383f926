/* Equations whose derivatives are collapsed into fewer channels: which channels they take, that the
 * loss and its gradient are those of the separate derivatives, and every shipped problem's plan. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/residuals.h"
#include "support/support.h"

/* A $ stands behind each derivative. With `one`, which is 1 but reads u, in its place every
 * derivative is read on its own. */
static const struct {
    const char *equation, *channels, *separate;
} cases[] = {
    {"u_t$ = 0.3*u_xx$", "u u_x u_t-0.3*u_xx", "u u_x u_t u_xx"},
    {"u_t$ + u*u_x$ - 0.1*u_xx$", "u u_x u_t-0.1*u_xx", "u u_x u_t u_xx"},
    {"u_t$ - 0.01*u_xx$ + 5*(u^3 - u)", "u u_x u_t-0.01*u_xx", "u u_x u_t u_xx"},
    {"u_t$ + u*u_x$ + 0.05*u_xxx$", "u u_x u_xx u_t+0.05*u_xxx", "u u_x u_t u_xx u_xxx"},
    {"u_t$ + u*u_x$ + u_xx$ + 0.1*u_xxxx$", "u u_x u_xx u_xxx u_t+0.1*u_xxxx",
     "u u_x u_t u_xx u_xxx u_xxxx"},
    {"u_t$ + 2*u_x$ - u_y$ = sin(x)", "u u_x-0.5*u_y+0.5*u_t", "u u_x u_y u_t"},
    {"u_t$ - 0.2*u_xx$ - 0.2*u_yy$ + v", "u u_x u_y u_t-0.2*lap(u)", "u u_x u_y u_t u_xx u_yy"},
    {"u_tt$ - u_xx$ - u_yy$ + u_t$", "u u_x u_y u_t u_xx+u_yy-u_tt",
     "u u_x u_y u_t u_xx u_yy u_tt"},
    {"u_xxxx$ + 2*u_xxyy$ + u_yyyy$ - x",
     "u u_x u_y u_xx u_xy u_yy u_xxx u_xxy u_xyy u_yyy u_xxxx+2*u_xxyy+u_yyyy",
     "u u_x u_y u_xx u_xy u_yy u_xxx u_xxy u_xyy u_yyy u_xxxx u_xxyy u_yyyy"},
    /* Coefficients in the coordinates. */
    {"u_t$ - (2 + x*y)*u_xx$ - y*u_x$", "u u_x u_t-[1]*u_xx", "u u_x u_t u_xx"},
    {"u_xx$ + u_x$/(x + 3) + u_yy$/(x + 3)^2", "u u_x u_y u_xx+[1]*u_yy", "u u_x u_y u_xx u_yy"},
    {"u_t$ + exp(x)*u_xxx$ - 2*y*u_yy$", "u u_x u_y u_xx u_t-2*[1]*u_yy+[2]*u_xxx",
     "u u_x u_y u_t u_xx u_yy u_xxx"},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The equation with its marks replaced. */
static void write_equation(char *to, size_t size, const char *from, const char *instead)
{
    size_t at = 0;
    for (; *from; from++)
        at += *from == '$' ? (size_t)snprintf(to + at, size - at, "%s", instead)
                           : (size_t)snprintf(to + at, size - at, "%c", *from);
}

static void open_equation(setup *s, const char *equation, const char *precision)
{
    char text[1024];
    snprintf(text, sizeof text,
             "coordinates: {x: [-1, 1], y: [0, 1], t: [0, 1]}\nfields: [u, v]\n"
             "definitions: {one: 1 + u - u}\n"
             "equations: {first: \"%s\", second: u*v = 1}\npoints: 67\n"
             "network: {hidden: 2 x 9}\ninputs: {raw: all, periodic: {x: 2}}\n",
             equation);
    open_setup(s, text, precision, 1, SG_ISA_AUTO);
}

static double total(const setup *s)
{
    sgi_loss loss = {.means = NULL};
    sgi_residual_collect(s->residual, s->engine, &loss);
    return loss.total;
}

static void check_channels(const setup *s, const char *expected)
{
    char text[256];
    sg_jet_plan_describe(sgi_residual_sets(s->residual)[0].plan, "u", s->problem->names.coordinates,
                         text, sizeof text);
    assert_string_equal(text, expected);
}

static void test_losses_and_gradients(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        char together[256], apart[512];
        setup a, b;
        write_equation(together, sizeof together, cases[c].equation, "");
        write_equation(apart, sizeof apart, cases[c].equation, "*one");
        open_equation(&a, together, "network.precision=double");
        open_equation(&b, apart, "network.precision=double");
        check_channels(&a, cases[c].channels);
        check_channels(&b, cases[c].separate);
        sg_jet_gradient(a.engine, NULL);
        sg_jet_gradient(b.engine, NULL);
        assert_relative(total(&a), total(&b), 1e-12);
        const double *left = sg_jet_network_gradients(a.network);
        const double *right = sg_jet_network_gradients(b.network);
        double size = 0;
        for (size_t i = 0; i < sg_jet_network_parameters(a.network); i++)
            size = fmax(size, fabs(right[i]));
        for (size_t i = 0; i < sg_jet_network_parameters(a.network); i++)
            if (fabs(left[i] - right[i]) > 1e-12 * size)
                fail_msg("'%s', parameter %zu: %.15g and %.15g", together, i, left[i], right[i]);
        close_setup(&a);
        close_setup(&b);
    }
}

static void test_float(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        char together[256];
        setup a, b;
        write_equation(together, sizeof together, cases[c].equation, "");
        open_equation(&a, together, "network.precision=float");
        open_equation(&b, together, "network.precision=double");
        sg_jet_forward(a.engine);
        sg_jet_forward(b.engine);
        assert_relative(total(&a), total(&b), 1e-4);
        close_setup(&a);
        close_setup(&b);
    }
}

static void test_shipped_problems(void **state)
{
    (void)state;
    static const struct {
        const char *file, *channels;
    } shipped[] = {
        {"burgers", "u u_x u_t-0.0001*u_xx"}, {"burgers3d", "u u_x u_y u_z u_t-0.05*lap(u)"},
        {"heat", "u u_x u_t-0.1*u_xx"},       {"helmholtz", "u u_x u_y u_z lap(u)"},
        {"poisson", "u u_x u_y lap(u)"},      {"wave", "u u_x u_t u_xx-u_tt"},
    };
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        char path[512], text[256];
        snprintf(path, sizeof path, "%s/../problems/%s.yaml", SG_TEST_DATA, shipped[i].file);
        sgi_problem *problem;
        sgi_residual *residual;
        sg_diagnostic diagnostic;
        assert_ok(sgi_problem_load(&problem, path, NULL, 0, NULL, &diagnostic));
        sgi_residual_options options = {.type = SG_FLOAT32, .workers = 1};
        assert_ok(sgi_residual_create(&residual, problem, &options, NULL));
        sg_jet_plan_describe(sgi_residual_sets(residual)[0].plan, "u", problem->names.coordinates,
                             text, sizeof text);
        assert_string_equal(text, shipped[i].channels);
        sgi_residual_destroy(residual);
        sgi_problem_destroy(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_and_gradients),
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_shipped_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
