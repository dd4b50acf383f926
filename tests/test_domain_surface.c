/* Surfaces of triangles: reading STL files, what is refused, and geometry against what is known. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "domain/region.h"
#include "domain/surface.h"
#include "domain/tree.h"
#include "files/stl.h"
#include "support/support.h"

enum { MOST = 20 * 4 * 4 * 4 * 4 };

static sgi_arena arena;

typedef struct soup {
    size_t count;
    double corners[2 * MOST][9];
} soup;

static soup work;

static void add(soup *s, const double *a, const double *b, const double *c)
{
    memcpy(s->corners[s->count], a, 3 * sizeof *a);
    memcpy(s->corners[s->count] + 3, b, 3 * sizeof *b);
    memcpy(s->corners[s->count++] + 6, c, 3 * sizeof *c);
}

/* The box from `low` to `high`, normals outwards, or inwards. */
static void add_box(soup *s, double low, double high, bool inwards)
{
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    double corners[8][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            corners[i][k] = i >> k & 1 ? high : low;
    for (int f = 0; f < 6; f++) {
        const double *a = corners[faces[f][0]], *b = corners[faces[f][1]],
                     *c = corners[faces[f][2]], *d = corners[faces[f][3]];
        add(s, a, inwards ? c : b, inwards ? b : c);
        add(s, a, inwards ? d : c, inwards ? c : d);
    }
}

static void add_split(soup *s, const double *a, const double *b, const double *c, int level)
{
    double middle[3][3];
    const double *at[3] = {a, b, c};
    if (level == 0) {
        add(s, a, b, c);
        return;
    }
    for (int i = 0; i < 3; i++) {
        double length = 0;
        for (int k = 0; k < 3; k++) {
            middle[i][k] = at[i][k] + at[(i + 1) % 3][k];
            length += middle[i][k] * middle[i][k];
        }
        for (int k = 0; k < 3; k++)
            middle[i][k] /= sqrt(length);
    }
    add_split(s, a, middle[0], middle[2], level - 1);
    add_split(s, middle[0], b, middle[1], level - 1);
    add_split(s, middle[2], middle[1], c, level - 1);
    add_split(s, middle[0], middle[1], middle[2], level - 1);
}

/* The unit sphere: an octahedron, its triangles divided again and again. */
static void add_sphere(soup *s, int level)
{
    for (int octant = 0; octant < 8; octant++) {
        double x[3] = {octant & 1 ? -1 : 1, 0, 0}, y[3] = {0, octant & 2 ? -1 : 1, 0},
               z[3] = {0, 0, octant & 4 ? -1 : 1};
        bool even = x[0] * y[1] * z[2] > 0;
        add_split(s, x, even ? y : z, even ? z : y, level);
    }
}

/* As the bytes of a binary file. */
static char *binary(const soup *s, size_t *size)
{
    *size = 84 + 50 * s->count;
    char *data = calloc(1, *size + 1);
    uint32_t count = (uint32_t)s->count;
    memcpy(data + 80, &count, 4);
    for (size_t t = 0; t < s->count; t++)
        for (int k = 0; k < 9; k++) {
            float value = (float)s->corners[t][k];
            memcpy(data + 84 + 50 * t + 12 + 4 * (size_t)k, &value, 4);
        }
    return data;
}

static sg_status read_soup(const soup *s, sgi_shape *shape, sg_diagnostic *diagnostic)
{
    size_t size;
    char *data = binary(s, &size);
    *shape = (sgi_shape){.kind = sgi_shape_find("surface"), .name = "part", .axes = 3, .reach = 10};
    memset(diagnostic, 0, sizeof *diagnostic);
    sg_status status = shape->kind->read(shape, &arena, data, size, "part.stl", diagnostic);
    free(data);
    return status;
}

static sgi_shape surface_of(const soup *s)
{
    sgi_shape shape;
    sg_diagnostic diagnostic;
    if (read_soup(s, &shape, &diagnostic) != SG_OK)
        fail_msg("%s", diagnostic.message);
    assert_ok(sgi_shape_prepare(&shape, &arena));
    return shape;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static const char text_solid[] = "solid a tetrahedron\n"
                                 "facet normal 0 0 -1\n outer loop\n vertex 0 0 0\n vertex 0 1 0\n"
                                 "  vertex 1e0 0 0\n endloop\nendfacet\n"
                                 "FACET NORMAL nan nan nan\r\n OUTER LOOP VERTEX 0 0 0\r\n"
                                 "vertex 1 0 0 vertex 0 0 1 endloop endfacet\n"
                                 "facet normal 0 0 0 outer loop vertex 0 0 0 vertex 0 0 1\n"
                                 "vertex 0 1 0 endloop endfacet\n"
                                 "facet normal 0 0 0 outer loop vertex 1 0 0 vertex 0 1 0\n"
                                 "vertex 0 0 1 endloop endfacet\n"
                                 "endsolid a tetrahedron\n";

static void test_text(void **state)
{
    (void)state;
    sgi_stl stl;
    sg_diagnostic diagnostic = {0};
    assert_ok(sgi_stl_parse(text_solid, strlen(text_solid), "t", NULL, &stl, &diagnostic));
    assert_int_equal(stl.count, 4);
    assert_true(stl.corners[6] == 1);
    sgi_surface surface;
    assert_ok(sgi_surface_make(&surface, &arena, &stl, "t", &diagnostic));
    assert_int_equal(surface.corner_count, 4);
    assert_close(surface.volume, 1.0 / 6, 1e-15);
    assert_close(surface.area, 1.5 + sqrt(3) / 2, 1e-15);
    sgi_stl_release(&stl);
}

/* Each damage with what is said of it. */
static const struct {
    const char *text, *message;
    int line;
} damaged[] = {
    {"", "this is no STL file: it has only 0 bytes", 0},
    {"solid\nendsolid\n", "it has no triangles", 0},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nvertex 1 0 0\n",
     "'vertex' is not a number that can be used", 5},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n",
     "'nan' is not a number that can be used", 4},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0 vertex 1 0 0\nvertex 0 1 0\nvertex",
     "'endloop' should stand here, not 'vertex'", 6},
    {"solid\nfacet normal 0 0\nouter loop", "a normal has three numbers", 3},
    {"solid\nfacet normal 0 0 1", "the file ends where 'outer' should stand", 2},
    {"solid\nfacet nromal 0 0 1", "'normal' should stand here, not 'nromal'", 2},
    {"solid\nedge", "'facet' or 'endsolid' should stand here, not edge", 2},
    {"solid\n\n", "the file ends before 'endsolid'", 3},
    {"solid\nendsolid\nnonsense", "'solid' should stand here, not nonsense", 3},
};

