/* Points of sets by every distribution: where they lie, in what share, and when they change. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/cloud.h"
#include "support/support.h"

enum { MOST = 2048 };

typedef struct points {
    double coordinates[6][MOST], normals[3][MOST];
} points;

typedef struct bench {
    sgi_problem *problem;
    sgi_arena arena;
    sgi_sobol sobol;
    points a, b;
} bench;

static const char box[] = "coordinates: {x: [-1, 3], y: [0, 1], t: [0, 2]}\n"
                          "fields: [u]\n"
                          "equations: {heat: u_t - lap(u)}\n"
                          "conditions:\n"
                          "  start: {at: t = 0, u: 0, points: 1024}\n"
                          "  walls: {at: boundary, u_n: 0, points: 1000}\n"
                          "  wrap: {periodic: [x, y], slopes: true, points: 125}\n"
                          "  line: {at: x = 0 & y = 0.5, u: 0, points: 50}\n"
                          "points: 512\n";

static const char holes[] =
    "coordinates: {x: [0, 2], y: [0, 2], t: [0, 1]}\n"
    "shapes: {hole: {disc: {center: [1, 1], radius: 0.5}}, dot: {disc: {center: [0.2, 0.2], "
    "radius: 0.01}}}\n"
    "domain: box - hole - dot\n"
    "fields: [u]\n"
    "equations: {heat: u_t - lap(u)}\n"
    "conditions:\n"
    "  start: {at: t = 0, u: 0, points: 512}\n"
    "  rims: {at: hole.boundary | dot.boundary, u_n: 0, points: 60}\n"
    "  outer: {at: box.boundary & x < 1, u_n: 0, points: 100}\n"
    "  inside: {at: domain & x < 1 & t < 0.5, u: 0, points: 64}\n"
    "points: 1024\n";

static bench *open_bench(const char *text, const char *distribution, const char *renew)
{
    bench *b = calloc(1, sizeof *b);
    char sampling[64], renewal[64];
    const char *const overrides[] = {sampling, renewal};
    sg_diagnostic diagnostic = {0};
    assert_non_null(b);
    snprintf(sampling, sizeof sampling, "sampling.distribution=%s", distribution);
    snprintf(renewal, sizeof renewal, "sampling.renew=%s", renew);
    if (sgi_problem_read(&b->problem, "test", text, strlen(text), overrides, 2, NULL,
                         &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    sgi_arena_init(&b->arena, &b->problem->allocator);
    sgi_sobol_make(&b->sobol);
    return b;
}

static void close_bench(bench *b)
{
    sgi_arena_clear(&b->arena);
    sgi_problem_destroy(b->problem);
    free(b);
}

static sgi_cloud make(bench *b, int set)
{
    sgi_cloud cloud;
    assert_ok(sgi_cloud_create(&cloud, b->problem, set, b->problem->sets[set].items,
                               SG_POINTS_TRAINING, &b->sobol, &b->arena));
    return cloud;
}

static void take(const sgi_cloud *cloud, size_t first, size_t count, points *p)
{
    void *coordinates[6], *normals[3];
    for (int k = 0; k < 6; k++)
        coordinates[k] = p->coordinates[k] + first;
    for (int k = 0; k < 3; k++)
        normals[k] = p->normals[k] + first;
    sgi_cloud_points(cloud, first, count, SG_FLOAT64, coordinates);
    sgi_cloud_normals(cloud, first, count, SG_FLOAT64, normals);
}

static const char *const names[] = {"uniform", "latin", "sobol", "halton", "grid"};

static void lie_in_the_box(const bench *b, int set, size_t n, const points *p)
{
    const sgi_point_set *s = &b->problem->sets[set];
    for (size_t i = 0; i < n; i++) {
        double x = p->coordinates[0][i], y = p->coordinates[1][i], t = p->coordinates[2][i];
        double nx = p->normals[0][i], ny = p->normals[1][i];
        assert_true(x >= -1 && x <= 3 && y >= 0 && y <= 1 && t >= 0 && t <= 2);
        if (strcmp(s->name, "start") == 0)
            assert_true(t == 0);
        if (strcmp(s->name, "line") == 0)
            assert_true(x == 0 && y == 0.5);
        if (strcmp(s->name, "walls") == 0) {
            assert_true(x == -1 || x == 3 || y == 0 || y == 1);
            assert_close(nx * nx + ny * ny, 1, 1e-15);
            assert_true(nx == 0 || x == 1 + 2 * nx);
            assert_true(ny == 0 || y == (1 + ny) / 2);
        }
        if (strcmp(s->name, "wrap") == 0)
            assert_true(p->coordinates[5][i] == t &&
                        ((x == 3 && p->coordinates[3][i] == -1 && p->coordinates[4][i] == y) ||
                         (y == 1 && p->coordinates[4][i] == 0 && p->coordinates[3][i] == x)));
    }
}

static void every_distribution_keeps_to_its_set(void **state)
{
    (void)state;
    for (int d = 0; d < 5; d++) {
        bench *b = open_bench(box, names[d], "1");
        for (int set = 0; set < b->problem->set_count; set++) {
            sgi_cloud cloud = make(b, set);
            size_t n = (size_t)cloud.items;
            sgi_cloud_move(&cloud, 7, 3);
            take(&cloud, 0, n, &b->a);
            lie_in_the_box(b, set, n, &b->a);
            for (size_t first = 0; first < n; first += 17)
                take(&cloud, first, n - first < 17 ? n - first : 17, &b->b);
            int columns = 3 * b->problem->sets[set].points_per_item;
            for (int k = 0; k < columns; k++)
                assert_memory_equal(b->a.coordinates[k], b->b.coordinates[k], n * sizeof(double));
            for (int k = 0; k < 3; k++)
                assert_memory_equal(b->a.normals[k], b->b.normals[k], n * sizeof(double));
        }
        close_bench(b);
    }
}

/* Sobol's points on a wall are evenly spread along it; those of the grid exactly so. */
static void faces_are_filled_evenly(void **state)
{
    (void)state;
    bench *b = open_bench(box, "sobol", "1");
    sgi_cloud cloud = make(b, 1);
    sgi_cloud_move(&cloud, 1, 0);
    take(&cloud, 0, 1024, &b->a);
    int boxes[1024] = {0};
    for (int i = 0; i < 1024; i++)
        boxes[32 * (int)(8 * (b->a.coordinates[0][i] + 1)) + (int)(32 * b->a.coordinates[1][i])]++;
    for (int i = 0; i < 1024; i++)
        assert_int_equal(boxes[i], 1);
    close_bench(b);
    b = open_bench(box, "grid", "1");
    cloud = make(b, 4);
    sgi_cloud_move(&cloud, 1, 0);
    take(&cloud, 0, 50, &b->a);
    for (int i = 0; i < 50; i++)
        assert_close(b->a.coordinates[2][i], (i + 0.5) / 25, 1e-15);
    close_bench(b);
}

