/* Conditions that hold exactly: values on their places, derivatives, gradients, periodic pairs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/pinn.h"
#include "problem/exact_conditions.h"
#include "problem/place.h"
#include "stablegrad/pinn.h"
#include "support/support.h"

enum { POINTS = 300 };

static sg_pinn *open_text(const char *text)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    const char *overrides[] = {"network.precision=double", "network.hidden=2 x 8"};
    sg_status status =
        sg_pinn_read(&pinn, "test", text, strlen(text), overrides, 2, NULL, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

static void evaluate(sg_pinn *pinn, const char *expression, const double *points, size_t count,
                     double *values)
{
    sg_diagnostic diagnostic;
    sg_status status =
        sg_pinn_evaluate(pinn, &expression, 1, points, count, values, NULL, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s: %s", expression, said(&diagnostic));
}

/* Every exact condition, at random points of its place, on a network of random weights. */
static void check_places(const char *text)
{
    sg_pinn *pinn = open_text(text);
    const sgi_problem *problem = pinn->problem;
    size_t width = (size_t)problem->names.coordinate_count;
    double points[POINTS * SG_MOST_COORDINATES], values[POINTS];
    assert_true(problem->exact_count > 0);
    for (int e = 0; e < problem->exact_count; e++) {
        const sgi_exact *exact = &problem->exacts[e];
        const sgi_yaml *node = sgi_yaml_get(exact->key->next, problem->names.fields[exact->field]);
        for (int i = 0; i < POINTS; i++) {
            double point[SG_MOST_COORDINATES], normal[SG_MOST_COORDINATES];
            sgi_uniforms uniforms = {.seed = 77, .counter = (uint64_t)i << 24};
            sgi_place_draw(problem, &exact->place.faces[i % exact->place.face_count], false,
                           &uniforms, point, normal);
            memcpy(points + (size_t)i * width, point, width * sizeof *point);
        }
        char rest[200];
        snprintf(rest, sizeof rest, "%s - (%s)", problem->names.fields[exact->field], node->text);
        evaluate(pinn, rest, points, POINTS, values);
        for (int i = 0; i < POINTS; i++)
            assert_close(values[i], 0, 1e-12);
    }
    sg_pinn_close(pinn);
}

#define SQUARE  "coordinates: {x: [0, 1], y: [0, 1]}\nfields: [u]\nequations: {pde: lap(u) = 1}\n"
#define IN_TIME "coordinates: {x: [-1, 1], t: [0, 2]}\nfields: [u]\nequations: {pde: u_t = u_xx}\n"
#define HOLE    "shapes: {hole: {disc: {center: [0.5, 0.5], radius: 0.2}}}\ndomain: box - hole\n"

/* A start in value and slope, alone and beside walls that its values fit or do not fit. */
static void test_slopes_in_time(void **state)
{
    (void)state;
    static const char *const walls[] = {"", "  b: {at: x = -1 | x = 1, u: 0, exact: true}\n",
                                        "  b: {at: x = -1, u: 3 + t, exact: true}\n"};
    for (size_t w = 0; w < sizeof walls / sizeof walls[0]; w++) {
        char text[600];
        double points[2 * POINTS], values[POINTS];
        snprintf(
            text, sizeof text,
            "coordinates: {x: [-1, 1], t: [0.5, 2]}\nfields: u\nequations: {wave: u_tt = u_xx}\n"
            "conditions:\n%s  a: {at: t = 0.5, u_t: 1 - x^2, u: sin(pi*x), exact: true}\n",
            walls[w]);
        sg_pinn *pinn = open_text(text);
        for (int i = 0; i < POINTS; i++) {
            points[2 * i] = -0.99 + 1.98 * i / (POINTS - 1);
            points[2 * i + 1] = 0.5;
        }
        evaluate(pinn, "u - sin(pi*x)", points, POINTS, values);
        for (int i = 0; i < POINTS; i++)
            assert_close(values[i], 0, 1e-12);
        evaluate(pinn, "u_t - (1 - x^2)", points, POINTS, values);
        for (int i = 0; i < POINTS; i++)
            assert_close(values[i], 0, 1e-11);
        evaluate(pinn, "u_tt", points, POINTS, values);
        assert_true(fabs(values[POINTS / 3]) > 1e-6); /* left to the network */
        sg_pinn_close(pinn);
    }
    for (size_t w = 0; w < 2; w++)
        check_places(w ? IN_TIME "conditions: {a: {at: t = 0, u: x, u_t: 0, exact: true}}\n"
                       : IN_TIME "conditions:\n"
                                 "  a: {at: t = 0, u: sin(pi*x), u_t: 0, exact: true}\n"
                                 "  b: {at: x = -1 | x = 1, u: 0, exact: true}\n");
}

