/* Reference solutions from files: errors are those of the same solution as a formula, files are
 * found again from a run's folder, and what is not understood is refused with its place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinn/errors.h"
#include "pinn/pinn.h"
#include "problem/solution_files.h"
#include "support/folders.h"
#include "support/support.h"

static char *folder;

static const char head[] = "coordinates: {x: [0, 1], t: [0, 2]}\n"
                           "fields: [u, v]\n"
                           "equations: {one: u_t - u_xx + v, two: v_t + u}\n"
                           "conditions: {initial: {at: t = 0, u: x, v: 0}}\n"
                           "network: {hidden: 2 x 8, precision: double}\n"
                           "evaluation: {grid: 5 x 3}\n"
                           "reference: ";

static const char *in(const char *name)
{
    static char paths[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof *paths, "%s/%s", folder, name);
    return paths[next];
}

static double u_of(double x, double t)
{
    return 1 + x - 2 * t + x * t;
}

static double v_of(double x, double t)
{
    return x * t;
}

/* The 5 x 3 points of the evaluation grid, and `more` lines behind them. */
static void put_table(const char *name, const char *columns, const char *more)
{
    FILE *file = fopen(in(name), "w");
    assert_non_null(file);
    fprintf(file, "%s\n", columns);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++)
            fprintf(file, "%.17g,%.17g,%.17g,%.17g\n", i / 4.0, (double)j, u_of(i / 4.0, j),
                    v_of(i / 4.0, j));
    fputs(more, file);
    assert_int_equal(fclose(file), 0);
}

static sg_status read_text(const char *reference, sgi_problem **problem, sg_diagnostic *diagnostic)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s\n", head, reference);
    return sgi_problem_read(problem, in("p.yaml"), text, strlen(text), NULL, 0, NULL, diagnostic);
}

static sgi_problem *read_it(const char *reference)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    if (read_text(reference, &problem, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return problem;
}

/* The errors of the network as it starts. */
static void measure(sgi_problem *problem, double values[6])
{
    sg_pinn *pinn;
    sgi_errors *errors;
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sgi_errors_create(&errors, problem, NULL, NULL));
    assert_ok(sgi_errors_measure(errors, sg_pinn_network(pinn), NULL));
    assert_int_equal(errors->field_count, 3);
    for (int k = 0; k < 3; k++) {
        values[2 * k] = errors->fields[k].relative_l2;
        values[2 * k + 1] = errors->fields[k].largest;
    }
    sgi_errors_destroy(errors);
    sg_pinn_close(pinn);
}

static void errors_are_those_of_the_formula(void **state)
{
    (void)state;
    static const char *const forms[] = {"{file: a.csv}", "{file: a.csv, at: grid}",
                                        "[{file: a.csv, columns: {v: none}}, {file: b.csv}]",
                                        "{file: c.csv, columns: {u: w, x: 'ex'}}"};
    double expected[6], values[6];
    put_table("a.csv", "x,t,u,v", "");
    put_table("b.csv", "x,t,unused,v", "");
    put_table("c.csv", "ex,t,w,v", "2,0,1,1\n0.5,1,nan,nan\n"); /* outside, and a hole */
    sgi_problem *problem = read_it("{u: 1 + x - 2*t + x*t, v: x*t}");
    measure(problem, expected);
    sgi_problem_destroy(problem);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        problem = read_it(forms[i]);
        measure(problem, values);
        for (int k = 0; k < 6; k++)
            assert_true(fabs(values[k] - expected[k]) <= 1e-12 * expected[k]);
        sgi_problem_destroy(problem);
    }
}

static void a_field_may_have_none(void **state)
{
    (void)state;
    double values[6];
    put_table("a.csv", "x,t,u,w", "");
    sgi_problem *problem = read_it("{file: a.csv, columns: {v: none}}");
    measure(problem, values);
    assert_true(isfinite(values[0]) && isnan(values[2]) && values[4] == values[0]);
    assert_true(values[5] == values[1]);
    sgi_problem_destroy(problem);
}