static void test_damaged_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        sgi_stl stl;
        sg_diagnostic diagnostic = {0};
        assert_status(sgi_stl_parse(damaged[i].text, strlen(damaged[i].text), "t.stl", NULL, &stl,
                                    &diagnostic),
                      SG_ERROR_FORMAT);
        assert_string_equal(diagnostic.message, damaged[i].message);
        assert_int_equal(diagnostic.line, damaged[i].line);
        sgi_stl_release(&stl);
    }
}

static void test_damaged_binary(void **state)
{
    (void)state;
    size_t size;
    work.count = 0;
    add_box(&work, 0, 1, false);
    char *data = binary(&work, &size);
    sgi_stl stl;
    sg_diagnostic diagnostic = {0};
    assert_ok(sgi_stl_parse(data, size, "t.stl", NULL, &stl, &diagnostic));
    sgi_stl_release(&stl);
    assert_status(sgi_stl_parse(data, size - 1, "t.stl", NULL, &stl, &diagnostic), SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message, "it states 12 triangles, which take 684 bytes, but has "
                                            "683: it is cut off or no STL file");
    memcpy(data, "solid", 5); /* many binary files begin so */
    assert_ok(sgi_stl_parse(data, size, "t.stl", NULL, &stl, &diagnostic));
    sgi_stl_release(&stl);
    float infinite = INFINITY;
    memcpy(data + 84 + 50 + 12, &infinite, 4);
    assert_status(sgi_stl_parse(data, size, "t.stl", NULL, &stl, &diagnostic), SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message, "triangle 2 has a coordinate that is not finite");
    sgi_stl_release(&stl);
    memset(data + 80, 0xff, 4);
    assert_status(sgi_stl_parse(data, size, "t.stl", NULL, &stl, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(diagnostic.message, "it states 4294967295 triangles"));
    free(data);
}

/* ---- What is no solid ---------------------------------------------------------------------- */

static void refused(const char *message)
{
    sgi_shape shape;
    sg_diagnostic diagnostic;
    assert_status(read_soup(&work, &shape, &diagnostic), SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.message, message);
    work.count = 0;
}

static void test_leaks(void **state)
{
    (void)state;
    const double tip[3] = {0.5, 0.5, 2}, far[3] = {1, 1, 1.5}, corner[3] = {1, 1, 1};
    work.count = 0;
    add_box(&work, 0, 1, false);
    work.count--; /* a triangle is missing */
    refused("the surface is open: only one triangle, number 5, has the edge from (1, 0, 0) to "
            "(1, 0, 1) (3 such edges)");
    add_box(&work, 0, 1, false);
    add(&work, corner, far, tip); /* one that sticks out */
    refused("the surface is open: only one triangle, number 13, has the edge from (1, 1, 1) to "
            "(1, 1, 1.5) (3 such edges)");
    add_box(&work, 0, 1, false);
    add_box(&work, 1, 2, false); /* touch in a corner */
    refused("parts of the surface touch in the single point (1, 1, 1)");
    add_box(&work, 0, 1, false);
    for (int k = 0; k < 3; k++) { /* one triangle turned over */
        double kept = work.corners[4][k];
        work.corners[4][k] = work.corners[4][3 + k];
        work.corners[4][3 + k] = kept;
    }
    refused("two triangles at the edge from (0, 0, 0) to (1, 0, 0) are oriented against each other "
            "(3 such edges)");
    add_box(&work, 0, 1, false);
    add_box(&work, 0, 1, false); /* everything twice */
    refused("4 triangles meet at the edge from (0, 0, 0) to (0, 1, 0), where a solid has two "
            "(18 such edges)");
    add_box(&work, 0, 3, false);
    add_box(&work, 1, 2, false); /* in the other, and oriented like it */
    refused("its parts cross or touch each other, or one that lies in another is oriented like it: "
            "see the part at (1, 1, 1)");
    add_box(&work, 0, 2, false);
    add_box(&work, 1.1, 3, false); /* one cuts the other */
    refused("its parts cross or touch each other, or one that lies in another is oriented like it: "
            "see the part at (1.1, 1.1, 1.1)");
}

static void test_no_area(void **state)
{
    (void)state;
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0}, half[3] = {0.5, 0, 0};
    work.count = 0;
    add(&work, a, b, c);
    add(&work, a, c, b);
    refused("it encloses no volume");
    add(&work, a, a, a);
    refused("all its triangles are single points");
    add(&work, a, half, c); /* a side of half a tetrahedron, with a corner too many */
    add(&work, half, b, c);
    add(&work, a, b, half);
    add(&work, a, c, b);
    refused("triangle 3 has no area: its corners (0, 0, 0), (1, 0, 0) and (0.5, 0, 0) lie on a "
            "line");
}

