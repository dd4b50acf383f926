/* Measured data: the loss is the formula of data.h, its gradient and Jacobian are right, rows are
 * held out and have their turns, runs keep a copy, and unfit files are refused with their place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinn/misfit.h"
#include "pinn/pinn.h"
#include "problem/data.h"
#include "problem/remarks.h"
#include "support/folders.h"
#include "support/support.h"

static char *folder;

static const char head[] = "coordinates: {x: [0, 1], t: [0, 2]}\n"
                           "fields: [u, v]\n"
                           "definitions: {w: u + 2*v}\n"
                           "equations: {one: u_t - u_xx + v, two: v_t + u}\n"
                           "conditions: {initial: {at: t = 0, u: x, v: 0}}\n"
                           "network: {hidden: 2 x 8, precision: double}\n"
                           "points: 16\n"
                           "data: ";

static const char *in(const char *name)
{
    static char paths[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof *paths, "%s/%s", folder, name);
    return paths[next];
}

static sg_status read_text(const char *data, sgi_problem **problem, sg_diagnostic *diagnostic)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s\n", head, data);
    return sgi_problem_read(problem, in("p.yaml"), text, strlen(text), NULL, 0, NULL, diagnostic);
}

static sgi_problem *read_it(const char *data)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    if (read_text(data, &problem, &diagnostic) != SG_OK)
        fail_msg("%s %s", said(&diagnostic), diagnostic.suggestion);
    return problem;
}

static const char probes[] = "X,time,T,flux,sigma,sum\n"
                             "0.1,0.5,1,0.5,0.1,3\n"
                             "0.2,0.25,2,,0.2,nan\n"
                             "0.3,1.5,,-0.5,0.1,1\n"
                             "0.4,2,0.5,NA,0.4,2\n"
                             "0.5,0,,,0.1,\n"
                             "0.6,1,-1,1,0.1,4\n";

static const char everything[] =
    "{probes: {file: probes.csv, columns: {x: X, t: time}, observe: {u: T, u_x: flux, "
    "u*v + w: sum}, std: {u: sigma, u_x: 0.5, u*v + w: 2*0.25}, weight: 3}}";

/* The formula, with the values of the observed expressions as the public function gives them. */
static void loss_is_the_formula(void **state)
{
    (void)state;
    static const char *const texts[] = {"u", "u_x", "u*v + u + 2*v"};
    static const double values[3][5] = {
        {1, 2, NAN, 0.5, -1}, {0.5, NAN, -0.5, NAN, 1}, {3, NAN, 1, 2, 4}};
    static const double stds[3][5] = {
        {0.1, 0.2, 0.1, 0.4, 0.1}, {0.5, 0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5, 0.5}};
    const double points[] = {0.1, 0.5, 0.2, 0.25, 0.3, 1.5, 0.4, 2, 0.6, 1};
    double predicted[15], sum = 0, inverse = 0;
    int measured = 0;
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    folder_put(folder, "probes.csv", probes);
    sgi_problem *problem = read_it(everything);
    const sgi_data *data = problem->data;
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sg_pinn_evaluate(pinn, texts, 3, points, 5, predicted, NULL, NULL));
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 5; i++)
            if (!isnan(values[j][i])) {
                double misfit = (predicted[5 * j + i] - values[j][i]) / stds[j][i];
                sum += misfit * misfit;
                inverse += 1 / (stds[j][i] * stds[j][i]);
                measured++;
            }
    assert_int_equal(data->count, 5);
    assert_int_equal(data->trained, 5);
    assert_int_equal(data->measured, measured);
    assert_int_equal(data->missing, 4);
    assert_int_equal(data->empty, 1);
    assert_true(fabs(data->spread - sqrt(measured / inverse)) < 1e-14);
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    sg_pinn_loss_at(batch, &loss);
    assert_int_equal(loss.term_count, 4);
    assert_string_equal(loss.terms[3].name, "probes");
    assert_true(loss.terms[3].weight == 3);
    double expected = sum * data->spread * data->spread / 5;
    assert_true(fabs(loss.terms[3].value - expected) < 1e-12 * expected);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
}

