/* The paper's section 4 in double, on many random cases: K_SG = sum alpha_l J_l J_l^T, the identity
 * of the Rayleigh quotients, the theorem itself, and the eigenvalues that it needs: Lanczos against
 * LAPACK, and both against matrices whose eigenvalues are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "diagnose/spectrum.h"
#include "diagnose/theorem.h"
#include "diagnose/update.h"
#include "support/support.h"

enum { MOST_ROWS = 12, MOST_COLUMNS = 40, MOST_BLOCKS = 5, CASES = 4000, LARGE = 300 };

/* J (rows, columns), r, and blocks of columns with their factors. */
typedef struct example {
    size_t rows, columns, blocks;
    size_t begin[MOST_BLOCKS + 1];
    double j[MOST_ROWS * MOST_COLUMNS], r[MOST_ROWS], rate;
    sg_block_report reports[MOST_BLOCKS];
} example;

static double uniform(uint64_t seed, uint64_t at)
{
    return sgi_random_uniform(seed, 4, at);
}

static size_t pick(uint64_t seed, uint64_t at, size_t least, size_t most)
{
    return least + (size_t)(uniform(seed, at) * (double)(most - least + 1));
}

/* Blocks of very different scale, factors that even them out more or less, rates small to large. */
static void make_example(example *e, uint64_t seed)
{
    memset(e, 0, sizeof *e);
    e->blocks = pick(seed, 0, 1, MOST_BLOCKS);
    e->rows = pick(seed, 1, 1, MOST_ROWS);
    for (size_t b = 0; b < e->blocks; b++)
        e->begin[b + 1] = e->begin[b] + pick(seed, 2 + b, 1, MOST_COLUMNS / MOST_BLOCKS);
    e->columns = e->begin[e->blocks];
    for (size_t i = 0; i < e->rows; i++)
        e->r[i] = sgi_random_normal(seed, 5, i);
    for (size_t b = 0; b < e->blocks; b++) {
        double scale = pow(10, 2 * uniform(seed, 20 + b) - 2);
        e->reports[b].factor = pow(10, 2 * uniform(seed, 40 + b) - 0.5);
        for (size_t k = e->begin[b]; k < e->begin[b + 1]; k++) {
            double g = 0;
            for (size_t i = 0; i < e->rows; i++) {
                e->j[i * e->columns + k] = scale * sgi_random_normal(seed, 6, i * e->columns + k);
                g += e->j[i * e->columns + k] * e->r[i];
            }
            e->reports[b].norm2 += g * g;
        }
    }
    e->rate = pow(10, 3 * uniform(seed, 60) - 3);
}

/* J P J^T of columns [first, last), P from the blocks or 1. */
static void add_kernel(const example *e, size_t first, size_t last, double factor, double *kernel)
{
    for (size_t i = 0; i < e->rows; i++)
        for (size_t j = 0; j < e->rows; j++)
            for (size_t k = first; k < last; k++)
                kernel[i * e->rows + j] +=
                    factor * e->j[i * e->columns + k] * e->j[j * e->columns + k];
}

static void multiply_dense(const double *matrix, size_t size, const double *vector, double *product)
{
    for (size_t i = 0; i < size; i++) {
        product[i] = 0;
        for (size_t j = 0; j < size; j++)
            product[i] += matrix[i * size + j] * vector[j];
    }
}

static double largest_of(const double *matrix, size_t size, const double *r)
{
    sg_allocator heap = {0};
    double copy[MOST_ROWS * MOST_ROWS];
    sgi_spectrum spectrum;
    failing_allocator state = {.fail_at = -1};
    heap = failing(&state);
    memcpy(copy, matrix, size * size * sizeof *copy);
    assert_ok(sgi_spectrum_create(&spectrum, size, &heap));
    assert_ok(sgi_spectrum_dense(&spectrum, copy, size, r, &heap));
    assert_true(spectrum.whole && spectrum.count == size);
    double largest = spectrum.values[0], total = 0;
    for (size_t k = 0; k < size; k++)
        total += spectrum.shares[k];
    assert_close(total, 1, 1e-12); /* r lies in all of them together */
    sgi_spectrum_release(&spectrum, &heap);
    assert_true(state.live == 0);
    return largest;
}

static double quotient(const double *kernel, const example *e)
{
    double product[MOST_ROWS], above = 0, below = 0;
    multiply_dense(kernel, e->rows, e->r, product);
    for (size_t i = 0; i < e->rows; i++) {
        above += e->r[i] * product[i];
        below += e->r[i] * e->r[i];
    }
    return above / below;
}

/* Whenever the theorem's condition holds, the linearised decrease is larger; and the condition is
 * met, and missed, often enough to say something. */