/* Corners that differ in the last bit of single precision are one; a triangle that vanishes by that
 * is left out. */
static void test_welding(void **state)
{
    (void)state;
    const double a[3] = {0, 0, 0}, near[3] = {1e-8, 0, 0}, b[3] = {1, 0, 0};
    work.count = 0;
    add_box(&work, 0, 1, false);
    work.corners[3][0] += 1e-7;
    add(&work, a, near, b);
    sgi_shape shape = surface_of(&work);
    assert_close(shape.kind->measure(&shape), 1, 1e-6);
}

/* ---- Geometry ------------------------------------------------------------------------------ */

/* The cube as a box of shape.h says it. */
static void test_cube(void **state)
{
    (void)state;
    const double numbers[] = {0, 0, 0, 1, 1, 1};
    sgi_shape box = {.kind = sgi_shape_find("box"), .axes = 3, .counts = {1, 1}};
    box.values[0] = numbers;
    box.values[1] = numbers + 3;
    assert_ok(sgi_shape_prepare(&box, &arena));
    for (int inwards = 0; inwards < 2; inwards++) { /* turned over it is the same solid */
        work.count = 0;
        add_box(&work, 0, 1, inwards);
        sgi_shape cube = surface_of(&work);
        assert_close(cube.kind->measure(&cube), 1, 1e-14);
        assert_close(cube.kind->boundary_measure(&cube), 6, 1e-14);
        sgi_uniforms u = {.seed = 4};
        for (int i = 0; i < 5000; i++) {
            double x[3], normal[3];
            for (int k = 0; k < 3; k++) {
                x[k] = 3 * sgi_uniform_next(&u) - 1;
                if (i % 3 == 0) /* on planes of faces, edges and the middle too */
                    x[k] = floor(2 * x[k] + 0.5) / 2;
            }
            assert_close(sgi_shape_distance(&cube, x), sgi_shape_distance(&box, x), 1e-14);
            sgi_shape_boundary_point(&cube, &u, x, normal);
            assert_close(sgi_shape_distance(&box, x), 0, 1e-14);
            assert_close(sgi_dot(normal, normal, 3), 1, 1e-14);
            for (int k = 0; k < 3; k++)
                x[k] += 1e-3 * normal[k];
            assert_true(sgi_shape_distance(&box, x) > 0);
            sgi_shape_interior_point(&cube, &u, x);
            assert_true(sgi_shape_distance(&box, x) < 0);
        }
    }
}

