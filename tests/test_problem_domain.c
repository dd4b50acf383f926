/* Domains that are no boxes: reading them, their points, normals and places of conditions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/errors.h"
#include "problem/check.h"
#include "problem/sampler.h"
#include "stablegrad/pinn.h"
#include "support/support.h"

enum { MOST = 4096 };

/* A plate with a hole and a slit, in time. Its parts are read in any order. */
static const char plate[] =
    "coordinates: {x: [0, 2], t: [0, 3], y: [0, 1]}\n"
    "constants: {r: 0.2}\n"
    "shapes:\n"
    "  solid: sheet - (hole + slit)\n"
    "  sheet: {rectangle: {from: [0, 0], to: [2, 1]}}\n"
    "  hole: {disc: {center: [0.5, 0.5], radius: r}}\n"
    "  slit: {rectangle: {from: [1, 0.45], to: [1.5, 0.55]}, rotate: 90, move: [0.1, 0]}\n"
    "domain: solid\n"
    "fields: [u]\n"
    "equations: {heat: u_t - lap(u) = 0}\n"
    "conditions:\n"
    "  start: {at: t = 0, u: 0}\n"
    "  rim: {at: hole.boundary, u_n: 0, points: 500}\n"
    "  outer: {at: sheet.boundary, u: 0, points: 600}\n"
    "  all: {at: boundary, u: 0, points: 4000}\n"
    "  half: {at: boundary & x < 1 & y > 0.5, u: 0, points: 400}\n"
    "  left: {at: x = 0 | x = 2 & t < 1, u_n: 0, points: 400}\n"
    "  middle: {at: y = 0.5, u: 0, points: 400}\n"
    "  pin: {at: x = 0 & y = 0 & t = 0, u: 0}\n"
    "points: 4000\n";

enum { DOMAIN, START, RIM, OUTER, ALL, HALF, LEFT, MIDDLE, PIN };

typedef struct cloud {
    double x[3][MOST], normals[3][MOST];
} cloud;

static sgi_problem *read_text(const char *text)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    sg_status status =
        sgi_problem_read(&problem, "test", text, strlen(text), NULL, 0, NULL, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return problem;
}

static size_t draw_points(const sgi_problem *problem, int set, uint64_t step, size_t first,
                          size_t count, cloud *c)
{
    void *coordinates[6] = {c->x[0], c->x[1], c->x[2]};
    void *normals[3] = {c->normals[0], c->normals[1], c->normals[2]};
    sgi_draw draw = {7, SG_POINTS_TRAINING, step};
    int64_t items = problem->sets[set].items;
    if (count == 0)
        count = (size_t)items;
    sgi_sample(problem, set, items, &draw, first, count, SG_FLOAT64, coordinates);
    sgi_sample_normals(problem, set, items, &draw, first, count, SG_FLOAT64, normals);
    return count;
}

/* The rotated slit, by hand. */
static bool in_slit(double x, double y, double slack)
{
    return fabs(x - 1.35) < 0.05 + slack && fabs(y - 0.5) < 0.25 + slack;
}

static void test_points_inside(void **state)
{
    (void)state;
    sgi_problem *problem = read_text(plate);
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    size_t n = draw_points(problem, DOMAIN, 3, 0, 0, c);
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        double x = c->x[0][i], t = c->x[1][i], y = c->x[2][i];
        assert_true(x >= 0 && x <= 2 && y >= 0 && y <= 1 && t >= 0 && t <= 3);
        assert_true(hypot(x - 0.5, y - 0.5) > 0.2);
        assert_false(in_slit(x, y, 0));
        left += x < 1;
    }
    double area = 2 - 0.04 * M_PI - 0.05;
    assert_close(problem->domain.region->measure, area, 2e-3);
    assert_close((double)left / (double)n, (1 - 0.04 * M_PI) / area, 0.03);
    n = draw_points(problem, START, 3, 0, 0, c);
    for (size_t i = 0; i < n; i++) {
        assert_true(c->x[1][i] == 0 && c->normals[1][i] == -1);
        assert_true(hypot(c->x[0][i] - 0.5, c->x[2][i] - 0.5) > 0.2);
    }
    free(c);
    sgi_problem_destroy(problem);
}