/* In standard deviations, of both parts. */
static void misfits_are_measured(void **state)
{
    (void)state;
    static const char *const texts[] = {"u", "v"};
    sg_pinn *pinn;
    sgi_misfits *misfits;
    double predicted[8], sums[2] = {0}, counts[2] = {0};
    sgi_problem *problem =
        read_it("{a: {values: {x: [0.1, 0.2, 0.3, 0.4], t: [1, 1, 1, 1], u: [1, 2, 3, 4], v: [5, "
                "nan, 7, 8]}, std: {u: 2, v: 4}, hold_out: 1}}");
    const sgi_data *data = problem->data;
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sg_pinn_evaluate(pinn, texts, 2, data->points, 4, predicted, NULL, NULL));
    for (size_t j = 0; j < 2; j++)
        for (size_t i = 0; i < 4; i++)
            if (!isnan(data->values[4 * j + i])) {
                double difference = (predicted[4 * j + i] - data->values[4 * j + i]) / (j ? 4 : 2);
                sums[i == 3] += difference * difference;
                counts[i == 3]++;
            }
    assert_ok(sgi_misfits_create(&misfits, problem, NULL));
    assert_ok(sgi_misfits_measure(misfits, sg_pinn_network(pinn), NULL));
    assert_int_equal(misfits->count, 1);
    assert_true(fabs(misfits->sets[0].all.trained - sqrt(sums[0] / counts[0])) < 1e-12);
    assert_true(fabs(misfits->sets[0].all.held_out - sqrt(sums[1] / counts[1])) < 1e-12);
    sgi_misfits_destroy(misfits);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
}

static void check_derivatives(sg_pinn *pinn)
{
    sg_pinn_batch *batch;
    sg_pinn_loss loss, moved;
    size_t n = sg_jet_network_parameters(sg_pinn_network(pinn)), row = 0;
    double *values = sg_jet_network_values(sg_pinn_network(pinn));
    double *gradient = calloc(n, sizeof *gradient);
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    size_t sets = sg_pinn_describe(pinn)->set_count, count = sg_pinn_residual_count(batch);
    double *residuals = calloc(count, sizeof *residuals), half = 0;
    double *pulled = calloc(n, sizeof *pulled), *rows = calloc(16 * n, sizeof *rows);
    sg_pinn_draw(batch, 3);
    sg_pinn_gradient(batch, gradient, &loss);
    sg_pinn_residuals(batch, residuals);
    for (size_t i = 0; i < count; i++)
        half += residuals[i] * residuals[i] / 2;
    assert_true(fabs(half - loss.total) < 1e-12 * half);
    assert_ok(sg_pinn_pull(batch, residuals, pulled));
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(gradient[i]));
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(pulled[i] - gradient[i]) < 1e-12 * largest);
        double value = values[i], h = 1e-4, up, down;
        values[i] = value + h;
        sg_pinn_loss_at(batch, &moved);
        up = moved.total;
        values[i] = value - h;
        sg_pinn_loss_at(batch, &moved);
        down = moved.total;
        values[i] = value;
        if (fabs((up - down) / (2 * h) - gradient[i]) > 1e-6 * largest)
            fail_msg("parameter %zu: %.12g, by differences %.12g", i, gradient[i],
                     (up - down) / (2 * h));
    }
    /* Rows of the data set's Jacobian, those of a missing value are 0. */
    for (size_t s = 0; s + 1 < sets; s++)
        row += sg_pinn_items(batch, s) * sg_pinn_describe(pinn)->sets[s].components;
    assert_ok(sg_pinn_rows(batch, sets - 1, 1, 1, rows));
    for (size_t i = 0; i < n; i++)
        assert_true(rows[n + i] == 0 && rows[2 * n + i] == 0);
    assert_true(residuals[row + 4] == 0 && residuals[row + 3] != 0);
    free(gradient);
    free(residuals);
    free(pulled);
    free(rows);
    sg_pinn_batch_destroy(batch);
}

static void derivatives_are_right(void **state)
{
    (void)state;
    sg_pinn *pinn;
    folder_put(folder, "probes.csv", probes);
    sgi_problem *problem = read_it(everything);
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    check_derivatives(pinn);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
}

/* A set of 20 rows with u = row. */
static void put_many(const char *name)
{
    FILE *file = fopen(in(name), "w");
    assert_non_null(file);
    fprintf(file, "x,t,u\n");
    for (int i = 1; i <= 20; i++)
        fprintf(file, "%g,%g,%d\n", i / 40.0, i / 20.0, i);
    assert_int_equal(fclose(file), 0);
}

