/* Shapes from files: paths, sums, the copy that a run keeps, and what is refused. */
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
    assert_string_equal(elsewhere->domain.region->steps[0].shape->place, in(other, "part.stl"));
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
    char text[sizeof solid_text];
    memcpy(text, solid_text, sizeof text);
    put_solid(in(folder, "solid.stl"), 1);
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
    static const char *const names[] = {"solid.stl", "part.stl"};
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
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