/* Between the points of the files the error is that of its neighbours, and not the difference to an
 * interpolated reference; of another reference it is known everywhere. */
static void errors_lie_between_those_of_the_points(void **state)
{
    (void)state;
    static const double points[3][2] = {{0.25, 1}, {0.5, 1}, {0.375, 1}}; /* the last is between */
    static const char *const others[] = {"{u: x, v: t}", "{file: a.csv, at: grid}"};
    double u[3], v[3], u_net[3], v_net[3];
    double *const errors_at[2] = {u, v}, *const values_at[2] = {u_net, v_net};
    sgi_places places = {NULL, &points[0][0], 3};
    sg_pinn *pinn;
    sgi_errors *errors;
    put_table("a.csv", "x,t,u,v", "");
    put_table("b.csv", "x,t,unused,v", "");
    sgi_problem *problem = read_it("[{file: a.csv, columns: {v: none}}, {file: b.csv}]");
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sgi_errors_create(&errors, problem, NULL, NULL));
    assert_ok(sgi_errors_measure(errors, sg_pinn_network(pinn), NULL));
    assert_ok(sgi_errors_between(errors, &places, errors_at, NULL));
    assert_ok(sgi_quantities_evaluate(problem, &errors->values, sg_pinn_network(pinn), &places,
                                      values_at, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(u[i] - (u_net[i] - u_of(points[i][0], 1))) < 1e-12);
        assert_true(fabs(v[i] - (v_net[i] - v_of(points[i][0], 1))) < 1e-12);
    }
    assert_true(fabs(u[2] - (u[0] + u[1]) / 2) < 1e-12);
    assert_true(fabs(v[2] - (v[0] + v[1]) / 2) < 1e-12);
    /* the network bends between the points, the reference does not: the two do differ */
    assert_true(fabs(u[2] - (u_net[2] - u_of(points[2][0], 1))) > 1e-8);
    sgi_errors_destroy(errors);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        problem = read_it(others[i]);
        assert_ok(sgi_errors_create(&errors, problem, NULL, NULL));
        assert_int_equal(sgi_errors_between(errors, &places, errors_at, NULL),
                         SG_ERROR_UNSUPPORTED);
        sgi_errors_destroy(errors);
        sgi_problem_destroy(problem);
    }
}

static void points_left_out_are_told(void **state)
{
    (void)state;
    char text[300];
    sgi_errors *errors;
    put_table("a.csv", "x,t,u,v", "2,0,1,1\n0.5,1.5,nan,nan\n0.5,1.7,1,nan\n");
    sgi_problem *problem = read_it("{file: a.csv}");
    assert_ok(sgi_errors_create(&errors, problem, NULL, NULL));
    assert_string_equal(sgi_errors_sentence(errors, text, sizeof text),
                        "of the 18 points of the reference's files 1 lie outside the domain and 1 "
                        "have no value; errors are measured at the others");
    sgi_errors_destroy(errors);
    assert_string_equal(sgi_solution_file_text(problem->solution.files, text, sizeof text),
                        "18 points of a.csv");
    sgi_problem_destroy(problem);
}