static void test_points_are_pure_functions(void **state)
{
    (void)state;
    sgi_problem *problem = read_text(plate);
    cloud *all = calloc(1, sizeof *all), *part = calloc(1, sizeof *part);
    assert_true(all && part);
    for (int set = 0; set < problem->set_count; set++) {
        size_t n = draw_points(problem, set, 9, 0, 0, all);
        for (size_t first = 0; first < n; first += 31) {
            size_t count = n - first < 31 ? n - first : 31;
            draw_points(problem, set, 9, first, count, part);
            for (int k = 0; k < 3; k++) {
                assert_memory_equal(part->x[k], all->x[k] + first, count * sizeof(double));
                assert_memory_equal(part->normals[k], all->normals[k] + first,
                                    count * sizeof(double));
            }
        }
        if (set == PIN)
            continue;
        draw_points(problem, set, 10, 0, 0, part);
        assert_true(memcmp(part->x[0], all->x[0], n * sizeof(double)) != 0 ||
                    memcmp(part->x[2], all->x[2], n * sizeof(double)) != 0);
    }
    free(all);
    free(part);
    sgi_problem_destroy(problem);
}

/* On the rim the normal points into the hole, which is out of the domain. */
static void test_points_of_boundaries(void **state)
{
    (void)state;
    sgi_problem *problem = read_text(plate);
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    size_t n = draw_points(problem, RIM, 1, 0, 0, c), upper = 0;
    for (size_t i = 0; i < n; i++) {
        double x = c->x[0][i] - 0.5, y = c->x[2][i] - 0.5;
        assert_close(hypot(x, y), 0.2, 1e-14);
        assert_close(c->normals[0][i], -x / 0.2, 1e-12);
        assert_close(c->normals[2][i], -y / 0.2, 1e-12);
        assert_close(c->normals[1][i], 0, 0);
        upper += y > 0;
    }
    assert_close((double)upper / (double)n, 0.5, 0.1);
    n = draw_points(problem, OUTER, 1, 0, 0, c);
    for (size_t i = 0; i < n; i++)
        assert_true(c->x[0][i] == 0 || c->x[0][i] == 2 || c->x[2][i] == 0 || c->x[2][i] == 1);
    free(c);
    sgi_problem_destroy(problem);
}

/* Sides of the boundary get points in proportion to their lengths: 6, 0.4 pi and 1.2. */
static void test_pieces_in_proportion(void **state)
{
    (void)state;
    sgi_problem *problem = read_text(plate);
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    size_t n = draw_points(problem, ALL, 1, 0, 0, c), rim = 0, slit = 0;
    for (size_t i = 0; i < n; i++) {
        rim += fabs(hypot(c->x[0][i] - 0.5, c->x[2][i] - 0.5) - 0.2) < 1e-12;
        slit += in_slit(c->x[0][i], c->x[2][i], 1e-9);
    }
    double whole = 6 + 0.4 * M_PI + 1.2;
    assert_close((double)rim / (double)n, 0.4 * M_PI / whole, 5e-3);
    assert_close((double)slit / (double)n, 1.2 / whole, 5e-3);
    free(c);
    sgi_problem_destroy(problem);
}

static void test_parts_of_places(void **state)
{
    (void)state;
    sgi_problem *problem = read_text(plate);
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    size_t n = draw_points(problem, HALF, 1, 0, 0, c);
    for (size_t i = 0; i < n; i++)
        assert_true(c->x[0][i] < 1 && c->x[2][i] > 0.5);
    n = draw_points(problem, LEFT, 1, 0, 0, c);
    size_t right = 0;
    for (size_t i = 0; i < n; i++) {
        bool far = c->x[0][i] == 2;
        assert_true(far || c->x[0][i] == 0);
        assert_true(!far || c->x[1][i] < 1);
        assert_close(c->normals[0][i], far ? 1 : -1, 0);
        right += far;
    }
    assert_close((double)right / (double)n, 0.25, 0.01);
    n = draw_points(problem, MIDDLE, 1, 0, 0, c);
    for (size_t i = 0; i < n; i++) {
        assert_true(c->x[2][i] == 0.5 && fabs(c->x[0][i] - 0.5) > 0.2 - 1e-8);
        assert_close(c->normals[2][i], 0, 0);
    }
    assert_int_equal(draw_points(problem, PIN, 1, 0, 0, c), 1);
    assert_true(c->x[0][0] == 0 && c->x[1][0] == 0 && c->x[2][0] == 0);
    free(c);
    sgi_problem_destroy(problem);
}