static bool same_points(const points *a, const points *b, size_t n)
{
    return memcmp(a->coordinates[0], b->coordinates[0], n * sizeof(double)) == 0 &&
           memcmp(a->coordinates[1], b->coordinates[1], n * sizeof(double)) == 0;
}

static void points_are_renewed_when_they_should(void **state)
{
    (void)state;
    static const char *const renewals[] = {"1", "10", "never"};
    for (int region = 0; region < 2; region++)
        for (int d = 0; d < 5; d++)
            for (int r = 0; r < 3; r++) {
                bench *b = open_bench(region ? holes : box, names[d], renewals[r]);
                sgi_cloud cloud = make(b, 0), other = make(b, 0);
                bool grid = d == 4;
                size_t n = (size_t)cloud.items;
                sgi_cloud_move(&cloud, 5, 20);
                take(&cloud, 0, n, &b->a);
                sgi_cloud_move(&cloud, 5, 29);
                take(&cloud, 0, n, &b->b);
                assert_true(same_points(&b->a, &b->b, n) == (grid || r > 0));
                sgi_cloud_move(&cloud, 5, 30);
                take(&cloud, 0, n, &b->b);
                assert_true(same_points(&b->a, &b->b, n) == (grid || r == 2));
                /* The way to a step does not matter. */
                sgi_cloud_move(&other, 5, 20);
                take(&other, 0, n, &b->b);
                assert_true(same_points(&b->a, &b->b, n));
                close_bench(b);
            }
}

