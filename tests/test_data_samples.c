/* Values at points from files: each form is read, what could be misread is refused, and values
 * between the points are right where they can be. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/interpolate.h"
#include "support/support.h"

/* Arrays by hand; values stay the caller's. */
typedef struct box {
    sgi_arrays arrays;
    sgi_array items[8];
} box;

static void add(box *b, const char *name, size_t rank, size_t n0, size_t n1, double *values)
{
    sgi_array *array = &b->items[b->arrays.count++];
    *array = (sgi_array){.name = (char *)name, .rank = rank, .shape = {n0, n1}, .values = values};
    array->count = rank == 1 ? n0 : n0 * n1;
    b->arrays.items = b->items;
}

static sgi_sample_columns columns_xtu(void)
{
    return (sgi_sample_columns){.coordinate_count = 2,
                                .quantity_count = 1,
                                .names = {"x", "t"},
                                .coordinates = {"x", "t"},
                                .quantities = {"u"}};
}

static double x3[] = {0, 1, 3}, t2[] = {0, 0.5};

static double value(double x, double t)
{
    return 10 * x + t;
}

static void check_grid(const sgi_samples *s)
{
    assert_int_equal(s->count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_true(s->points[2 * i] == x3[i / 2] && s->points[2 * i + 1] == t2[i % 2]);
        assert_true(s->values[i] == value(s->points[2 * i], s->points[2 * i + 1]));
    }
}

/* (x, t) and (t, x), told apart by the lengths; MATLAB's vectors have two dimensions. */
static void grids_are_listed(void **state)
{
    (void)state;
    for (int transposed = 0; transposed < 2; transposed++) {
        double u[6];
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 2; j++)
                u[transposed ? j * 3 + i : i * 2 + j] = value(x3[i], t2[j]);
        box b = {0};
        sgi_samples s;
        sgi_sample_columns c = columns_xtu();
        add(&b, "x", 2, 1, 3, x3);
        add(&b, "t", 2, 2, 1, t2);
        add(&b, "u", 2, transposed ? 2 : 3, transposed ? 3 : 2, u);
        assert_ok(sgi_samples_make(&s, &b.arrays, true, &c, "a.mat", NULL, NULL));
        check_grid(&s);
        sgi_samples_release(&s);
    }
}

