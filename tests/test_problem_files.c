/* Shapes from files: paths, sums, the copy that a run keeps, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem/problem.h"
#include "support/support.h"

static char folder[64], other[64];

static const char *in(const char *parent, const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 128, "%s/%s", parent, name);
    return path;
}

static void put(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fwrite(data, 1, size, file) == size);
    assert_int_equal(fclose(file), 0);
}

/* A tetrahedron of volume scale^3 / 6. */
static void put_solid(const char *path, double scale)
{
    static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "solid\n");
    for (int f = 0; f < 4; f++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "facet normal 0 0 0 outer loop\n");
        for (int k = 0; k < 3; k++) {
            int c = faces[f][k];
            used += (size_t)snprintf(text + used, sizeof text - used, "vertex %g %g %g\n",
                                     c == 1 ? scale : 0, c == 2 ? scale : 0, c == 3 ? scale : 0);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "endloop endfacet\n");
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "endsolid\n");
    put(path, text, used);
}

static const char solid_text[] = "coordinates: {x: [0, 1], y: [0, 1], z: [0, 1]}\n"
                                 "shapes: {part: {surface: {file: ./solid.stl}, move: [0, 0, 0]}}\n"
                                 "domain: part\n"
                                 "fields: [u]\n"
                                 "equations: {laplace: lap(u)}\n"
                                 "conditions: {edge: {at: part.boundary & z > 0, u_n: 0}}\n";