/* In a domain with holes no point is in one, rims get points in proportion and never none, and low
 * discrepancy is worth something: a quarter of the domain has its share of the points. */
static void holes_are_left_out(void **state)
{
    (void)state;
    for (int d = 0; d < 5; d++) {
        bench *b = open_bench(holes, names[d], "1");
        sgi_cloud cloud = make(b, 0);
        int quarters[2] = {0};
        sgi_cloud_move(&cloud, 3, 1);
        take(&cloud, 0, 1024, &b->a);
        for (int i = 0; i < 1024; i++) {
            double x = b->a.coordinates[0][i] - 1, y = b->a.coordinates[1][i] - 1;
            assert_true(x * x + y * y > 0.25 && fabs(x) <= 1 && fabs(y) <= 1);
            quarters[x * y > 0]++;
        }
        /* By chance the deviation is 16; 90 points of the grid lie on a side of a quarter. */
        assert_true(abs(quarters[0] - 512) <= (d == 0 || d == 4 ? 80 : 30));
        cloud = make(b, 1);
        sgi_cloud_move(&cloud, 3, 1);
        take(&cloud, 0, 512, &b->a);
        for (int i = 0; i < 512; i++)
            assert_true(b->a.coordinates[2][i] == 0 &&
                        hypot(b->a.coordinates[0][i] - 1, b->a.coordinates[1][i] - 1) > 0.5);
        cloud = make(b, 2);
        sgi_cloud_move(&cloud, 3, 1);
        take(&cloud, 0, 60, &b->a);
        int dots = 0;
        for (int i = 0; i < 60; i++) {
            double x = b->a.coordinates[0][i], y = b->a.coordinates[1][i];
            bool dot = hypot(x - 0.2, y - 0.2) < 0.02;
            dots += dot;
            assert_close(dot ? hypot(x - 0.2, y - 0.2) : hypot(x - 1, y - 1), dot ? 0.01 : 0.5,
                         1e-12);
            assert_close(b->a.normals[0][i], -(dot ? (x - 0.2) / 0.01 : (x - 1) / 0.5), 1e-9);
        }
        assert_int_equal(dots, 1);
        cloud = make(b, 3);
        sgi_cloud_move(&cloud, 3, 1);
        take(&cloud, 0, 100, &b->a);
        for (int i = 0; i < 100; i++)
            assert_true(b->a.coordinates[0][i] < 1 &&
                        (b->a.coordinates[0][i] == 0 || b->a.coordinates[1][i] == 0 ||
                         b->a.coordinates[1][i] == 2));
        cloud = make(b, 4);
        sgi_cloud_move(&cloud, 3, 1);
        take(&cloud, 0, 64, &b->a);
        for (int i = 0; i < 64; i++)
            assert_true(b->a.coordinates[0][i] < 1 && b->a.coordinates[2][i] < 0.5 &&
                        hypot(b->a.coordinates[0][i] - 1, b->a.coordinates[1][i] - 1) > 0.5);
        close_bench(b);
    }
}

/* The mean of r^6 over the domain, by 1,024 points: Sobol's are better than chance, on average over
 * renewals. */
