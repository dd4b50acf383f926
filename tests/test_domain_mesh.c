/* Meshes of regions: they fill them, neighbours share faces, and corners lie on the boundary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "domain/mesh.h"
#include "support/support.h"

/* A disc or ball about the origin, the half of it below x = 0.3. */
typedef struct solid {
    int axes;
    double radius, wall;
} solid;

static double distance(const void *context, const double *x)
{
    const solid *s = context;
    double square = 0;
    for (int k = 0; k < s->axes; k++)
        square += x[k] * x[k];
    return fmax(sqrt(square) - s->radius, x[0] - s->wall);
}

static sgi_mesh_grid grid_of(const solid *s, size_t count)
{
    sgi_mesh_grid grid = {.axes = s->axes, .distance = distance, .context = s, .near = 1e-12};
    for (int k = 0; k < s->axes; k++) {
        grid.counts[k] = count + (size_t)k;
        grid.lower[k] = -1.02;
        grid.upper[k] = 1.01;
    }
    return grid;
}

static double volume_of(const sgi_mesh *mesh, size_t cell)
{
    size_t axes = (size_t)mesh->axes;
    const uint32_t *c = mesh->cells + (axes + 1) * cell;
    double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, faculty = axes == 3 ? 6 : axes == 2 ? 2 : 1;
    for (size_t i = 0; i < axes; i++)
        for (size_t k = 0; k < axes; k++)
            e[i][k] = mesh->points[axes * c[i + 1] + k] - mesh->points[axes * c[0] + k];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
            e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           faculty;
}

static double whole(const sgi_mesh *mesh)
{
    double sum = 0;
    for (size_t i = 0; i < mesh->cell_count; i++) {
        assert_true(volume_of(mesh, i) > 0);
        sum += volume_of(mesh, i);
    }
    return sum;
}

typedef struct face {
    uint32_t corners[3];
} face;

static int compare_faces(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(face));
}

/* Every face has one neighbour or, at the boundary, none; returns the corners there as marks. */
static char *check_faces(const sgi_mesh *mesh)
{
    size_t axes = (size_t)mesh->axes, count = 0;
    face *faces = calloc(mesh->cell_count * (axes + 1), sizeof *faces);
    char *marks = calloc(mesh->point_count, 1);
    for (size_t c = 0; c < mesh->cell_count; c++)
        for (size_t left = 0; left <= axes; left++, count++) {
            uint32_t *f = faces[count].corners;
            size_t n = 0;
            for (size_t i = 0; i <= axes; i++)
                if (i != left)
                    f[n++] = mesh->cells[(axes + 1) * c + i];
            for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++)
                    if (f[j] < f[i]) {
                        uint32_t kept = f[i];
                        f[i] = f[j];
                        f[j] = kept;
                    }
        }
    qsort(faces, count, sizeof *faces, compare_faces);
    for (size_t i = 0; i < count;) {
        size_t same = 1;
        while (i + same < count && compare_faces(&faces[i], &faces[i + same]) == 0)
            same++;
        assert_true(same <= 2);
        for (size_t k = 0; k < axes && same == 1; k++)
            marks[faces[i].corners[k]] = 1;
        i += same;
    }
    free(faces);
    return marks;
}

static void test_round(void **state)
{
    (void)state;
    for (int axes = 1; axes <= 3; axes++) {
        const solid s = {axes, 0.83, 9};
        const double exact[] = {0, 1.66, M_PI * 0.83 * 0.83, 4 * M_PI / 3 * 0.83 * 0.83 * 0.83};
        double before = 0;
        for (size_t count = 12; count <= 48; count *= 2) {
            sgi_mesh mesh;
            sgi_mesh_grid grid = grid_of(&s, count);
            assert_ok(sgi_mesh_make(&mesh, &grid, NULL));
            double error = fabs(whole(&mesh) - exact[axes]);
            char *outer = check_faces(&mesh);
            for (size_t i = 0; i < mesh.point_count; i++) {
                double d = distance(&s, mesh.points + (size_t)axes * i);
                assert_true(d <= 1e-12);
                if (outer[i])
                    assert_close(d, 0, 1e-12);
            }
            if (axes == 1)
                assert_close(error, 0, 1e-12);
            else if (before > 0)
                assert_true(error < 0.35 * before); /* with the square of the spacing */
            before = error;
            free(outer);
            sgi_mesh_release(&mesh);
        }
    }
}

static void test_walls(void **state)
{
    (void)state;
    const solid s = {3, 0.9, 0.3};
    sgi_mesh mesh;
    sgi_mesh_grid grid = grid_of(&s, 24);
    assert_ok(sgi_mesh_make(&mesh, &grid, NULL));
    /* the ball less a cap of height h */
    double h = 0.6, exact = 4 * M_PI / 3 * 0.729 - M_PI * h * h * (0.9 - h / 3);
    assert_close(whole(&mesh) / exact, 1, 0.03);
    free(check_faces(&mesh));
    sgi_mesh_release(&mesh);
}

static void test_filled(void **state)
{
    (void)state;
    sgi_mesh mesh;
    sgi_mesh_grid grid = {.axes = 3, .counts = {3, 4, 2}, .upper = {1, 2, 3}};
    assert_ok(sgi_mesh_make(&mesh, &grid, NULL));
    assert_int_equal(mesh.point_count, 24);
    assert_int_equal(mesh.cell_count, 6 * 2 * 3);
    assert_close(whole(&mesh), 6, 1e-14);
    free(check_faces(&mesh));
    sgi_mesh_release(&mesh);
    grid.counts[1] = 1;
    assert_status(sgi_mesh_make(&mesh, &grid, NULL), SG_ERROR_ARGUMENT);
    grid.counts[1] = SG_MESH_MOST;
    assert_status(sgi_mesh_make(&mesh, &grid, NULL), SG_ERROR_ARGUMENT);
    grid.axes = 4;
    assert_status(sgi_mesh_make(&mesh, &grid, NULL), SG_ERROR_ARGUMENT);
}

static sg_status make_one(const sg_allocator *allocator, void *context)
{
    sgi_mesh mesh;
    sgi_mesh_grid grid = grid_of(context, 16);
    sg_status status = sgi_mesh_make(&mesh, &grid, allocator);
    sgi_mesh_release(&mesh);
    return status;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    solid s = {2, 0.8, 9};
    each_allocation_fails(make_one, &s, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_walls),
        cmocka_unit_test(test_filled),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