static void the_theorem_holds(void **state)
{
    (void)state;
    size_t held = 0, unstable = 0, missed = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        example e;
        make_example(&e, seed);
        double plain[MOST_ROWS * MOST_ROWS] = {0}, scaled[MOST_ROWS * MOST_ROWS] = {0};
        double product[MOST_ROWS], residual2 = 0, difference = 0;
        add_kernel(&e, 0, e.columns, 1, plain);
        for (size_t b = 0; b < e.blocks; b++)
            add_kernel(&e, e.begin[b], e.begin[b + 1], e.reports[b].factor, scaled);
        for (size_t i = 0; i < e.rows; i++)
            residual2 += e.r[i] * e.r[i];
        for (size_t b = 0; b < e.blocks; b++)
            difference += (e.reports[b].factor - 1) * e.reports[b].norm2 / residual2;
        sgi_theorem t =
            sgi_theorem_of(e.reports, e.blocks, residual2, e.rate, largest_of(plain, e.rows, e.r),
                           largest_of(scaled, e.rows, e.r));
        /* Rounding is in parts of the kernels, of which the quotients may be small parts. */
        assert_near_(t.rho, quotient(plain, &e), 1e-13, t.largest, "rho", __FILE__, __LINE__);
        assert_near_(t.rho_scaled, quotient(scaled, &e), 1e-13, t.largest_scaled, "rho_scaled",
                     __FILE__, __LINE__);
        assert_near_(t.rho_scaled - t.rho, difference, 1e-13, t.largest + t.largest_scaled,
                     "difference", __FILE__, __LINE__);
        assert_relative(t.ratio, t.largest_scaled / t.largest, 1e-15);
        multiply_dense(plain, e.rows, e.r, product);
        double decrease = sgi_linear_decrease(e.r, product, e.rows, e.rate);
        multiply_dense(scaled, e.rows, e.r, product);
        double decrease_scaled = sgi_linear_decrease(e.r, product, e.rows, e.rate);
        assert_true(!t.holds || (t.stability < 2 && t.margin > 0));
        if (t.holds && t.margin > 1e-12 * t.largest_scaled) /* beyond rounding */
            assert_true(decrease_scaled > decrease);
        held += t.holds;
        unstable += t.stability >= 2;
        missed += !t.holds && decrease_scaled < decrease;
    }
    assert_true(held > CASES / 20 && unstable > CASES / 20 && missed > CASES / 20);
}

/* ---- Eigenvalues ------------------------------------------------------------------------------
 */

typedef struct dense_matrix {
    const double *matrix;
    size_t size, products;
} dense_matrix;

static sg_status multiply(void *context, const double *vector, double *product)
{
    dense_matrix *m = context;
    multiply_dense(m->matrix, m->size, vector, product);
    m->products++;
    return SG_OK;
}

/* B B^T with columns that shrink: a spectrum that falls as those of kernels do. */
static void falling(double *matrix, size_t size, double step, uint64_t seed)
{
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < 60; k++)
                sum += pow(step, (double)k) * sgi_random_normal(seed, k, i) *
                       sgi_random_normal(seed, k, j);
            matrix[i * size + j] = matrix[j * size + i] = sum;
        }
}

static void lanczos_is_lapack(void **state)
{
    (void)state;
    static double matrix[LARGE * LARGE], copy[LARGE * LARGE], r[LARGE];
    sg_allocator heap;
    failing_allocator counted = {.fail_at = -1};
    heap = failing(&counted);
    for (uint64_t seed = 0; seed < 4; seed++) {
        sgi_spectrum whole, leading;
        falling(matrix, LARGE, 0.6, seed);
        memcpy(copy, matrix, sizeof copy);
        for (size_t i = 0; i < LARGE; i++)
            r[i] = sgi_random_normal(seed, 99, i);
        assert_ok(sgi_spectrum_create(&whole, LARGE, &heap));
        assert_ok(sgi_spectrum_create(&leading, 20, &heap));
        assert_ok(sgi_spectrum_dense(&whole, copy, LARGE, r, &heap));
        dense_matrix m = {matrix, LARGE, 0};
        assert_ok(sgi_spectrum_lanczos(&leading, multiply, &m, LARGE, r, 20, &heap));
        assert_true(m.products == 20 && leading.products == 20 && !leading.whole);
        assert_true(leading.count >= 8 && leading.error < 1e-8);
        assert_relative(leading.values[0], whole.values[0], 1e-12);
        for (size_t k = 0; k < leading.count; k++) { /* the bound is of the vector: squared here */
            assert_relative(leading.values[k], whole.values[k], 1e-3);
            assert_close(leading.shares[k], whole.shares[k], 1e-2);
        }
        sgi_spectrum_release(&whole, &heap);
        sgi_spectrum_release(&leading, &heap);
    }
    assert_true(counted.live == 0);
}

/* A small matrix is exhausted: then Lanczos has everything. And a residual that is orthogonal to
 * the leading eigenvector does not hide it. */
