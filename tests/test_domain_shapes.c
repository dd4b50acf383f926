/* Shapes and regions against what geometry says of them: distances, normals, measures, points. */
#include <math.h>
#include <string.h>

#include "domain/region.h"
#include "support/support.h"

enum { POINTS = 20000, MOST_VALUES = 32 };

static sgi_arena arena;

/* A shape with its numbers in one list, key after key. */
static sgi_shape make(const char *kind, int axes, const double *numbers, size_t corners)
{
    sgi_shape shape = {.kind = sgi_shape_find(kind), .name = kind, .axes = axes, .reach = 10};
    assert_non_null(shape.kind);
    for (int i = 0; i < SG_MOST_SHAPE_KEYS && shape.kind->keys[i].name; i++) {
        sgi_shape_value value = shape.kind->keys[i].value;
        shape.counts[i] = value == SG_SHAPE_POINTS ? corners : 1;
        shape.values[i] = numbers;
        numbers += value == SG_SHAPE_NUMBER ? 1 : shape.counts[i] * (size_t)axes;
    }
    return shape;
}

static sgi_shape prepared(const char *kind, int axes, const double *numbers, size_t corners)
{
    sgi_shape shape = make(kind, axes, numbers, corners);
    assert_null(shape.kind->wrong(&shape));
    assert_ok(sgi_shape_prepare(&shape, &arena));
    return shape;
}

static void turn_about(sgi_shape *shape, double angle)
{
    shape->turned = true;
    memset(shape->turn, 0, sizeof shape->turn);
    int d = shape->axes;
    for (int k = 0; k < d; k++)
        shape->turn[k * d + k] = 1;
    shape->turn[0] = shape->turn[d + 1] = cos(angle);
    shape->turn[1] = -sin(angle);
    shape->turn[d] = sin(angle);
    for (int k = 0; k < d; k++)
        shape->move[k] = 0.3 * (k + 1);
}

/* Points of the boundary have distance 0; the distance grows by h when one goes out along the
 * normal by h, and falls inside. */
static void check_boundary(const sgi_shape *shape)
{
    sgi_uniforms uniforms = {.seed = 3};
    double x[SG_MOST_AXES], normal[SG_MOST_AXES], at[SG_MOST_AXES];
    const double h = 1e-4;
    int off = 0;
    for (int i = 0; i < 2000; i++) {
        sgi_shape_boundary_point(shape, &uniforms, x, normal);
        assert_close(sgi_shape_distance(shape, x), 0, 1e-12);
        assert_close(sgi_dot(normal, normal, shape->axes), 1, 1e-12);
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int k = 0; k < shape->axes; k++)
                at[k] = x[k] + sign * h * normal[k];
            off += fabs(sgi_shape_distance(shape, at) - sign * h) > 1e-9;
        }
        for (int k = 0; k < shape->axes; k++) {
            assert_true(x[k] >= shape->lower[k] - 1e-12);
            assert_true(x[k] <= shape->upper[k] + 1e-12);
        }
    }
    assert_true(off < 20); /* within h of an edge another face is nearer */
}

/* The distance is that to the nearest of many points of the boundary, as far as those are dense. */
static void check_distance(const sgi_shape *shape, double gap)
{
    static double cloud[POINTS][SG_MOST_AXES];
    double normal[SG_MOST_AXES], x[SG_MOST_AXES];
    sgi_uniforms uniforms = {.seed = 5};
    for (int i = 0; i < POINTS; i++)
        sgi_shape_boundary_point(shape, &uniforms, cloud[i], normal);
    for (int i = 0; i < 200; i++) {
        double nearest = INFINITY;
        for (int k = 0; k < shape->axes; k++) {
            double length = shape->upper[k] - shape->lower[k];
            x[k] = shape->lower[k] + length * (2 * sgi_uniform_next(&uniforms) - 0.5);
        }
        for (int j = 0; j < POINTS; j++) {
            double square = 0;
            for (int k = 0; k < shape->axes; k++)
                square += (cloud[j][k] - x[k]) * (cloud[j][k] - x[k]);
            nearest = square < nearest ? square : nearest;
        }
        double distance = fabs(sgi_shape_distance(shape, x));
        assert_true(distance <= sqrt(nearest) + 1e-9);
        assert_true(distance >= sqrt(nearest) - gap);
    }
}