/* Two materials side by side: the interface is where both end, inside the domain. */
static void test_interface(void **state)
{
    (void)state;
    sgi_problem *problem =
        read_text("coordinates: {x: [0, 2], y: [0, 1]}\n"
                  "shapes:\n"
                  "  steel: {rectangle: {from: [0, 0], to: [1, 1]}}\n"
                  "  air: {rectangle: {from: [1, 0], to: [2, 1]}}\n"
                  "domain: steel + air\n"
                  "fields: [u, v]\n"
                  "equations: {a: lap(u), b: lap(v)}\n"
                  "conditions:\n"
                  "  jump: {at: steel.boundary & air.boundary, u_n: 2*v_n, u - v: 0}\n"
                  "  edge: {at: boundary, u: 0}\n");
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    size_t n = draw_points(problem, 1, 1, 0, 0, c);
    for (size_t i = 0; i < n; i++) {
        assert_close(c->x[0][i], 1, 1e-15);
        assert_close(c->normals[0][i], 1, 1e-15); /* out of steel */
    }
    n = draw_points(problem, 2, 1, 0, 0, c);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(c->x[0][i] - 1) < 1e-12 ? c->x[1][i] == 0 || c->x[1][i] == 1 : true);
    double length = 0;
    for (int f = 0; f < problem->sets[2].face_count; f++)
        length += problem->sets[2].faces[f].measure;
    assert_close(length, 6, 0.03);
    free(c);
    sgi_problem_destroy(problem);
}

/* u_n and u_nn on a circle, against a solution that fits: r^2 has slope 2 r and second slope 2. */
static void test_slopes_along_curved_normals(void **state)
{
    (void)state;
    sgi_problem *problem = read_text("coordinates: {x: [-1, 1], y: [-1, 1]}\n"
                                     "shapes: {disc: {disc: {center: [0, 0], radius: 0.9}}}\n"
                                     "domain: disc\n"
                                     "fields: [u]\n"
                                     "equations: {poisson: lap(u) = 4}\n"
                                     "conditions:\n"
                                     "  slope: {at: boundary, u_n: 1.8}\n"
                                     "  second: {at: boundary, u_nn: 2}\n"
                                     "  mixed: {at: disc.boundary & x > 0, u_n + u: 1.8 + 0.81}\n"
                                     "reference: {u: x^2 + y^2}\n");
    sgi_check check;
    assert_ok(sgi_problem_check(problem, &check));
    assert_int_equal(check.count, 4);
    for (size_t i = 0; i < check.count; i++)
        assert_true(check.rows[i].passed);
    sgi_check_release(problem, &check);
    sgi_problem_destroy(problem);
}

/* Errors are measured inside alone. */
static void test_errors_inside(void **state)
{
    (void)state;
    sgi_problem *problem = read_text("coordinates: {x: [-1, 1], y: [-1, 1]}\n"
                                     "shapes: {disc: {disc: {center: [0, 0], radius: 0.9}}}\n"
                                     "domain: disc\n"
                                     "fields: [u]\n"
                                     "equations: {poisson: lap(u) = 4}\n"
                                     "reference: {u: sqrt(0.81 - x^2 - y^2 + 1e-9)}\n"
                                     "evaluation: {grid: 201 x 201}\n");
    sgi_errors *errors;
    sg_pool *pool;
    assert_ok(sg_pool_create(&pool, 1, NULL));
    assert_ok(sgi_errors_create(&errors, problem, pool, NULL));
    assert_int_equal(errors->left_out, 0); /* the reference is NaN outside, which is no fault */
    assert_close((double)errors->inside / (201.0 * 201.0), M_PI * 0.81 / 4, 0.01);
    assert_true(isnan(errors->reference[0][0]));
    sgi_errors_destroy(errors);
    sg_pool_destroy(pool);
    sgi_problem_destroy(problem);
}