static void rows_are_held_out(void **state)
{
    (void)state;
    uint32_t first = 0;
    put_many("many.csv");
    for (int seed = 0; seed < 3; seed++) {
        char text[128];
        uint32_t held = 0, all = 0;
        snprintf(text, sizeof text, "{m: {file: many.csv, hold_out: %s}}\ntraining: {seed: %d}",
                 seed == 1 ? "0.25" : "5", seed);
        sgi_problem *problem = read_it(text);
        const sgi_data *data = problem->data;
        assert_int_equal(data->count, 20);
        assert_int_equal(data->trained, 15);
        for (size_t i = 0; i < data->count; i++) {
            assert_true(data->values[i] == (double)data->rows[i]);
            assert_true(data->points[2 * i] == (double)data->rows[i] / 40);
            all |= 1u << data->rows[i];
            held |= i >= 15 ? 1u << data->rows[i] : 0;
            assert_true(i == 0 || i == 15 || data->rows[i] > data->rows[i - 1]);
        }
        assert_int_equal(all, (1u << 21) - 2);
        assert_int_equal(__builtin_popcount(held), 5);
        if (seed == 0)
            first = held;
        else
            assert_true(held != first);
        /* Validation points are those that are held out. */
        sgi_draw draw = {7, SG_POINTS_VALIDATION, 3};
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(sgi_data_row(problem, 2, 5, &draw, i), 15 + i);
        sgi_problem_destroy(problem);
    }
}

static void rows_have_their_turns(void **state)
{
    (void)state;
    size_t before = 0, changed = 0;
    put_many("many.csv");
    sgi_problem *problem = read_it("{m: {file: many.csv, points: 8}}");
    assert_int_equal(problem->sets[2].items, 8);
    for (uint64_t epoch = 0; epoch < 2; epoch++) { /* 5 steps of 8 are two times 20 */
        int seen[20] = {0};
        for (uint64_t step = 5 * epoch; step < 5 * epoch + 5; step++)
            for (size_t i = 0; i < 8; i++) {
                sgi_draw draw = {1, SG_POINTS_TRAINING, step};
                size_t row = sgi_data_row(problem, 2, 8, &draw, i);
                seen[row]++;
                changed += row != before;
                before = row;
            }
        for (int i = 0; i < 20; i++)
            assert_int_equal(seen[i], 2);
    }
    assert_true(changed > 40);
    sgi_draw draw = {1, SG_POINTS_TRAINING, 9};
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(sgi_data_row(problem, 2, 20, &draw, i), i);
    sgi_problem_destroy(problem);
}

static void points_are_not_given(void **state)
{
    (void)state;
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sg_diagnostic diagnostic;
    double point[2] = {0.5, 0.5};
    put_many("many.csv");
    sgi_problem *problem = read_it("{m: {file: many.csv, points: 8}}");
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    assert_status(sg_pinn_give(batch, 2, point, 1, &diagnostic), SG_ERROR_ARGUMENT);
    assert_string_equal(diagnostic.message, "'m' is measured: its points are those of its values");
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
}