static void sobol_integrates_better_than_chance(void **state)
{
    (void)state;
    double errors[2] = {0};
    /* (integral over the square - integral over the disc) / area; the dot is too small to matter */
    double square = 0, disc = 2 * M_PI * pow(0.5, 8) / 8;
    for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 1000; j++) {
            double x = (i + 0.5) / 500 - 1, y = (j + 0.5) / 500 - 1;
            square += pow(x * x + y * y, 3) * 4e-6;
        }
    double mean = (square - disc) / (4 - M_PI / 4);
    for (int d = 0; d < 2; d++) {
        bench *b = open_bench(holes, d ? "sobol" : "uniform", "1");
        sgi_cloud cloud = make(b, 0);
        for (uint64_t step = 0; step < 30; step++) {
            double sum = 0;
            sgi_cloud_move(&cloud, 1, step);
            take(&cloud, 0, 1024, &b->a);
            for (int i = 0; i < 1024; i++)
                sum +=
                    pow(pow(b->a.coordinates[0][i] - 1, 2) + pow(b->a.coordinates[1][i] - 1, 2), 3);
            errors[d] += pow(sum / 1024 - mean, 2) / 30;
        }
        close_bench(b);
    }
    assert_true(errors[1] < errors[0] / 16);
}

/* Only training follows the settings. */
static void other_streams_stay_uniform(void **state)
{
    (void)state;
    bench *b = open_bench(box, "sobol", "never"), *plain = open_bench(box, "uniform", "1");
    sgi_cloud cloud, uniform;
    for (int s = SG_POINTS_VALIDATION; s <= SG_POINTS_DIAGNOSIS; s++) {
        assert_ok(
            sgi_cloud_create(&cloud, b->problem, 0, 512, (sg_pinn_stream)s, &b->sobol, &b->arena));
        assert_ok(sgi_cloud_create(&uniform, plain->problem, 0, 512, (sg_pinn_stream)s,
                                   &plain->sobol, &plain->arena));
        sgi_cloud_move(&cloud, 2, 9);
        sgi_cloud_move(&uniform, 2, 9);
        take(&cloud, 0, 512, &b->a);
        take(&uniform, 0, 512, &b->b);
        assert_true(same_points(&b->a, &b->b, 512));
    }
    close_bench(b);
    close_bench(plain);
}

/* A condition of its own. */
static void a_condition_has_its_own(void **state)
{
    (void)state;
    static const char text[] = "coordinates: {x: [0, 1], t: [0, 1]}\n"
                               "fields: [u]\n"
                               "equations: {heat: u_t - u_xx}\n"
                               "conditions:\n"
                               "  start: {at: t = 0, u: 0, sampling: grid, renew: never}\n"
                               "  walls: {at: boundary, u: 0}\n"
                               "sampling: {distribution: halton, renew: 50}\n";
    sgi_problem *problem, *again;
    sg_diagnostic diagnostic;
    char *written;
    assert_ok(sgi_problem_read(&problem, "test", text, strlen(text), NULL, 0, NULL, &diagnostic));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(problem->sets[0].distribution, SG_DRAW_HALTON);
        assert_int_equal(problem->sets[0].renew, 50);
        assert_int_equal(problem->sets[1].distribution, SG_DRAW_GRID);
        assert_int_equal(problem->sets[1].renew, 0);
        assert_int_equal(problem->sets[2].distribution, SG_DRAW_HALTON);
        assert_int_equal(problem->sets[2].renew, 50);
        assert_ok(sgi_problem_write(problem, &written));
        assert_ok(sgi_problem_read(&again, "again", written, strlen(written), NULL, 0, NULL,
                                   &diagnostic));
        sgi_release(&problem->allocator, written);
        sgi_problem_destroy(problem);
        problem = again;
    }
    sgi_problem_destroy(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_distribution_keeps_to_its_set),
        cmocka_unit_test(faces_are_filled_evenly),
        cmocka_unit_test(points_are_renewed_when_they_should),
        cmocka_unit_test(holes_are_left_out),
        cmocka_unit_test(sobol_integrates_better_than_chance),
        cmocka_unit_test(other_streams_stay_uniform),
        cmocka_unit_test(a_condition_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