/* Area, volume, distance and normals of the sphere, four times nearer with every division. */
static void test_sphere_converges(void **state)
{
    (void)state;
    double before[4] = {0, 0, 0, 0};
    for (int level = 2; level <= 5; level++) {
        work.count = 0;
        add_sphere(&work, level);
        sgi_shape sphere = surface_of(&work);
        sgi_uniforms u = {.seed = 8};
        double errors[4] = {fabs(sphere.kind->measure(&sphere) - 4 * M_PI / 3),
                            fabs(sphere.kind->boundary_measure(&sphere) - 4 * M_PI), 0, 0};
        for (int i = 0; i < 2000; i++) {
            double x[3], normal[3], radius;
            for (int k = 0; k < 3; k++)
                x[k] = 3 * sgi_uniform_next(&u) - 1.5;
            radius = sqrt(sgi_dot(x, x, 3));
            errors[2] = fmax(errors[2], fabs(sgi_shape_distance(&sphere, x) - (radius - 1)));
            sgi_shape_boundary_point(&sphere, &u, x, normal);
            radius = sqrt(sgi_dot(x, x, 3));
            errors[3] = fmax(errors[3], 1 - sgi_dot(x, normal, 3) / radius);
            assert_close(sgi_shape_distance(&sphere, x), 0, 1e-14);
        }
        /* All of them, the last being 1 - cos, fall with the square of the triangles' sides. */
        for (int k = 0; k < 4 && level > 2; k++)
            assert_true(errors[k] < 0.35 * before[k] && errors[k] > 0.15 * before[k]);
        memcpy(before, errors, sizeof before);
    }
}

/* Points are spread evenly: in thirds of the ball along z, and of its surface. */
static void test_points_are_uniform(void **state)
{
    (void)state;
    enum { POINTS = 40000 };
    work.count = 0;
    add_sphere(&work, 4);
    sgi_shape sphere = surface_of(&work);
    sgi_uniforms u = {.seed = 2};
    int inside = 0, above = 0, surface = 0;
    for (int i = 0; i < POINTS; i++) {
        double x[3], normal[3];
        sgi_shape_interior_point(&sphere, &u, x);
        assert_true(sgi_shape_distance(&sphere, x) <= 0);
        inside += sgi_dot(x, x, 3) < 0.25;
        above += x[2] > 0.5;
        sgi_shape_boundary_point(&sphere, &u, x, normal);
        surface += x[2] > 0.5;
    }
    /* 1/8, 5/32 and 1/4 of a ball; five deviations of the count */
    assert_close((double)inside / POINTS, 1.0 / 8, 0.009);
    assert_close((double)above / POINTS, 5.0 / 32, 0.01);
    assert_close((double)surface / POINTS, 1.0 / 4, 0.011);
}

/* A box with a hollow. */
static void test_hollow(void **state)
{
    (void)state;
    const double in[3] = {0.5, 1.5, 1.5}, hollow[3] = {1.5, 1.5, 1.5};
    work.count = 0;
    add_box(&work, 0, 3, false);
    add_box(&work, 1, 2, true);
    sgi_shape shape = surface_of(&work);
    assert_close(shape.kind->measure(&shape), 26, 1e-13);
    assert_close(shape.kind->boundary_measure(&shape), 60, 1e-13);
    assert_close(sgi_shape_distance(&shape, in), -0.5, 1e-15);
    assert_close(sgi_shape_distance(&shape, hollow), 0.5, 1e-15);
}

