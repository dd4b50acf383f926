/* The exact Burgers solution: against values of another solver, converged, and at nu = 1e-4 against
 * the equation itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "problem/cole_hopf.h"
#include "support/support.h"

#if SG_HAVE_MATIO
#include <matio.h>
#endif

static const double pi = 3.14159265358979323846;

static double u_at(double nu, double x, double t, int refine)
{
    double u;
    assert_ok(sgi_cole_hopf(nu, &x, &t, 1, refine, &u, NULL, NULL));
    return u;
}

/* (nu, x, t, u), computed by another formula and another quadrature. */
static void test_known_values(void **state)
{
    (void)state;
    static const double known[][4] = {
#include "data/burgers_values.h"
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_close(u_at(known[i][0], known[i][1], known[i][2], 1), known[i][3], 2e-12);
}

#if SG_HAVE_MATIO
static matvar_t *read_variable(mat_t *file, const char *name)
{
    matvar_t *variable = Mat_VarRead(file, name);
    assert_non_null(variable);
    assert_int_equal(variable->data_type, MAT_T_DOUBLE);
    return variable;
}
#endif

static void test_the_whole_data_set(void **state)
{
    (void)state;
#if SG_HAVE_MATIO
    mat_t *file = Mat_Open(SG_SHARED_DATA "/data/pde/burgers_shock.mat", MAT_ACC_RDONLY);
    if (!file)
        skip();
    matvar_t *x = read_variable(file, "x"), *t = read_variable(file, "t");
    matvar_t *u = read_variable(file, "usol");
    size_t nx = x->dims[0] * x->dims[1], nt = t->dims[0] * t->dims[1];
    assert_int_equal(u->dims[0], nx);
    double *points = calloc(3 * nx * nt, sizeof *points), worst = 0;
    assert_non_null(points);
    for (size_t i = 0; i < nx * nt; i++) {
        points[i] = ((double *)x->data)[i % nx];
        points[nx * nt + i] = ((double *)t->data)[i / nx];
    }
    assert_ok(sgi_cole_hopf(0.01 / pi, points, points + nx * nt, nx * nt, 1, points + 2 * nx * nt,
                            NULL, NULL));
    for (size_t i = 0; i < nx * nt; i++)
        worst = fmax(worst, fabs(points[2 * nx * nt + i] - ((double *)u->data)[i]));
    print_message("largest difference %.2e at %zu points\n", worst, nx * nt);
    assert_true(worst < 1e-9);
    free(points);
    Mat_VarFree(x);
    Mat_VarFree(t);
    Mat_VarFree(u);
    Mat_Close(file);
#else
    skip();
#endif
}

/* Halving the step changes nothing, from smooth to sharp, early to late, near and off the shock. */
static void test_quadrature_has_converged(void **state)
{
    (void)state;
    static const double nus[] = {1, 0.01 / 3.14159265358979323846, 1e-3, 1e-4, 1e-5};
    static const double times[] = {1e-9, 1e-6, 1e-3, 0.1, 0.318, 0.5, 1, 3};
    for (size_t n = 0; n < sizeof nus / sizeof nus[0]; n++)
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
            for (int i = -10; i <= 10; i++) {
                double x = i == 0 ? 0.3 * nus[n] : i * fabs((double)i) / 100;
                double coarse = u_at(nus[n], x, times[k], 1), fine = u_at(nus[n], x, times[k], 2);
                /* Exponents of size 1/(2 pi nu) carry its rounding error. */
                if (!(fabs(coarse - fine) <= 1e-13 + 1e-15 / nus[n]))
                    fail_msg("nu %g, x %g, t %g: %.15g and %.15g", nus[n], x, times[k], coarse,
                             fine);
            }
}

static void test_symmetry_and_limits(void **state)
{
    (void)state;
    for (double x = 0; x <= 1; x += 0.125) {
        assert_close(u_at(1e-4, x, 0, 1), -sin(pi * x), 1e-16);
        assert_close(u_at(1e-4, x, 1e-12, 1), -sin(pi * x), 1e-10);
        assert_close(u_at(1e-4, x, 0.7, 1), -u_at(1e-4, -x, 0.7, 1), 1e-12);
        assert_close(u_at(1e-4, x, 0.7, 1), u_at(1e-4, x + 2, 0.7, 1), 1e-11);
    }
    assert_close(u_at(1e-4, 0, 0.9, 1), 0, 1e-12);
    assert_close(u_at(1e-4, 1, 0.9, 1), 0, 1e-12);
}

/* Away from the shock the solution follows characteristics: u(x + t u0(x), t) = u0(x) up to nu. */
static void test_characteristics(void **state)
{
    (void)state;
    double nu = 1e-7;
    for (double start = 0.55; start < 1; start += 0.05) {
        double value = -sin(pi * start), t = 0.25;
        assert_close(u_at(nu, start + t * value, t, 1), value, 1e-5);
    }
}

/* u_t + u u_x = nu u_xx at nu = 1e-4, inside and outside the shock, by sixth-order differences. */
static void test_equation_at_small_viscosity(void **state)
{
    (void)state;
    static const double first[] = {-1, 9, -45, 0, 45, -9, 1};
    static const double second[] = {2, -27, 270, -490, 270, -27, 2};
    static const double xs[] = {1e-5, 1e-4, 3e-4, 1e-3, 0.01, 0.3, 0.8};
    static const double ts[] = {0.2, 0.4, 0.7, 1};
    double nu = 1e-4, h = 1e-5, k = 1e-4;
    for (size_t i = 0; i < sizeof xs / sizeof xs[0]; i++)
        for (size_t j = 0; j < sizeof ts / sizeof ts[0]; j++) {
            double u = u_at(nu, xs[i], ts[j], 1), ut = 0, ux = 0, uxx = 0;
            for (int s = 0; s < 7; s++) {
                double along = u_at(nu, xs[i] + (s - 3) * h, ts[j], 1);
                ut += first[s] * u_at(nu, xs[i], ts[j] + (s - 3) * k, 1) / (60 * k);
                ux += first[s] * along / (60 * h);
                uxx += second[s] * along / (180 * h * h);
            }
            double size = fabs(ut) + fabs(u * ux) + fabs(nu * uxx);
            if (!(fabs(ut + u * ux - nu * uxx) <= 1e-7 * size + 1e-8))
                fail_msg("x %g, t %g: residual %g of terms %g", xs[i], ts[j],
                         ut + u * ux - nu * uxx, size);
        }
}

/* Where x is no number there is no solution, and no place in a table is looked up. */
static void test_no_number(void **state)
{
    (void)state;
    assert_true(isnan(u_at(1e-2, NAN, 0.5, 1)));
    assert_true(isnan(u_at(1e-2, INFINITY, 0.5, 1)));
    assert_true(isnan(u_at(1e-2, -INFINITY, 0, 1)));
    assert_true(isfinite(u_at(1e-2, 1e300, 0.5, 1)));
}

static void test_threads_and_arguments(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static double x[COUNT], t[COUNT], one[COUNT], three[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = sin(i);
        t[i] = (i % 100) / 100.0;
    }
    sg_pool *pool;
    assert_ok(sg_pool_create(&pool, 3, NULL));
    assert_ok(sgi_cole_hopf(1e-3, x, t, COUNT, 1, one, NULL, NULL));
    assert_ok(sgi_cole_hopf(1e-3, x, t, COUNT, 1, three, pool, NULL));
    assert_memory_equal(one, three, sizeof one);
    sg_pool_destroy(pool);
    assert_status(sgi_cole_hopf(0, x, t, 1, 1, one, NULL, NULL), SG_ERROR_ARGUMENT);
    failing_allocator memory = {.fail_at = 0};
    sg_allocator allocator = failing(&memory);
    assert_status(sgi_cole_hopf(1, x, t, 1, 1, one, NULL, &allocator), SG_ERROR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_the_whole_data_set),
        cmocka_unit_test(test_quadrature_has_converged),
        cmocka_unit_test(test_symmetry_and_limits),
        cmocka_unit_test(test_characteristics),
        cmocka_unit_test(test_equation_at_small_viscosity),
        cmocka_unit_test(test_no_number),
        cmocka_unit_test(test_threads_and_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