static void test_values_on_places(void **state)
{
    (void)state;
    static const char *const texts[] = {
        SQUARE "conditions: {w: {at: boundary, u: 0, exact: true}}\n",
        SQUARE "conditions: {w: {at: boundary, u: x^2 + y, exact: true}}\n",
        /* One value fits all: the initial value is 0 at the walls. */
        IN_TIME "conditions:\n"
                "  a: {at: t = 0, u: sin(pi*x), exact: true}\n"
                "  b: {at: x = -1 | x = 1, u: 0, exact: true}\n",
        /* None does: blended. */
        IN_TIME "conditions:\n"
                "  a: {at: x = -1, u: 3 + t, exact: true}\n"
                "  b: {at: x = 1, u: exp(t), exact: true}\n",
        SQUARE HOLE "conditions:\n"
                    "  a: {at: box.boundary, u: 0, exact: true}\n"
                    "  b: {at: hole.boundary, u: 1 + x, exact: true}\n",
        SQUARE HOLE "conditions: {a: {at: boundary, u: x*y, exact: true}}\n",
        /* Rotated, joined, cut. */
        SQUARE "shapes:\n"
               "  a: {rectangle: {from: [0.2, 0.3], to: [0.8, 0.7]}, rotate: 20}\n"
               "  b: {disc: {center: [0.5, 0.6], radius: 0.3}}\n"
               "  c: {ellipse: {center: [0.5, 0.5], radii: [0.1, 0.05]}, rotate: 45}\n"
               "domain: a + b - c\n"
               "conditions: {w: {at: boundary, u: x - y, exact: true}}\n",
        SQUARE
        "shapes:\n"
        "  l: {polygon: {points: [[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]]}}\n"
        "domain: l\n"
        "conditions: {w: {at: boundary, u: 2, exact: true}}\n",
        SQUARE
        "conditions:\n"
        "  w: {at: x = 0 & y < 0.5, u: 1, exact: true, distance: 'hypot(x, max(y - 0.5, 0))'}\n",
        "coordinates: {x: [-1, 1], y: [-1, 1], z: [0, 2]}\nfields: [u, v]\n"
        "equations: {a: lap(u), b: lap(v) = u}\n"
        "shapes: {can: {cylinder: {from: [0, 0, 0], to: [0, 0, 2], radius: 1}}}\n"
        "domain: can\n"
        "conditions:\n"
        "  lid: {at: can.boundary, u: z, exact: true}\n"
        "  rest: {at: boundary, v: 0}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_places(texts[i]);
}

/* Derivatives of u = g + d N to order 4, against differences of those of one order less. */
static void test_derivatives(void **state)
{
    (void)state;
    static const char text[] = SQUARE HOLE "conditions:\n"
                                           "  a: {at: box.boundary, u: sin(x) + y^2, exact: true}\n"
                                           "  b: {at: hole.boundary, u: 1 + x, exact: true}\n";
    static const char *const chains[][5] = {{"u", "u_x", "u_xx", "u_xxx", "u_xxxx"},
                                            {"u", "u_y", "u_yx", "u_yxx", "u_yxxx"},
                                            {"u", "u_x", "u_xy", "u_xyy", "u_xyyy"}};
    static const bool by_x[][4] = {
        {true, true, true, true}, {false, true, true, true}, {true, false, false, false}};
    sg_pinn *pinn = open_text(text);
    const double h = 1e-4;
    for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++)
        for (int order = 0; order < 4; order++) {
            double at[] = {0.15, 0.8}, sides[8], exact, values[4];
            for (int i = 0; i < 4; i++) { /* a difference of fourth order */
                static const double steps[] = {-2, -1, 1, 2};
                sides[2 * i] = at[0] + (by_x[c][order] ? steps[i] * h : 0);
                sides[2 * i + 1] = at[1] + (by_x[c][order] ? 0 : steps[i] * h);
            }
            evaluate(pinn, chains[c][order + 1], at, 1, &exact);
            evaluate(pinn, chains[c][order], sides, 4, values);
            double slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h);
            assert_close(exact / (1 + fabs(slope)), slope / (1 + fabs(slope)), 1e-7);
        }
    sg_pinn_close(pinn);
}