/* Turned, moved, and a ball cut from it. */
static void test_cut(void **state)
{
    (void)state;
    const double numbers[] = {1.5, 1.5, 1.5, 1};
    sgi_shape ball = {.kind = sgi_shape_find("ball"), .name = "b", .axes = 3, .counts = {1, 1}};
    ball.values[0] = numbers;
    ball.values[1] = numbers + 3;
    assert_ok(sgi_shape_prepare(&ball, &arena));
    work.count = 0;
    add_box(&work, 0, 2, false);
    sgi_shape cube = surface_of(&work);
    cube.turned = true; /* a quarter about z, and back to where it was */
    memcpy(cube.turn, (const double[]){0, -1, 0, 1, 0, 0, 0, 0, 1}, sizeof cube.turn);
    cube.move[0] = 2;
    assert_ok(sgi_shape_prepare(&cube, &arena));
    assert_close(cube.lower[0], 0, 1e-15);
    assert_close(cube.upper[0], 2, 1e-15);
    sgi_region region = {.name = "cut", .axes = 3};
    assert_ok(sgi_region_add(&region, SG_JOIN_SHAPE, &cube));
    assert_ok(sgi_region_add(&region, SG_JOIN_SHAPE, &ball));
    assert_ok(sgi_region_add(&region, SG_JOIN_DIFFERENCE, NULL));
    assert_ok(sgi_region_prepare(&region));
    /* counted on another grid, of the formulas of a cube and a ball */
    int left = 0;
    enum { N = 80 };
    for (int i = 0; i < N * N * N; i++) {
        double x = (i % N + 0.5) * 2 / N, y = (i / N % N + 0.5) * 2 / N,
               z = (i / N / N + 0.5) * 2 / N;
        left += (x - 1.5) * (x - 1.5) + (y - 1.5) * (y - 1.5) + (z - 1.5) * (z - 1.5) > 1;
    }
    assert_close(region.measure / (8.0 * left / (N * N * N)), 1, 3e-3);
    sgi_uniforms u = {.seed = 1};
    int good = 0;
    for (int i = 0; i < 2000; i++) {
        double x[3], normal[3];
        if (!sgi_region_try_side(&region, 1, &u, x, normal))
            continue;
        good++;
        for (int k = 0; k < 3; k++) /* out of what is left: into the ball */
            assert_close(normal[k], 1.5 - x[k], 1e-9);
    }
    assert_true(good > 200);
}

/* The tree against looking at everything, and against nothing but one thing. */
typedef struct probe {
    const double *boxes, *x;
    int asked;
} probe;

static double box_distance(const probe *p, size_t item)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double out = fmax(p->boxes[6 * item + (size_t)k] - p->x[k],
                          p->x[k] - p->boxes[6 * item + 3 + (size_t)k]);
        square += out > 0 ? out * out : 0;
    }
    return square;
}

static void ask(void *query, size_t item, double *square)
{
    probe *p = query;
    p->asked++;
    *square = fmin(*square, box_distance(p, item));
}

static bool count_all(void *query, size_t item)
{
    (void)item;
    ((probe *)query)->asked++;
    return false;
}

static void test_tree(void **state)
{
    (void)state;
    enum { THINGS = 3000 };
    static double boxes[THINGS][6];
    for (int count = 1; count <= THINGS; count = count * 3 + 1) {
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                double at = sgi_random_uniform(1, 2, (uint64_t)(3 * i + k));
                boxes[i][k] = i % 7 == 0 ? 0.5 : at; /* many at one place */
                boxes[i][3 + k] = boxes[i][k] + (i % 5 == 0 ? 0 : 0.01);
            }
        sgi_tree tree;
        assert_ok(sgi_tree_build(&tree, &arena, 3, (size_t)count, boxes[0]));
        int asked = 0;
        for (int i = 0; i < 200; i++) {
            double x[3], nearest = INFINITY;
            for (int k = 0; k < 3; k++)
                x[k] = 2 * sgi_random_uniform(2, 2, (uint64_t)(3 * i + k)) - 0.5;
            probe p = {boxes[0], x, 0};
            for (int j = 0; j < count; j++)
                nearest = fmin(nearest, box_distance(&p, (size_t)j));
            assert_true(sgi_tree_nearest(&tree, x, INFINITY, ask, &p) == nearest);
            asked += p.asked;
        }
        assert_true(count < 1000 || asked < 200 * count / 10);
        const double low[3] = {0, 0, 0}, high[3] = {2, 2, 2}, away[3] = {3, 3, 3};
        probe p = {boxes[0], NULL, 0};
        assert_false(sgi_tree_meets(&tree, low, high, count_all, &p));
        assert_int_equal(p.asked, count);
        p.asked = 0;
        assert_false(sgi_tree_meets(&tree, away, away, count_all, &p));
        assert_int_equal(p.asked, 0);
    }
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
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_damaged_text),
        cmocka_unit_test(test_damaged_binary),
        cmocka_unit_test(test_leaks),
        cmocka_unit_test(test_no_area),
        cmocka_unit_test(test_welding),
        cmocka_unit_test(test_cube),
        cmocka_unit_test(test_sphere_converges),
        cmocka_unit_test(test_points_are_uniform),
        cmocka_unit_test(test_hollow),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
