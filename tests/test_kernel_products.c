/* Products of copied columns and solves with a triangle, on every instruction set against the plain
 * loops: all lengths of tails, memory that begins anywhere, and nothing written beside the result.
 */
#include "kernel/kernels.h"
#include "test_jet_support.h"

enum {
    MOST_COLUMNS = 2 * SGI_SQUARE_STEP + 5,
    MOST_ROWS = 70, /* that are solved with */
    GAP = 3,        /* elements between rows */
    COPIED = MOST_COLUMNS + 128,
    AROUND = 77
};

static void *fill_random(void *array, sg_type type, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        put(array, type, i, sgi_random_normal(seed, 3, i));
    return array;
}

static char *element(void *array, sg_type type, size_t i)
{
    return (char *)array + i * (type == SG_FLOAT32 ? sizeof(float) : sizeof(double));
}

/* c += J^T J of k rows of n columns, block by block as the engine does it. */
static void square(const sgi_kernels *kernels, sg_type type, const void *rows, size_t row, size_t n,
                   size_t k, double *c)
{
    static _Alignas(64) double left[COPIED * SGI_MULTIPLY_K], right[COPIED * SGI_MULTIPLY_K];
    size_t columns = kernels->square_columns(n);
    assert_true(columns >= n && columns <= COPIED);
    fill_random(left, type, columns * k + 1, 5); /* what was there before is of no account */
    fill_random(right, type, columns * k + 1, 6);
    double guards[] = {get(left, type, columns * k), get(right, type, columns * k)};
    for (size_t i = 0; i < n; i += SGI_SQUARE_STEP)
        kernels->square_copy(rows, row, k, i, n - i < SGI_SQUARE_STEP ? n - i : SGI_SQUARE_STEP,
                             left, right);
    for (size_t i = 0; i < n; i += SGI_SQUARE_STEP)
        for (size_t j = i; j < n; j += SGI_SQUARE_STEP)
            kernels->square_product(
                &(sgi_square){.i = i,
                              .j = j,
                              .m = n - i < SGI_SQUARE_STEP ? n - i : SGI_SQUARE_STEP,
                              .n = n - j < SGI_SQUARE_STEP ? n - j : SGI_SQUARE_STEP,
                              .k = k,
                              .left = left,
                              .right = right,
                              .c = c + i * MOST_COLUMNS + j,
                              .c_row = MOST_COLUMNS});
    assert_true(get(left, type, columns * k) == guards[0]);
    assert_true(get(right, type, columns * k) == guards[1]);
}

static void check_square(const sgi_kernels *kernels, sg_type type, size_t n, size_t k)
{
    static double memory[SGI_MULTIPLY_K * (MOST_COLUMNS + GAP) + 1];
    static double got[MOST_COLUMNS * MOST_COLUMNS], expected[MOST_COLUMNS * MOST_COLUMNS];
    size_t row = n + GAP;
    void *rows = element(memory, type, n % 2); /* not aligned to vectors */
    fill_random(rows, type, k * row, 100 + n);
    for (size_t i = 0; i < MOST_COLUMNS * MOST_COLUMNS; i++)
        got[i] = expected[i] = (double)(i % AROUND);
    square(kernels, type, rows, row, n, k, got);
    square(sgi_kernels_plain(type), type, rows, row, n, k, expected);
    double tolerance = (type == SG_FLOAT32 ? 1e-5 : 1e-13) * (double)(k + AROUND);
    for (size_t i = 0; i < MOST_COLUMNS; i++)
        for (size_t j = 0; j < MOST_COLUMNS; j++) {
            size_t at = i * MOST_COLUMNS + j;
            if (i < n && j < i)
                continue; /* below the diagonal anything may be */
            bool right = j < n ? fabs(got[at] - expected[at]) <= tolerance
                               : got[at] == (double)(at % AROUND);
            if (!right)
                fail_msg("%s, n = %zu, k = %zu: entry %zu, %zu is %.17g instead of %.17g",
                         kernels->name, n, k, i, j, got[at], expected[at]);
        }
}