static sgi_problem *read_in(const char *parent, const char *text)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    if (sgi_problem_read(&problem, in(parent, "p.yaml"), text, strlen(text), NULL, 0, NULL,
                         &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return problem;
}

static void refused_in(const char *parent, const char *text, const char *message)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    assert_status(sgi_problem_read(&problem, in(parent, "p.yaml"), text, strlen(text), NULL, 0,
                                   NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    if (!strstr(diagnostic.message, message))
        fail_msg("'%s' does not say '%s'", diagnostic.message, message);
    assert_true(diagnostic.line > 0);
}

/* The resolved problem finds the file from any folder, knows when it has changed, and prefers the
 * copy that lies beside it. */
static void test_copies(void **state)
{
    (void)state;
    char *text, *again;
    sg_diagnostic diagnostic = {0};
    put_solid(in(folder, "solid.stl"), 1);
    sgi_problem *problem = read_in(folder, solid_text);
    assert_close(problem->domain.region->measure, 1.0 / 6, 1e-12);
    assert_ok(sgi_problem_write(problem, &text));
    char line[160];
    snprintf(line, sizeof line, "part: {surface: {file: '%s/solid.stl', sum: '", folder);
    assert_non_null(strstr(text, line));
    sgi_problem *elsewhere = read_in(other, text);
    assert_ok(sgi_problem_write(elsewhere, &again));
    assert_string_equal(text, again);
    sgi_release(&elsewhere->allocator, again);
    assert_ok(sgi_domain_copy_files(&elsewhere->domain, other, NULL, &diagnostic));
    sgi_problem_destroy(elsewhere);

    put_solid(in(folder, "solid.stl"), 0.5); /* the copy is the old one */
    elsewhere = read_in(other, text);
    assert_close(elsewhere->domain.region->measure, 1.0 / 6, 1e-12);
    assert_string_equal(elsewhere->domain.region->steps[0].shape->file.place,
                        in(other, "part.stl"));
    assert_ok(sgi_domain_copy_files(&elsewhere->domain, other, NULL, &diagnostic));
    sgi_problem_destroy(elsewhere);
    assert_int_equal(access(in(other, "part.stl"), R_OK), 0);

    put_solid(in(other, "part.stl"), 0.25); /* and neither is */
    refused_in(other, text, "/solid.stl has changed since this was written: its sum is ");
    assert_status(sgi_domain_copy_files(&problem->domain, other, NULL, &diagnostic), SG_ERROR_IO);
    assert_string_equal(diagnostic.message, "changed while it was in use");
    put_solid(in(folder, "solid.stl"), 1);
    elsewhere = read_in(other, text);
    sgi_problem_destroy(elsewhere);
    assert_int_equal(unlink(in(other, "part.stl")), 0);
    sgi_release(&problem->allocator, text);
    sgi_problem_destroy(problem);
}

static void test_paths(void **state)
{
    (void)state;
    const char *sets[1];
    char set[128];
    sg_diagnostic diagnostic;
    sgi_problem *problem;
    put_solid(in(folder, "solid.stl"), 1);
    refused_in(other, solid_text, "./solid.stl: No such file or directory");
    /* A path of --set starts at the current folder. */
    snprintf(set, sizeof set, "shapes.part.surface.file=%s/solid.stl", folder);
    sets[0] = set;
    assert_ok(sgi_problem_read(&problem, in(other, "p.yaml"), solid_text, strlen(solid_text), sets,
                               1, NULL, &diagnostic));
    sgi_problem_destroy(problem);
    put(in(folder, "solid.stl"), "solid\nendsolid\nsolid", 20);
    refused_in(folder, solid_text, "./solid.stl, line 3: the file ends before 'endsolid'");
    assert_int_equal(unlink(in(folder, "solid.stl")), 0);
    assert_int_equal(symlink("/dev/zero", in(folder, "solid.stl")), 0);
    refused_in(folder, solid_text, "./solid.stl: ");
    assert_int_equal(unlink(in(folder, "solid.stl")), 0);
}

/* ---- Polygons ------------------------------------------------------------------------------ */

static const char area_text[] = "coordinates: {x: [0, 4], t: [0, 1], y: [0, 4]}\n"
                                "shapes: {part: {polygon: {file: %s}}}\n"
                                "domain: part\n"
                                "fields: [u]\n"
                                "equations: {heat: u_t - lap(u)}\n"
                                "conditions: {edge: {at: part.boundary, u_n: 0, points: 500}}\n";

/* Writes the file and reads a problem with it; a message says that it must be refused so. */
static sgi_problem *read_area(const char *name, const char *content, const char *message)
{
    char text[sizeof area_text + 64];
    put(in(folder, name), content, strlen(content));
    snprintf(text, sizeof text, area_text, name);
    if (!message)
        return read_in(folder, text);
    refused_in(folder, text, message);
    return NULL;
}

static void expect_area(const char *name, const char *content, double area, double length)
{
    sgi_problem *problem = read_area(name, content, NULL);
    const sgi_region *region = problem->domain.region;
    assert_close(region->measure, area, 1e-14);
    assert_close(region->sides[0].measure, length, 1e-14);
    sgi_uniforms u = {.seed = 3};
    for (int i = 0; i < 500; i++) { /* the normal points out of every ring */
        double x[2], normal[2], out[2], within[2];
        sgi_shape_boundary_point(region->steps[0].shape, &u, x, normal);
        for (int k = 0; k < 2; k++) {
            out[k] = x[k] + 1e-6 * normal[k];
            within[k] = x[k] - 1e-6 * normal[k];
        }
        assert_close(sgi_region_distance(region, x), 0, 1e-14);
        assert_true(sgi_region_distance(region, out) > 0);
        assert_true(sgi_region_distance(region, within) < 0);
    }
    sgi_problem_destroy(problem);
}

#define SQUARE(a, b)      "[[" a "," a "],[" b "," a "],[" b "," b "],[" a "," b "],[" a "," a "]]"
#define POLYGON(rings)    "{\"type\": \"Polygon\", \"coordinates\": [" rings "]}"
#define FEATURE(geometry) "{\"type\": \"Feature\", \"geometry\": " geometry "}"

static void test_tables(void **state)
{
    (void)state;
    expect_area("a.csv", "0,0\n3,0\n0,4\n", 6, 12);
    expect_area("a.csv", "# a triangle\n0 0\n0 4\n3 0\n0 0\n", 6, 12);
    expect_area("a.csv", "id;y;x\n1;0;0\n2;0;3\n3;4;0\n", 6, 12);
    read_area("a.csv", "lon,lat\n0,0\n1,0\n0,1\n", "a.csv: its first line names no column 'x'");
    read_area("a.csv", "0,0,1\n1,0,1\n0,1,1\n",
              "a.csv: it has 3 columns and no line of names, and a corner has 2 numbers");
    read_area("a.csv", "0,0\n1,0\n0,one\n", "a.csv, line 3: not a number: 'one'");
    read_area("a.csv", "x,y\n", "a.csv: it has no corners");
    read_area("a.csv", "0,0\n1,0\n", "a.csv: ring 1 has fewer than three corners");
    read_area("a.csv", "0,0\n1,0\n1,0\n0,1\n",
              "two corners that follow each other are at the same place, (1, 0)");
    read_area("a.csv", "0,0\n1,0\n1,nan\n0,1\n", "corner 3 has a coordinate that cannot be used");
    read_area("a.csv", "0,0\n2,2\n2,0\n0,1\n",
              "a.csv: edges cross or touch each other at (0.666666667, 0.666666667)");
    read_area("a.csv", "0,0\n2,0\n2,2\n1,0\n0,2\n",
              "a.csv: edges cross or touch each other at (1, 0)");
    read_area("a.csv", "0,0\n2,0\n1,0\n1,1\n", "a.csv: edges cross or touch each other at ");
}

static void test_geojson(void **state)
{
    (void)state;
    expect_area("a.geojson", POLYGON(SQUARE("0", "3")), 9, 12);
    expect_area("a.geojson", FEATURE(POLYGON(SQUARE("0", "3") "," SQUARE("1", "2"))), 8, 16);
    expect_area(
        "a.geojson",
        "{\"type\": \"FeatureCollection\", \"features\": [" FEATURE(POLYGON(SQUARE("0", "3"))) "]}",
        9, 12);
    /* an island in a lake, as a polygon of its own */
    expect_area("a.GeoJSON",
                "{\"type\": \"MultiPolygon\", \"coordinates\": [[" SQUARE("0", "4") "," SQUARE(
                    "1", "3") "],[" SQUARE("1.5", "2.5") "]]}",
                13, 28);
    (void)unlink(in(folder, "a.GeoJSON"));
    read_area("a.geojson", "{\"type\": \"Polygon\",\n coordinates: []}", "a.geojson, line 2: ");
    read_area("a.geojson", "[1]", "it is no GeoJSON object");
    read_area("a.geojson", "{\"type\": \"Point\", \"coordinates\": [0, 0]}",
              "its geometry is of type 'Point', not a Polygon or MultiPolygon");
    read_area("a.geojson",
              "{\"type\": \"FeatureCollection\", \"features\": [" FEATURE(
                  POLYGON(SQUARE("0", "3"))) "," FEATURE(POLYGON(SQUARE("0", "3"))) "]}",
              "it has 2 features, and which is meant cannot be told: keep one");
    read_area("a.geojson", POLYGON("[[0,0],[1,0],[0,0]]"),
              "ring 1 has fewer than four positions, of which the last repeats the first");
    read_area("a.geojson", POLYGON("[[0,0],[1,0],[1,1],[0,1]]"),
              "ring 1 does not end where it begins");
    read_area("a.geojson", POLYGON(SQUARE("0", "3") ",[[1,1],[1,\"2\"],[2,2],[1,1]]"),
              "ring 2 has a position that is not a list of two numbers");
    read_area("a.geojson", POLYGON(""), "a polygon has no list of rings");
    read_area("a.geojson", POLYGON(SQUARE("0", "1") "," SQUARE("2", "3")),
              "ring 2, at (2, 2), is a hole that does not lie in its polygon");
    read_area("a.geojson", POLYGON(SQUARE("0", "2") "," SQUARE("1", "3")),
              "edges cross or touch each other at ");
    read_area("a.geojson",
              "{\"type\": \"MultiPolygon\", \"coordinates\": [[" SQUARE("0", "4") "],[" SQUARE(
                  "1", "2") "]]}",
              "ring 2, at (1, 1), lies in another polygon");
}

/* Many corners are looked up in a tree: the distance is what looking at all of them says. */
static void test_many_corners(void **state)
{
    (void)state;
    enum { CORNERS = 2000 };
    static char text[CORNERS * 48];
    size_t used = 0;
    for (int i = 0; i < CORNERS; i++) {
        double angle = 2 * M_PI * i / CORNERS, radius = 1.3 + 0.6 * cos(7 * angle);
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g\n",
                                 2 + radius * cos(angle), 2 + radius * sin(angle));
    }
    sgi_problem *problem = read_area("a.csv", text, NULL);
    const sgi_shape *shape = problem->domain.region->steps[0].shape;
    assert_int_equal(shape->counts[0], CORNERS);
    assert_close(problem->domain.region->measure, M_PI * (1.69 + 0.18), 1e-4);
    for (int i = 0; i < 400; i++) {
        double x[2] = {4.0 * (i % 20) / 19, 4.0 * (i / 20) / 19}, nearest = INFINITY;
        bool inside = false;
        for (int e = 0; e < CORNERS; e++) {
            const double *a = shape->values[0] + 2 * e,
                         *b = shape->values[0] + 2 * ((e + 1) % CORNERS);
            double ex = b[0] - a[0], ey = b[1] - a[1];
            double share = ((x[0] - a[0]) * ex + (x[1] - a[1]) * ey) / (ex * ex + ey * ey);
            share = fmin(fmax(share, 0), 1);
            nearest = fmin(nearest, hypot(a[0] + share * ex - x[0], a[1] + share * ey - x[1]));
            if ((a[1] > x[1]) != (b[1] > x[1]) && x[0] < a[0] + ex * (x[1] - a[1]) / ey)
                inside = !inside;
        }
        assert_close(sgi_shape_distance(shape, x), inside ? -nearest : nearest, 1e-13);
    }
    sgi_problem_destroy(problem);
}

static sg_status read_failing(const sg_allocator *allocator, void *context)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    sg_status status = sgi_problem_read(&problem, in(folder, "p.yaml"), context, strlen(context),
                                        NULL, 0, allocator, &diagnostic);
    if (status == SG_OK)
        sgi_problem_destroy(problem);
    return status;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    char text[1024];
    memcpy(text, solid_text, sizeof solid_text);
    put_solid(in(folder, "solid.stl"), 1);
    some_allocations_fail(read_failing, text, 20);
    snprintf(text, sizeof text, area_text, "a.geojson");
    put(in(folder, "a.geojson"), POLYGON(SQUARE("0", "3")), strlen(POLYGON(SQUARE("0", "3"))));
    some_allocations_fail(read_failing, text, 20);
    snprintf(text, sizeof text, area_text, "a.csv");
    some_allocations_fail(read_failing, text, 20);
}

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/sg_shape_files_XXXXXX");
    snprintf(other, sizeof other, "/tmp/sg_shape_other_XXXXXX");
    return !mkdtemp(folder) || !mkdtemp(other);
}

static int end(void **state)
{
    static const char *const names[] = {"solid.stl", "part.stl", "a.csv", "a.geojson", "a.GeoJSON"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)unlink(in(folder, names[i]));
        (void)unlink(in(other, names[i]));
    }
    return rmdir(folder) != 0 || rmdir(other) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),       cmocka_unit_test(test_paths),
        cmocka_unit_test(test_tables),       cmocka_unit_test(test_geojson),
        cmocka_unit_test(test_many_corners), cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
