/* A problem as methods of second order see it: all that is made of its Jacobian, against the rows
 * themselves, with integrals among the residuals and without; and the methods on integrals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/objective.h"
#include "support/support.h"

#define HEAD                                                                                       \
    "coordinates: {x: [-1, 1], y: [-1, 1]}\n"                                                      \
    "fields: [u, p]\n"                                                                             \
    "shapes: {hole: {disc: {center: [0.2, 0.1], radius: 0.4}}}\n"                                  \
    "domain: box - hole\n"                                                                         \
    "equations: {one: lap(u) = p, two: lap(p) + u^2 = x}\n"                                        \
    "network: {hidden: 2 x 5, precision: double}\n"                                                \
    "points: 40\n"
#define EDGE "  edge: {at: boundary, u: x, p: 0, points: 24}\n"

/* Integrals of one and of two components, nonlinear ones, before and after other conditions. */
static const char with[] =
    HEAD "conditions:\n"
         "  mean: {over: domain, p: 0.3, u^2: 1, points: 70, weight: 3}\n" EDGE
         "  flux: {over: hole.boundary, u_n*p: -0.5, points: 33}\n";
static const char without[] = HEAD "conditions:\n" EDGE;

typedef struct fixture {
    sg_pinn *pinn;
    sg_pinn_batch *batch;
    sgi_pinn_objective *handle;
    const sgi_objective *o;
    size_t m, n;   /* residuals and parameters */
    double *j, *r; /* (m, n) and (m): from the rows of the batch */
} fixture;

static sg_pinn *open_pinn(const char *text)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "p.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

static void *take(size_t count)
{
    double *memory = calloc(count, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

/* J and r: the integrals last, as the root of the number of copies times one of them. */
static void by_hand(fixture *f)
{
    const sg_pinn_information *information = sg_pinn_describe(f->pinn);
    size_t all = sg_pinn_residual_count(f->batch), at = 0, row = 0;
    double *residuals = take(all);
    sg_pinn_residuals(f->batch, residuals);
    for (int last = 0; last < 2; last++, at = 0)
        for (size_t s = 0; s < information->set_count; s++) {
            size_t items = sg_pinn_items(f->batch, s), width = information->sets[s].components;
            size_t rows = f->pinn->problem->sets[s].integral ? 1 : items;
            double root = sqrt((double)items / (double)rows);
            if (last == (rows != items)) {
                assert_ok(sg_pinn_rows(f->batch, s, 0, rows, f->j + row * f->n));
                for (size_t i = 0; i < rows * width * f->n; i++)
                    f->j[row * f->n + i] *= root;
                for (size_t i = 0; i < rows * width; i++)
                    f->r[row + i] = root * residuals[at + i];
                row += rows * width;
            }
            at += items * width;
        }
    assert_int_equal(row, f->m);
    free(residuals);
}

static void begin(fixture *f, const char *text, bool jacobian)
{
    sg_pinn_batch_config config = {.tangents = true, .isa = SG_ISA_AUTO};
    f->pinn = open_pinn(text);
    assert_ok(sg_pinn_batch_create(&f->batch, f->pinn, &config, NULL));
    assert_ok(sgi_pinn_objective_create(&f->handle, f->pinn, f->batch, jacobian, NULL, SG_ISA_AUTO,
                                        NULL));
    f->o = sgi_pinn_objective_of(f->handle);
    f->m = f->o->count(f->o->context);
    f->n = f->o->parameters;
    f->j = take(f->m * f->n);
    f->r = take(f->m);
}

static void end(fixture *f)
{
    free(f->j);
    free(f->r);
    sgi_pinn_objective_destroy(f->handle);
    sg_pinn_batch_destroy(f->batch);
    sg_pinn_close(f->pinn);
}

/* To rounding of sums of some hundred terms. */
static void agree(const double *a, const double *b, size_t count)
{
    double size = 0;
    for (size_t i = 0; i < count; i++)
        size = fmax(size, fabs(b[i]));
    assert_true(size > 0);
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-12 * size))
            fail_msg("%zu of %zu: %.17g is not %.17g", i, count, a[i], b[i]);
}

