/* Weights in blocks, on every instruction set: packing against the definition of the layouts, and
 * the weight gradient on small images against plain sums in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/weights.h"
#include "support/support.h"

static void *allocate(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(p);
    return p;
}

static float *random_floats(size_t count, uint64_t stream)
{
    float *values = allocate(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)sgi_random_normal(3, stream, i);
    return values;
}

/* Where weight (o, i, tap) lies. */
static size_t place(const sgi_weight_blocks *b, size_t o, size_t i, size_t tap)
{
    size_t lanes = (size_t)b->rows->lanes, at = o / lanes * b->to_output + i / lanes * b->to_input;
    size_t row = b->by_input ? i % lanes : o % lanes, column = b->by_input ? o % lanes : i % lanes;
    return at + (tap * lanes + row) * lanes + column;
}

static void expect_packing(sgi_dnn *dnn, const sgi_weight_blocks *b)
{
    size_t lanes = (size_t)b->rows->lanes, taps = (size_t)b->taps;
    size_t outputs = b->outputs * lanes, inputs = b->inputs * lanes,
           count = outputs * inputs * taps;
    float *plain = random_floats(count, 1), *blocked = allocate(count * sizeof *blocked);
    float *back = allocate(count * sizeof *back);
    sgi_weight_blocks_run(b, dnn, plain, blocked, true);
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < inputs; i++)
            for (size_t tap = 0; tap < taps; tap++)
                assert_true(blocked[place(b, o, i, tap)] == plain[(o * inputs + i) * taps + tap]);
    sgi_weight_blocks_run(b, dnn, back, blocked, false);
    assert_memory_equal(back, plain, count * sizeof *plain);
    free(plain);
    free(blocked);
    free(back);
}

static void packing_follows_the_layout(void **state)
{
    (void)state;
    sgi_dnn *dnn;
    assert_ok(sgi_dnn_create(&dnn, 2, NULL));
    const int taps[] = {1, 4, 9, 25, 49};
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas);
    for (size_t isa = 0; isa < isa_count; isa++)
        for (size_t k = 0; k < 5; k++)
            for (int by_input = 0; by_input < 2; by_input++)
                for (int turned = 0; turned < 2; turned++) {
                    const sgi_rows *rows = sgi_rows_for(isas[isa]);
                    sgi_weight_blocks b = {.rows = rows, .outputs = 2, .inputs = 19};
                    size_t block = (size_t)(rows->lanes * rows->lanes * taps[k]);
                    b.taps = taps[k];
                    b.by_input = by_input;
                    b.to_output = turned ? block : 19 * block;
                    b.to_input = turned ? 2 * block : block;
                    expect_packing(dnn, &b);
                }
    sgi_dnn_destroy(dnn);
}

/* Element (tap, o, i) of the gradient, in double. */
static double plain_sum(const sgi_row_outer *p, size_t lanes, int tap, size_t o, size_t i)
{
    const sgi_row_window *w = &p->window;
    double sum = 0;
    for (int n = 0; n < p->images; n++)
        for (int y = 0; y < w->out_height; y++)
            for (int x = 0; x < w->out_width; x++) {
                int row = y * w->stride - w->pad + tap / w->kernel;
                int column = x * w->stride - w->pad + tap % w->kernel;
                if (row < 0 || row >= w->height || column < 0 || column >= w->width)
                    continue;
                size_t from = (size_t)(row * w->width + column) * lanes + i;
                size_t by = (size_t)(y * w->out_width + x) * lanes + o;
                sum += (double)p->x[(size_t)n * p->x_image + from] *
                       (double)p->dz[(size_t)n * p->dz_image + by];
            }
    return sum;
}

static void sums_are_those_of_the_window(void **state)
{
    (void)state;
    const sgi_row_window windows[] = {
        {2, 2, 2, 2, 1, 1, 0}, {4, 5, 2, 3, 1, 2, 0}, {2, 2, 2, 2, 3, 1, 1}, {1, 1, 1, 1, 3, 1, 1},
        {4, 4, 2, 2, 3, 2, 1}, {5, 3, 3, 2, 3, 2, 1}, {4, 4, 2, 2, 3, 1, 0}, {3, 4, 4, 5, 2, 1, 1}};
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas);
    for (size_t isa = 0; isa < isa_count; isa++)
        for (size_t k = 0; k < sizeof windows / sizeof windows[0]; k++) {
            const sgi_rows *rows = sgi_rows_for(isas[isa]);
            size_t lanes = (size_t)rows->lanes, size = 3 * 3 * 32 * lanes;
            int taps = windows[k].kernel * windows[k].kernel;
            float *x = random_floats(size, 1), *dz = random_floats(size, 2);
            float *block = allocate((size_t)taps * lanes * lanes * sizeof *block);
            sgi_row_outer p = {x, dz, 32 * lanes, 48 * lanes, 3, windows[k]};
            rows->outer(&p, block);
            for (int tap = 0; tap < taps; tap++)
                for (size_t o = 0; o < lanes; o++)
                    for (size_t i = 0; i < lanes; i++)
                        assert_true(fabs((double)block[((size_t)tap * lanes + o) * lanes + i] -
                                         plain_sum(&p, lanes, tap, o, i)) < 1e-5);
            free(x);
            free(dz);
            free(block);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_follows_the_layout),
        cmocka_unit_test(sums_are_those_of_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