/* Points inside are inside, spread evenly: as many in each half of the bounds as the shape has
 * there, which counting on a grid tells. */
static void check_interior(const sgi_shape *shape)
{
    sgi_uniforms uniforms = {.seed = 9};
    double x[SG_MOST_AXES];
    int lower[2] = {0, 0}, total[2] = {0, 0};
    for (int i = 0; shape->kind->interior_point && i < POINTS; i++) {
        sgi_shape_interior_point(shape, &uniforms, x);
        assert_true(sgi_shape_distance(shape, x) <= 1e-12);
        lower[0] += x[0] < shape->lower[0] + 0.4 * (shape->upper[0] - shape->lower[0]);
        total[0]++;
    }
    for (int i = 0; i < 10 * POINTS; i++) {
        for (int k = 0; k < shape->axes; k++)
            x[k] =
                shape->lower[k] + (shape->upper[k] - shape->lower[k]) * sgi_uniform_next(&uniforms);
        if (sgi_shape_distance(shape, x) >= 0)
            continue;
        lower[1] += x[0] < shape->lower[0] + 0.4 * (shape->upper[0] - shape->lower[0]);
        total[1]++;
    }
    double volume = 1;
    for (int k = 0; k < shape->axes; k++)
        volume *= shape->upper[k] - shape->lower[k];
    assert_close(volume * total[1] / (10.0 * POINTS) / shape->kind->measure(shape), 1, 0.03);
    if (total[0])
        assert_close((double)lower[0] / total[0], (double)lower[1] / total[1], 0.02);
}

/* The measure of the boundary is the change of volume as it moves out by h, over h. */
static const struct {
    const char *kind;
    int axes;
    double numbers[MOST_VALUES];
    size_t corners;
    double measure, boundary, gap;
} shapes[] = {
    {"interval", 1, {-1, 2}, 0, 3, 2, 1e-9},
    {"rectangle", 2, {0, 0, 2, 1}, 0, 2, 6, 0.01},
    {"box", 3, {0, 0, 0, 1, 2, 3}, 0, 6, 22, 0.2},
    {"disc", 2, {0.5, -0.5, 0.7}, 0, M_PI * 0.49, 2 * M_PI * 0.7, 0.01},
    {"ball", 3, {1, 2, 3, 0.5}, 0, M_PI / 6, M_PI, 0.1},
    {"ball", 1, {1, 0.5}, 0, 1, 2, 1e-9},
    {"ball", 5, {0, 0, 0, 0, 0, 1}, 0, 8 * M_PI *M_PI / 15, 8 * M_PI *M_PI / 3, 0.5},
    {"ellipse", 2, {0, 0, 2, 1}, 0, 2 * M_PI, 9.688448220547675, 0.01},
    {"ellipse", 2, {1, 1, 0.1, 3}, 0, 0.3 * M_PI, 12.028593574539975, 0.02},
    {"ellipsoid", 3, {0, 0, 0, 1, 1, 1}, 0, 4 * M_PI / 3, 4 * M_PI, 0.15},
    {"ellipsoid", 3, {0, 0, 0, 3, 2, 1}, 0, 8 * M_PI, 48.882146302581354, 0.3},
    {"polygon", 2, {0, 0, 2, 0, 2, 1, 1, 1, 1, 2, 0, 2}, 6, 3, 8, 0.01},
    {"polygon", 2, {0, 0, 0, 1, 1, 0}, 3, 0.5, 2 + M_SQRT2, 0.01},
    {"cylinder", 3, {0, 0, 0, 0, 0, 2, 0.5}, 0, M_PI / 2, 2.5 * M_PI, 0.15},
    {"cylinder",
     3,
     {1, 0, 0, 2, 1, 1, 0.3},
     0,
     0.09 * M_PI * 1.7320508075688772,
     0.6 * M_PI *(1.7320508075688772 + 0.3),
     0.1},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void test_shapes(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        sgi_shape shape =
            prepared(shapes[i].kind, shapes[i].axes, shapes[i].numbers, shapes[i].corners);
        assert_close(shape.kind->measure(&shape) / shapes[i].measure, 1, 1e-12);
        assert_close(shape.kind->boundary_measure(&shape) / shapes[i].boundary, 1, 1e-6);
        check_boundary(&shape);
        check_distance(&shape, shapes[i].gap);
        check_interior(&shape);
    }
}