static void what_was_read_is_told(void **state)
{
    (void)state;
    char text[200];
    folder_put(folder, "probes.csv", probes);
    folder_put(folder, "mm.csv", "x,t,u\n100,1,1\n200,1,2\n3000,1,3\n");
    sgi_problem *problem = read_it("{a: {file: probes.csv, columns: {x: X, t: time, u: T, v: none},"
                                   " hold_out: 1}, b: {file: mm.csv, factors: {x: 1/1000}, "
                                   "outside: skip}, c: {values: {x: [0.5], t: [1], u_x: [nan], "
                                   "v: [2*pi]}}}");
    assert_string_equal(sgi_data_text(&problem->data[0], text, sizeof text),
                        "3 rows of probes.csv, 1 held out, 2 rows without values");
    assert_string_equal(sgi_data_text(&problem->data[1], text, sizeof text),
                        "2 rows of mm.csv, 1 outside the domain");
    assert_true(problem->data[1].points[2] == 0.2);
    assert_string_equal(sgi_data_text(&problem->data[2], text, sizeof text), "1 row");
    assert_true(problem->data[2].values[0] == 2 * acos(-1));
    sg_diagnostic diagnostic;
    assert_ok(sgi_problem_finite(problem, &diagnostic));
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
    folder_put(folder, "probes.csv", probes);
    sgi_problem *problem = read_it(everything);
    assert_ok(sgi_problem_write(problem, &text));
    assert_ok(sgi_problem_copy_files(problem, run, &diagnostic));
    sgi_problem_destroy(problem);
    folder_put(folder, "probes.csv", "X,time,T\n"); /* the copy is the old one */
    if (sgi_problem_read(&other, in("run/problem.yaml"), text, strlen(text), NULL, 0, NULL,
                         &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    assert_int_equal(other->data[0].measured, 11);
    assert_ok(sgi_problem_write(other, &again));
    assert_string_equal(text, again);
    sgi_release(&other->allocator, again);
    sgi_problem_destroy(other);
    assert_int_equal(unlink(in("run/data-1.csv")), 0);
    assert_status(sgi_problem_read(&other, in("run/problem.yaml"), text, strlen(text), NULL, 0,
                                   NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "has changed since this was written"));
    free(text);
}

/* Each with the text of f.csv. */
static const struct {
    const char *data, *file, *message, *suggestion;
} mistakes[] = {
    {"[a]", "", "'data' must be a mapping of at most 62 names", "data: {probes: "},
    {"{one: {file: f.csv}}", "x,t,u\n0,0,0\n", "an equation has this name already", "metrics"},
    {"{initial: {file: f.csv}}", "x,t,u\n0,0,0\n", "a condition has this name already", "metrics"},
    {"{a/b: {file: f.csv}}", "x,t,u\n0,0,0\n", "has at most 60 bytes", ""},
    {"{a: f.csv}", "", "data set 'a' must be a mapping", "{file: probes.csv"},
    {"{a: {}}", "", "data set 'a' has no file and no values", "file: probes.csv"},
    {"{a: {file: f.csv, values: {x: [1]}}}", "", "has a file and values: it takes one", ""},
    {"{a: {fiel: f.csv}}", "", "'fiel' is not a key of data set 'a'", "did you mean 'file'?"},
    {"{a: {file: none.csv}}", "", "none.csv: No such file or directory", ""},
    {"{a: {file: a.xls}}", "", "a data set is read from a file that ends in .csv, .txt", ""},
    {"{a: {file: f.csv}}", "", "f.csv, line 1: the file has no numbers", ""},
    {"{a: {file: f.csv}}", "x,t,u\n", "f.csv: it has no points", ""},
    {"{a: {file: f.csv}}", "x,t,u\n1,1,two\n", "f.csv, line 2: not a number: 'two'", ""},
    {"{a: {file: f.csv}}", "x,t,u\n1,1\n", "f.csv, line 2: fewer cells than in the first line", ""},
    {"{a: {file: f.csv}}", "x,t,u\n1,1,,\n", "f.csv, line 2: more cells than in the first line",
     ""},
    {"{a: {file: f.csv}}", "x,t,u\n1;1;2\n", "f.csv, line 2: ", ""},
    {"{a: {file: f.csv}}", "x,t,T\n1,1,2\n", "observes nothing: no column has the name of a field",
     "observe: {u: T}"},
    {"{a: {file: f.csv}}", "x,u\n1,1\n", "there is no 't' for the coordinate 't'; the file has x",
     ""},
    {"{a: {file: f.csv, columns: {t: time}}}", "x,times,u\n1,1,1\n",
     "there is no 'time' for the coordinate 't'", "did you mean 'times'?"},
    {"{a: {file: f.csv, observe: {u: temperatur}}}", "x,t,temperature\n1,1,1\n",
     "there is no 'temperatur' for a quantity", "did you mean 'temperature'?"},
    {"{a: {file: f.csv}}", "x,t,u,u\n1,1,1,1\n", "f.csv: there are two 'u'", ""},
    {"{a: {file: f.csv}}", "x,t,u\n1,1,1\n1,,1\n", "f.csv: 't' is not a finite number at point 2",
     ""},
    {"{a: {file: f.csv}}", "x,t,u\n1,1,inf\n", "f.csv: 'u' is infinite at point 1", ""},
    {"{a: {file: f.csv}}", "x,t,u\n1,1,1\n1,2.5,1\n",
     "f.csv: row 2, x = 1, t = 2.5, lies outside the domain", "outside: skip"},
    {"{a: {file: f.csv, outside: skip}}", "x,t,u\n1,3,1\n1,2.5,1\n",
     "f.csv: no row is of use: 2 lie outside the domain", ""},
    {"{a: {file: f.csv, outside: drop}}", "", "'drop' is not a value of data.*.outside",
     "values: refuse, skip"},
    {"{a: {file: f.csv}}", "x,t,u\n1,1,\n1,1,nan\n", "f.csv: no row is of use: 2 have no value",
     ""},
    {"{a: {file: f.csv}}", "x,t,u,v\n1,1,1,\n1,1,1,\n", "f.csv has no value of 'v' to train on",
     ""},
    {"{a: {file: f.csv, std: sigma}}", "x,t,u\n1,1,1\n", "there is no 'sigma' for a quantity", ""},
    {"{a: {file: f.csv, std: s}}", "x,t,u,s\n1,1,1,1\n1,1,1,nan\n",
     "f.csv: row 2 has a value of 'u', and no standard deviation in 's'", ""},
    {"{a: {file: f.csv, std: s}}", "x,t,u,s\n1,1,1,1\n1,1,1,0\n", "f.csv: 's' is 0 at row 2",
     "above 0"},
    {"{a: {file: f.csv, std: s}}", "x,t,u,s\n1,1,1,-2\n", "f.csv: 's' is -2 at row 1", ""},
    {"{a: {file: f.csv, std: -1}}", "x,t,u\n1,1,1\n", "a standard deviation is above 0", ""},
    {"{a: {file: f.csv, std: [1]}}", "x,t,u\n1,1,1\n",
     "a standard deviation is a number or the name of a column", ""},
    {"{a: {file: f.csv, std: {U: 1}}}", "x,t,u\n1,1,1\n", "data set 'a' does not observe 'U'", ""},
    {"{a: {file: f.csv, std: {u: 1}}}", "x,t,u,v\n1,1,1,1\n",
     "data set 'a' has no standard deviation for 'v'", ""},
    {"{a: {file: f.csv, std: 1e-200}}", "x,t,u\n1,1,1\n", "are too large or too small", ""},
    {"{a: {file: f.csv, observe: {x: u}}}", "x,t,u\n1,1,1\n",
     "observes something that does not change with the fields", ""},
    {"{a: {file: f.csv, observe: {u > 0: u}}}", "x,t,u\n1,1,1\n", "does not change", ""},
    {"{a: {file: f.csv, observe: {p: u}}}", "x,t,u\n1,1,1\n", "'p'", ""},
    {"{a: {file: f.csv, observe: u}}", "x,t,u\n1,1,1\n", "'observe' says which column", ""},
    {"{a: {file: f.csv, observe: {u: }}}", "x,t,u\n1,1,1\n", "must be the name of a column", ""},
    {"{a: {file: f.csv, columns: {u: T}, observe: {u: T}}}", "x,t,T\n1,1,1\n",
     "data set 'a' observes 'u' twice", ""},
    {"{a: {file: f.csv, factors: {u: 2}}}", "x,t,u\n1,1,1\n", "'u' is not a coordinate",
     "{1000*u: millimetres}"},
    {"{a: {file: f.csv, factors: {x: 0}}}", "x,t,u\n1,1,1\n", "a factor is a number, and not 0",
     ""},
    {"{a: {file: f.csv, hold_out: 1.5}}", "x,t,u\n1,1,1\n", "'hold_out' is a part of the rows", ""},
    {"{a: {file: f.csv, hold_out: 2}}", "x,t,u\n1,1,1\n1,1,1\n",
     "has 2 rows, and 2 of them are held out", ""},
    {"{a: {file: f.csv, hold_out: 0.9}}", "x,t,u\n1,1,1\n1,1,1\n",
     "has 2 rows, and 2 of them are held out", ""},
    {"{a: {file: f.csv, hold_out: -1}}", "", "'hold_out' of a data set", ""},
    {"{a: {file: f.csv, points: -1}}", "", "'points' of a data set", ""},
    {"{a: {file: f.csv, order: [x]}}", "x,t,u\n1,1,1\n", "'order' lists all coordinates", ""},
    {"{a: {file: f.csv, sum: 1}}", "x,t,u\n1,1,1\n", "a sum has 16 digits", ""},
    {"{a: {values: {x: [1], t: [1], u: [1, 2]}}}", "", "'x' has 1 values, and 'u' has 2", ""},
    {"{a: {values: {x: [1], t: [1], u: 1}}}", "", "'u' must be a list of numbers", ""},
    {"{a: {values: {x: [1], t: [1], u: [x]}}}", "", "", ""},
    {"{a: {values: [1]}}", "", "'values' has a list of numbers for each", ""},
    {"{a: {values: {x: [1], t: [9], u: [1]}}}", "", "values: row 1, x = 1, t = 9, lies outside",
     ""},
};

static void mistakes_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        sgi_problem *problem;
        sg_diagnostic diagnostic;
        folder_put(folder, "f.csv", mistakes[i].file);
        if (read_text(mistakes[i].data, &problem, &diagnostic) != SG_ERROR_FORMAT)
            fail_msg("%s is taken", mistakes[i].data);
        if (!strstr(diagnostic.message, mistakes[i].message) ||
            !strstr(diagnostic.suggestion, mistakes[i].suggestion))
            fail_msg("%s: '%s' '%s' is not '%s' '%s'", mistakes[i].data, diagnostic.message,
                     diagnostic.suggestion, mistakes[i].message, mistakes[i].suggestion);
        assert_int_equal(diagnostic.line, 8);
    }
}

