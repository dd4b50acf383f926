/* Points: a pure function of their numbers, in the domain, on the faces, in proportion. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/sampler.h"
#include "support/support.h"

enum { MOST = 4096 };

static const char text[] = "coordinates: {x: [-1, 3], y: [0, 1], t: [0, 2]}\n"
                           "fields: [u]\n"
                           "equations: {heat: u_t - lap(u)}\n"
                           "conditions:\n"
                           "  start: {at: t = 0, u: 0}\n"
                           "  walls: {at: boundary, u_n: 0, points: 1000}\n"
                           "  wrap: {periodic: [x, y], slopes: true, points: 30}\n"
                           "points: 1001\n";

typedef struct cloud {
    double coordinates[6][MOST];
    double normals[3][MOST];
} cloud;

static sgi_problem *open_problem(void)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    assert_ok(
        sgi_problem_read(&problem, "test", text, sizeof text - 1, NULL, 0, NULL, &diagnostic));
    return problem;
}

static void draw_points(const sgi_problem *problem, int set, int64_t items, sgi_draw draw,
                        size_t first, size_t count, cloud *c)
{
    void *coordinates[6], *normals[3];
    for (int k = 0; k < 6; k++)
        coordinates[k] = c->coordinates[k];
    for (int k = 0; k < 3; k++)
        normals[k] = c->normals[k];
    sgi_sample(problem, set, items, &draw, first, count, SG_FLOAT64, coordinates);
    sgi_sample_normals(problem, set, items, &draw, first, count, SG_FLOAT64, normals);
}

static void test_points_are_pure_functions(void **state)
{
    (void)state;
    sgi_problem *problem = open_problem();
    cloud *all = calloc(1, sizeof *all), *part = calloc(1, sizeof *part);
    assert_true(all && part);
    sgi_draw draw = {7, SG_POINTS_TRAINING, 123};
    for (int set = 0; set < problem->set_count; set++) {
        int64_t items = problem->sets[set].items;
        size_t n = (size_t)items;
        draw_points(problem, set, items, draw, 0, n, all);
        for (size_t first = 0; first < n; first += 17) {
            size_t count = n - first < 17 ? n - first : 17;
            draw_points(problem, set, items, draw, first, count, part);
            for (int k = 0; k < 3 * problem->sets[set].points_per_item; k++)
                assert_memory_equal(part->coordinates[k], all->coordinates[k] + first,
                                    count * sizeof(double));
            for (int k = 0; k < 3; k++)
                assert_memory_equal(part->normals[k], all->normals[k] + first,
                                    count * sizeof(double));
        }
    }
    free(all);
    free(part);
    sgi_problem_destroy(problem);
}

static void test_streams_differ(void **state)
{
    (void)state;
    sgi_problem *problem = open_problem();
    cloud *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    assert_true(a && b);
    const sgi_draw draws[] = {{7, SG_POINTS_TRAINING, 1},
                              {8, SG_POINTS_TRAINING, 1},
                              {7, SG_POINTS_VALIDATION, 1},
                              {7, SG_POINTS_TRAINING, 2},
                              {7, SG_POINTS_CHECK, 1}};
    draw_points(problem, 0, 1001, draws[0], 0, 1001, a);
    for (int i = 1; i < 5; i++) {
        draw_points(problem, 0, 1001, draws[i], 0, 1001, b);
        for (int k = 0; k < 1001; k++)
            assert_true(a->coordinates[0][k] != b->coordinates[0][k]);
    }
    draw_points(problem, 1, 1001, draws[0], 0, 1001, b);
    assert_true(a->coordinates[0][0] != b->coordinates[0][0]);
    free(a);
    free(b);
    sgi_problem_destroy(problem);
}

static void test_domain_is_filled_evenly(void **state)
{
    (void)state;
    sgi_problem *problem = open_problem();
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    draw_points(problem, 0, MOST, (sgi_draw){3, SG_POINTS_TRAINING, 0}, 0, MOST, c);
    for (int k = 0; k < 3; k++) {
        double lower = problem->lower[k], upper = problem->upper[k], sum = 0, squares = 0;
        for (int i = 0; i < MOST; i++) {
            double u = (c->coordinates[k][i] - lower) / (upper - lower);
            assert_true(u >= 0 && u <= 1);
            sum += u;
            squares += u * u;
        }
        assert_close(sum / MOST, 0.5, 0.02);
        assert_close(squares / MOST, 1 / 3.0, 0.02);
    }
    free(c);
    sgi_problem_destroy(problem);
}

static void test_faces_by_measure_and_normals(void **state)
{
    (void)state;
    sgi_problem *problem = open_problem();
    const sgi_point_set *walls = &problem->sets[2];
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    draw_points(problem, 2, 1000, (sgi_draw){3, SG_POINTS_TRAINING, 0}, 0, 1000, c);
    int counts[4] = {0};
    for (int i = 0; i < 1000; i++) {
        double x = c->coordinates[0][i], y = c->coordinates[1][i];
        int face = x == -1 ? 0 : x == 3 ? 1 : y == 0 ? 2 : 3;
        assert_true(face < 3 || y == 1);
        counts[face]++;
        assert_close(c->normals[0][i], face == 0 ? -1 : face == 1, 0);
        assert_close(c->normals[1][i], face == 2 ? -1 : face == 3, 0);
        assert_close(c->normals[2][i], 0, 0);
    }
    /* measures 1 * 2 and 4 * 2 */
    assert_int_equal(counts[0], 100);
    assert_int_equal(counts[1], 100);
    assert_int_equal(counts[2], 400);
    assert_int_equal(counts[3], 400);
    for (int64_t items = 1; items < 200; items++) {
        assert_int_equal(sgi_face_begin(walls, items, 4), items);
        for (int f = 0; f < 4 && items >= 4; f++)
            assert_true(sgi_face_begin(walls, items, f + 1) > sgi_face_begin(walls, items, f));
    }
    free(c);
    sgi_problem_destroy(problem);
}

static void test_pairs(void **state)
{
    (void)state;
    sgi_problem *problem = open_problem();
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    draw_points(problem, 3, 30, (sgi_draw){3, SG_POINTS_TRAINING, 0}, 0, 30, c);
    for (int i = 0; i < 30; i++) {
        int k = i < 6 ? 0 : 1; /* measures 2 and 8 */
        assert_close(c->coordinates[k][i], problem->upper[k], 0);
        assert_close(c->coordinates[3 + k][i], problem->lower[k], 0);
        assert_close(c->normals[k][i], 1, 0);
        for (int j = 0; j < 3; j++)
            if (j != k)
                assert_close(c->coordinates[j][i], c->coordinates[3 + j][i], 0);
    }
    free(c);
    sgi_problem_destroy(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_are_pure_functions),
        cmocka_unit_test(test_streams_differ),
        cmocka_unit_test(test_domain_is_filled_evenly),
        cmocka_unit_test(test_faces_by_measure_and_normals),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