static void test_turned_and_moved(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        if (shapes[i].axes < 2 || shapes[i].axes > 3)
            continue;
        sgi_shape shape =
            make(shapes[i].kind, shapes[i].axes, shapes[i].numbers, shapes[i].corners);
        turn_about(&shape, 0.7);
        assert_ok(sgi_shape_prepare(&shape, &arena));
        check_boundary(&shape);
        check_distance(&shape, shapes[i].gap);
        check_interior(&shape);
    }
}

/* A quarter turn of a rectangle about the origin is the rectangle that one expects. */
static void test_turn_goes_counterclockwise(void **state)
{
    (void)state;
    const double numbers[] = {0, 0, 2, 1};
    sgi_shape shape = make("rectangle", 2, numbers, 0);
    shape.turned = true;
    memcpy(shape.turn, (const double[]){0, -1, 1, 0}, 4 * sizeof(double));
    assert_ok(sgi_shape_prepare(&shape, &arena));
    assert_close(shape.lower[0], -1, 1e-15);
    assert_close(shape.upper[0], 0, 1e-15);
    assert_close(shape.upper[1], 2, 1e-15);
}

static void test_half_space(void **state)
{
    (void)state;
    const double numbers[] = {1, 0, 0, 1, 1, 0}, origin[] = {0, 0, 0}, out[] = {2, 0.5, 7};
    sgi_shape shape = prepared("half-space", 3, numbers, 0);
    assert_close(sgi_shape_distance(&shape, origin), -M_SQRT1_2, 1e-15);
    assert_close(sgi_shape_distance(&shape, out), 1.5 * M_SQRT1_2, 1e-15);
    sgi_uniforms uniforms = {.seed = 1};
    for (int i = 0; i < 100; i++) {
        double x[3], normal[3];
        sgi_shape_boundary_point(&shape, &uniforms, x, normal);
        assert_close(sgi_shape_distance(&shape, x), 0, 1e-13);
        assert_close(normal[0], M_SQRT1_2, 1e-15);
        assert_close(normal[2], 0, 1e-15);
    }
    assert_true(isinf(shape.upper[0]) && isinf(shape.lower[2]));
    const double wall[] = {3, 0, 1, 0};
    sgi_shape flat = prepared("half-space", 2, wall, 0);
    assert_close(flat.upper[0], 3, 1e-15);
    assert_true(isinf(flat.lower[0]) && isinf(flat.upper[1]));
}

static void test_wrong_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int axes;
        double numbers[MOST_VALUES];
        size_t corners;
        const char *says;
    } bad[] = {
        {"rectangle", 2, {0, 1, 1, 1}, 0, "is empty"},
        {"disc", 2, {0, 0, 0}, 0, "radius"},
        {"ellipse", 2, {0, 0, 1, -1}, 0, "radius"},
        {"ellipse", 2, {0, 0, 1, NAN}, 0, "radius"},
        {"polygon", 2, {0, 0, 1, 0}, 2, "fewer than three"},
        {"polygon", 2, {0, 0, 1, 0, 1, 0, 0, 1}, 4, "same place"},
        {"polygon", 2, {0, 0, 1, 0, 2, 0}, 3, "no area"},
        {"polygon", 2, {0, 0, 1, 1, 1, 0, 0, 1.5}, 4, "cross"},
        {"polygon", 2, {0, 0, 2, 0, 2, 1, 1, 0, 0, 1}, 5, "cross or touch"},
        {"polygon", 2, {0, 0, 2, 0, 1, 0, 1, 1}, 4, "cross or touch"},
        {"cylinder", 3, {0, 0, 0, 0, 0, 0, 1}, 0, "axis"},
        {"cylinder", 3, {0, 0, 0, 0, 0, 1, 0}, 0, "radius"},
        {"half-space", 2, {0, 0, 0, 0}, 0, "normal"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sgi_shape shape = make(bad[i].kind, bad[i].axes, bad[i].numbers, bad[i].corners);
        const char *says = shape.kind->wrong(&shape);
        assert_non_null(says);
        assert_non_null(strstr(says, bad[i].says));
    }
}