static void products_are_right(const fixture *f)
{
    double *v = take(f->n), *w = take(f->m), *a = take(f->m), *b = take(f->m);
    double *c = take(f->n), *d = take(f->n);
    for (size_t k = 0; k < f->n; k++)
        v[k] = sin(3.0 * (double)k + 1);
    for (size_t i = 0; i < f->m; i++)
        w[i] = cos(2.0 * (double)i);
    for (size_t i = 0; i < f->m; i++)
        for (size_t k = 0; k < f->n; k++) {
            b[i] += f->j[i * f->n + k] * v[k];
            d[k] += f->j[i * f->n + k] * w[i];
        }
    assert_ok(f->o->push(f->o->context, v, a));
    agree(a, b, f->m);
    assert_ok(f->o->pull(f->o->context, w, c));
    agree(c, d, f->n);
    assert_ok(f->o->residuals(f->o->context, a));
    agree(a, f->r, f->m);
    free(v), free(w), free(a), free(b), free(c), free(d);
}

static void normal_equations_are_right(const fixture *f)
{
    size_t n = f->n;
    double *expected = take(n * n), *matrix = take(n * n), *g = take(n), *diagonal = take(n);
    double *right = take(n), *squares = take(n), *r = take(f->m);
    for (size_t i = 0; i < f->m; i++)
        for (size_t k = 0; k < n; k++) {
            for (size_t l = 0; l < n; l++)
                expected[k * n + l] += f->j[i * n + k] * f->j[i * n + l];
            g[k] += f->j[i * n + k] * f->r[i];
        }
    for (size_t k = 0; k < n; k++)
        diagonal[k] = expected[k * n + k];
    sg_normal_equations parts = {matrix, right, squares, r};
    assert_ok(f->o->normal(f->o->context, &parts));
    agree(matrix, expected, n * n);
    agree(right, g, n);
    agree(squares, diagonal, n);
    agree(r, f->r, f->m);
    memset(squares, 0, n * sizeof *squares);
    assert_ok(f->o->normal(f->o->context, &(sg_normal_equations){.squares = squares}));
    agree(squares, diagonal, n);
    free(expected), free(matrix), free(g), free(diagonal), free(right), free(squares), free(r);
}

/* J P J^T, with p the diagonal of P. */
static void kernel_is(const fixture *f, const double *p, const double *kernel)
{
    double *expected = take(f->m * f->m);
    for (size_t i = 0; i < f->m; i++)
        for (size_t j = 0; j < f->m; j++) {
            for (size_t k = 0; k < f->n; k++)
                expected[i * f->m + j] += f->j[i * f->n + k] * p[k] * f->j[j * f->n + k];
            assert_true(kernel[i * f->m + j] == kernel[j * f->m + i]);
        }
    agree(kernel, expected, f->m * f->m);
    free(expected);
}

static void kernels_are_right(const fixture *f)
{
    double *columns = take(f->n), *p = take(f->n), *kernel = take(f->m * f->m);
    double *weights = take(f->o->tensor_count);
    for (size_t k = 0; k < f->n; k++) {
        columns[k] = 1 + 0.5 * sin((double)k);
        p[k] = columns[k] * columns[k];
    }
    assert_ok(f->o->kernel(f->o->context, columns, kernel));
    kernel_is(f, p, kernel);
    for (size_t t = 0; t < f->o->tensor_count; t++) {
        weights[t] = 0.25 * (double)(t + 1);
        for (size_t k = 0; k < f->o->tensors[t].count; k++)
            p[f->o->tensors[t].begin + k] = weights[t];
    }
    assert_ok(f->o->tensor_kernel(f->o->context, weights, kernel));
    kernel_is(f, p, kernel);
    free(columns), free(p), free(kernel), free(weights);
}

