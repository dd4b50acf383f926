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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_that_is_not_a_number_is_told),
        cmocka_unit_test(a_grid_in_many_coordinates_is_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