/* Where a field lives in a part of the domain, so do its measurements. */
static void regions_have_their_own(void **state)
{
    (void)state;
    static const char text[] =
        "coordinates: {x: [0, 1], y: [0, 1]}\n"
        "fields: [u, v]\n"
        "shapes: {left: {box: {from: [0, 0], to: [0.5, 1]}}, right: {box: {from: [0.5, 0], to: [1, "
        "1]}}}\n"
        "equations: {a: {expression: lap(u), in: left}, b: {expression: lap(v), in: right}}\n"
        "conditions: {middle: {at: x = 0.5, u - v: 0}}\n"
        "data: {d: {values: {x: [0.2, 0.7], y: [0.5, 0.5], u: [1, 2]}%s}}\n";
    char full[1024];
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    snprintf(full, sizeof full, text, "");
    assert_status(sgi_problem_read(&problem, "p", full, strlen(full), NULL, 0, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message,
                        "values: row 2, x = 0.7, y = 0.5, lies outside the region of 'u'");
    snprintf(full, sizeof full, text, ", outside: skip");
    assert_ok(sgi_problem_read(&problem, "p", full, strlen(full), NULL, 0, NULL, &diagnostic));
    assert_int_equal(problem->data[0].count, 1);
    sgi_problem_destroy(problem);
}

/* A problem may be nothing but data. */
static void equations_may_be_missing(void **state)
{
    (void)state;
    static const char text[] = "coordinates: {x: [0, 1]}\nfields: [u]\n"
                               "data: {d: {values: {x: [0.2, 0.7], u: [1, 2]}}}\n"
                               "network: {hidden: 1 x 4}\ntraining: {steps: 20%s}\n";
    char full[512], *written, *again;
    sg_diagnostic diagnostic;
    sgi_remarks remarks;
    sg_pinn *pinn;
    sgi_problem *problem, *other;
    snprintf(full, sizeof full, text, "");
    assert_ok(sgi_problem_read(&problem, "p", full, strlen(full), NULL, 0, NULL, &diagnostic));
    assert_ok(sgi_problem_remarks(problem, &remarks));
    assert_int_equal(remarks.count, 0);
    assert_ok(sgi_problem_write(problem, &written));
    assert_ok(sgi_problem_read(&other, "p", written, strlen(written), NULL, 0, NULL, &diagnostic));
    assert_ok(sgi_problem_write(other, &again));
    assert_string_equal(written, again);
    free(written);
    free(again);
    sgi_problem_destroy(other);
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sg_pinn_train(pinn, NULL, NULL, NULL));
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
    snprintf(full, sizeof full, text, ", optimizer: levenberg");
    assert_status(sgi_problem_read(&problem, "p", full, strlen(full), NULL, 0, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "there is no equation whose points"));
}

static sg_status open_and_close(const sg_allocator *allocator, void *context)
{
    char text[1024];
    sg_diagnostic diagnostic = {0};
    sgi_problem *problem;
    (void)context;
    snprintf(text, sizeof text, "%s%s\n", head, everything);
    sg_status status = sgi_problem_read(&problem, in("p.yaml"), text, strlen(text), NULL, 0,
                                        allocator, &diagnostic);
    if (status == SG_OK)
        sgi_problem_destroy(problem);
    return status;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    folder_put(folder, "probes.csv", probes);
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
        cmocka_unit_test(misfits_are_measured),     cmocka_unit_test(loss_is_the_formula),
        cmocka_unit_test(derivatives_are_right),    cmocka_unit_test(rows_are_held_out),
        cmocka_unit_test(rows_have_their_turns),    cmocka_unit_test(points_are_not_given),
        cmocka_unit_test(what_was_read_is_told),    cmocka_unit_test(runs_keep_a_copy),
        cmocka_unit_test(mistakes_are_refused),     cmocka_unit_test(regions_have_their_own),
        cmocka_unit_test(equations_may_be_missing), cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
