/* Points that follow the residual: what is chosen, kept and restored. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/refinement.h"
#include "support/support.h"

/* The residual is a known function, whatever the network is: u drops out. */
#define STEEP "1 + 40*exp(-200*(x - 0.3)^2)"

static const char text[] = "coordinates: {x: [0, 1], y: [0, 1]}\n"
                           "fields: [u]\n"
                           "equations: {known: '1e-30*u + " STEEP "'}\n"
                           "conditions:\n"
                           "  wall: {at: boundary, u_n: 1 + y, points: 40, refine: true}\n"
                           "  plain: {at: boundary, u: 0, points: 20}\n"
                           "points: 2000\n"
                           "network: {hidden: 1 x 4, precision: double}\n";

static double steep(double x)
{
    return 1 + 40 * exp(-200 * (x - 0.3) * (x - 0.3));
}

typedef struct bench {
    sg_pinn *pinn;
    sg_pool *pool;
    sg_pinn_trainer *trainer;
    sg_pinn_batch *batch;
    sgi_refinement *refinement;
} bench;

static bench open_bench(const char *method, const char *more, int threads)
{
    bench b;
    char choice[64];
    const char *const overrides[] = {choice, more};
    sg_diagnostic diagnostic = {0};
    snprintf(choice, sizeof choice, "refinement.method=%s", method);
    if (sg_pinn_read(&b.pinn, "test", text, strlen(text), overrides, more ? 2 : 1, NULL,
                     &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    assert_ok(sg_pool_create(&b.pool, threads, NULL));
    assert_ok(sg_pinn_trainer_create(&b.trainer, b.pinn, b.pool, SG_ISA_AUTO, NULL));
    b.batch = sg_pinn_trainer_batch(b.trainer);
    b.refinement = sgi_pinn_trainer_refinement(b.trainer);
    return b;
}

static void close_bench(bench *b)
{
    sg_pinn_trainer_destroy(b->trainer);
    sg_pinn_close(b->pinn);
    sg_pool_destroy(b->pool);
}

/* Twenty bins of x against expected shares of the points. */
static double chi_square(const double *points, size_t count, const double *shares)
{
    double bins[20] = {0}, square = 0;
    for (size_t i = 0; i < count; i++)
        bins[(int)fmin(19, 20 * points[2 * i])]++;
    for (int k = 0; k < 20; k++)
        square += pow(bins[k] - (double)count * shares[k], 2) / ((double)count * shares[k]);
    return square;
}

static void expected_shares(double power, double floor, double *shares)
{
    enum { FINE = 20000 };
    double mean = 0;
    for (int i = 0; i < FINE; i++)
        mean += pow(steep((i + 0.5) / FINE), power) / FINE;
    for (int k = 0; k < 20; k++)
        shares[k] = 0;
    for (int i = 0; i < FINE; i++)
        shares[i / (FINE / 20)] +=
            (pow(steep((i + 0.5) / FINE), power) / mean + floor) / (1 + floor) / FINE;
}

static void rad_has_its_density(void **state)
{
    (void)state;
    double *points = calloc(4000, sizeof *points), shares[20];
    static const char *const powers[] = {NULL, "refinement.power=2"};
    assert_non_null(points);
    for (int i = 0; i < 2; i++) {
        bench b = open_bench("rad", powers[i], 1);
        expected_shares(i + 1, 1, shares);
        sgi_refinement_run(b.refinement, 100);
        assert_int_equal(sg_pinn_items(b.batch, 0), 2000);
        sg_pinn_points(b.batch, 0, points);
        /* 19 degrees of freedom; candidates and choice each add to the spread of independent
         * points, by less than as much again. Uniform points have a thousand. */
        assert_true(chi_square(points, 2000, shares) < 2 * 44);
        close_bench(&b);
    }
    free(points);
}

static void rar_d_adds_where_it_is_steep(void **state)
{
    (void)state;
    bench b = open_bench("rar-d", "refinement.add=700", 1);
    double *points = calloc(8000, sizeof *points), *after = calloc(8000, sizeof *after);
    assert_true(points && after);
    double shares[20];
    expected_shares(2, 0, shares);
    sg_pinn_points(b.batch, 0, points);
    sgi_refinement_run(b.refinement, 100);
    assert_int_equal(sg_pinn_items(b.batch, 0), 2700);
    sg_pinn_points(b.batch, 0, after);
    assert_memory_equal(points, after, 2000 * 2 * sizeof *points);
    size_t near = 0;
    for (size_t i = 2000; i < 2700; i++)
        near += fabs(after[2 * i] - 0.3) < 0.1;
    assert_true(near > 650); /* r^2 has all but 1% of its integral there */
    for (uint64_t step = 200; step < 600; step += 100)
        sgi_refinement_step(b.refinement, step);
    assert_int_equal(sg_pinn_items(b.batch, 0), 4000);
    double seconds = sgi_refinement_seconds(b.refinement);
    sgi_refinement_step(b.refinement, 1000); /* the wall grew too: there is nothing left to do */
    assert_true(sgi_refinement_seconds(b.refinement) == seconds);
    free(points);
    free(after);
    close_bench(&b);
}

static void r3_keeps_what_is_above_the_mean(void **state)
{
    (void)state;
    bench b = open_bench("r3", NULL, 1);
    double *points = calloc(4000, sizeof *points), *after = calloc(4000, sizeof *after), mean = 0;
    size_t kept = 0, same = 0;
    assert_true(points && after);
    sg_pinn_draw(b.batch, 100);
    sg_pinn_points(b.batch, 0, points);
    for (size_t i = 0; i < 2000; i++)
        mean += steep(points[2 * i]) / 2000;
    sgi_refinement_step(b.refinement, 100);
    sg_pinn_points(b.batch, 0, after);
    assert_int_equal(sg_pinn_items(b.batch, 0), 2000);
    for (size_t i = 0; i < 2000; i++)
        if (steep(points[2 * i]) > mean) {
            assert_memory_equal(after + 2 * kept, points + 2 * i, 2 * sizeof *points);
            kept++;
        }
    for (size_t i = kept; i < 2000; i++)
        same += after[2 * i] == points[2 * i];
    assert_in_range(kept, 200, 800);
    assert_int_equal(same, 0);
    free(points);
    free(after);
    close_bench(&b);
}

/* Normals go along with points: u_n is measured across the face that the point lies on. */
static void normals_are_kept(void **state)
{
    (void)state;
    static const char *const methods[] = {"rad", "rar-d", "r3"};
    for (int m = 0; m < 3; m++) {
        bench b = open_bench(methods[m], NULL, 1);
        for (uint64_t step = 100; step < 400; step += 100)
            sgi_refinement_step(b.refinement, step);
        sgi_given kept = sgi_residual_kept(sgi_pinn_residual(b.batch), 1);
        assert_true(kept.count >= 40 && kept.normals);
        for (size_t i = 0; i < kept.count; i++) {
            const double *x = kept.points + 2 * i, *n = kept.normals + 2 * i;
            assert_close(fabs(n[0]) + fabs(n[1]), 1, 0);
            assert_true(n[0] == 0 ? x[1] == (n[1] + 1) / 2 : x[0] == (n[0] + 1) / 2);
        }
        assert_int_equal(sgi_residual_kept(sgi_pinn_residual(b.batch), 2).count, 0);
        close_bench(&b);
    }
}

static void take_steps(bench *b, int count)
{
    for (int i = 0; i < count; i++) {
        sg_pinn_step step;
        assert_ok(sg_pinn_trainer_step(b->trainer, &step));
    }
}

/* Any number of threads, and a state that is taken over, give the same bits. */
static void threads_and_restored_states_agree(void **state)
{
    (void)state;
    static const char *const methods[] = {"rad", "rar-d", "r3"};
    for (int m = 0; m < 3; m++) {
        bench a = open_bench(methods[m], "refinement.every=4", 1);
        bench b = open_bench(methods[m], "refinement.every=4", 3);
        bench c = open_bench(methods[m], "refinement.every=4", 2);
        size_t count = sg_jet_network_parameters(sg_pinn_network(a.pinn)), size, optim;
        take_steps(&a, 6);
        take_steps(&b, 6);
        /* c begins where a is */
        const void *kept = sgi_refinement_state(a.refinement, &size);
        assert_true(sgi_refinement_fits(c.refinement, kept, size));
        assert_false(sgi_refinement_fits(c.refinement, kept, size - 8));
        assert_false(sgi_refinement_fits(c.refinement, kept, size + 8 > size ? 8 : 0));
        sgi_refinement_restore(c.refinement, kept);
        memcpy(sg_jet_network_values(sg_pinn_network(c.pinn)),
               sg_jet_network_values(sg_pinn_network(a.pinn)), count * sizeof(double));
        const void *moments = sg_optim_state(sg_pinn_trainer_optim(a.trainer), &optim);
        assert_ok(sg_optim_restore(sg_pinn_trainer_optim(c.trainer), moments, optim));
        take_steps(&a, 7);
        take_steps(&b, 7);
        take_steps(&c, 7);
        const void *values = sg_jet_network_values(sg_pinn_network(a.pinn));
        assert_memory_equal(values, sg_jet_network_values(sg_pinn_network(b.pinn)),
                            count * sizeof(double));
        assert_memory_equal(values, sg_jet_network_values(sg_pinn_network(c.pinn)),
                            count * sizeof(double));
        close_bench(&a);
        close_bench(&b);
        close_bench(&c);
    }
}

/* Points that a caller gives come before those that are kept. */
static void given_points_come_first(void **state)
{
    (void)state;
    bench b = open_bench("rad", "refinement.every=2", 1);
    const double given[] = {0.25, 0.5, 0.75, 0.5};
    double points[4];
    take_steps(&b, 3);
    assert_ok(sg_pinn_give(b.batch, 0, given, 2, NULL));
    take_steps(&b, 3);
    assert_int_equal(sg_pinn_items(b.batch, 0), 2);
    sg_pinn_points(b.batch, 0, points);
    assert_memory_equal(points, given, sizeof given);
    assert_ok(sg_pinn_give(b.batch, 0, NULL, 0, NULL));
    assert_int_equal(sg_pinn_items(b.batch, 0), 2000);
    close_bench(&b);
}

/* A trainer in memory of its own; its steps take none. */
static sg_status train_in(const sg_allocator *allocator, void *context)
{
    sg_pinn_trainer *trainer;
    sg_status status = sg_pinn_trainer_create(&trainer, context, NULL, SG_ISA_AUTO, allocator);
    if (status != SG_OK)
        return status;
    failing_allocator *counter = allocator->context;
    long made = counter->made;
    for (int i = 0; i < 5 && status == SG_OK; i++) {
        sg_pinn_step step;
        status = sg_pinn_trainer_step(trainer, &step);
    }
    assert_int_equal(counter->made, made);
    sg_pinn_trainer_destroy(trainer);
    return status;
}

static void every_allocation_fails_and_steps_make_none(void **state)
{
    (void)state;
    static const char *const methods[] = {"rad", "rar-d", "r3"};
    for (int m = 0; m < 3; m++) {
        bench b = open_bench(methods[m], "refinement.every=2", 1);
        (void)some_allocations_fail(train_in, b.pinn, 40);
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rad_has_its_density),
        cmocka_unit_test(rar_d_adds_where_it_is_steep),
        cmocka_unit_test(r3_keeps_what_is_above_the_mean),
        cmocka_unit_test(normals_are_kept),
        cmocka_unit_test(threads_and_restored_states_agree),
        cmocka_unit_test(given_points_come_first),
        cmocka_unit_test(every_allocation_fails_and_steps_make_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