/* The gradient of a loss with an exact condition, a soft one and a periodic one. */
static void test_gradient(void **state)
{
    (void)state;
    static const char text[] = "coordinates: {x: [0, 1], y: [0, 2], t: [0, 1]}\n"
                               "fields: [u]\n"
                               "equations: {a: u_t + u*u_x = 0.1*lap(u)}\n"
                               "conditions:\n"
                               "  start: {at: t = 0, u: sin(2*pi*x)*y*(2 - y), exact: true}\n"
                               "  walls: {at: y = 0 | y = 2, u: 0, exact: true}\n"
                               "  flux: {at: x = 1, u_n: t, points: 20}\n"
                               "  wrap: {periodic: x, slopes: true, points: 20}\n"
                               "points: 50\n";
    sg_pinn *pinn = open_text(text);
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    assert_int_equal(sg_pinn_describe(pinn)->set_count, 3);
    size_t count = sg_jet_network_parameters(sg_pinn_network(pinn));
    double *gradient = calloc(count, sizeof *gradient),
           *values = sg_jet_network_values(sg_pinn_network(pinn));
    assert_non_null(gradient);
    sg_pinn_gradient(batch, gradient, &loss);
    const double h = 1e-6;
    for (size_t i = 0; i < count; i += 7) {
        double kept = values[i], sides[2];
        for (int side = 0; side < 2; side++) {
            values[i] = kept + (side ? h : -h);
            sg_pinn_loss_at(batch, &loss);
            sides[side] = loss.total;
        }
        values[i] = kept;
        assert_close(gradient[i], (sides[1] - sides[0]) / (2 * h), 1e-6);
    }
    free(gradient);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* At the other point of a pair the transform is taken there. */
static void test_pairs(void **state)
{
    (void)state;
    static const char text[] = "coordinates: {x: [0, 1], t: [0, 1]}\n"
                               "fields: [u]\n"
                               "equations: {a: u_t = u_x}\n"
                               "conditions:\n"
                               "  start: {at: t = 0, u: x, exact: true}\n"
                               "  wrap: {periodic: x, points: 64}\n"
                               "points: 10\n";
    sg_pinn *pinn = open_text(text);
    sg_pinn_batch *batch;
    sg_pinn_loss loss;
    double points[64 * 4], upper[64 * 2], lower[64 * 2], a[64], b[64], mean = 0;
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    sg_pinn_loss_at(batch, &loss);
    sg_pinn_points(batch, 1, points);
    for (int i = 0; i < 64; i++) {
        memcpy(upper + 2 * i, points + 4 * i, 2 * sizeof *points);
        memcpy(lower + 2 * i, points + 4 * i + 2, 2 * sizeof *points);
    }
    evaluate(pinn, "u", upper, 64, a);
    evaluate(pinn, "u", lower, 64, b);
    for (int i = 0; i < 64; i++)
        mean += (a[i] - b[i]) * (a[i] - b[i]) / 64;
    assert_relative(loss.terms[1].value, mean, 1e-12);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* A resolved file gives the same transform again, and a condition that holds exactly has no points.
 */
static void test_written_and_read(void **state)
{
    (void)state;
    static const char text[] = IN_TIME "conditions:\n"
                                       "  a: {at: t = 0, u: 1, exact: true, distance: t^2}\n"
                                       "  b: {at: x = 1, u: 0, points: 7}\n";
    sg_pinn *pinn = open_text(text);
    char *written;
    assert_ok(sgi_problem_write(pinn->problem, &written));
    sg_pinn *again = open_text(written);
    const double at[] = {0.3, 0.7};
    double values[2];
    evaluate(pinn, "u_t", at, 1, &values[0]);
    evaluate(again, "u_t", at, 1, &values[1]);
    assert_true(values[0] == values[1]);
    assert_int_equal(sg_pinn_describe(again)->set_count, 2);
    assert_int_equal(again->problem->sets[1].items, 7);
    sgi_release(&pinn->problem->allocator, written);
    sg_pinn_close(pinn);
    sg_pinn_close(again);
}

static sg_status read_and_release(const sg_allocator *allocator, void *context)
{
    static const char text[] = SQUARE HOLE "conditions:\n"
                                           "  a: {at: box.boundary, u: sin(x) + y^2, exact: true}\n"
                                           "  b: {at: hole.boundary, u: 1 + x, exact: true}\n";
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    (void)context;
    sg_status status =
        sgi_problem_read(&problem, "test", text, sizeof text - 1, NULL, 0, allocator, &diagnostic);
    if (status == SG_OK)
        sgi_problem_destroy(problem);
    return status;
}

static void test_allocations_fail(void **state)
{
    (void)state;
    some_allocations_fail(read_and_release, NULL, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_on_places),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_slopes_in_time),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