static void all_is_made_of_the_rows(void **state)
{
    (void)state;
    static const char *const texts[] = {with, without};
    for (int t = 0; t < 2; t++) {
        fixture f;
        begin(&f, texts[t], true);
        size_t all = f.m;
        assert_int_equal(all, 40 * 2 + 24 * 2 + (t == 0 ? 3 : 0));
        for (int fewer = 0; fewer < 2; fewer++) {
            double points[17][2];
            for (int i = 0; i < 17; i++) {
                points[i][0] = -0.9 + 0.1 * i;
                points[i][1] = -0.8 + 0.01 * i;
            }
            if (fewer) /* the number of points changes from draw to draw */
                assert_ok(sg_pinn_give(f.batch, 0, &points[0][0], 17, NULL));
            f.m = f.o->count(f.o->context);
            assert_int_equal(f.m, all - (fewer ? 23 * 2 : 0));
            by_hand(&f);
            products_are_right(&f);
            normal_equations_are_right(&f);
            kernels_are_right(&f);
        }
        double loss, squares = 0;
        assert_ok(f.o->gradient(f.o->context, NULL, &loss));
        for (size_t i = 0; i < f.m; i++)
            squares += f.r[i] * f.r[i];
        assert_close(squares / 2, loss, 1e-12 * loss);
        end(&f);
    }
}

/* u'' = -2 with its mean, 1/6, in the place of one end: a parabola, which every method finds. */
static void every_method_takes_integrals(void **state)
{
    (void)state;
    static const char *const methods[] = {"levenberg",
                                          "levenberg, metric: stablegrad",
                                          "kernel",
                                          "kernel, metric: columns",
                                          "kernel, solver: cg",
                                          "{name: kernel, momentum: 0.5}",
                                          "ssbroyden",
                                          "lbfgs"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char text[600];
        sg_pinn_result result;
        snprintf(text, sizeof text,
                 "coordinates: {x: [0, 1]}\nfields: [u]\nequations: {bend: u_xx = -2}\n"
                 "conditions:\n  mean: {over: domain, u: 1/6, points: 64}\n"
                 "  left: {at: x = 0, u: 0}\nnetwork: {hidden: 2 x 8}\n"
                 "training: {optimizer: %s, points: {start: 30}, tolerance: 1e-6, steps: 400}\n",
                 methods[i]);
        sg_pinn *pinn = open_pinn(text);
        assert_ok(sg_pinn_train(pinn, NULL, &result, NULL));
        if (!(result.loss < 1e-3))
            fail_msg("%s: %g after %llu steps", methods[i], result.loss,
                     (unsigned long long)result.steps);
        sg_pinn_close(pinn);
    }
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    static const char *const methods[] = {"levenberg", "kernel", "kernel, solver: cg"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        failing_allocator counter = {.fail_at = -1};
        sg_allocator allocator = failing(&counter);
        char text[1200];
        snprintf(text, sizeof text,
                 "%straining: {optimizer: %s, points: {start: 30, every: 2, most: 60}}\n", with,
                 methods[i]);
        sg_pinn *pinn;
        sg_pinn_trainer *trainer;
        sg_pinn_step step;
        assert_ok(sg_pinn_read(&pinn, "p.yaml", text, strlen(text), NULL, 0, &allocator, NULL));
        assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, &allocator));
        long before = counter.made;
        for (int k = 0; k < 5; k++)
            assert_ok(sg_pinn_trainer_step(trainer, &step));
        assert_int_equal(counter.made, before);
        sg_pinn_trainer_destroy(trainer);
        sg_pinn_close(pinn);
        assert_int_equal(counter.live, 0);
    }
}

static sg_status make(const sg_allocator *allocator, void *context)
{
    fixture *f = context;
    sgi_pinn_objective *objective;
    sg_status status = sgi_pinn_objective_create(&objective, f->pinn, f->batch, true, NULL,
                                                 SG_ISA_AUTO, allocator);
    sgi_pinn_objective_destroy(objective);
    return status;
}

static void allocations_fail(void **state)
{
    (void)state;
    fixture f;
    begin(&f, with, true);
    each_allocation_fails(make, &f, 8);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_made_of_the_rows),
        cmocka_unit_test(every_method_takes_integrals),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
