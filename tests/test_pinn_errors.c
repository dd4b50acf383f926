/* Errors against the reference: what is not a number is told, and memory is bounded. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pinn/errors.h"
#include "pinn/pinn.h"
#include "support/support.h"

static sgi_problem *read_problem(const char *text)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic = {0};
    if (sgi_problem_read(&problem, "test", text, strlen(text), NULL, 0, NULL, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return problem;
}

/* The bias of the first output is NaN: so is the largest error of its field, and of all. */
static void a_field_that_is_not_a_number_is_told(void **state)
{
    (void)state;
    sgi_problem *problem = read_problem("coordinates: {x: [0, 1]}\n"
                                        "fields: [u, v]\n"
                                        "equations: {one: u_x = 0, two: v_x = 0}\n"
                                        "reference: {u: 1, v: 2}\n"
                                        "network: {hidden: 2 x 4}\n"
                                        "evaluation: {grid: 11}\n");
    sg_pool *pool;
    sg_pinn *pinn;
    sgi_errors *errors;
    assert_ok(sg_pool_create(&pool, 1, NULL));
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sgi_errors_create(&errors, problem, pool, NULL));
    sg_jet_network *network = sg_pinn_network(pinn);
    sg_jet_layer last = sg_jet_network_layer(network, sg_jet_network_layers(network) - 1);
    ((float *)sg_jet_network_values(network))[last.bias] = NAN;
    assert_ok(sgi_errors_measure(errors, network, pool));
    assert_int_equal(errors->field_count, 3);
    assert_false(errors->thinned);
    assert_true(isnan(errors->fields[0].largest));
    assert_true(isfinite(errors->fields[1].largest));
    assert_true(isnan(errors->fields[2].largest) && isnan(errors->fields[2].relative_l2));
    sgi_errors_destroy(errors);
    sg_pinn_close(pinn);
    sg_pool_destroy(pool);
    sgi_problem_destroy(problem);
}

/* 101 points for each of five coordinates, the default, are ten thousand millions; and of eight
 * with a million each there are more than a size_t counts. */
static void a_grid_in_many_coordinates_is_thinned(void **state)
{
    (void)state;
    static const char *const grids[] = {
        "coordinates: {a: [0, 1], b: [0, 1], c: [0, 1], d: [0, 1], e: [0, 1]}\n",
        "coordinates: {a: [0, 1], b: [0, 1], c: [0, 1], d: [0, 1], e: [0, 1], f: [0, 1], g: [0, "
        "1], "
        "h: [0, 1]}\nevaluation: {grid: 1000000}\n"};
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text, "%sfields: [u, v]\nequations: {one: u_a = 0, two: v_a = 0}\n",
                 grids[i]);
        sgi_problem *problem = read_problem(text);
        sgi_box_grid whole = sgi_box_grid_of_problem(problem);
        sgi_box_grid thin = sgi_box_grid_thinned(&whole, SG_ERROR_VALUES / 2);
        size_t points = 1;
        assert_true(whole.total > (size_t)10000000000);
        for (int c = 0; c < thin.coordinates; c++) {
            assert_true(thin.sizes[c] >= 2);
            points *= thin.sizes[c];
        }
        assert_int_equal(thin.total, points);
        assert_in_range(thin.total, SG_ERROR_VALUES / 64, SG_ERROR_VALUES / 2);
        sgi_problem_destroy(problem);
    }
}

/* In ten coordinates three points along each would say little of a ball: points are drawn. */
static void in_many_coordinates_points_are_drawn(void **state)
{
    (void)state;
    sgi_problem *problem = read_problem(
        "coordinates: {a: [-1, 1], b: [-1, 1], c: [-1, 1], d: [-1, 1], f: [-1, 1], g: [-1, 1],\n"
        "  h: [-1, 1], i: [-1, 1], j: [-1, 1], k: [-1, 1]}\n"
        "shapes: {ball: {ball: {center: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], radius: 1}}}\n"
        "domain: ball\n"
        "fields: [u]\n"
        "equations: {poisson: lap(u) + 20}\n"
        "conditions: {edge: {at: boundary, u: 0}}\n"
        "reference: {u: 1 - a^2 - b^2 - c^2 - d^2 - f^2 - g^2 - h^2 - i^2 - j^2 - k^2}\n"
        "network: {hidden: 1 x 4, precision: double}\n");
    sg_pinn *pinn;
    sgi_errors *errors;
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sgi_errors_create(&errors, problem, NULL, NULL));
    assert_non_null(errors->points);
    assert_int_equal(errors->count, SG_ERROR_DRAWN);
    assert_int_equal(errors->inside, SG_ERROR_DRAWN);
    double mean = 0;
    for (size_t i = 0; i < errors->count; i++) {
        double square = 0;
        for (size_t k = 0; k < 10; k++)
            square += errors->points[10 * i + k] * errors->points[10 * i + k];
        assert_true(square <= 1);
        mean += square / (double)errors->count;
    }
    /* The mean of r^2 in a ball of d coordinates is d / (d + 2). */
    assert_close(mean, 10.0 / 12, 0.005);
    /* A network that is 0 everywhere is as wrong as can be. */
    sg_jet_network *network = sg_pinn_network(pinn);
    memset(sg_jet_network_values(network), 0, sg_jet_network_parameters(network) * sizeof(double));
    assert_ok(sgi_errors_measure(errors, network, NULL));
    assert_close(errors->fields[0].relative_l2, 1, 1e-14);
    sgi_errors_destroy(errors);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
}

/* The last of sixteen coordinates is one like the others. */
static void sixteen_coordinates_have_derivatives(void **state)
{
    (void)state;
    char text[2048] = "coordinates: {", sum[1024] = "";
    for (int k = 1; k <= 16; k++) {
        size_t used = strlen(text), end = strlen(sum);
        snprintf(text + used, sizeof text - used, "%sx%d: [0, 1]", k > 1 ? ", " : "", k);
        snprintf(sum + end, sizeof sum - end, "%su_x%dx%d", k > 1 ? " + " : "", k, k);
    }
    strcat(text, "}\nfields: [u]\nequations: {laplace: lap(u) = 0}\n"
                 "conditions: {edge: {at: boundary, u: 0}}\n"
                 "network: {hidden: 2 x 8, precision: double}\n");
    sgi_problem *problem = read_problem(text);
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    const double step = 1e-4;
    double points[3 * 16], values[4 * 3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 16; k++)
            points[16 * i + k] = 0.3 + 0.02 * k + (k == 15 ? (i - 1) * step : 0);
    const char *const expressions[] = {"u", "u_x16x16", "lap(u)", sum};
    assert_ok(sg_pinn_evaluate(pinn, expressions, 4, points, 3, values, NULL, &diagnostic));
    double second = (values[0] - 2 * values[1] + values[2]) / (step * step);
    assert_close(second, values[4], 1e-6); /* of rounding, 1e-16 / step^2, and of step^2 */
    assert_true(fabs(values[4]) > 1e-6);
    assert_close(values[7], values[10], 1e-12);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_many_coordinates_points_are_drawn),
        cmocka_unit_test(sixteen_coordinates_have_derivatives),
        cmocka_unit_test(a_field_that_is_not_a_number_is_told),
        cmocka_unit_test(a_grid_in_many_coordinates_is_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