/* A run's folder has a copy, and the resolved problem finds it there. */
static void runs_keep_a_copy(void **state)
{
    (void)state;
    char *text, *again, run[64];
    sg_diagnostic diagnostic = {0};
    sgi_problem *other;
    snprintf(run, sizeof run, "%s/run", folder);
    mkdir(run, 0777);
    put_table("a.csv", "x,t,u,v", "");
    sgi_problem *problem = read_it("{file: a.csv, columns: {v: u}, order: [x, t]}");
    assert_ok(sgi_problem_write(problem, &text));
    assert_ok(sgi_problem_copy_files(problem, run, &diagnostic));
    sgi_problem_destroy(problem);
    assert_int_equal(access(in("run/reference.csv"), R_OK), 0);
    put_table("a.csv", "x,t,u,v", "0,0,0,0\n"); /* the copy is the old one */
    assert_ok(sgi_problem_read(&other, in("run/problem.yaml"), text, strlen(text), NULL, 0, NULL,
                               &diagnostic));
    assert_int_equal(other->solution.files[0].samples.count, 15);
    assert_ok(sgi_problem_write(other, &again));
    assert_string_equal(text, again);
    sgi_release(&other->allocator, again);
    sgi_problem_destroy(other);
    assert_int_equal(unlink(in("run/reference.csv")), 0);
    assert_status(sgi_problem_read(&other, in("run/problem.yaml"), text, strlen(text), NULL, 0,
                                   NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "has changed since this was written"));
    free(text);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *reference, *message, *suggestion;
    } cases[] = {
        {"{file: none.csv}", "none.csv: No such file or directory", ""},
        {"{file: a.xls}", "a reference is read from a file that ends in .csv, .txt, .dat, .npz",
         ""},
        {"{file: a.csv, colums: {u: v}}", "'colums' is not a key of a reference from a file",
         "did you mean 'columns'?"},
        {"{file: a.csv, columns: {w: v}}", "'w' is neither a coordinate nor a field", ""},
        {"{file: a.csv, columns: [u]}", "'columns' says which column or array", "columns: {u"},
        {"{file: a.csv, columns: {u: U}}",
         "a.csv: there is no 'U' for a quantity; the file has x, t, u, w", "'u'"},
        {"{file: a.csv}", "a.csv: there is no 'v' for a quantity; the file has x, t, u, w",
         "columns: {v: "},
        {"[{file: a.csv}, {file: a.csv}]", "no file has a reference of the field 'v'",
         "columns: {p: none}"},
        {"{file: a.csv, order: [x]}", "'order' lists all coordinates", "order: [t, x]"},
        {"{file: a.csv, order: [x, x]}", "'order' has each coordinate once", ""},
        {"{file: a.csv, at: mesh}", "errors are measured at the 'points'", ""},
        {"{file: bad.csv}", "bad.csv, line 2: not a number: 'two'", ""},
        {"{file: far.csv}", "all points of the reference lie outside the domain", ""},
        {"[]", "'reference' cannot be an empty list", ""},
        {"[u]", "this must be a reference from a file", "{file: solution.csv}"},
        {"{file: a.csv, sum: 12}", "a sum has 16 digits", ""},
    };
    put_table("a.csv", "x,t,u,w", "");
    FILE *file = fopen(in("bad.csv"), "w");
    fputs("x,t,u,v\n1,two,3,4\n", file);
    fclose(file);
    file = fopen(in("far.csv"), "w");
    fputs("x,t,u,v\n7,1,3,4\n", file);
    fclose(file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgi_problem *problem;
        sg_diagnostic diagnostic;
        assert_status(read_text(cases[i].reference, &problem, &diagnostic), SG_ERROR_FORMAT);
        if (!strstr(diagnostic.message, cases[i].message) ||
            !strstr(diagnostic.suggestion, cases[i].suggestion))
            fail_msg("'%s' '%s' is not '%s' '%s'", diagnostic.message, diagnostic.suggestion,
                     cases[i].message, cases[i].suggestion);
        assert_int_equal(diagnostic.line, 7);
    }
}

static sg_status open_and_close(const sg_allocator *allocator, void *context)
{
    char text[1024];
    sg_diagnostic diagnostic = {0};
    sgi_problem *problem;
    (void)context;
    snprintf(text, sizeof text, "%s{file: a.csv}\n", head);
    sg_status status = sgi_problem_read(&problem, in("p.yaml"), text, strlen(text), NULL, 0,
                                        allocator, &diagnostic);
    if (status == SG_OK)
        sgi_problem_destroy(problem);
    return status;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    put_table("a.csv", "x,t,u,v", "");
    (void)each_allocation_fails(open_and_close, NULL, 20);
}

static int make_folder(void **state)
{
    (void)state;
    folder = folder_temporary();
    return folder ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_the_formula),
        cmocka_unit_test(a_field_may_have_none),
        cmocka_unit_test(errors_lie_between_those_of_the_points),
        cmocka_unit_test(points_left_out_are_told),
        cmocka_unit_test(runs_keep_a_copy),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