/* ---- Regions ----------------------------------------------------------------------------------
 */

/* "01-2&": shapes by their digits, in postfix. */
static sgi_region build(const char *steps, const sgi_shape *list)
{
    sgi_region region = {.name = steps, .axes = list[0].axes};
    for (const char *at = steps; *at; at++) {
        sgi_join join = *at == '+'   ? SG_JOIN_UNION
                        : *at == '-' ? SG_JOIN_DIFFERENCE
                        : *at == '&' ? SG_JOIN_INTERSECTION
                                     : SG_JOIN_SHAPE;
        assert_ok(sgi_region_add(&region, join, join == SG_JOIN_SHAPE ? &list[*at - '0'] : NULL));
    }
    assert_ok(sgi_region_prepare(&region));
    return region;
}

static double boundary_of(const sgi_region *region)
{
    double sum = 0;
    for (int i = 0; i < region->side_count; i++)
        sum += region->sides[i].measure;
    return sum;
}

/* Points of the boundary have the inside behind them and the outside before them. */
static void check_sides(const sgi_region *region)
{
    double x[SG_MOST_AXES], normal[SG_MOST_AXES], other[SG_MOST_AXES], at[SG_MOST_AXES];
    const double h = 1e-5;
    for (int side = 0; side < region->side_count; side++) {
        sgi_uniforms uniforms = {.seed = 11};
        int wrong = 0, kept = 0, agree = 0;
        for (int i = 0; i < 2000; i++) {
            if (!sgi_region_try_side(region, side, &uniforms, x, normal))
                continue;
            kept++;
            for (int k = 0; k < region->axes; k++)
                at[k] = x[k] + h * normal[k];
            wrong += sgi_region_distance(region, at) < 0;
            for (int k = 0; k < region->axes; k++)
                at[k] = x[k] - h * normal[k];
            wrong += sgi_region_distance(region, at) >= 0;
            agree += sgi_region_touches(region, x, other) &&
                     fabs(sgi_dot(normal, other, region->axes) - 1) < 1e-6;
        }
        assert_true(wrong <= kept / 100);
        assert_true(agree >= kept - kept / 100);
    }
}