static void known_eigenvalues(void **state)
{
    (void)state;
    enum { SIZE = 9 };
    double matrix[SIZE * SIZE] = {0}, r[SIZE] = {0};
    for (size_t i = 0; i < SIZE; i++)
        matrix[i * SIZE + i] = 1 << i;
    r[3] = 3;
    r[0] = 4;
    failing_allocator counted = {.fail_at = -1};
    sg_allocator heap = failing(&counted);
    sgi_spectrum spectrum;
    assert_ok(sgi_spectrum_create(&spectrum, SIZE, &heap));
    for (int dense = 0; dense < 2; dense++) {
        dense_matrix m = {matrix, SIZE, 0};
        if (dense)
            assert_ok(sgi_spectrum_dense(&spectrum, matrix, SIZE, r, &heap));
        else
            assert_ok(sgi_spectrum_lanczos(&spectrum, multiply, &m, SIZE, r, 50, &heap));
        assert_true(spectrum.count == SIZE && spectrum.whole);
        for (size_t k = 0; k < SIZE; k++) {
            double share = k == SIZE - 4 ? 9.0 / 25 : k == SIZE - 1 ? 16.0 / 25 : 0;
            assert_relative(spectrum.values[k], (double)(1 << (SIZE - 1 - k)), 1e-9);
            assert_close(spectrum.shares[k], share, 1e-9);
        }
    }
    sgi_spectrum_release(&spectrum, &heap);
    assert_true(counted.live == 0);
}

static void edges(void **state)
{
    (void)state;
    double zero[4] = {0}, r[2] = {0, 0}, bad[4] = {1, NAN, NAN, 1};
    failing_allocator counted = {.fail_at = -1};
    sg_allocator heap = failing(&counted);
    sgi_spectrum spectrum;
    assert_ok(sgi_spectrum_create(&spectrum, 2, &heap));
    dense_matrix m = {zero, 2, 0};
    assert_ok(sgi_spectrum_lanczos(&spectrum, multiply, &m, 2, r, 5, &heap));
    assert_true(spectrum.count >= 1 && spectrum.values[0] == 0 && spectrum.shares[0] == 0);
    assert_ok(sgi_spectrum_dense(&spectrum, zero, 2, r, &heap));
    assert_true(spectrum.count == 2 && spectrum.values[0] == 0);
    m.matrix = bad;
    assert_status(sgi_spectrum_lanczos(&spectrum, multiply, &m, 2, r, 5, &heap), SG_ERROR_STATE);
    assert_status(sgi_spectrum_dense(&spectrum, bad, 2, r, &heap), SG_ERROR_STATE);
    sgi_spectrum_release(&spectrum, &heap);
    assert_true(counted.live == 0);
    sgi_theorem t = sgi_theorem_of(NULL, 0, 0, 1e-3, 0, 0);
    assert_true(!t.holds && t.margin == 0 && t.ratio == 1);
    assert_true(sgi_linear_decrease(r, r, 2, 1) == 0);
}

static void updates(void **state)
{
    (void)state;
    sg_params *params;
    float memory[6] = {0};
    assert_ok(sg_params_create(&params, NULL));
    const size_t counts[] = {3, 1, 2}, blocks_of[] = {0, 0, 1};
    for (size_t s = 0; s < 3; s++) {
        sg_span span = {(const char *[]){"a.weight", "a.bias", "b.weight"}[s],
                        memory,
                        memory,
                        counts[s],
                        SG_FLOAT32,
                        0,
                        SG_ROLE_WEIGHT,
                        0};
        assert_ok(sg_params_add(params, &span));
    }
    const double values[] = {2, 1, 2, 0, 3, 4}, step[] = {0.3, 0, 0, 0.4, 0.03, 0.04};
    sgi_block_update blocks[3];
    sgi_update u = sgi_update_of(params, blocks_of, values, step, blocks, 2);
    assert_relative(blocks[0].relative, 0.5 / 3, 1e-14);
    assert_relative(blocks[1].relative, 0.01, 1e-14);
    assert_relative(u.spread, 50 / 3.0, 1e-14);
    assert_relative(u.largest_share, 0.25 / 0.2525, 1e-14);
    assert_true(u.largest_block == 0);
    u = sgi_update_of(params, (const size_t[]){0, 1, 2}, values, step, blocks, 3);
    assert_true(blocks[1].relative == 0); /* no values: it has no relative update */
    assert_relative(u.spread, 10, 1e-14);
    const double nothing[6] = {0};
    u = sgi_update_of(params, blocks_of, values, nothing, blocks, 2);
    assert_true(u.spread == 1 && u.largest_share == 0);
    sg_params_destroy(params);
    const double before[] = {1, 2}, after[] = {1.3, 2.4}, product[] = {0.3, 0.1};
    assert_relative(sgi_linear_error(before, after, product, 2), 0.3 / 0.5, 1e-14);
    assert_true(sgi_linear_error(before, before, nothing, 2) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_theorem_holds), cmocka_unit_test(lanczos_is_lapack),
        cmocka_unit_test(known_eigenvalues), cmocka_unit_test(edges),
        cmocka_unit_test(updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