static void squares(void **state)
{
    (void)state;
    static const size_t many[] = {190, 191, 192, 193, 383, 384, 385, MOST_COLUMNS};
    static const size_t lengths[] = {1, 2, 37, SGI_MULTIPLY_K};
    sg_isa isas[SG_ISA_COUNT];
    size_t known = runnable_isas(isas);
    for (size_t k = 0; k < known; k++)
        for (int type = SG_FLOAT32; type <= SG_FLOAT64; type++) {
            const sgi_kernels *kernels = sgi_kernels_for(isas[k], (sg_type)type);
            for (size_t n = 1; n <= 70; n++)
                check_square(kernels, (sg_type)type, n, lengths[n % 4]);
            for (size_t i = 0; i < sizeof many / sizeof *many; i++)
                check_square(kernels, (sg_type)type, many[i], lengths[i % 3]);
        }
}

static void check_solve(const sgi_kernels *kernels, sg_type type, size_t n, size_t count)
{
    static double factor_memory[SGI_SOLVE_N * (SGI_SOLVE_N + GAP) + 1];
    static double memory[2][MOST_ROWS * (SGI_SOLVE_N + GAP) + 1];
    size_t factor_row = n + GAP, row = n + GAP;
    void *factor = element(factor_memory, type, n % 2), *rows[2];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < factor_row; j++) /* above the diagonal nothing is read */
            put(factor, type, i * factor_row + j,
                j > i    ? NAN
                : j == i ? 2 + sgi_random_uniform(7, 1, i)
                         : sgi_random_normal(7, i, j) / (double)n);
    for (int which = 0; which < 2; which++) {
        rows[which] = fill_random(element(memory[which], type, count % 2), type, count * row, n);
        sgi_solve_rows args = {.n = n,
                               .count = count,
                               .factor = factor,
                               .factor_row = factor_row,
                               .rows = rows[which],
                               .row = row};
        (which ? sgi_kernels_plain(type) : kernels)->solve(&args);
    }
    for (size_t i = 0; i < count * row; i++) {
        double got = get(rows[0], type, i), expected = get(rows[1], type, i);
        bool right = i % row < n ? fabs(got - expected) <= (type == SG_FLOAT32 ? 1e-5 : 1e-13)
                                 : got == expected;
        if (!right)
            fail_msg("%s, %zu rows of %zu: %.17g instead of %.17g", kernels->name, count, n, got,
                     expected);
    }
}

static void solves(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t known = runnable_isas(isas);
    for (size_t k = 0; k < known; k++)
        for (int type = SG_FLOAT32; type <= SG_FLOAT64; type++)
            for (size_t n = 1; n <= SGI_SOLVE_N; n++)
                for (size_t count = 1 + n % 3; count <= MOST_ROWS; count += 3)
                    check_solve(sgi_kernels_for(isas[k], (sg_type)type), (sg_type)type, n, count);
}

/* The rows of a unit do not know how many others there are. */
static void a_row_is_solved_alike_anywhere(void **state)
{
    (void)state;
    enum { N = 61 };
    static double factor[N * N], rows[MOST_ROWS * N], alone[N];
    sg_isa isas[SG_ISA_COUNT];
    size_t known = runnable_isas(isas);
    fill_random(factor, SG_FLOAT64, N * N, 1);
    for (size_t k = 0; k < known; k++) {
        const sgi_kernels *kernels = sgi_kernels_for(isas[k], SG_FLOAT64);
        for (size_t i = 0; i < MOST_ROWS; i++) {
            fill_random(rows, SG_FLOAT64, sizeof rows / sizeof *rows, 2);
            memcpy(alone, rows + i * N, sizeof alone);
            sgi_solve_rows all = {N, MOST_ROWS, factor, N, rows, N};
            sgi_solve_rows one = {N, 1, factor, N, alone, N};
            kernels->solve(&all);
            kernels->solve(&one);
            assert_memory_equal(alone, rows + i * N, sizeof alone);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares),
        cmocka_unit_test(solves),
        cmocka_unit_test(a_row_is_solved_alike_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