static void test_regions_in_the_plane(void **state)
{
    (void)state;
    const double square[] = {0, 0, 1, 1}, notch[] = {0, 0, 0.5, 0.5}, right[] = {1, 0, 2, 1},
                 hole[] = {0.5, 0.5, 0.2}, disc[] = {0, 0, 1}, other[] = {1, 0, 1},
                 half[] = {0.5, 0, 1, 0}, speck[] = {0.5, 0.5, 0.1}, far[] = {5, 5, 1};
    const sgi_shape list[] = {
        prepared("rectangle", 2, square, 0), prepared("rectangle", 2, notch, 0),
        prepared("rectangle", 2, right, 0),  prepared("disc", 2, hole, 0),
        prepared("disc", 2, disc, 0),        prepared("disc", 2, other, 0),
        prepared("half-space", 2, half, 0),  prepared("disc", 2, speck, 0),
        prepared("disc", 2, far, 0),
    };
    /* Two discs of radius 1 whose middles are 1 apart: the lens has two arcs of 120 degrees. */
    const double lens = 2 * M_PI / 3 - sqrt(3) / 2;
    static const double pi = M_PI;
    const struct {
        const char *steps;
        double area, length;
    } cases[] = {
        {"01-", 0.75, 4},                               /* an L: edges coincide */
        {"02+", 2, 6},                                  /* two squares side by side */
        {"03-", 1 - 0.04 * pi, 4 + 0.4 * pi},           /* a hole */
        {"037--", 1 - 0.03 * pi, 4 + 0.6 * pi},         /* a hole with an island in it */
        {"45+", 2 * pi - lens, 8 * pi / 3},             /* two discs */
        {"45&", lens, 4 * pi / 3},                      /* and the lens */
        {"45-", pi - lens, 2 * pi},                     /* a crescent */
        {"03-6&", 0.5 - 0.02 * pi, 3 - 0.4 + 0.2 * pi}, /* half of the square with a hole */
        {"06-", 0.5, 3},                                /* cut off by a half-space */
        {"00+", 1, 4},                                  /* the same shape twice */
        {"08-", 1, 4},                                  /* nothing is cut */
        {"08&", 0, 0},                                  /* nothing is left */
        {"00-", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_region region = build(cases[i].steps, list);
        assert_close(region.measure, cases[i].area, 2e-3);
        assert_close(boundary_of(&region), cases[i].length, 5e-3 * (1 + cases[i].length));
        if (cases[i].area > 0)
            check_sides(&region);
    }
    sgi_region open = build("6", list);
    assert_false(sgi_region_bounded(&open));
}

static void test_regions_in_space(void **state)
{
    (void)state;
    const double box[] = {-1, -1, -1, 1, 1, 1}, ball[] = {0, 0, 0, 0.5},
                 drill[] = {0, 0, -2, 0, 0, 2, 0.3};
    const sgi_shape list[] = {prepared("box", 3, box, 0), prepared("ball", 3, ball, 0),
                              prepared("cylinder", 3, drill, 0)};
    sgi_region hollow = build("01-", list), drilled = build("02-", list);
    assert_close(hollow.measure / (8 - M_PI / 6), 1, 2e-3);
    assert_close(boundary_of(&hollow) / (24 + M_PI), 1, 2e-3);
    assert_close(drilled.measure / (8 - 2 * 0.09 * M_PI), 1, 2e-3);
    assert_close(boundary_of(&drilled) / (24 - 2 * 0.09 * M_PI + 2 * 0.6 * M_PI), 1, 5e-3);
    check_sides(&hollow);
    check_sides(&drilled);
}

/* Distances of nested regions where the nearest boundary is in sight. */
static void test_distances_of_regions(void **state)
{
    (void)state;
    const double square[] = {0, 0, 1, 1}, hole[] = {0.5, 0.5, 0.2}, speck[] = {0.5, 0.5, 0.1};
    const sgi_shape list[] = {prepared("rectangle", 2, square, 0), prepared("disc", 2, hole, 0),
                              prepared("disc", 2, speck, 0)};
    sgi_region region = build("01-2+", list); /* a square with a hole, and an island in the hole */
    const struct {
        double x[2], distance;
    } cases[] = {{{0.1, 0.5}, -0.1},  {{0.5, 0.75}, -0.05}, {{0.5, 0.5}, -0.1},
                 {{0.5, 0.66}, 0.04}, {{0.5, 0.62}, 0.02},  {{-3, -4}, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_close(sgi_region_distance(&region, cases[i].x), cases[i].distance, 1e-14);
}

/* Points inside a region are inside, and as dense left as right. */
static void test_points_of_regions(void **state)
{
    (void)state;
    const double square[] = {0, 0, 1, 1}, hole[] = {0.25, 0.5, 0.2};
    const sgi_shape list[] = {prepared("rectangle", 2, square, 0), prepared("disc", 2, hole, 0)};
    sgi_region region = build("01-", list);
    sgi_uniforms uniforms = {.seed = 2};
    int left = 0, kept = 0;
    for (int i = 0; i < POINTS; i++) {
        double x[2];
        if (!sgi_region_try_interior(&region, &uniforms, x))
            continue;
        assert_true(sgi_region_distance(&region, x) < 0);
        kept++;
        left += x[0] < 0.5;
    }
    assert_close((double)kept / POINTS, 1 - 0.04 * M_PI, 0.01);
    assert_close((double)left / kept, (0.5 - 0.04 * M_PI) / (1 - 0.04 * M_PI), 0.015);
}

static int begin(void **state)
{
    (void)state;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sgi_arena_init(&arena, &heap);
    return 0;
}

static int end(void **state)
{
    (void)state;
    sgi_arena_clear(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_turned_and_moved),
        cmocka_unit_test(test_turn_goes_counterclockwise),
        cmocka_unit_test(test_half_space),
        cmocka_unit_test(test_wrong_numbers),
        cmocka_unit_test(test_regions_in_the_plane),
        cmocka_unit_test(test_regions_in_space),
        cmocka_unit_test(test_distances_of_regions),
        cmocka_unit_test(test_points_of_regions),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