static void equal_lengths_need_an_order(void **state)
{
    (void)state;
    double u[] = {1, 2, 3, 4};
    box b = {0};
    sgi_samples s;
    sg_diagnostic diagnostic = {0};
    sgi_sample_columns c = columns_xtu();
    add(&b, "x", 1, 2, 0, x3);
    add(&b, "t", 1, 2, 0, t2);
    add(&b, "u", 2, 2, 2, u);
    assert_status(sgi_samples_make(&s, &b.arrays, true, &c, "a.npz", NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_string_equal(said(&diagnostic), "a.npz: 'u' has dimensions of equal length, so that its "
                                           "coordinates could be swapped");
    assert_non_null(strstr(diagnostic.suggestion, "order: [x, t]"));
    c.order_count = 2;
    c.order[0] = 1; /* t first */
    c.order[1] = 0;
    assert_ok(sgi_samples_make(&s, &b.arrays, true, &c, "a.npz", NULL, NULL));
    assert_true(s.values[1] == 3); /* x = 0, t = 0.5: row 1, column 0 */
    sgi_samples_release(&s);
}

static void scattered_points_are_taken(void **state)
{
    (void)state;
    double u[] = {5, NAN, 7};
    double t[] = {0, 1, 2};
    box b = {0};
    sgi_samples s;
    sgi_sample_columns c = columns_xtu();
    add(&b, "u", 1, 3, 0, u);
    add(&b, "t", 1, 3, 0, t);
    add(&b, "x", 1, 3, 0, x3);
    assert_ok(sgi_samples_make(&s, &b.arrays, true, &c, "a.csv", NULL, NULL));
    assert_int_equal(s.count, 3);
    assert_true(s.points[4] == 3 && s.points[5] == 2 && s.values[2] == 7 && isnan(s.values[1]));
    sgi_samples_release(&s);
}

static void columns_may_be_times(void **state)
{
    (void)state;
    double first[] = {1, 2, 3}, second[] = {4, 5, 6};
    box b = {0};
    sgi_samples s;
    sgi_sample_columns c = columns_xtu();
    add(&b, "x", 1, 3, 0, x3);
    add(&b, "u @ t=0", 1, 3, 0, first);
    add(&b, "u @ t=0.5", 1, 3, 0, second);
    assert_ok(sgi_samples_make(&s, &b.arrays, true, &c, "a.txt", NULL, NULL));
    assert_int_equal(s.count, 6);
    assert_true(s.points[9] == 0.5 && s.points[8] == 1 && s.values[4] == 5);
    sgi_samples_release(&s);
}

static void tables_without_names_go_by_order(void **state)
{
    (void)state;
    double t[] = {0, 1, 2}, u[] = {5, 6, 7};
    box b = {0};
    sgi_samples s;
    sg_diagnostic diagnostic = {0};
    sgi_sample_columns c = columns_xtu();
    add(&b, "1", 1, 3, 0, x3);
    add(&b, "2", 1, 3, 0, t);
    add(&b, "3", 1, 3, 0, u);
    assert_ok(sgi_samples_make(&s, &b.arrays, false, &c, "a.dat", NULL, NULL));
    assert_true(s.points[5] == 2 && s.values[2] == 7);
    sgi_samples_release(&s);
    add(&b, "4", 1, 3, 0, u);
    assert_status(sgi_samples_make(&s, &b.arrays, false, &c, "a.dat", NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(said(&diagnostic), "there are 4 of them for 2 coordinates and 1 quant"));
    c.coordinates[0] = "1";
    c.coordinates[1] = "2";
    c.quantities[0] = "4";
    assert_ok(sgi_samples_make(&s, &b.arrays, false, &c, "a.dat", NULL, NULL));
    sgi_samples_release(&s);
}

static void refuse(const box *b, const sgi_sample_columns *c, const char *message)
{
    sgi_samples s;
    sg_diagnostic diagnostic = {0};
    assert_status(sgi_samples_make(&s, &b->arrays, true, c, "a.npz", NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_string_equal(said(&diagnostic), message);
    sgi_samples_release(&s);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    double many[7] = {0}, bad[] = {0, NAN, 1}, u[] = {1, INFINITY, 2};
    sgi_sample_columns c = columns_xtu();
    box b = {0};
    add(&b, "x", 1, 3, 0, x3);
    add(&b, "t", 1, 2, 0, t2);
    add(&b, "U", 1, 7, 0, many);
    refuse(&b, &c, "a.npz: there is no 'u' for a quantity; the file has x, t, U");
    b.items[2].name = (char *)"u";
    refuse(&b, &c, "a.npz: 'x' has 3 values, and 't' has 2");
    b.items[2] = (sgi_array){.name = (char *)"u", .rank = 1, .shape = {6}, .count = 6};
    b.items[2].values = many;
    refuse(&b, &c, "a.npz: 'u' has 6 values, which does not fit 3 of 'x' and 2 of 't'");
    box two = {0};
    add(&two, "x", 1, 3, 0, x3);
    add(&two, "t", 1, 3, 0, bad);
    add(&two, "u", 1, 3, 0, u);
    refuse(&two, &c, "a.npz: 't' is not a finite number at point 2");
    two.items[1].values = x3;
    refuse(&two, &c, "a.npz: 'u' is infinite at point 2");
    add(&two, "u", 1, 3, 0, u);
    refuse(&two, &c, "a.npz: there are two 'u'");
}

/* A function that is linear in each coordinate comes back exactly from a grid, whatever the order
 * of its points; a linear one from scattered points. */
static void values_between(void **state)
{
    (void)state;
    enum { N = 400 };
    double points[2 * N], values[N];
    sgi_samples s = {.count = 12, .coordinate_count = 2, .quantity_count = 1};
    s.points = points;
    s.values = values;
    for (size_t i = 0; i < 12; i++) {
        size_t at = i * 5 % 12; /* any order */
        points[2 * i] = (double)(at / 4) * 0.5 - 1;
        points[2 * i + 1] = (double)(at % 4) * 3;
        values[i] = (1 + points[2 * i]) * (2 - points[2 * i + 1]);
    }
    sgi_interpolant *p;
    size_t lengths[2];
    assert_ok(sgi_interpolant_create(&p, &s, NULL));
    assert_true(sgi_interpolant_grid(p, lengths) && lengths[0] == 3 && lengths[1] == 4);
    for (int i = 0; i < 50; i++) {
        double x[2] = {-1 + i / 49.0, 9 * ((i * 17) % 50) / 49.0};
        assert_true(fabs(sgi_interpolant_at(p, values, x) - (1 + x[0]) * (2 - x[1])) < 1e-13);
    }
    assert_true(isnan(sgi_interpolant_at(p, values, (double[]){0.1, 3})));
    sgi_interpolant_destroy(p);

    s.count = N;
    srand(1);
    for (size_t i = 0; i < N; i++) {
        points[2 * i] = rand() / (double)RAND_MAX;
        points[2 * i + 1] = 100 * (rand() / (double)RAND_MAX);
        values[i] = i % 7 == 3 ? NAN : 3 - 2 * points[2 * i] + 0.01 * points[2 * i + 1];
    }
    assert_ok(sgi_interpolant_create(&p, &s, NULL));
    assert_false(sgi_interpolant_grid(p, NULL));
    for (size_t i = 0; i < N; i++) {
        double x[2] = {(double)i / N, 100 * fmod((double)i * 0.618, 1)};
        assert_true(fabs(sgi_interpolant_at(p, values, x) - (3 - 2 * x[0] + 0.01 * x[1])) < 1e-9);
        if (!isnan(values[i]))
            assert_true(sgi_interpolant_at(p, values, points + 2 * i) == values[i]);
    }
    sgi_interpolant_destroy(p);
}

/* Points 0.1 apart: a tree that missed the nearest would give errors of 1. */
static void the_tree_finds_the_nearest(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double points[3 * N], values[N];
    sgi_samples s = {.count = N, .coordinate_count = 3, .quantity_count = 1};
    s.points = points;
    s.values = values;
    srand(2);
    for (size_t i = 0; i < 3 * N; i++)
        points[i] = i < 9 ? 0.5 : rand() / (double)RAND_MAX; /* some points coincide */
    for (size_t i = 0; i < N; i++)
        values[i] = sin(5 * points[3 * i]) + points[3 * i + 1] * points[3 * i + 2];
    sgi_interpolant *p;
    assert_ok(sgi_interpolant_create(&p, &s, NULL));
    double worst = 0;
    for (size_t i = 0; i < 200; i++) {
        double x[3] = {0.1 + 0.8 * fmod((double)i * 0.618, 1),
                       0.1 + 0.8 * fmod((double)i * 0.755, 1),
                       0.1 + 0.8 * fmod((double)i * 0.57, 1)};
        worst = fmax(worst, fabs(sgi_interpolant_at(p, values, x) - (sin(5 * x[0]) + x[1] * x[2])));
    }
    assert_true(worst < 0.25); /* half the curvature, 12.5, times the square of 0.1 */
    sgi_interpolant_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_listed),
        cmocka_unit_test(equal_lengths_need_an_order),
        cmocka_unit_test(scattered_points_are_taken),
        cmocka_unit_test(columns_may_be_times),
        cmocka_unit_test(tables_without_names_go_by_order),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(values_between),
        cmocka_unit_test(the_tree_finds_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
