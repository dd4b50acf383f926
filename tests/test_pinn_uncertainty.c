/* The arithmetic of confidence intervals, on linear problems whose answer is known. */
#include <math.h>
#include <string.h>

#include "pinn/student.h"
#include "pinn/uncertainty.h"
#include "support/support.h"

static void students_t_is_that_of_the_tables(void **state)
{
    (void)state;
    static const double degrees[] = {1, 2, 5, 10, 30, 100, 1e6, INFINITY};
    static const double wanted[] = {12.706204736, 4.302652730, 2.570581836, 2.228138852,
                                    2.042272456,  1.983971519, 1.959966357, 1.959963985};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_relative(sgi_student(0.975, degrees[i]), wanted[i], 1e-8);
    assert_relative(sgi_student(0.95, 4), 2.131846786, 1e-8);
}

/* matrix = rows^T rows */
static void square(const double *rows, size_t count, size_t n, double *matrix)
{
    memset(matrix, 0, n * n * sizeof *matrix);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] += rows[r * n + i] * rows[r * n + j];
}

static sgi_uncertainty *make(const double *rows, size_t count, size_t n, size_t unknowns)
{
    double matrix[400];
    sgi_uncertainty *u;
    assert_true(n <= 20);
    square(rows, count, n, matrix);
    assert_ok(sgi_uncertainty_create(&u, matrix, n, unknowns, NULL, SG_ISA_AUTO, NULL));
    return u;
}

enum { N = 7 };

static double abscissa(size_t i)
{
    return 0.3 + 0.4 * (double)i + 0.05 * (double)(i * i);
}

/* y = a + b x with noise of deviation 0.2: the covariance of every textbook. */
static void a_straight_line(void **state)
{
    (void)state;
    double rows[N * 2], covariance[4] = {0}, scratch[2], sx = 0, sxx = 0, leverages = 0;
    for (size_t i = 0; i < N; i++) {
        rows[2 * i] = 1;
        rows[2 * i + 1] = abscissa(i);
        sx += abscissa(i);
        sxx += abscissa(i) * abscissa(i);
    }
    sgi_uncertainty *u = make(rows, N, 2, 2);
    sgi_uncertainty_add(u, rows, N, 0.04, covariance);
    double determinant = N * sxx - sx * sx;
    assert_relative(covariance[0], 0.04 * sxx / determinant, 1e-9);
    assert_relative(covariance[3], 0.04 * N / determinant, 1e-9);
    assert_relative(covariance[1], -0.04 * sx / determinant, 1e-9);
    assert_relative(covariance[2], covariance[1], 1e-12);
    for (size_t i = 0; i < N; i++)
        leverages += sgi_uncertainty_leverage(u, rows + 2 * i, scratch);
    assert_relative(leverages, 2, 1e-9);
    /* The gradient of residuals that the line a = 3, b = -2 leaves: a step leads to the minimum. */
    double gradient[2] = {3 * N - 2 * sx, 3 * sx - 2 * sxx}, moves[2];
    sgi_uncertainty_moves(u, gradient, moves);
    assert_relative(moves[0], -3, 1e-9);
    assert_relative(moves[1], 2, 1e-9);
    sgi_uncertainty_destroy(u);
}

/* Values v_i of a field obey v_i = k x_i, an equation of weight W without noise, and are measured:
 * whatever W is, k has the variance of a straight line through 0. */
static void a_field_that_obeys_an_equation(void **state)
{
    (void)state;
    static const double weights[] = {0.1, 1, 1e4};
    double sxx = 0;
    for (size_t i = 0; i < N; i++)
        sxx += abscissa(i) * abscissa(i);
    for (size_t w = 0; w < 3; w++) {
        enum { P = N + 1 };
        double rows[2 * N * P] = {0}, covariance = 0, scratch[P], leverages = 0;
        double *data = rows + (size_t)N * P;
        for (size_t i = 0; i < N; i++) {
            rows[i * P + i] = weights[w];
            rows[i * P + N] = -weights[w] * abscissa(i);
            data[i * P + i] = 1;
        }
        sgi_uncertainty *u = make(rows, (size_t)2 * N, P, 1);
        sgi_uncertainty_add(u, data, N, 0.01, &covariance);
        assert_relative(covariance, 0.01 / sxx, 1e-4);
        assert_true(sgi_uncertainty_freedom(u, &(double){1}, scratch) < 1e-3);
        for (size_t i = 0; i < N; i++)
            leverages += sgi_uncertainty_leverage(u, data + i * P, scratch);
        if (weights[w] > 100) /* the field follows one number, and else the noise itself */
            assert_relative(leverages, 1, 1e-3);
        else
            assert_true(leverages > 1.5);
        sgi_uncertainty_destroy(u);
    }
}

/* y = (a + b) x: the sum has a value, the difference has none. */
static void what_nothing_determines(void **state)
{
    (void)state;
    double rows[N * 3], scratch[3];
    for (size_t i = 0; i < N; i++) {
        rows[3 * i] = 1;
        rows[3 * i + 1] = rows[3 * i + 2] = abscissa(i);
    }
    sgi_uncertainty *u = make(rows, N, 3, 2);
    assert_true(sgi_uncertainty_freedom(u, (double[]){1, 1}, scratch) < 1e-6);
    assert_true(sgi_uncertainty_freedom(u, (double[]){1, -1}, scratch) > 0.9);
    double block[4], values[2], vectors[4];
    sgi_uncertainty_block(u, block);
    sgi_small_eigen(block, 2, values, vectors);
    assert_true(values[1] > 1e9 * values[0]);
    assert_close(vectors[2] / vectors[3], -1, 1e-3);
    sgi_uncertainty_destroy(u);
}

static void eigenvalues_of_small_matrices(void **state)
{
    (void)state;
    enum { M = 5 };
    double matrix[M * M], copy[M * M], values[M], vectors[M * M];
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++)
            copy[i * M + j] = matrix[i * M + j] = 1 / (double)(i + j + 1);
    sgi_small_eigen(matrix, M, values, vectors);
    assert_relative(values[M - 1], 1.567050691098231, 1e-12); /* of Hilbert's matrix */
    assert_relative(values[0], 3.287928772171862e-6, 1e-8);
    for (size_t v = 0; v < M; v++)
        for (size_t i = 0; i < M; i++) {
            double sum = 0;
            for (size_t j = 0; j < M; j++)
                sum += copy[i * M + j] * vectors[v * M + j];
            assert_close(sum, values[v] * vectors[v * M + i], 1e-14);
        }
}

static sg_status create(const sg_allocator *allocator, void *context)
{
    (void)context;
    double matrix[] = {2, 1, 1, 3};
    sgi_uncertainty *u;
    sg_status status = sgi_uncertainty_create(&u, matrix, 2, 1, NULL, SG_ISA_AUTO, allocator);
    sgi_uncertainty_destroy(u);
    return status;
}

static void what_cannot_be_factored_is_refused(void **state)
{
    (void)state;
    double matrix[] = {1, 0, 0, NAN};
    sgi_uncertainty *u;
    assert_status(sgi_uncertainty_create(&u, matrix, 2, 1, NULL, SG_ISA_AUTO, NULL),
                  SG_ERROR_UNSUPPORTED);
    assert_null(u);
    each_allocation_fails(create, NULL, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_t_is_that_of_the_tables),
        cmocka_unit_test(a_straight_line),
        cmocka_unit_test(a_field_that_obeys_an_equation),
        cmocka_unit_test(what_nothing_determines),
        cmocka_unit_test(eigenvalues_of_small_matrices),
        cmocka_unit_test(what_cannot_be_factored_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