/* Points that are given on a circle have its normal; others are refused. */
static void test_given_points(void **state)
{
    (void)state;
    static const char text[] = "coordinates: {x: [-1, 1], y: [-1, 1]}\n"
                               "shapes: {disc: {disc: {center: [0, 0], radius: 0.5}}}\n"
                               "domain: box - disc\n"
                               "fields: [u]\n"
                               "equations: {poisson: lap(u) = 4}\n"
                               "conditions: {slope: {at: disc.boundary, u_n: 1}}\n"
                               "network: {hidden: 1 x 4, precision: double}\n";
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sg_diagnostic diagnostic;
    assert_ok(sg_pinn_read(&pinn, "test", text, sizeof text - 1, NULL, 0, NULL, &diagnostic));
    assert_ok(sg_pinn_batch_create(&batch, pinn, NULL, NULL));
    const double on[] = {0.5, 0, 0, -0.5}, off[] = {0.6, 0};
    double sampled[2], given[2];
    assert_ok(sg_pinn_give(batch, 1, on, 2, &diagnostic));
    sg_pinn_loss loss;
    sg_pinn_loss_at(batch, &loss);
    given[0] = loss.terms[1].value;
    assert_status(sg_pinn_give(batch, 1, off, 1, &diagnostic), SG_ERROR_ARGUMENT);
    assert_non_null(strstr(diagnostic.message, "none of its faces"));
    /* The slope along -x at (0.5, 0), by a difference. */
    const double h = 1e-5, places[] = {0.5 - h, 0, 0.5 + h, 0, 0, -0.5 - h, 0, -0.5 + h};
    double values[4];
    const char *u = "u";
    assert_ok(sg_pinn_evaluate(pinn, &u, 1, places, 4, values, NULL, &diagnostic));
    sampled[0] = -(values[1] - values[0]) / (2 * h) - 1;
    sampled[1] = (values[3] - values[2]) / (2 * h) - 1;
    given[1] = (sampled[0] * sampled[0] + sampled[1] * sampled[1]) / 2;
    assert_relative(given[0], given[1], 1e-6);
    sg_pinn_batch_destroy(batch);
    sg_pinn_close(pinn);
}

/* The resolved file gives the same domain again. */
static void test_written_and_read(void **state)
{
    (void)state;
    sgi_problem *problem = read_text(plate);
    char *text;
    assert_ok(sgi_problem_write(problem, &text));
    sgi_problem *again = read_text(text);
    cloud *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    assert_true(a && b);
    for (int set = 0; set < problem->set_count; set++) {
        size_t n = draw_points(problem, set, 4, 0, 0, a);
        draw_points(again, set, 4, 0, 0, b);
        for (int k = 0; k < 3; k++)
            assert_memory_equal(a->x[k], b->x[k], n * sizeof(double));
    }
    free(a);
    free(b);
    sgi_release(&problem->allocator, text);
    sgi_problem_destroy(problem);
    sgi_problem_destroy(again);
}

/* A small one: it is read some hundred times. */
static sg_status read_and_release(const sg_allocator *allocator, void *context)
{
    static const char text[] = "coordinates: {x: [0, 1], y: [0, 1]}\n"
                               "shapes:\n"
                               "  a: {polygon: {points: [[0, 0], [1, 0], [0, 1]]}}\n"
                               "  b: a\n"
                               "domain: b\n"
                               "fields: [u]\n"
                               "equations: {laplace: lap(u)}\n"
                               "conditions: {w: {at: boundary & x < 0.5, u_n: 0, u: 1}}\n";
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
        cmocka_unit_test(test_points_inside),
        cmocka_unit_test(test_points_are_pure_functions),
        cmocka_unit_test(test_points_of_boundaries),
        cmocka_unit_test(test_pieces_in_proportion),
        cmocka_unit_test(test_parts_of_places),
        cmocka_unit_test(test_interface),
        cmocka_unit_test(test_slopes_along_curved_normals),
        cmocka_unit_test(test_errors_inside),
        cmocka_unit_test(test_given_points),
        cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
